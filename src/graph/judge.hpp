// Decides whether a kernel's result is right, given the float64 reference. No other code decides that.
//
//   Judge judge(g, inputs, reference);
//   const Comparison c = judge.compare(tensor, found);   // correct; explained: borderline; neither: wrong
//
// Each element has a limit of its own, whatever the tolerance is. A result that exceeds any limit is wrong.
// Limits come from two sources:
//
//   bounds    How far rounding may move a right kernel (rounding.hpp), computed by one more run of the
//             reference. Of n elements that are not exact, n * 2^(m - 19) and at most n / 256 may be outside
//             their bound by one step of their dtype, where m is its number of mantissa bits: float32
//             arithmetic puts them on the other side of a rounding boundary.
//   samples   How far rounding moves runs of the reference in which it is random. Correlated errors cancel
//             there (softmax, x - 0.999 x) and independent ones average out, which no bound can see. Elements
//             outside the close tolerance (compare.hpp) may deviate by four times the largest sample.
//
// A result within its limits is correct if it agrees to the digits that the tolerance (compare.hpp) requires.
// It is borderline if rounding explains why fewer digits agree. An element outside the tolerance may deviate
// by four times the largest sample. If only the norm is outside, it may be twice the largest norm of the
// samples.
#pragma once
#include "graph/deviation.hpp"
#include "graph/reference.hpp"

namespace zellige::graph {

/// Compares results of one graph on one set of inputs. Bounds and samples are computed when they are first
/// needed, because each costs as much as several runs of the reference.
class Judge {
 public:
  /// Prepares to compare results of a graph on `inputs` with `reference`, the reference's results. `threads`:
  /// 0 means one per core. If the graph omits roundings (omit_roundings.hpp), `declared` is the original
  /// graph, which has them, and `rounded` its reference. All arguments must outlive the judge.
  Judge(const KernelGraph&, const std::vector<Array>& inputs, const Reference& reference, int threads = 0,
        const KernelGraph* declared = nullptr, const Reference* rounded = nullptr);

  /// Compares a kernel's result for `tensor`, a kernel-level tensor that an operator computes, under the
  /// tolerance of the tensor's dtype.
  Comparison compare(int tensor, const Array& found);
  /// Compares a kernel's result for `tensor` under the tolerance of the dtype `checked_as`, such as a
  /// narrower one.
  Comparison compare(int tensor, const Array& found, DType checked_as);

  static constexpr int samples = 12;  // number of runs with random rounding

 private:
  /// Computes the error bounds of all tensors, unless they are known.
  void find_bounds();
  /// Runs the samples and keeps the largest deviations.
  void sample();
  /// Returns whether `found` is so near the reference that no bound needs to be computed. That is so if it is
  /// equal, or if it is the result of a matmul or custom operator of which few elements are one step away.
  bool next_to(int tensor, const Array& found) const;
  /// Returns the limit of each element: its error bound, raised to one step for as many elements as may
  /// deviate by a step without further evidence.
  Array limits(int tensor, const Array& found) const;

  const KernelGraph& graph_;
  const std::vector<Array>& inputs_;
  const Reference& reference_;
  int threads_;
  const KernelGraph* declared_;
  const Reference* rounded_;
  Reference bounds_;                // error bounds; computed on demand, like the samples
  std::vector<Deviation> sampled_;  // per tensor: the largest deviations of the samples
};

}  // namespace zellige::graph
