// Defines what each operator means, on dense row-major float64 arrays, without rounding. These bodies are the
// definition.
//
//   gelu is x/2 (1 + erf(x / sqrt 2)); silu is x / (1 + e^-x); reduction to n sums x[j + k n] over k into
//   y[j].
#pragma once
#include <deque>

#include "graph/compose.hpp"
#include "graph/matrices.hpp"

namespace zellige::graph {

struct Operand {
  const Shape& shape;
  const double* values;
};
struct Result {
  const Shape& shape;
  double* values;
};

/// Evaluates any operator without a state (not a boundary, custom, accumulator or reduction_max). `dtype`:
/// that of the operands; an integer dtype means integer values.
void evaluate(OpKind, const Attributes&, const std::vector<Operand>&, const std::vector<Result>&,
              DType dtype = DType::f32);

/// y[..., j, ...] += f(x[..., j + k to, ...]) summed over k, along `dim`; f is the identity or the square.
void fold(const Operand& x, int dim, bool squared, const Result& y);

/// y[...] = max(y[...], max of x[...] along `dim`); dim -1: elementwise. NaN wins.
void fold_max(const Operand& x, int dim, const Result& y);

/// Reads operands at the elements of a result by NumPy's broadcasting rules: dimensions count from the last;
/// missing ones and those of extent 1 broadcast.
class Broadcast {
 public:
  Broadcast(const Shape& result, const std::vector<Operand>& operands);

  std::int64_t rows() const { return rows_; }
  std::int64_t row_length() const { return length_; }
  /// Offset in operand i at which a row of the result starts, and the step between its elements.
  std::int64_t start(std::int64_t row, std::size_t i) const;
  std::int64_t step(std::size_t i) const { return steps_[i].back(); }

 private:
  Shape shape_;
  std::int64_t length_, rows_;
  std::vector<Strides> steps_;  // of each operand along each dimension; 0: broadcast
};

/// y = f(a, b) with broadcasting, for any callable f on two doubles.
template <class F>
void broadcast(const Operand& a, const Operand& b, const Result& y, const F& f) {
  const Broadcast walk(y.shape, {a, b});
  const std::int64_t n = walk.row_length(), ia = walk.step(0), ib = walk.step(1);
  for (std::int64_t row = 0; row < walk.rows(); ++row) {
    const double *pa = a.values + walk.start(row, 0), *pb = b.values + walk.start(row, 1);
    double* py = y.values + row * n;
    for (std::int64_t i = 0; i < n; ++i) py[i] = f(pa[i * ia], pb[i * ib]);
  }
}

/// Pairs of operand matrices that make each matrix of a batched matmul; batches broadcast.
struct Batches {
  explicit Batches(const Matrices&);
  std::vector<std::int64_t> a, b;  // per batch of the result
  std::int64_t count() const { return static_cast<std::int64_t>(a.size()); }
};

/// y += bias, which broadcasts to it.
void add_bias(const Operand& bias, const Result& y);

/// The operand of a matmul with `tf32`, rounded to tf32.
std::vector<double> in_tf32(const Operand&);

/// The steps of a composite operator and their results, preceded by the operands.
struct Evaluation {
  Evaluation(OpKind, const Attributes&, const std::vector<Operand>& operands);
  std::vector<Operand> inputs(std::size_t step) const;

  std::vector<Step> steps;
  std::vector<Shape> shapes;  // of the steps' results
  std::vector<Operand> values;
  std::deque<std::vector<double>> storage;
};

/// The operands of an elementwise operator, with its scalar as the last one if it replaces a tensor.
std::vector<Operand> with_scalar(OpKind, const std::vector<Operand>& tensors, const double& scalar);

}  // namespace zellige::graph
