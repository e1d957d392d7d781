// Evaluates operators on dense row-major float64 arrays, without rounding. These functions define what each
// operator computes.
//
//   gelu is x/2 (1 + erf(x / sqrt 2)); silu is x / (1 + e^-x);
//   reduction to n elements: y[j] is the sum of x[j + k n] over all k.
#pragma once
#include <deque>

#include "graph/compose.hpp"
#include "graph/infer.hpp"
#include "graph/reductions.hpp"
#include "graph/view.hpp"
#include "reference/array.hpp"

namespace zellige::reference {

/// An operand's values; the shape must outlive the operand.
struct OperandValues {
  OperandValues(const graph::Shape& of, const double* first) : shape(of), values(first) {}
  OperandValues(const Array& a) : OperandValues(a.shape, a.values.data()) {}
  const graph::Shape& shape;
  const double* values;
};
/// Where an operator's result is written; the shape must outlive the Result.
struct ResultValues {
  ResultValues(const graph::Shape& of, double* first) : shape(of), values(first) {}
  ResultValues(Array& a) : ResultValues(a.shape, a.values.data()) {}
  const graph::Shape& shape;
  double* values;
};

/// Evaluates an operator and writes its results. `dtype` is the dtype of the operands; values of an integer
/// dtype must be integers. Throws Error for operators that need a loop, a block or a caller's memory:
/// accumulators, reduction_max, custom, input and output. A matmul uses `threads` threads.
void evaluate(graph::OpKind, const graph::Attributes&, const std::vector<OperandValues>&,
              const std::vector<ResultValues>&, graph::DType dtype = graph::DType::f32, int threads = 1);

/// Reduces x along `dim` and joins the results to y: y[..., j, ...] and f(x[..., j + k to, ...]) over all k. `to` is
/// y's extent along `dim`; f is the square if `squares`, otherwise the identity. If `dim` is -1, joins x and y element by
/// element. A NaN makes the result NaN.
void fold(const graph::Monoid&, const OperandValues& x, int dim, bool squares, const ResultValues& y);

/// A shape split at one dimension: the product of the extents before it, its extent, the product of those after it.
struct Around {
  std::int64_t outer = 1, extent = 1, inner = 1;
  Around(const graph::Shape& shape, int dim) : extent(shape[dim]) {
    for (int d = 0; d < static_cast<int>(shape.size()); ++d)
      if (d != dim) (d < dim ? outer : inner) *= shape[d];
  }
};

/// Calls copy(offset in the tensor, offset in the part, count) for each contiguous block of a part of a
/// tensor. `whole`, `part`: shapes of the tensor and the part, which begins at index `offset` along `dim`.
template <class Copy>
void copy_part(const graph::Shape& whole, const graph::Shape& part, int dim, std::int64_t offset, const Copy& copy) {
  const Around w(whole, dim), p(part, dim);
  for (std::int64_t o = 0; o < w.outer; ++o)
    copy((o * w.extent + offset) * w.inner, o * p.extent * p.inner, p.extent * p.inner);
}

/// Evaluates a concat or split by copy(element in the whole, number of the part, element in the part, count) for each
/// contiguous block. `whole`: the shape of the tensor; `parts`: of its parts, which follow each other along `dim`.
template <class Copy>
void copy_parts(const graph::Shape& whole, const std::vector<graph::Shape>& parts, int dim, const Copy& copy) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < parts.size(); offset += parts[i++][dim])
    copy_part(whole, parts[i], dim, offset, [&](std::int64_t w, std::int64_t p, std::int64_t n) { copy(w, i, p, n); });
}

/// Evaluates a view, such as permute, by copying its elements from `x`, of shape `from`, to `y`, of shape `to`.
template <class T>
void copy_view(graph::OpKind kind, const graph::Attributes& attributes, const graph::Shape& from, const T* x,
               const graph::Shape& to, T* y) {
  const graph::Viewed v = *graph::viewed(kind, attributes, from, graph::row_major(from), to);
  for (std::size_t d = 0; d < to.size(); ++d) x += v.starts[d] * v.steps[d];
  const std::int64_t n = to.back(), step = v.steps.back();
  for (std::int64_t row = 0; row < graph::size(to) / n; ++row) {
    std::int64_t rest = row, at = 0;
    for (std::size_t d = to.size() - 1; d-- > 0; rest /= to[d]) at += rest % to[d] * v.steps[d];
    for (std::int64_t i = 0; i < n; ++i) y[row * n + i] = x[at + i * step];
  }
}

/// Finds the operands' elements for each row of a result, by NumPy's broadcasting rules: dimensions count
/// from the last, and a missing one or one of extent 1 is repeated. A row runs along the last dimension.
class Broadcast {
 public:
  Broadcast(const graph::Shape& result, const std::vector<OperandValues>& operands);

  std::int64_t rows() const { return rows_; }
  std::int64_t row_length() const { return length_; }
  /// Returns the offset in operand i that corresponds to the first element of row `row` of the result.
  std::int64_t start(std::int64_t row, std::size_t i) const;
  /// Returns operand i's stride for a step of one element along a row of the result; 0 if it is broadcast along rows.
  std::int64_t step(std::size_t i) const { return steps_[i].back(); }

 private:
  graph::Shape shape_;
  std::int64_t length_, rows_;
  std::vector<graph::Strides> steps_;  // per operand and dimension; 0: repeated
};

/// Computes y = f(a, b) elementwise with broadcasting. `f` is any function of two doubles.
template <class F>
void broadcast(const OperandValues& a, const OperandValues& b, const ResultValues& y, const F& f) {
  const Broadcast walk(y.shape, {a, b});
  const std::int64_t n = walk.row_length(), ia = walk.step(0), ib = walk.step(1);
  for (std::int64_t row = 0; row < walk.rows(); ++row) {
    const double *pa = a.values + walk.start(row, 0), *pb = b.values + walk.start(row, 1);
    double* py = y.values + row * n;
    for (std::int64_t i = 0; i < n; ++i) py[i] = f(pa[i * ia], pb[i * ib]);
  }
}

/// For each matrix of a batched matmul's result, the indices of the two operand matrices; batches broadcast.
struct Batches {
  explicit Batches(const graph::MatmulShapes&);
  std::vector<std::int64_t> a, b;  // per batch of the result
  std::int64_t count() const { return static_cast<std::int64_t>(a.size()); }
};

/// Returns an operand's values rounded to tf32, as a matmul with `tf32` reads them.
std::vector<double> in_tf32(const OperandValues&);

/// Evaluates a composite operator and keeps the results of all steps, for the error analysis.
struct Evaluation {
  /// `computed`: f64, or f32 for operators that kernels do not compute in float64.
  Evaluation(graph::OpKind, const graph::Attributes&, const std::vector<OperandValues>& operands,
             graph::DType computed = graph::DType::f32);

  std::vector<graph::ComposedStep> steps;
  std::vector<graph::Shape> shapes;         // per step: the shape of its result
  std::vector<OperandValues> values;        // the operands, then the result of each step
  std::deque<std::vector<double>> storage;  // memory of the results
};

/// Returns the operands of an elementwise operator: the tensors, and after them `scalar` if it replaces the
/// last tensor. `scalar` must outlive the result.
std::vector<OperandValues> with_scalar(graph::OpKind, const std::vector<OperandValues>& tensors, const double& scalar);

}  // namespace zellige::reference
