#include "graph/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/array.hpp"
#include "graph/compare.hpp"
#include "graph/dtype.hpp"
#include "graph/gemm.hpp"
#include "graph/mix.hpp"
#include "graph/ops.hpp"
#include "graph/parallel.hpp"

namespace zellige::graph {
namespace {

constexpr double u = 0x1p-24;      // half a unit in the last place of float32
constexpr double tiny = 0x1p-125;  // what is below may be flushed to zero
constexpr double infinity = std::numeric_limits<double>::infinity();

/// An infinite error where the arithmetic of errors has no number: anything may come out there.
double known(double e) { return e == e ? e : infinity; }

/// What a kernel's own function adds to y = f(x), in float32: the error of CUDA's functions, and the rounding of an inner
/// argument where f has one (-x / sqrt 2 of gelu, whose complement falls like e^(-x^2/2)).
double own_error(OpKind kind, double x, double y) {
  if (std::isinf(x)) return 0;  // a limit, which every kernel takes exactly: exp(-inf) is 0
  const double a = std::fabs(x), r = u * std::fabs(y);
  switch (kind) {
    case OpKind::relu:
    case OpKind::clamp:  // the bounds are float32 there
      return y == x ? 0 : r;
    case OpKind::square:
    case OpKind::sqrt:
      return 2 * r;
    case OpKind::mul_scalar:
      return 2 * r + tiny;
    case OpKind::exp:
      return (4 + a) * r + tiny;
    case OpKind::log:
      return 4 * r;
    case OpKind::sigmoid:
      return (6 + (x < 0 ? a : 0)) * r + tiny;
    case OpKind::silu:
      return (7 + (x < 0 ? a : 0)) * r + (1 + a) * tiny;
    case OpKind::gelu:
      return (10 + (x < 0 ? 2 * x * x : 0)) * r + (1 + a) * tiny;
    default:
      return 4 * r + tiny;
  }
}

void unary(OpKind kind, const Attributes& a, const Uncertain& x, const Operand& y, double* error) {
  const std::int64_t n = size(x.at.shape);
  for (std::int64_t i = 0; i < n; ++i) {
    const double v = x.at.values[i], e = x.error[i], f = y.values[i];
    double spread = 0;
    if (e > 0) spread = std::max(distance(apply(kind, a, v + e), f), distance(apply(kind, a, v - e), f));
    error[i] = known(spread + own_error(kind, v, f));
  }
}

double binary(OpKind kind, double x, double ex, double y, double ey, double z) {
  const double r = u * std::fabs(z);
  const auto corners = [&] {
    double spread = 0;
    for (double a : {x - ex, x + ex})
      for (double b : {y - ey, y + ey}) spread = std::max(spread, distance(apply(kind, a, b), z));
    return spread;
  };
  if (std::isinf(x) || std::isinf(y)) return corners() + (std::isfinite(z) ? 2 * r : 0);
  switch (kind) {
    case OpKind::add:
    case OpKind::sub:
      return ex + ey + r;
    case OpKind::mul:
      return std::fabs(x) * ey + std::fabs(y) * ex + ex * ey + r + tiny;
    case OpKind::div: {
      const double least = std::fabs(y) - ey;  // of the divisor
      if (ex + ey == 0) return 2 * r + tiny;
      return least > 0 ? (ex + std::fabs(z) * ey) / least + 2 * r + tiny : infinity;
    }
    default:  // pow
      return (ex + ey > 0 ? corners() : 0) + 16 * r + tiny;
  }
}

void binary(OpKind kind, const Uncertain& x, const Uncertain& y, const Operand& z, double* error) {
  const std::size_t rank = z.shape.size();
  Strides sx = row_major(x.at.shape), sy = row_major(y.at.shape);
  for (std::size_t d = 0; d < rank; ++d) {
    if (x.at.shape[d] == 1) sx[d] = 0;
    if (y.at.shape[d] == 1) sy[d] = 0;
  }
  const std::int64_t n = z.shape[rank - 1], rows = size(z.shape) / n;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t rest = row, ix = 0, iy = 0;
    for (std::size_t d = rank - 1; d-- > 0;) {
      ix += rest % z.shape[d] * sx[d], iy += rest % z.shape[d] * sy[d];
      rest /= z.shape[d];
    }
    for (std::int64_t i = row * n; i < (row + 1) * n; ++i, ix += sx[rank - 1], iy += sy[rank - 1])
      error[i] = known(binary(kind, x.at.values[ix], x.error[ix], y.at.values[iy], y.error[iy], z.values[i]));
  }
}

/// What float32 adds to a sum, given the square of its terms and the greatest of its partial sums in their order: another
/// order has others, about as large where the terms are not arranged to cancel late.
double own_sum_error(double share, double most, double squares) {
  return share * (most + std::sqrt(squares));
}

/// |A| eB + eA (|B| + eB), and the rounding of the sums themselves.
void matmul(DType dtype, const Uncertain& a, const Uncertain& b, double* error, std::int64_t repeats,
            int threads) {
  const std::size_t r = a.at.shape.size();
  const std::int64_t m = a.at.shape[r - 2], k = a.at.shape[r - 1], n = b.at.shape[r - 1];
  const std::int64_t batch = size(a.at.shape) / (m * k), terms = k * repeats;
  // Tensor cores cut off what float32 would round, eight terms or more at a time: that adds up one way.
  const double share = sum_error(terms) + (dtype == DType::f32 ? 0 : u * static_cast<double>(terms) / 8);
  const auto all = static_cast<std::size_t>(batch * m * k), others = static_cast<std::size_t>(batch * k * n);
  std::vector<double> magnitudes(all), squares(all), other_squares(others), reach(others);
  for (std::size_t i = 0; i < all; ++i)
    magnitudes[i] = std::fabs(a.at.values[i]), squares[i] = magnitudes[i] * magnitudes[i];
  for (std::size_t i = 0; i < others; ++i) {
    reach[i] = std::fabs(b.at.values[i]) + b.error[i];
    other_squares[i] = b.at.values[i] * b.at.values[i];
  }
  const auto none = [](const double* e, std::size_t count) {
    return std::all_of(e, e + count, [](double x) { return x == 0; });
  };
  const bool exact_a = none(a.error, all), exact_b = none(b.error, others);
  constexpr std::int64_t rows = 128;
  const std::int64_t down = (m + rows - 1) / rows, step = std::max<std::int64_t>(4, (k + 15) / 16);
  parallel_for(batch * down, threads, [&](std::int64_t task, int) {
    const std::int64_t t = task / down, i = task % down * rows, count = std::min(rows, m - i) * n;
    const std::int64_t from_a = (t * m + i) * k, from_b = t * k * n;
    double* to = error + (t * m + i) * n;
    const std::vector<double> zeros(static_cast<std::size_t>(count));
    std::vector<double> part = zeros, sum = zeros, most = zeros;
    const auto product = [&](const double* x, const double* y, std::int64_t depth) {
      gemm(count / n, n, depth, x, k, y, n, part.data(), n);
    };
    for (std::int64_t at = 0; at < k; at += step) {  // the partial sums, every few terms
      product(a.at.values + from_a + at, b.at.values + from_b + at * n, std::min(step, k - at));
      for (std::size_t j = 0; j < part.size(); ++j)
        sum[j] += part[j], most[j] = std::max(most[j], std::fabs(sum[j]));
    }
    product(squares.data() + from_a, other_squares.data() + from_b, k);
    for (std::size_t j = 0; j < part.size(); ++j) to[j] = own_sum_error(share, most[j], part[j]) + tiny;
    const auto add = [&] {
      for (std::size_t j = 0; j < part.size(); ++j) to[j] = known(to[j] + part[j]);
    };
    if (!exact_b) product(magnitudes.data() + from_a, b.error + from_b, k), add();
    if (!exact_a) product(a.error + from_a, reach.data() + from_b, k), add();
  });
}

void rms_norm(const Uncertain& x, double* error) {
  const std::int64_t n = x.at.shape.back(), rows = size(x.at.shape) / n;
  const Shape row_shape{1, n}, one{1, 1};
  for (std::int64_t row = 0; row < rows; ++row) {
    const double *v = x.at.values + row * n, *e = x.error + row * n;
    double squares = 0, off = 0;
    for (std::int64_t i = 0; i < n; ++i) squares += v[i] * v[i];
    fold_error({{row_shape, v}, e}, 1, true, n, {one, &off});
    mean_error({one, &squares}, static_cast<double>(n), true, &off);
    const double rms = std::sqrt(squares / static_cast<double>(n));
    for (std::int64_t i = 0; i < n; ++i)
      error[row * n + i] = known(binary(OpKind::div, v[i], e[i], rms, off, v[i] / rms));
  }
}

}  // namespace

