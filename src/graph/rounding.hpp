// Computes error bounds: how far rounding may move each element of a right kernel's result from the
// reference.
//
// This is a running error analysis. Each value x of the reference has an error e, and a right kernel has some
// x' with |x' - x| <= e. The errors of an operator's results follow from those of its operands:
//
//   inputs            0: they have the tensor's dtype
//   f of one operand  the larger distance of f(x + e) and f(x - e) from f(x), and the rounding of f itself
//   + - * / pow       the same over all corners x +- e of the operands
//   sums              the sum of the terms' errors, plus a fraction of the partial results that grows with
//                     the square root of the length, as float32 rounding errors do in any order (Higham and
//                     Mary, 2019)
//   storage           the distances between the roundings of x - e, x and x + e to the dtype: 0 if all three
//                     are the same number. That keeps bounds tight: few f16 values are so near a rounding
//                     boundary that float32 arithmetic decides their side.
#pragma once
#include <optional>

#include "graph/dtype.hpp"
#include "graph/evaluate.hpp"

namespace zellige::graph {

/// Values with their error bounds, both dense and row-major.
struct Uncertain {
  Operand at;
  const double* error;
};

/// Computes the errors of an operator's results from those of its operands, for the operators that evaluate()
/// accepts. `out`: the results' values. `errors`: where the errors are written. `repeats`: number of loop
/// iterations that add to a matmul's or reduction's accumulator. A matmul uses `threads` threads.
void propagate(OpKind, const Attributes&, DType, const std::vector<Uncertain>& in,
               const std::vector<Operand>& out, const std::vector<double*>& errors, std::int64_t repeats = 1,
               int threads = 1);

/// Adds to `error` the error of fold(x, dim, squared). `terms`: number of terms of the complete sum, of which
/// this fold may be a part.
void fold_error(const Uncertain& x, int dim, bool squared, std::int64_t terms, const Result& error);

/// Computes the error of the maximum of `before` and x along `dim`, as fold_max() computes it. `error` is
/// that of `before` on entry and that of the maximum on return.
void fold_max_error(const Uncertain& x, int dim, const Operand& before, const Result& error);

/// Computes the error of acc * r. `error` is that of `acc` on entry and that of the product on return.
void rescale_error(const Operand& acc, const Uncertain& r, const Result& error);

/// Computes the error of a mean, x / count, or of a root mean square, its root, if `root`. `x` is the sum.
/// `error` is that of the sum on entry and that of the result on return.
void mean_error(const Operand& x, double count, bool root, double* error);

/// Computes the error after rounding `x` to a dtype. `error` is that of `x` on entry and that of the rounded
/// value on return.
void storage_error(DType, const double* x, double* error, std::int64_t count);

/// Returns a bound of the change that rounding to nearest makes to numbers of the magnitude of x. With m bits
/// of mantissa it is |x| 2^-(m + 1), which is one to two times half a step of the format.
double max_rounding(const Format&, double x);

/// Returns whether the operator is a comparison. Its result jumps from 0 to 1 where the operands are equal;
/// it adds no error itself.
bool jumps(OpKind);
/// Returns whether the operator is a cast to an integer. Its result jumps where the operand crosses an
/// integer.
bool cuts(OpKind, const Attributes&);

/// Applies random errors to values, each no larger than a right kernel's may be. Results depend only on the
/// sample's number, the operator and the block, so that each sample can be repeated.
class Noise {
 public:
  Noise() = default;
  Noise(std::uint64_t sample, int op, std::int64_t block);

  /// Moves each x by a random amount between half of `own` and all of it, up or down. `own` bounds the
  /// operator's own error. In some calls all elements move away from zero, or all toward it, as the bias of a
  /// function or an order of summation would move them.
  void move(double* x, const double* own, std::int64_t count);

  /// Moves each x as rounding to a dtype might: independently, by up to max_rounding(). 0 remains 0.
  void round(DType, double* x, std::int64_t count);

  /// Perturbs a comparison's results where the operands' errors allow 0 as well as 1. After sample 4, a
  /// random half of these results is flipped.
  ///
  /// - Samples 1 and 2 choose opposite results, so that each such element is 0 in one of them and 1 in the
  ///   other. Chance alone would leave some of hundreds unchanged in all samples.
  /// - In sample 3 all are 1, in sample 4 all are 0: a kernel that rounds less than the graph moves all of
  ///   them in one direction.
  void perturb(double* x, const double* error, std::int64_t count);

  /// Perturbs y = cast(x), a cast to an integer, where the error of x allows two results. Chooses between
  /// them as perturb() chooses between 0 and 1.
  void cut(const Attributes&, const double* x, const double* error, double* y, std::int64_t count);

  /// Rounds each x to a dtype, in some samples to the other side of a boundary that is within its error. Of
  /// three consecutive samples, an element is rounded down in one, up in one and to nearest in one.
  void store(DType, double* x, const double* error, std::int64_t count);

 private:
  /// Returns 64 random bits.
  std::uint64_t next();
  /// Returns, in the first four samples, whether the next element that may have either of two values takes
  /// the greater one. That is true in two of these samples and false in two. Returns nullopt in later
  /// samples.
  std::optional<bool> first_side();
  std::uint64_t state_ = 0;
  std::uint64_t sample_ = 0, element_ = 0;  // element_: a counter that is the same in all samples
};

/// Returns the bound of the float32 error of a sum of n terms, relative to its partial results.
double sum_error(std::int64_t n);

}  // namespace zellige::graph
