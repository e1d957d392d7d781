#include "reference/rounding.hpp"

#include <algorithm>
#include <cmath>

#include "graph/elementwise.hpp"
#include "graph/kept.hpp"
#include "graph/ops.hpp"
#include "graph/rows.hpp"
#include "reference/array.hpp"
#include "reference/compare.hpp"
#include "reference/gemm.hpp"
#include "reference/parallel.hpp"

namespace zellige::reference {
namespace {

constexpr double u = 0x1p-24;      // half an ulp of 1 in float32
constexpr double tiny = 0x1p-125;  // smaller numbers may be flushed to zero

/// Returns half an ulp of 1 in the type in which kernels compute with numbers of this type. It is twice as much for f64, of
/// which the reference is as far off as a kernel.
double half_ulp(graph::DType dtype) { return dtype == graph::DType::f64 ? 0x1p-52 : u; }

/// Returns the error bound `e`, or infinity if `e` is NaN, because any result is possible then.
double known(double e) { return e == e ? e : infinity; }

/// Returns the largest distance from y = f(x) to f at the corners x[k] - e[k], x[k] + e[k] of a box in n dimensions.
template <class Numbers, class Meaning>
double corners(Numbers& m, const Meaning& f, const graph::Attributes& a, const double* x, const double* e, int n,
               double y) {
  double spread = 0;
  for (int corner = 0; corner < 1 << n; ++corner) {
    double at[graph::max_operands];
    for (int k = 0; k < n; ++k) at[k] = x[k] + (corner >> k & 1 ? e[k] : -e[k]);
    spread = std::max(spread, distance(f(m, a, static_cast<const double*>(at)), y));
  }
  return spread;
}

/// Returns how far errors `e` of the operands `x` may move y = f(x), plus the float32 error of f itself,
/// which is 0 for integers. `row`: the elementwise operator's entry in the operator table; f: its definition, which
/// computes with the arithmetic `m`.
template <int n, class Numbers, class Meaning>
double elementwise_error(const graph::Elementwise& row, Numbers& m, const Meaning& f, const graph::Attributes& a,
                         graph::DType dtype, const double* x, const double* e, double y) {
  // If an operand is infinite, y is a limit of f. Every kernel computes a limit of 0, as of exp(-inf), or
  // infinity exactly, and any other limit with a relative error of at most 2u.
  const bool limit = std::any_of(x, x + n, [](double v) { return std::isinf(v); });
  const double r = std::isfinite(y) || !limit ? u * std::fabs(y) : 0;
  // Each row bounds what float32 arithmetic adds; float64's is as much smaller as its ulps are.
  const double own = graph::is_integer(dtype) ? 0 : (limit ? 2 * r : row.own(x, y, r, tiny)) * (half_ulp(dtype) / u);
  const bool moved = std::any_of(e, e + n, [](double v) { return v > 0; });
  if (!moved) return known(own);
  switch (row.spread) {
    case graph::Spread::quotient:
      if (std::fabs(x[1]) <= e[1]) return infinity;
      [[fallthrough]];
    case graph::Spread::corners:
      return known(corners(m, f, a, x, e, n, y) + own);
    case graph::Spread::slope:
      return known(std::min(e[0], 2.0) + own);
    case graph::Spread::step:
      return std::fabs(x[0] - x[1]) <= e[0] + e[1] ? 1 : own;
    case graph::Spread::choice: {
      const double either = std::max(e[1], e[2]);
      if (std::fabs(x[0]) > e[0] || e[0] == 0) return known((x[0] != 0 ? e[1] : e[2]) + own);
      return known(distance(x[1], x[2]) + either + own);
    }
  }
  return infinity;
}

/// Computes the error bounds of an elementwise operator's result from those of its operands, with broadcasting.
void elementwise_errors(graph::OpKind kind, const graph::Attributes& a, graph::DType dtype,
                        const std::vector<Uncertain>& in, const OperandValues& result, double* error) {
  const graph::Elementwise& row = graph::elementwise(kind);
  std::vector<OperandValues> tensors;
  for (const Uncertain& x : in) tensors.push_back(x.at);
  const double scalar = graph::scalar_operand(a, dtype), sure = 0;
  const std::vector<OperandValues> all = with_scalar(kind, tensors, scalar);
  const Broadcast walk(result.shape, all);
  const auto run = [&](auto m, const auto& meaning, auto operands) {
    constexpr int n = decltype(operands)::value;
    for (std::int64_t i = 0; i < walk.rows(); ++i) {
      std::int64_t at[n] = {};
      for (std::size_t k = 0; k < n; ++k) at[k] = walk.start(i, k);
      for (std::int64_t j = 0; j < walk.row_length(); ++j) {
        double x[graph::max_operands] = {}, e[graph::max_operands] = {};
        for (std::size_t k = 0; k < n; ++k) {
          const std::int64_t from = at[k] + j * walk.step(k);
          x[k] = all[k].values[from], e[k] = k < in.size() ? in[k].error[from] : sure;
        }
        const std::int64_t to = i * walk.row_length() + j;
        error[to] = elementwise_error<n>(row, m, meaning, a, dtype, x, e, result.values[to]);
      }
    }
  };
  graph::with_arithmetic(dtype, [&](auto m) {
    graph::with_elementwise(kind, [&](const auto& meaning, auto operands) { run(m, meaning, operands); });
  });
}

/// Returns a bound of the float32 error of a sum. `share`: the error relative to the partial results; `maximum`:
/// the largest partial sum if the terms are added in order of index; `squares`: the sum of the squared terms.
/// Other orders have partial results of about the same size, unless the terms are arranged to cancel late.
double own_sum_error(double share, double maximum, double squares) { return share * (maximum + std::sqrt(squares)); }

/// Computes the error bounds of a matmul C = A B. With eA and eB the bounds of A and B, those of C are |A| eB + eA (|B|
/// + eB), plus the rounding of the accumulators. `at_once`: number of terms that a tensor core adds up before it truncates
/// the sum; 0: no tensor core. `repeats`: number of iterations whose products are added up.
void matmul(graph::DType dtype, int at_once, const Uncertain& a, const Uncertain& b, double* error,
            std::int64_t repeats, int threads) {
  const graph::MatmulShapes of = graph::matrices(a.at.shape, b.at.shape);
  const std::int64_t m = of.product[of.product.size() - 2], k = a.at.shape.back(), n = of.product.back();
  const Batches batches(of);
  const std::int64_t terms = k * repeats;
  const bool exact = graph::is_integer(dtype);
  // Tensor cores truncate where float32 would round: a bias in one direction.
  const double cut_off = at_once == 0 ? 0 : half_ulp(dtype) * static_cast<double>(terms) / at_once;
  const double share = exact ? 0 : sum_error(terms, dtype) + cut_off;
  const auto all = static_cast<std::size_t>(graph::size(a.at.shape)),
             others = static_cast<std::size_t>(graph::size(b.at.shape));
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
  parallel_for(batches.count() * down, threads, [&](std::int64_t task, int) {
    const std::int64_t t = task / down, i = task % down * rows, count = std::min(rows, m - i) * n;
    const std::int64_t from_a = (batches.a[t] * m + i) * k, from_b = batches.b[t] * k * n;
    double* to = error + (t * m + i) * n;
    const std::vector<double> zeros(count);
    std::vector<double> part = zeros, sum = zeros, maximum = zeros;
    const auto product = [&](const double* x, const double* y, std::int64_t depth) {
      gemm(count / n, n, depth, x, k, y, n, part.data(), n);
    };
    for (std::int64_t at = 0; at < k; at += step) {  // partial results, every `step` terms
      product(a.at.values + from_a + at, b.at.values + from_b + at * n, std::min(step, k - at));
      for (std::size_t j = 0; j < part.size(); ++j)
        sum[j] += part[j], maximum[j] = std::max(maximum[j], std::fabs(sum[j]));
    }
    product(squares.data() + from_a, other_squares.data() + from_b, k);
    for (std::size_t j = 0; j < part.size(); ++j) to[j] = exact ? 0 : own_sum_error(share, maximum[j], part[j]) + tiny;
    const auto add = [&] {
      for (std::size_t j = 0; j < part.size(); ++j) to[j] = known(to[j] + part[j]);
    };
    if (!exact_b) product(magnitudes.data() + from_a, b.error + from_b, k), add();
    if (!exact_a) product(a.error + from_a, reach.data() + from_b, k), add();
  });
}

/// Adds the error bounds of a bias, and of rounding the sum y once, to a matmul's error bounds `error`.
/// `unit` is half an ulp of 1, or 0 for integers.
void bias_error(const Uncertain& bias, const OperandValues& y, double unit, double* error) {
  const Broadcast walk(y.shape, {bias.at});
  for (std::int64_t row = 0; row < walk.rows(); ++row)
    for (std::int64_t j = 0; j < walk.row_length(); ++j) {
      const std::int64_t i = row * walk.row_length() + j;
      error[i] = known(error[i] + bias.error[walk.start(row, 0) + j * walk.step(0)] + unit * std::fabs(y.values[i]));
    }
}

/// Returns the error bounds of the matmul operand x if it may be rounded to a dtype.
std::vector<double> in_precision(const Uncertain& x, graph::DType dtype) {
  const double unit = std::ldexp(1.0, -graph::format(dtype).mantissa - 1);
  std::vector<double> error(x.error, x.error + graph::size(x.at.shape));
  for (std::size_t i = 0; i < error.size(); ++i) error[i] = known(error[i] + unit * std::fabs(x.at.values[i]));
  return error;
}

/// Returns the error bounds of the matmul operand x after it is rounded to tf32.
std::vector<double> tf32_error(const Uncertain& x) {
  std::vector<double> e(x.error, x.error + graph::size(x.at.shape));
  for (std::size_t i = 0; i < e.size(); ++i) {
    const double v = x.at.values[i], y = graph::round_to_tf32(v);
    if (e[i] != 0)
      e[i] = std::max(distance(graph::round_to_tf32(v + e[i]), y), distance(y, graph::round_to_tf32(v - e[i])));
  }
  return e;
}

/// Computes the error bounds of a composite operator's result from those of its operands, step by step (compose.hpp).
void composed(graph::OpKind kind, const graph::Attributes& attributes, graph::DType dtype,
              const std::vector<Uncertain>& in, double* error) {
  std::vector<OperandValues> operands;
  std::vector<const double*> errors;
  for (const Uncertain& x : in) operands.push_back(x.at), errors.push_back(x.error);
  const Evaluation e(kind, attributes, operands, graph::computed_in(dtype));
  std::deque<std::vector<double>> storage;
  for (std::size_t i = 0; i < e.steps.size(); ++i) {
    const auto count = static_cast<std::size_t>(graph::size(e.shapes[i]));
    double* to = storage.emplace_back(count).data();
    std::vector<Uncertain> from;
    for (int k : e.steps[i].inputs) from.push_back({e.values[k], errors[k]});
    propagate(e.steps[i].kind, e.steps[i].attributes, dtype, from, {e.values[in.size() + i]}, {to});
    errors.push_back(to);
  }
  std::copy_n(errors.back(), graph::size(e.shapes.back()), error);
}

/// Computes the error bounds of y, in which the elements of x along `dim` are joined one after another, in float32 or float64.
void joined_error(const graph::Monoid& monoid, graph::DType dtype, const Uncertain& x, int dim, const OperandValues& y,
                  double* error) {
  const Around from(x.at.shape, dim);
  const graph::Elementwise& row = graph::elementwise(monoid.join);
  const graph::Attributes none;
  graph::Doubles m;
  graph::with_elementwise(monoid.join, [&](const auto& meaning, auto operands) {
    if constexpr (decltype(operands)::value == 2)
      for (std::int64_t i = 0; i < graph::size(y.shape); ++i) {
        double both[graph::max_operands] = {monoid.identity}, errors[graph::max_operands] = {};
        for (std::int64_t e = 0; e < from.extent; ++e) {
          const std::int64_t at = (i / from.inner * from.extent + e) * from.inner + i % from.inner;
          both[1] = x.at.values[at], errors[1] = x.error[at];
          const double joined = meaning(m, none, static_cast<const double*>(both));
          errors[0] = elementwise_error<2>(row, m, meaning, none, dtype, both, errors, joined);
          both[0] = joined;
        }
        error[i] = errors[0];
      }
  });
}

/// Computes the error bounds of y, the logarithms of the sums of exponentials of x along `dim`. A sum has the weights
/// w = e^(x - y), which add up to 1: if each x grows by at most e, y grows by at most ln(sum of w e^e), and it does not
/// fall by more if each x falls.
void logsumexp_error(graph::DType dtype, const Uncertain& x, int dim, const OperandValues& y, double* error) {
  const double unit = half_ulp(dtype);
  const Around from(x.at.shape, dim);
  for (std::int64_t i = 0; i < graph::size(y.shape); ++i) {
    double moved = 0, exponentials = 0, squares = 0, top = -infinity;
    error[i] = 0;
    if (!std::isfinite(y.values[i])) continue;  // exact: a limit, or the NaN of an operand
    for (std::int64_t e = 0; e < from.extent; ++e) {
      const std::int64_t at = (i / from.inner * from.extent + e) * from.inner + i % from.inner;
      const double below = y.values[i] - x.at.values[at], w = std::exp(-below);
      top = std::max(top, x.at.values[at]);
      if (w == 0) continue;
      moved += w * std::expm1(x.error[at]), squares += w * w;
      exponentials += w * (6 + 3 * std::fabs(below)) * unit;  // the differences are rounded, too
    }
    const double sum = own_sum_error(sum_error(from.extent, dtype), 1, squares);
    // The maximum is added to a logarithm, and this again for each level at which results are joined.
    const double levels = 4 * unit * (4 + 2 * std::fabs(y.values[i]) + 5 * (y.values[i] - top));
    error[i] = known(std::log1p(moved) + exponentials + sum + levels);
  }
}

}  // namespace

double sum_error(std::int64_t n, graph::DType dtype) {
  const double terms = static_cast<double>(n);
  return half_ulp(dtype) * std::min(terms, 2 + 1.25 * std::sqrt(terms));
}

void fold_error(const Uncertain& x, int dim, bool squared, std::int64_t terms, const ResultValues& error,
                graph::DType dtype) {
  const auto n = static_cast<std::size_t>(graph::size(error.shape));
  const Around from(x.at.shape, dim);
  const std::int64_t to = error.shape[dim];
  std::vector<double> sum(n, 0), maximum(n, 0), squares(n, 0);
  const std::int64_t count = graph::size(x.at.shape);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t outer = i / (from.extent * from.inner), at = i / from.inner % from.extent;
    const auto j = static_cast<std::size_t>((outer * to + at % to) * from.inner + i % from.inner);
    const double v = std::fabs(x.at.values[i]), e = x.error[i], term = squared ? v * v : x.at.values[i];
    error.values[j] += squared ? 2 * v * e + e * e + half_ulp(dtype) * term : e;
    sum[j] += term, maximum[j] = std::max(maximum[j], std::fabs(sum[j])), squares[j] += term * term;
  }
  for (std::size_t j = 0; j < n; ++j)
    error.values[j] = known(error.values[j] + own_sum_error(sum_error(terms, dtype), maximum[j], squares[j]));
}

