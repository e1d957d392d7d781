#include "reference/evaluate.hpp"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <functional>
#include <set>

#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/kept.hpp"
#include "graph/ops.hpp"
#include "graph/rows.hpp"
#include "graph/unfold.hpp"
#include "reference/gemm.hpp"
#include "reference/parallel.hpp"

namespace zellige::reference {

Magnitude magnitude(std::span<const double> values, Mask mask) {
  double greatest = 0, poison = 0;  // x - x is 0 for finite x and NaN otherwise
  for (const double x : values) {
    if (mask != Mask::none && x != x) continue;
    if (mask == Mask::infinity && x <= -FLT_MAX) continue;
    const double m = std::fabs(x);
    greatest = greatest > m ? greatest : m;
    poison += x - x;
  }
  return {greatest, poison == 0};
}

namespace {

/// Applies an elementwise operator's definition `f` to one row of `n` elements of N operands, with the
/// arithmetic `m`. `from`, `step`: the first element and the stride of each operand; `to`: the result. The
/// loop is vectorized if all operands are contiguous along the row.
template <int N, class M, class F>
void map_row(const F& f, M m, const graph::Attributes& a, std::int64_t n,
             const std::array<const double*, graph::max_operands>& from,
             const std::array<std::int64_t, graph::max_operands>& step, double* to) {
  bool dense = true;
  for (int k = 0; k < N; ++k) dense = dense && step[k] == 1;
  const auto run = [&](auto at) {
    for (std::int64_t i = 0; i < n; ++i) {
      double x[N];
      for (int k = 0; k < N; ++k) x[k] = from[k][at(k, i)];
      to[i] = f(m, a, static_cast<const double*>(x));
    }
  };
  if (dense)
    run([](int, std::int64_t i) { return i; });
  else
    run([&](int k, std::int64_t i) { return i * step[k]; });
}

/// Evaluates an elementwise operator with broadcasting, row by row.
template <class M>
void map(graph::OpKind kind, M m, const graph::Attributes& attributes, const std::vector<OperandValues>& in,
         const ResultValues& y) {
  const Broadcast walk(y.shape, in);
  graph::with_elementwise(kind, [&](const auto& f, auto operands) {
    constexpr int n = decltype(operands)::value;
    std::array<std::int64_t, graph::max_operands> step{};
    for (int k = 0; k < n; ++k) step[k] = walk.step(k);
    for (std::int64_t row = 0; row < walk.rows(); ++row) {
      std::array<const double*, graph::max_operands> from{};
      for (int k = 0; k < n; ++k) from[k] = in[k].values + walk.start(row, k);
      map_row<n>(f, m, attributes, walk.row_length(), from, step, y.values + row * walk.row_length());
    }
  });
}

/// Computes a batched matmul without a bias, in parallel over tiles of the result.
void matmul(const OperandValues& a, const OperandValues& b, const ResultValues& c, int threads) {
  const graph::MatmulShapes of = graph::matrices(a.shape, b.shape);
  const std::int64_t m = of.product[of.product.size() - 2], k = a.shape.back(), n = of.product.back();
  const Batches batches(of);
  constexpr std::int64_t rows = 128, columns = 480;
  const std::int64_t down = (m + rows - 1) / rows, across = (n + columns - 1) / columns;
  parallel_for(batches.count() * down * across, threads, [&](std::int64_t task, int) {
    const std::int64_t j = task % across * columns, i = task / across % down * rows, t = task / (across * down);
    gemm(std::min(rows, m - i), std::min(columns, n - j), k, a.values + (batches.a[t] * m + i) * k, k,
         b.values + batches.b[t] * k * n + j, n, c.values + (t * m + i) * n + j, n);
  });
}

/// Returns the shapes of operands or results.
std::vector<graph::Shape> shapes_of(const auto& tensors) {
  std::vector<graph::Shape> shapes;
  for (const auto& t : tensors) shapes.push_back(t.shape);
  return shapes;
}

/// Returns element number i of `numbers` as a row index. Throws Error unless it is an integer in [0, bound).
std::int64_t number_of(graph::OpKind kind, const OperandValues& numbers, std::int64_t i, std::int64_t bound) {
  const double n = numbers.values[i];
  if (!(n >= 0 && n < static_cast<double>(bound)) || n != std::floor(n))
    fail("{}: expected row indices from 0 to {}, found {} at {}", graph::name(kind), bound - 1, n,
         graph::to_string(graph::coordinates(i, numbers.shape)));
  return static_cast<std::int64_t>(n);
}

/// Evaluates gather, scatter or slice_scatter. Throws Error if an index is out of range or a scatter repeats a row.
void evaluate_rows(graph::OpKind kind, const graph::Attributes& a, const std::vector<OperandValues>& in,
                   const ResultValues& y) {
  const OperandValues& x = in[0];
  const std::int64_t row = graph::size(x.shape) / x.shape[0], count = graph::size(in[1].shape);
  if (kind == graph::OpKind::gather) {
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(x.values + number_of(kind, in[1], i, x.shape[0]) * row, row, y.values + i * row);
    return;
  }
  std::copy_n(x.values, graph::size(x.shape), y.values);
  if (kind == graph::OpKind::slice_scatter) {  // in[1] replaces elements, from a.start or what the third operand says
    const OperandValues& part = in[1];
    const std::int64_t last = y.shape[a.dim] - part.shape[a.dim];
    const std::int64_t start = in.size() > 2 ? number_of(kind, in[2], 0, last + 1) : a.start;
    return copy_part(y.shape, part.shape, a.dim, start, [&](std::int64_t w, std::int64_t p, std::int64_t n) {
      std::copy_n(part.values + p, n, y.values + w);
    });
  }
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t n = number_of(kind, in[1], i, x.shape[0]);
    if (!seen.insert(n).second)
      fail("{}: expected each row once, found {} again at {}", graph::name(kind), n,
           graph::to_string(graph::coordinates(i, in[1].shape)));
    std::copy_n(in[2].values + i * row, row, y.values + n * row);
  }
}

}  // namespace

