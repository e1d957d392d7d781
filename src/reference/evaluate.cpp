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
#include "reference/array.hpp"
#include "reference/gemm.hpp"
#include "reference/parallel.hpp"

namespace zellige::graph {

Magnitude magnitude(const double* values, std::int64_t count, Mask mask) {
  double greatest = 0, poison = 0;  // x - x is 0 for finite x and NaN otherwise
  for (std::int64_t i = 0; i < count; ++i) {
    if (mask != Mask::none && values[i] != values[i]) continue;
    if (mask == Mask::infinity && values[i] <= -FLT_MAX) continue;
    const double m = std::fabs(values[i]);
    greatest = greatest > m ? greatest : m;
    poison += values[i] - values[i];
  }
  return {greatest, poison == 0};
}

namespace {

/// Applies an elementwise operator's definition `f` to one row of `n` elements of N operands, with the
/// arithmetic `m`. `from`, `step`: the first element and the stride of each operand; `to`: the result. The
/// loop is vectorized if all operands are contiguous along the row.
template <int N, class M, class F>
void map_row(const F& f, M m, const Attributes& a, std::int64_t n, const std::array<const double*, max_operands>& from,
             const std::array<std::int64_t, max_operands>& step, double* to) {
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
void map(OpKind kind, M m, const Attributes& attributes, const std::vector<Operand>& in, const Result& y) {
  const Broadcast walk(y.shape, in);
  with_elementwise(kind, [&](const auto& f, auto operands) {
    constexpr int n = decltype(operands)::value;
    std::array<std::int64_t, max_operands> step{};
    for (int k = 0; k < n; ++k) step[k] = walk.step(k);
    for (std::int64_t row = 0; row < walk.rows(); ++row) {
      std::array<const double*, max_operands> from{};
      for (int k = 0; k < n; ++k) from[k] = in[k].values + walk.start(row, k);
      map_row<n>(f, m, attributes, walk.row_length(), from, step, y.values + row * walk.row_length());
    }
  });
}

/// Computes a batched matmul without a bias, in parallel over tiles of the result.
void matmul(const Operand& a, const Operand& b, const Result& c, int threads) {
  const Matrices of = matrices(a.shape, b.shape);
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
std::vector<Shape> shapes_of(const auto& tensors) {
  std::vector<Shape> shapes;
  for (const auto& t : tensors) shapes.push_back(t.shape);
  return shapes;
}

/// Wraps integer sums in y to int32, as two's complement. A double holds such sums exactly up to 2^53.
void wrap(const Result& y) {
  const std::int64_t n = size(y.shape);
  for (std::int64_t i = 0; i < n; ++i) y.values[i] = wrapped(static_cast<std::int64_t>(y.values[i]), 32);
}

/// Returns element number i of `numbers` as a row index. Throws Error unless it is an integer in [0, bound).
std::int64_t number_of(OpKind kind, const Operand& numbers, std::int64_t i, std::int64_t bound) {
  const double n = numbers.values[i];
  if (!(n >= 0 && n < static_cast<double>(bound)) || n != std::floor(n))
    fail("{}: expected row indices from 0 to {}, found {} at {}", name(kind), bound - 1, n,
         to_string(coordinates(i, numbers.shape)));
  return static_cast<std::int64_t>(n);
}

/// Evaluates gather, scatter or slice_scatter. Throws Error if an index is out of range or a scatter repeats a row.
void evaluate_rows(OpKind kind, const Attributes& a, const std::vector<Operand>& in, const Result& y) {
  const Operand& x = in[0];
  const std::int64_t row = size(x.shape) / x.shape[0], count = size(in[1].shape);
  if (kind == OpKind::gather) {
    for (std::int64_t i = 0; i < count; ++i)
      std::copy_n(x.values + number_of(kind, in[1], i, x.shape[0]) * row, row, y.values + i * row);
    return;
  }
  std::copy_n(x.values, size(x.shape), y.values);
  if (kind == OpKind::slice_scatter) {  // in[1] replaces elements, from a.start or what the third operand says
    const Operand& part = in[1];
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
      fail("{}: expected each row once, found {} again at {}", name(kind), n, to_string(coordinates(i, in[1].shape)));
    std::copy_n(in[2].values + i * row, row, y.values + n * row);
  }
}

}  // namespace

Broadcast::Broadcast(const Shape& result, const std::vector<Operand>& operands)
    : shape_(result.empty() ? Shape{1} : result), length_(shape_.back()), rows_(size(shape_) / length_) {
  for (const Operand& x : operands) {
    const Strides own = row_major(x.shape);
    Strides steps(shape_.size(), 0);
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

Batches::Batches(const Matrices& m) {
  // Returns the batch dimensions of a matmul operand's shape. They broadcast like an elementwise operator's
  // operands, with matrices as elements.
  const auto of = [](const Shape& s) { return Shape(s.begin(), s.end() - 2); };
  Shape batch = of(m.product);
  batch.push_back(1);
  Shape bx = of(m.a), by = of(m.b);
  bx.push_back(1), by.push_back(1);
  const Broadcast walk(batch, {{bx, nullptr}, {by, nullptr}});
  for (std::int64_t t = 0; t < walk.rows(); ++t) a.push_back(walk.start(t, 0)), b.push_back(walk.start(t, 1));
}

Evaluation::Evaluation(OpKind kind, const Attributes& attributes, const std::vector<Operand>& operands)
    : values(operands) {
  const std::vector<Shape> in = shapes_of(operands);
  steps = compose(kind, attributes, in);
  shapes = step_shapes(steps, in);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    storage.emplace_back(size(shapes[i]));
    std::vector<Operand> from;
    for (int k : steps[i].inputs) from.push_back(values[k]);
    evaluate(steps[i].kind, steps[i].attributes, from, {{shapes[i], storage.back().data()}});
    values.push_back({shapes[i], storage.back().data()});
  }
}

std::vector<Operand> with_scalar(OpKind kind, const std::vector<Operand>& tensors, const double& scalar) {
  static const Shape one{1};
  std::vector<Operand> all = tensors;
  if (takes_scalar(kind, tensors.size())) all.push_back({one, &scalar});
  return all;
}

std::vector<double> in_tf32(const Operand& x) {
  std::vector<double> values(x.values, x.values + size(x.shape));
  for (double& v : values) v = round_to_tf32(v);
  return values;
}

void fold(const Monoid& monoid, const Operand& x, int dim, bool squares, const Result& y) {
  const Around from = dim < 0 ? Around({1, 1, size(x.shape)}, 1) : Around(x.shape, dim);
  const std::int64_t to = dim < 0 ? 1 : y.shape[dim];
  const Attributes none;
  Doubles m;
  with_elementwise(monoid.join, [&](const auto& f, auto operands) {
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

void evaluate(OpKind kind, const Attributes& attributes, const std::vector<Operand>& in, const std::vector<Result>& out,
              DType dtype, int threads) {
  const Operand& x = in[0];
  const Result& y = out[0];
  if (is_elementwise(kind)) {
    const double scalar = scalar_operand(attributes, dtype);
    const std::vector<Operand> all = with_scalar(kind, in, scalar);
    if (!std::ranges::all_of(all, [&](const Operand& o) { return o.shape == y.shape; }))
      return with_arithmetic(dtype, [&](auto m) { map(kind, m, attributes, all, y); });
    const Shape flat{size(y.shape)};  // without broadcasting, all elements are one row
    std::vector<Operand> rows;
    for (const Operand& o : all) rows.push_back({flat, o.values});
    with_arithmetic(dtype, [&](auto m) { map(kind, m, attributes, rows, {flat, y.values}); });
  } else if (kind == OpKind::matmul) {
    if (attributes.tf32) {
      const std::vector<double> a = in_tf32(x), b = in_tf32(in[1]);
      matmul({x.shape, a.data()}, {in[1].shape, b.data()}, y, threads);
    } else {
      matmul(x, in[1], y, threads);
    }
    if (in.size() > 2) broadcast({y.shape, y.values}, in[2], y, std::plus());
  } else if (names_rows(kind)) {
    evaluate_rows(kind, attributes, in, y);
  } else if (kind == OpKind::reduction || is_primitive_fold(kind, attributes)) {
    std::fill_n(y.values, size(y.shape), monoid_of(kind).identity);
    fold(monoid_of(kind), x, attributes.dim, false, y);
  } else if (is_composed(kind) || kind == OpKind::rotary_interleaved) {
    const Evaluation steps(kind, attributes, in);
    std::copy_n(steps.values.back().values, size(y.shape), y.values);
  } else if (is_view(kind)) {
    copy_view(kind, attributes, x.shape, x.values, y.shape, y.values);
  } else if (kind == OpKind::mask) {
    const auto fill = static_cast<double>(static_cast<float>(attributes.value));
    apply_mask(attributes, y.shape, x.values, fill, y.values);
    if (in.size() > 1) apply_lengths(attributes, y.shape, in[1].shape, in[1].values, fill, y.values);
  } else if (kind == OpKind::concat) {
    copy_parts(y.shape, shapes_of(in), attributes.dim,
               [&](std::int64_t w, std::size_t i, std::int64_t p, std::int64_t n) {
                 std::copy_n(in[i].values + p, n, y.values + w);
               });
  } else if (kind == OpKind::split) {
    copy_parts(x.shape, shapes_of(out), attributes.dim,
               [&](std::int64_t w, std::size_t i, std::int64_t p, std::int64_t n) {
                 std::copy_n(x.values + w, n, out[i].values + p);
               });
  } else {
    fail("{} has a state or a boundary: it cannot be evaluated by itself", name(kind));
  }
  if (is_integer(dtype) && adds_integers(kind)) wrap(y);
}

}  // namespace zellige::graph
