// Decides whether what a kernel computed is right: the one place where that is decided.
//
//   Judge judge(g, inputs, reference);
//   const Comparison c = judge.compare(tensor, found);   // correct; explained: borderline; neither: wrong
//
// Each element has a limit of its own, which no tolerance widens. Past any of the limits a result is wrong:
//
//   the bound    how far rounding may take a right kernel (rounding.hpp): one more run of the reference. Of n elements, n * 2^(m - 19)
//                and at most n / 256 may lie one step of their dtype, which has m bits of mantissa, from the reference without it
//                (those that float32 puts on the other side of a rounding boundary), unless the tensor is exact.
//   the samples  how far it goes in runs that rounding has moved at random; what rounds the same way everywhere cancels there
//                (softmax, x - 0.999 x), and what rounds at random averages out, which no bound sees. Elements that are past the
//                close tolerance are held to four times the greatest of them.
//
// Within its limits a result is correct if as many digits agree as the tolerance (compare.hpp) asks for, and borderline if rounding
// explains why fewer do: each element that is past the tolerance is held to the samples; where each is within it and only the
// norm is not, to twice the samples' greatest norm.
#pragma once
#include "graph/deviation.hpp"
#include "graph/reference.hpp"

namespace zellige::graph {

class Judge {
 public:
  /// `reference` is the graph's on `inputs`; it takes so many threads, 0: all there are. Where roundings are left out of the graph
  /// (left_out.hpp), `stated` asks for them and `rounded` is its reference. All of them outlive the judge.
  Judge(const KernelGraph&, const std::vector<Array>& inputs, const Reference& reference, int threads = 0,
        const KernelGraph* stated = nullptr, const Reference* rounded = nullptr);

  /// A kernel-level tensor that an operator makes; held to its own dtype's tolerance, or to that of a narrower one.
  Comparison compare(int tensor, const Array& found);
  Comparison compare(int tensor, const Array& found, DType held_to);

  static constexpr int samples = 12;

 private:
  void find_bounds();
  void sample();
  /// Whether found is equal, or of a product or a custom operator and so few of its elements one step away, that no bound needs to
  /// be found out.
  bool next_to(int tensor, const Array& found) const;
  /// The bounds of a tensor, with one step for as many elements as may lie that far without a reason.
  Array limits(int tensor, const Array& found) const;

  const KernelGraph& graph_;
  const std::vector<Array>& inputs_;
  const Reference& reference_;
  int threads_;
  const KernelGraph* stated_;
  const Reference* rounded_;
  Reference bounds_;                // once it is asked for, as what follows
  std::vector<Deviation> sampled_;  // by tensor: the greatest of the samples
};

}  // namespace zellige::graph