double sum_error(std::int64_t n) {
  const double terms = static_cast<double>(n);
  return u * std::min(terms, 2 + 1.25 * std::sqrt(terms));
}

void fold_error(const Uncertain& x, int dim, bool squared, std::int64_t terms, const Result& error) {
  const auto n = static_cast<std::size_t>(size(error.shape));
  const std::int64_t extent = x.at.shape[dim], to = error.shape[dim];
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(dim) + 1; d < x.at.shape.size(); ++d) inner *= x.at.shape[d];
  std::vector<double> sum(n, 0), most(n, 0), squares(n, 0);
  const std::int64_t count = size(x.at.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t outer = i / (extent * inner), at = i / inner % extent;
    const auto j = static_cast<std::size_t>((outer * to + at % to) * inner + i % inner);
    const double v = std::fabs(x.at.values[i]), e = x.error[i], term = squared ? v * v : x.at.values[i];
    error.values[j] += squared ? 2 * v * e + e * e + u * term : e;
    sum[j] += term, most[j] = std::max(most[j], std::fabs(sum[j])), squares[j] += term * term;
  }
  for (std::size_t j = 0; j < n; ++j)
    error.values[j] = known(error.values[j] + own_sum_error(sum_error(terms), most[j], squares[j]));
}

void fold_max_error(const Uncertain& x, int dim, const Operand& before, const Result& error) {
  const auto n = static_cast<std::size_t>(size(before.shape)),
             terms = static_cast<std::size_t>(size(x.at.shape));
  std::vector<double> y(before.values, before.values + n), high(n), low(n), up(terms), down(terms);
  for (std::size_t i = 0; i < n; ++i) high[i] = y[i] + error.values[i], low[i] = y[i] - error.values[i];
  for (std::size_t i = 0; i < terms; ++i)
    up[i] = x.at.values[i] + x.error[i], down[i] = x.at.values[i] - x.error[i];
  fold_max(x.at, dim, {before.shape, y.data()});
  fold_max({x.at.shape, up.data()}, dim, {before.shape, high.data()});
  fold_max({x.at.shape, down.data()}, dim, {before.shape, low.data()});
  for (std::size_t i = 0; i < n; ++i)
    error.values[i] = std::max(distance(high[i], y[i]), distance(y[i], low[i]));
}