void fold_max_error(const Uncertain& x, int dim, const OperandValues& before, const ResultValues& error) {
  const auto n = static_cast<std::size_t>(graph::size(before.shape)),
             terms = static_cast<std::size_t>(graph::size(x.at.shape));
  std::vector<double> y(before.values, before.values + n), high(n), low(n), up(terms), down(terms);
  for (std::size_t i = 0; i < n; ++i) high[i] = y[i] + error.values[i], low[i] = y[i] - error.values[i];
  for (std::size_t i = 0; i < terms; ++i) up[i] = x.at.values[i] + x.error[i], down[i] = x.at.values[i] - x.error[i];
  fold(graph::monoids::max, x.at, dim, false, {before.shape, y.data()});
  fold(graph::monoids::max, {x.at.shape, up.data()}, dim, false, {before.shape, high.data()});
  fold(graph::monoids::max, {x.at.shape, down.data()}, dim, false, {before.shape, low.data()});
  for (std::size_t i = 0; i < n; ++i) error.values[i] = std::max(distance(high[i], y[i]), distance(y[i], low[i]));
}

void joined_error(graph::OpKind join, const OperandValues& acc, const Uncertain& x, const ResultValues& error,
                  graph::DType dtype) {
  dtype = graph::computed_in(dtype);
  const std::vector<double> own(error.values, error.values + graph::size(acc.shape));
  std::vector<double> joined(own.size());
  evaluate(join, {}, {acc, x.at}, {{acc.shape, joined.data()}}, dtype);
  elementwise_errors(join, {}, dtype, {{acc, own.data()}, x}, {acc.shape, joined.data()}, error.values);
}

