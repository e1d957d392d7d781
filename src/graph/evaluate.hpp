// What each operator means, on dense row-major float64 arrays, rounded nowhere. These bodies are the
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

/// Any operator without a state: neither boundary, custom, accumulator nor reduction_max. `dtype`: of the operands, whose values
/// are integers if it is one.
void evaluate(OpKind, const Attributes&, const std::vector<Operand>&, const std::vector<Result>&,
              DType dtype = DType::f32);

/// y[..., j, ...] += f(x[..., j + k to, ...]) summed over k, along `dim`; f is the identity or the square.
void fold(const Operand& x, int dim, bool squared, const Result& y);

/// y[...] = max(y[...], max of x[...] along `dim`); dim -1: element by element. NaN wins.
void fold_max(const Operand& x, int dim, const Result& y);

/// How operands of other shapes are read at the elements of a result: NumPy's rules, dimensions counted from the last, those
/// of extent 1 and those that are missing broadcast.
class Broadcast {
 public:
  Broadcast(const Shape& result, const std::vector<Operand>& operands);

  std::int64_t rows() const { return rows_; }
  std::int64_t row_length() const { return length_; }
  /// Where a row of the result starts in operand i, and the step from one of its elements to the next.
  std::int64_t start(std::int64_t row, std::size_t i) const;
  std::int64_t step(std::size_t i) const { return steps_[i].back(); }

 private:
  Shape shape_;
  std::int64_t length_, rows_;
  std::vector<Strides> steps_;  // of each operand along each dimension: 0 where it is broadcast
};

/// y = f(a, b) with broadcast, f being any callable on two doubles.
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

/// Which matrices of two operands make each matrix of a product: batches broadcast.
struct Batches {
  explicit Batches(const Matrices&);
  std::vector<std::int64_t> a, b;  // by the product's batch
  std::int64_t count() const { return static_cast<std::int64_t>(a.size()); }
};

/// y += bias, which broadcasts to it.
void add_bias(const Operand& bias, const Result& y);

/// The operand of a matmul with `tf32`.
std::vector<double> in_tf32(const Operand&);

/// A composed operator's steps and what each of them gives, the operands in front.
struct Evaluation {
  Evaluation(OpKind, const Attributes&, const std::vector<Operand>& operands);
  std::vector<Operand> inputs(std::size_t step) const;

  std::vector<Step> steps;
  std::vector<Shape> shapes;  // of the steps' results
  std::vector<Operand> values;
  std::deque<std::vector<double>> storage;
};

/// The operands of an elementwise operator, its scalar as the last of them where one stands for a tensor.
std::vector<Operand> with_scalar(OpKind, const std::vector<Operand>& tensors, const double& scalar);

}  // namespace zellige::graph
