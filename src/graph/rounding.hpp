// How far a kernel that is right may lie from the reference: what rounding alone explains, element by element.
//
// A running error analysis. Beside each value x of the reference goes e: a right kernel has some x' with |x' - x| <= e.
//
//   inputs            e = 0: they are given in their dtype
//   f of one operand  how far f(x + e) and f(x - e) lie from f(x), and the rounding of f itself (`own_error`)
//   + - * / pow       likewise, to first order or at the corners
//   sums              the sum of e, and of the partial sums a share that grows with the square root of the length, as
//                     rounding errors in float32 do whatever the order (Higham and Mary, 2019)
//   storage           the distance between the roundings of x - e, x and x + e: 0 where all three are one number. That is
//                     what keeps the bound tight: next to no f16 lies so near a boundary that float32 decides its side.
#pragma once
#include <optional>

#include "graph/dtype.hpp"
#include "graph/evaluate.hpp"

namespace zellige::graph {

/// Values and their errors; both dense and row-major.
struct Uncertain {
  Operand at;
  const double* error;
};

/// The errors of an operator's results `out` (evaluate's operators); `repeats`: the iterations over which a matmul or a
/// reduction is carried on. A kernel-level matmul takes as many threads as it is given.
void propagate(OpKind, const Attributes&, DType, const std::vector<Uncertain>& in,
               const std::vector<Operand>& out, const std::vector<double*>& errors, std::int64_t repeats = 1,
               int threads = 1);

/// Adds to `error` what fold() of x leaves, as a part of sums of `terms` terms.
void fold_error(const Uncertain& x, int dim, bool squared, std::int64_t terms, const Result& error);

/// The error of y = fold_max(before, x): `error` holds that of `before` and takes that of the result.
void fold_max_error(const Uncertain& x, int dim, const Operand& before, const Result& error);

/// acc * r, of accumulators with errors of their own: replaces `error`, that of acc.
void rescale_error(const Operand& acc, const Uncertain& r, const Result& error);

/// x / count, then its root if `root`: the errors of mean and root mean square. `x` is the sum before it is divided.
void mean_error(const Operand& x, double count, bool root, double* error);

/// The error behind the rounding to a storage type; `x` is not rounded yet.
void storage_error(DType, const double* x, double* error, std::int64_t count);

/// The most that rounding to nearest moves numbers of the magnitude of x by: half a step from a power of two.
double most_rounded(const Format&, double x);

/// Is it a comparison, whose result jumps where its operands are equal? No small error of its own moves that.
bool jumps(OpKind);
/// Is it a cast to an integer, whose result jumps where its operand passes one?
bool cuts(OpKind, const Attributes&);

/// Errors drawn at random, no larger than a right kernel's may be. The same for the same sample, operator and block.
class Noise {
 public:
  Noise() = default;
  Noise(std::uint64_t sample, int op, std::int64_t block);

  /// Moves x by half of `own` up to all of it: each element up or down, or now and then all one way, as a function's bias or
  /// an order of summing would.
  void move(double* x, const double* own, std::int64_t count);

  /// Moves x as its rounding to a dtype might: by up to most_rounded(), each element by itself; 0 stays 0.
  void round(DType, double* x, std::int64_t count);

  /// Of comparisons: every other result that may be either, given how far its operands may lie, is turned over. In the first two
  /// samples each is 0 in one and 1 in the other: of hundreds, chance alone leaves one as it is in all twelve. In the third all are
  /// 1, in the fourth 0: who rounds less than the graph turns all of them one way.
  void turn(double* x, const double* error, std::int64_t count);

  /// Of casts to an integer, y of x: where x, given how far it may lie, is on either side of one, y goes to a side as comparisons do.
  void cut(const Attributes&, const double* x, const double* error, double* y, std::int64_t count);

  /// Rounds x, now and then to the other side of a boundary that lies within its error: of any three samples in a row, an element goes
  /// down in one and up in another.
  void store(DType, double* x, const double* error, std::int64_t count);

 private:
  std::uint64_t next();
  /// Of the next element that may be either: in the first four samples whether it is the greater, true in two and false in two.
  std::optional<bool> first_side();
  std::uint64_t state_ = 0;
  std::uint64_t sample_ = 0, element_ = 0;  // stored: the same for all samples
};

/// What float32 arithmetic adds to the error of a sum of n terms, as a share of its partial sums.
double sum_error(std::int64_t n);

}  // namespace zellige::graph
