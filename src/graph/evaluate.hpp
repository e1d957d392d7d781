// What each operator means, on dense row-major float64 arrays, rounded nowhere. These bodies are the
// definition.
//
//   gelu is x/2 (1 + erf(x / sqrt 2)); silu is x / (1 + e^-x); reduction to n sums x[j + k n] over k into
//   y[j].
#pragma once
#include "graph/graph.hpp"

namespace zellige::graph {

struct Operand {
  const Shape& shape;
  const double* values;
};
struct Result {
  const Shape& shape;
  double* values;
};

/// The function of a unary operator at one point, and of a binary one.
double apply(OpKind, const Attributes&, double x);
double apply(OpKind, double x, double y);

/// Any operator without a state: neither boundary, custom, accumulator nor reduction_max.
void evaluate(OpKind, const Attributes&, const std::vector<Operand>&, const std::vector<Result>&);

/// y[..., j, ...] += f(x[..., j + k to, ...]) summed over k, along `dim`; f is the identity or the square.
void fold(const Operand& x, int dim, bool squared, const Result& y);

/// y[...] = max(y[...], max of x[...] along `dim`); dim -1: element by element. NaN wins.
void fold_max(const Operand& x, int dim, const Result& y);

/// y = f(a, b) with broadcast, f being any callable on two doubles.
template <class F>
void broadcast(const Operand& a, const Operand& b, const Result& y, const F& f);

template <class F>
void broadcast(const Operand& a, const Operand& b, const Result& y, const F& f) {
  const std::size_t rank = y.shape.size();
  // Steps of the operands along each dimension: 0 where it is broadcast.
  Strides sa = row_major(a.shape), sb = row_major(b.shape);
  for (std::size_t d = 0; d < rank; ++d) {
    if (a.shape[d] == 1) sa[d] = 0;
    if (b.shape[d] == 1) sb[d] = 0;
  }
  const std::int64_t n = y.shape[rank - 1], rows = size(y.shape) / n, ia = sa[rank - 1], ib = sb[rank - 1];
  for (std::int64_t row = 0; row < rows; ++row) {
    const double *pa = a.values, *pb = b.values;
    std::int64_t rest = row;
    for (std::size_t d = rank - 1; d-- > 0;) {
      const std::int64_t at = rest % y.shape[d];
      rest /= y.shape[d];
      pa += at * sa[d];
      pb += at * sb[d];
    }
    double* py = y.values + row * n;
    if (ia == 1 && ib == 1)
      for (std::int64_t i = 0; i < n; ++i) py[i] = f(pa[i], pb[i]);
    else
      for (std::int64_t i = 0; i < n; ++i) py[i] = f(pa[i * ia], pb[i * ib]);
  }
}

}  // namespace zellige::graph
