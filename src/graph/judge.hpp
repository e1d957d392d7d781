// Decides whether the result of a kernel is right; no other code decides that.
//
//   Judge judge(g, inputs, reference);
//   const Comparison c = judge.compare(tensor, found);   // correct; explained: borderline; neither: wrong
//
// Each element has a limit of its own, which no tolerance widens. A result that exceeds any limit is wrong:
//
//   the bound    how far rounding may move a right kernel (rounding.hpp): one more run of the reference. Of n
//                elements, n * 2^(m - 19) and at most n / 256 may lie one step of their dtype (m bits of
//                mantissa) from the reference beyond the bound (float32 puts them on the other side of a
//                rounding boundary), unless the tensor is exact.
//   the samples  how far rounding moves runs in which it is random: correlated errors cancel there (softmax,
//                x - 0.999 x) and independent ones average out, which no bound sees. Elements beyond the
//                close tolerance are checked against four times the largest sample.
//
// Within its limits a result is correct if it agrees to the digits that the tolerance (compare.hpp) requires,
// and borderline if rounding explains why fewer do: each element beyond the tolerance is checked against the
// samples; if each element is within it and only the norm is not, the norm is checked against twice the
// largest of the samples.
#pragma once
#include "graph/deviation.hpp"
#include "graph/reference.hpp"

namespace zellige::graph {

class Judge {
 public:
  /// `reference`: the run of the graph on `inputs`. `threads`: 0: all cores. If the graph omits roundings
  /// (omit_roundings.hpp), `declared` is the graph with them and `rounded` its reference. All of them must outlive
  /// the judge.
  Judge(const KernelGraph&, const std::vector<Array>& inputs, const Reference& reference, int threads = 0,
        const KernelGraph* declared = nullptr, const Reference* rounded = nullptr);

  /// Compares a kernel-level tensor that an operator makes, with its own dtype's tolerance or that of a
  /// narrower one.
  Comparison compare(int tensor, const Array& found);
  Comparison compare(int tensor, const Array& found, DType checked_as);

  static constexpr int samples = 12;

 private:
  void find_bounds();
  void sample();
  /// Returns whether `found` is equal, or is the result of a matmul or custom operator with so few elements
  /// one step away that no bound needs to be computed.
  bool next_to(int tensor, const Array& found) const;
  /// The bounds of a tensor, widened to one step for the number of elements that may deviate that far
  /// unexplained.
  Array limits(int tensor, const Array& found) const;

  const KernelGraph& graph_;
  const std::vector<Array>& inputs_;
  const Reference& reference_;
  int threads_;
  const KernelGraph* declared_;
  const Reference* rounded_;
  Reference bounds_;                // computed on demand, like the samples
  std::vector<Deviation> sampled_;  // per tensor: the largest deviations of the samples
};

}  // namespace zellige::graph