Broadcast::Broadcast(const graph::Shape& result, const std::vector<OperandValues>& operands)
    : shape_(result.empty() ? graph::Shape{1} : result), length_(shape_.back()), rows_(graph::size(shape_) / length_) {
  for (const OperandValues& x : operands) {
    const graph::Strides own = graph::row_major(x.shape);
    graph::Strides steps(shape_.size(), 0);
    const std::size_t missing = shape_.size() - own.size();
    for (std::size_t d = 0; d < own.size(); ++d)
      if (x.shape[d] != 1) steps[d + missing] = own[d];
    steps_.push_back(std::move(steps));
  }
}

std::int64_t Broadcast::start(std::int64_t row, std::size_t i) const {
  std::int64_t at = 0;
  for (std::size_t d = shape_.size() - 1; d-- > 0; row /= shape_[d]) at += row % shape_[d] * steps_[i][d];
  return at;
}

Batches::Batches(const graph::MatmulShapes& m) {
  // Returns the batch dimensions of a matmul operand's shape. They broadcast like an elementwise operator's
  // operands, with matrices as elements.
  const auto of = [](const graph::Shape& s) { return graph::Shape(s.begin(), s.end() - 2); };
  graph::Shape batch = of(m.product);
  batch.push_back(1);
  graph::Shape bx = of(m.a), by = of(m.b);
  bx.push_back(1), by.push_back(1);
  const Broadcast walk(batch, {{bx, nullptr}, {by, nullptr}});
  for (std::int64_t t = 0; t < walk.rows(); ++t) a.push_back(walk.start(t, 0)), b.push_back(walk.start(t, 1));
}

Evaluation::Evaluation(graph::OpKind kind, const graph::Attributes& attributes,
                       const std::vector<OperandValues>& operands, graph::DType computed)
    : values(operands) {
  const std::vector<graph::Shape> in = shapes_of(operands);
  steps = graph::compose(kind, attributes, in, computed);
  shapes = graph::step_shapes(steps, in);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    storage.emplace_back(graph::size(shapes[i]));
    std::vector<OperandValues> from;
    for (int k : steps[i].inputs) from.push_back(values[k]);
    evaluate(steps[i].kind, steps[i].attributes, from, {{shapes[i], storage.back().data()}}, computed);
    values.push_back({shapes[i], storage.back().data()});
  }
}

std::vector<OperandValues> with_scalar(graph::OpKind kind, const std::vector<OperandValues>& tensors,
                                       const double& scalar) {
  static const graph::Shape one{1};
  std::vector<OperandValues> all = tensors;
  if (graph::takes_scalar(kind, tensors.size())) all.push_back({one, &scalar});
  return all;
}

std::vector<double> in_tf32(const OperandValues& x) {
  std::vector<double> values(x.values, x.values + graph::size(x.shape));
  for (double& v : values) v = graph::round_to_tf32(v);
  return values;
}

