// Bounds how far a right kernel may deviate from the reference, element by element: the deviation that
// rounding alone explains.
//
// A running error analysis: each value x of the reference has an error e, and a right kernel has some x' with
// |x' - x| <= e.
//
//   inputs            e = 0: they are given in their dtype
//   f of one operand  the distance of f(x + e) and f(x - e) from f(x), and the rounding of f itself
//                     (`own_error`)
//   + - * / pow       likewise, to first order or at the corners
//   sums              the sum of e, plus a share of the partial results that grows with the square root of the
//                     length, as float32 rounding errors do in any order (Higham and Mary, 2019)
//   storage           the distance between the roundings of x - e, x and x + e: 0 if all three are the same
//                     number. That keeps the bound tight: few f16 values are so near a boundary that float32
//                     decides their side.
#pragma once
#include <optional>

#include "graph/dtype.hpp"
#include "graph/evaluate.hpp"

namespace zellige::graph {

/// Values with their errors; both dense and row-major.
struct Uncertain {
  Operand at;
  const double* error;
};

/// Computes the errors of an operator's results `out` (evaluate's operators). `repeats`: the number of
/// iterations over which a matmul or a reduction accumulates. A kernel-level matmul uses `threads` threads.
void propagate(OpKind, const Attributes&, DType, const std::vector<Uncertain>& in,
               const std::vector<Operand>& out, const std::vector<double*>& errors, std::int64_t repeats = 1,
               int threads = 1);

/// Adds to `error` that of fold(x), as a part of sums of `terms` terms.
void fold_error(const Uncertain& x, int dim, bool squared, std::int64_t terms, const Result& error);

/// The error of y = fold_max(before, x): `error` holds that of `before` on entry and that of the result on
/// return.
void fold_max_error(const Uncertain& x, int dim, const Operand& before, const Result& error);

/// Replaces `error`, that of acc, by the error of acc * r.
void rescale_error(const Operand& acc, const Uncertain& r, const Result& error);

/// The errors of mean and root mean square: x / count, then its root if `root`. `x` is the sum before the
/// division.
void mean_error(const Operand& x, double count, bool root, double* error);

/// The error after rounding to a storage type; `x` is not rounded yet.
void storage_error(DType, const double* x, double* error, std::int64_t count);

/// Largest change that rounding to nearest makes to numbers of the magnitude of x: half a step from a power
/// of two.
double max_rounding(const Format&, double x);

/// Returns whether the operator is a comparison: its result jumps where its operands are equal, and it adds
/// no error of its own.
bool jumps(OpKind);
/// Returns whether the operator is a cast to an integer: its result jumps where its operand crosses one.
bool cuts(OpKind, const Attributes&);

/// Random errors no larger than a right kernel's may be. Deterministic per sample, operator and block.
class Noise {
 public:
  Noise() = default;
  Noise(std::uint64_t sample, int op, std::int64_t block);

  /// Moves x by between half and all of `own`: each element up or down at random, or sometimes all one way,
  /// as a function's bias or an order of summation would.
  void move(double* x, const double* own, std::int64_t count);

  /// Moves x as rounding to a dtype might: by up to max_rounding(), independently per element; 0 stays 0.
  void round(DType, double* x, std::int64_t count);

  /// Comparisons: flips half of the results that may be either, given the errors of the operands. In the
  /// first two samples each such result is 0 in one and 1 in the other (chance alone would leave some of
  /// hundreds unchanged in all twelve samples); in the third all are 1, in the fourth 0: a kernel that rounds
  /// less than the graph moves all of them one way.
  void perturb(double* x, const double* error, std::int64_t count);

  /// Casts to an integer, y = cast(x): where the error of x allows both sides of an integer, chooses y's side
  /// as for comparisons.
  void cut(const Attributes&, const double* x, const double* error, double* y, std::int64_t count);

  /// Rounds x, sometimes to the other side of a boundary within its error: in any three consecutive samples,
  /// an element goes down in one and up in another.
  void store(DType, double* x, const double* error, std::int64_t count);

 private:
  std::uint64_t next();
  /// Side of the next ambiguous element: in the first four samples, whether it takes the greater value (true
  /// in two, false in two); nothing in later samples.
  std::optional<bool> first_side();
  std::uint64_t state_ = 0;
  std::uint64_t sample_ = 0, element_ = 0;  // element_: of store, the same for all samples
};

/// float32 error of a sum of n terms, relative to its partial results.
double sum_error(std::int64_t n);

}  // namespace zellige::graph
