// Computes error bounds: how far rounding may move each element of a right kernel's result from the reference.
//
// This is a running error analysis. Each value x of the reference has an error bound e: the value x' of a right
// kernel satisfies |x' - x| <= e. The bounds of an operator's results follow from those of its operands:
//
//   inputs            0, because their values are given in their dtype
//   f of one operand  the larger distance of f(x + e) and f(x - e) from f(x), plus the rounding of f itself
//   + - * / pow       the largest distance over all corners x +- e of the operands, plus the operator's rounding
//   sums              the sum of the terms' bounds, plus a fraction of the partial results that grows with the
//                     square root of the number of terms, as float32 rounding errors do in any order (Higham
//                     and Mary, 2019)
//   storage           the larger distance of round(x - e) and round(x + e) from round(x), where round is the
//                     rounding to the dtype. It is 0 for most f16 values, because few are so near a rounding
//                     boundary that float32 errors cross it.
//
// Numbers of f64 are computed in float64, and the reference's errors count as a kernel's do: both are 2^28 times smaller.
#pragma once
#include "graph/dtype.hpp"
#include "reference/evaluate.hpp"

namespace zellige::reference {

/// Values with their error bounds, both dense and row-major.
struct Uncertain {
  OperandValues at;
  const double* error;
};

/// Computes the error bounds of an operator's results from those of its operands, for the operators that evaluate()
/// accepts. `out`: values of the results. `errors`: where the error bounds of each result are written. `repeats`:
/// number of loop iterations whose results an accumulator adds up. A matmul uses `threads` threads.
void propagate(graph::OpKind, const graph::Attributes&, graph::DType, const std::vector<Uncertain>& in,
               const std::vector<OperandValues>& out, const std::vector<double*>& errors, std::int64_t repeats = 1,
               int threads = 1);

/// Adds to `error` the error bounds of sums of x (if `squared`, of its squares) along `dim`, as fold()
/// computes them, of numbers of this type. `terms`: number of terms of a complete sum, of which this call may add only some.
void fold_error(const Uncertain& x, int dim, bool squared, std::int64_t terms, const ResultValues& error,
                graph::DType = graph::DType::f32);

/// Computes the error bound of the maximum of `before` and x along `dim`, as fold() computes it. `error`
/// is the bound of `before` on entry and that of the maximum on return.
void fold_max_error(const Uncertain& x, int dim, const OperandValues& before, const ResultValues& error);

/// Computes the error bound of what the elementwise operator `join` makes of an accumulator's value `acc` and of x, such
/// as acc * x. `error` is the bound of `acc` on entry and that of the result on return.
void joined_error(graph::OpKind join, const OperandValues& acc, const Uncertain& x, const ResultValues& error,
                  graph::DType = graph::DType::f32);

/// Computes the error bound of the mean x / count, where x is a sum of `count` terms, or, if `root`, of the square root
/// of this mean (root mean square). `error` is the bound of x on entry and that of the result on return.
void mean_error(const OperandValues& x, double count, bool root, double* error, graph::DType = graph::DType::f32);

/// Computes the error bounds of values x after rounding to a dtype. `error` has the bounds before
/// rounding on entry, and those after rounding on return.
void storage_error(graph::DType, std::span<const double> x, std::span<double> error);

/// Returns a bound of the change that rounding to nearest makes to numbers of the magnitude of x: |x| 2^-(m +
/// 1) for m bits of mantissa, which is one to two times half a step of the format.
double max_rounding(const graph::Format&, double x);

/// Returns whether the operator is a comparison, whose result jumps from 0 to 1 where the operands are equal.
/// A comparison adds no error itself.
bool jumps(graph::OpKind);
/// Returns whether the operator is a cast to an integer, whose result jumps where the operand crosses an integer.
bool cuts(graph::OpKind, const graph::Attributes&);

/// Returns a bound of the error of a sum of n terms in float32, or in float64 of f64, relative to the size of its partial
/// results.
double sum_error(std::int64_t n, graph::DType = graph::DType::f32);

}  // namespace zellige::reference