void rescale_error(const Operand& acc, const Uncertain& r, const Result& error) {
  const std::vector<double> own(error.values, error.values + size(acc.shape));
  std::vector<double> product(own.size());
  broadcast(acc, r.at, {acc.shape, product.data()}, [](double x, double y) { return x * y; });
  binary(OpKind::mul, {acc, own.data()}, r, {acc.shape, product.data()}, error.values);
}

void mean_error(const Operand& x, double count, bool root, double* error) {
  const std::int64_t n = size(x.shape);
  for (std::int64_t i = 0; i < n; ++i) {
    const double mean = x.values[i] / count;
    double e = error[i] / count + 2 * u * std::fabs(mean);
    if (root) {
      const double y = std::sqrt(mean);
      e = std::max(std::sqrt(mean + e) - y, y - std::sqrt(std::max(0.0, mean - e))) + u * y;
    }
    error[i] = known(e);
  }
}

void storage_error(DType dtype, const double* x, double* error, std::int64_t count) {
  const Format f = format(dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    if (error[i] == infinity) continue;
    const double y = round_to(f, x[i]);
    error[i] = std::max(distance(round_to(f, x[i] + error[i]), y), distance(y, round_to(f, x[i] - error[i])));
  }
}

Noise::Noise(std::uint64_t sample, int op, std::int64_t block)
    : state_(sample * mix_step + static_cast<std::uint64_t>(op) * 0xd1342543de82ef95 +
             static_cast<std::uint64_t>(block) * 0xaf251af3b0f025b5) {}

std::uint64_t Noise::next() { return mix(state_ += mix_step); }

void Noise::move(double* x, const double* own, std::int64_t count) {
  const bool biased = next() % 4 == 0;
  const std::uint64_t way = next();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = next();
    if (!(own[i] > 0 && own[i] < infinity)) continue;
    const double part = 0.5 + static_cast<double>(bits >> 1) * 0x1p-64;
    const bool away = (biased ? way : bits) & 1;  // from zero
    x[i] += std::copysign(own[i] * part, away ? x[i] : -x[i]);
  }
}

void Noise::store(DType dtype, double* x, const double* error, std::int64_t count) {
  const Format f = format(dtype);
  for (std::int64_t i = 0; i < count; ++i) {
    const double y = round_to(f, x[i]), low = round_to(f, x[i] - error[i]),
                 high = round_to(f, x[i] + error[i]);
    const std::uint64_t side = next() % 3;
    // By one step at most: a value that moves further than that does so by itself.
    const double step = std::max(std::fabs(y), f.least_normal) * std::ldexp(1.0, -f.mantissa);
    x[i] = side == 1 && low < y    ? round_to(f, std::max(low, y - step))
           : side == 2 && high > y ? round_to(f, std::min(high, y + step))
                                   : y;
  }
}

void propagate(OpKind kind, const Attributes& attributes, DType dtype, const std::vector<Uncertain>& in,
               const std::vector<Operand>& out, const std::vector<double*>& errors, std::int64_t repeats,
               int threads) {
  const Uncertain& x = in[0];
  if (is_unary(kind)) {
    unary(kind, attributes, x, out[0], errors[0]);
  } else if (is_binary(kind)) {
    binary(kind, x, in[1], out[0], errors[0]);
  } else if (kind == OpKind::matmul) {
    matmul(dtype, x, in[1], errors[0], repeats, threads);
  } else if (kind == OpKind::reduction) {
    std::fill_n(errors[0], size(out[0].shape), 0.0);
    const std::int64_t terms = x.at.shape[attributes.dim] / out[0].shape[attributes.dim];
    fold_error(x, attributes.dim, false, terms * repeats, {out[0].shape, errors[0]});
  } else if (kind == OpKind::rms_norm) {
    rms_norm(x, errors[0]);
  } else {  // concat and split move errors as they move values
    std::vector<Operand> from;
    std::vector<Result> to;
    for (const Uncertain& part : in) from.push_back({part.at.shape, part.error});
    for (std::size_t i = 0; i < out.size(); ++i) to.push_back({out[i].shape, errors[i]});
    evaluate(kind, attributes, from, to);
  }
}

}  // namespace zellige::graph