void fold(const graph::Monoid& monoid, const OperandValues& x, int dim, bool squares, const ResultValues& y) {
  const Around from = dim < 0 ? Around({1, 1, graph::size(x.shape)}, 1) : Around(x.shape, dim);
  const std::int64_t to = dim < 0 ? 1 : y.shape[dim];
  const graph::Attributes none;
  graph::Doubles m;
  graph::with_elementwise(monoid.join, [&](const auto& f, auto operands) {
    if constexpr (decltype(operands)::value == 2)
      for (std::int64_t o = 0; o < from.outer; ++o)
        for (std::int64_t e = 0; e < from.extent; ++e) {
          const double* px = x.values + (o * from.extent + e) * from.inner;
          double* py = y.values + (o * to + e % to) * from.inner;
          for (std::int64_t i = 0; i < from.inner; ++i) {
            const double both[] = {squares ? px[i] * px[i] : px[i], py[i]};
            py[i] = f(m, none, static_cast<const double*>(both));
          }
        }
  });
}

void evaluate(graph::OpKind kind, const graph::Attributes& attributes, const std::vector<OperandValues>& in,
              const std::vector<ResultValues>& out, graph::DType dtype, int threads) {
  const OperandValues& x = in[0];
  const ResultValues& y = out[0];
  if (graph::is_elementwise(kind)) {
    const double scalar = graph::scalar_operand(attributes, dtype);
    const std::vector<OperandValues> all = with_scalar(kind, in, scalar);
    if (!std::ranges::all_of(all, [&](const OperandValues& o) { return o.shape == y.shape; }))
      return graph::with_arithmetic(dtype, [&](auto m) { map(kind, m, attributes, all, y); });
    const graph::Shape flat{graph::size(y.shape)};  // without broadcasting, all elements are one row
    std::vector<OperandValues> rows;
    for (const OperandValues& o : all) rows.push_back({flat, o.values});
    graph::with_arithmetic(dtype, [&](auto m) { map(kind, m, attributes, rows, {flat, y.values}); });
  } else if (kind == graph::OpKind::matmul) {
    if (attributes.tf32) {
      const std::vector<double> a = in_tf32(x), b = in_tf32(in[1]);
      matmul({x.shape, a.data()}, {in[1].shape, b.data()}, y, threads);
    } else {
      matmul(x, in[1], y, threads);
    }
    if (in.size() > 2) broadcast({y.shape, y.values}, in[2], y, std::plus());
  } else if (graph::names_rows(kind)) {
    evaluate_rows(kind, attributes, in, y);
  } else if (kind == graph::OpKind::reduction || graph::is_primitive_fold(kind, attributes)) {
    std::fill_n(y.values, graph::size(y.shape), graph::monoid_of(kind).identity);
    fold(graph::monoid_of(kind), x, attributes.dim, false, y);
  } else if (graph::is_composed(kind) || kind == graph::OpKind::rotary_interleaved) {
    const Evaluation steps(kind, attributes, in, graph::computed_in(dtype));
    std::copy_n(steps.values.back().values, graph::size(y.shape), y.values);
  } else if (kind == graph::OpKind::unfold) {
    graph::copy_windows(attributes, x.shape, x.values, y.shape, y.values, 0.0);
  } else if (graph::is_view(kind)) {
    copy_view(kind, attributes, x.shape, x.values, y.shape, y.values);
  } else if (kind == graph::OpKind::mask) {
    const double fill = graph::round_to(graph::computed_in(dtype), attributes.value);
    graph::apply_mask(attributes, y.shape, x.values, fill, y.values);
    if (in.size() > 1) graph::apply_lengths(attributes, y.shape, in[1].shape, in[1].values, fill, y.values);
  } else if (kind == graph::OpKind::concat) {
    copy_parts(y.shape, shapes_of(in), attributes.dim,
               [&](std::int64_t w, std::size_t i, std::int64_t p, std::int64_t n) {
                 std::copy_n(in[i].values + p, n, y.values + w);
               });
  } else if (kind == graph::OpKind::split) {
    copy_parts(x.shape, shapes_of(out), attributes.dim,
               [&](std::int64_t w, std::size_t i, std::int64_t p, std::int64_t n) {
                 std::copy_n(x.values + w, n, out[i].values + p);
               });
  } else {
    fail("{} has a state or a boundary: it cannot be evaluated by itself", graph::name(kind));
  }
  if (graph::is_integer(dtype) && graph::adds_integers(kind))  // a double holds sums exactly up to 2^53
    for (double& v : std::span(y.values, graph::size(y.shape)))
      v = graph::wrapped(static_cast<std::int64_t>(v), graph::format(graph::result_dtype(kind, attributes, dtype)));
}

}  // namespace zellige::reference
