// Decides whether a kernel's result is right, given the float64 reference. No other code decides that.
//
//   Judge judge(g, inputs, reference);
//   const Comparison c = judge.compare(tensor, found);
//   c.correct                                            // else c.explained: borderline; else: wrong
//
// A result is wrong if the deviation of an element exceeds the element's limit, whatever the tolerance is. The
// limit is the smaller of two numbers:
//
//   bounds    The error bound: how far rounding may move the element in a right kernel (rounding.hpp), computed
//             by one more run of the reference. For a few elements one step of the dtype is allowed instead,
//             because float32 arithmetic puts them on the other side of a rounding boundary: for at most
//             min(n * 2^(m - 19), n / 256) of n elements, where m is the dtype's number of mantissa bits.
//   samples   Four times the largest deviation of the element in reference runs with random rounding, but at
//             least the close tolerance (compare.hpp). In these runs correlated errors cancel (softmax,
//             x - 0.999 x) and independent errors average out, which error bounds do not show. A result that
//             they call wrong is compared with more runs: one operand of a matmul next to a rounding boundary
//             moves a whole row, in one run of some dozens.
//
// The rows and the scale of a tensor (deviation.hpp) have limits from the samples, too.
//
// A result within its limits is correct if it is within the tolerance (compare.hpp). A result outside the
// tolerance is borderline if random rounding explains its deviation:
//   - each element outside the tolerance deviates by at most four times its largest deviation in the samples, or
//   - only the norm is outside the tolerance, and it is at most twice the largest norm in the samples.
#pragma once
#include "reference/deviation.hpp"
#include "reference/reference.hpp"

namespace zellige::reference {

/// Compares results of one graph on one set of inputs. Bounds and samples are computed when they are first
/// needed, because each costs as much as several runs of the reference.
class Judge {
 public:
  /// Prepares to compare results of a graph on `inputs` with `reference`, the reference's results. `threads`:
  /// 0 means one per core. If the graph omits roundings (omit_roundings.hpp), `declared` is the original
  /// graph, which has them, and `rounded` its reference. All arguments must outlive the judge.
  Judge(const graph::KernelGraph&, const std::vector<Array>& inputs, const Reference& reference, int threads = 0,
        const graph::KernelGraph* declared = nullptr, const Reference* rounded = nullptr);

  /// Compares `found`, a kernel's result for a kernel-level tensor, with the reference, under the tolerance of the
  /// tensor's dtype or of `checked_as`, such as a narrower one. The tensor must be the result of an operator.
  Comparison compare(int tensor, const Array& found, std::optional<graph::DType> checked_as = std::nullopt);

  static constexpr int samples = 12, more_samples = 96;  // runs with random rounding; in all, if a result seems wrong

 private:
  /// Runs the reference with random rounding, `runs` times in all, and stores each tensor's largest deviations.
  void sample(int runs);
  /// Compares a result whose error bounds are `limits` with the samples.
  Comparison compare_with_samples(int tensor, const Array& found, graph::DType, Array limits) const;
  /// Returns whether `found` is so near the reference that no error bounds are needed. True if the two are equal, or if
  /// a matmul or custom operator computes the tensor and only few elements deviate, each by one step of the dtype.
  bool next_to(int tensor, const Array& found) const;
  /// Returns the limit of each element's deviation: its error bound. For a few elements of `found` that exceed this
  /// bound because they are rounded to the next number of the dtype, the limit is one step of the dtype instead.
  Array limits(int tensor, const Array& found) const;

  const graph::KernelGraph& graph_;
  const std::vector<Array>& inputs_;
  const Reference& reference_;
  int threads_;
  const graph::KernelGraph* declared_;
  const Reference* rounded_;
  Reference bounds_;                // error bounds; computed on demand, like the samples
  std::vector<Deviation> sampled_;  // per tensor: the largest deviations of the samples
  int sampled_runs_ = 0;
};

}  // namespace zellige::reference