void mean_error(const OperandValues& x, double count, bool root, double* error, graph::DType dtype) {
  const double unit = half_ulp(dtype);
  const std::int64_t n = graph::size(x.shape);
  for (std::int64_t i = 0; i < n; ++i) {
    const double mean = x.values[i] / count;
    double e = error[i] / count + 2 * unit * std::fabs(mean);
    if (root) {
      const double y = std::sqrt(mean);
      e = std::max(std::sqrt(mean + e) - y, y - std::sqrt(std::max(0.0, mean - e))) + unit * y;
    }
    error[i] = known(e);
  }
}

void storage_error(graph::DType dtype, std::span<const double> x, std::span<double> error) {
  const graph::Format f = graph::format(dtype);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (error[i] == 0 || error[i] == infinity) continue;
    const double y = graph::round_to(f, x[i]);
    error[i] =
        std::max(distance(graph::round_to(f, x[i] + error[i]), y), distance(y, graph::round_to(f, x[i] - error[i])));
  }
}

double max_rounding(const graph::Format& f, double x) {
  return std::ldexp(std::max(std::fabs(x), f.min_normal), -f.mantissa - 1);
}

bool jumps(graph::OpKind kind) {
  return graph::is_elementwise(kind) && graph::elementwise(kind).spread == graph::Spread::step;
}
bool cuts(graph::OpKind kind, const graph::Attributes& a) {
  return kind == graph::OpKind::cast && graph::is_integer(a.dtype);
}

void propagate(graph::OpKind kind, const graph::Attributes& attributes, graph::DType dtype,
               const std::vector<Uncertain>& in, const std::vector<OperandValues>& out,
               const std::vector<double*>& errors, std::int64_t repeats, int threads) {
  const Uncertain& x = in[0];
  if (graph::is_elementwise(kind)) {
    elementwise_errors(kind, attributes, dtype, in, out[0], errors[0]);
  } else if (kind == graph::OpKind::matmul) {
    if (attributes.tf32) {
      const std::vector<double> a = in_tf32(x.at), b = in_tf32(in[1].at), ea = tf32_error(x), eb = tf32_error(in[1]);
      matmul(dtype, 4, {{x.at.shape, a.data()}, ea.data()}, {{in[1].at.shape, b.data()}, eb.data()}, errors[0], repeats,
             threads);
    } else if (attributes.dtype != graph::DType::f32) {
      const std::vector<double> ea = in_precision(x, attributes.dtype), eb = in_precision(in[1], attributes.dtype);
      matmul(dtype, 8, {x.at, ea.data()}, {in[1].at, eb.data()}, errors[0], repeats, threads);
    } else {
      matmul(dtype, graph::is_narrow(dtype) ? 8 : 0, x, in[1], errors[0], repeats, threads);
    }
    if (in.size() > 2) bias_error(in[2], out[0], graph::is_integer(dtype) ? 0 : half_ulp(dtype), errors[0]);
  } else if (kind == graph::OpKind::reduction) {
    std::fill_n(errors[0], graph::size(out[0].shape), 0.0);
    const std::int64_t terms = x.at.shape[attributes.dim] / out[0].shape[attributes.dim];
    if (graph::is_integer(dtype))
      return fold(graph::monoids::sum, {x.at.shape, x.error}, attributes.dim, false, {out[0].shape, errors[0]});
    fold_error(x, attributes.dim, false, terms * repeats, {out[0].shape, errors[0]}, dtype);
  } else if (graph::is_primitive_fold(kind, attributes)) {
    const graph::Monoid& monoid = graph::monoid_of(kind);
    if (&monoid == &graph::monoids::max) {
      const std::vector<double> none(graph::size(out[0].shape), -infinity);
      std::fill_n(errors[0], none.size(), 0.0);
      fold_max_error(x, attributes.dim, {out[0].shape, none.data()}, {out[0].shape, errors[0]});
    } else if (&monoid == &graph::monoids::logsumexp) {
      logsumexp_error(dtype, x, attributes.dim, out[0], errors[0]);
    } else {
      joined_error(monoid, graph::computed_in(dtype), x, attributes.dim, out[0], errors[0]);
    }
  } else if (graph::is_composed(kind) || kind == graph::OpKind::rotary_interleaved) {
    composed(kind, attributes, dtype, in, errors[0]);
  } else if (kind == graph::OpKind::mask) {  // the fill value is exact
    graph::apply_mask(attributes, x.at.shape, x.error, 0.0, errors[0]);
    if (in.size() > 1) graph::apply_lengths(attributes, x.at.shape, in[1].at.shape, in[1].at.values, 0.0, errors[0]);
  } else {  // concat, split, views and gather/scatter move errors as they move values
    std::vector<OperandValues> from;
    std::vector<ResultValues> to;
    for (std::size_t i = 0; i < in.size(); ++i)  // row indices are exact
      from.push_back(
          {in[i].at.shape, static_cast<int>(i) == graph::number_operand(kind) ? in[i].at.values : in[i].error});
    for (std::size_t i = 0; i < out.size(); ++i) to.push_back({out[i].shape, errors[i]});
    evaluate(kind, attributes, from, to);
  }
}

}  // namespace zellige::reference
