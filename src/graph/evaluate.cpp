#include "graph/evaluate.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <numbers>

#include "graph/array.hpp"
#include "graph/gemm.hpp"
#include "graph/ops.hpp"

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

/// Calls use(f) with the function of a unary operator, so that a loop around f is compiled for each.
template <class Use>
void with_unary(OpKind kind, const Attributes& a, const Use& use) {
  switch (kind) {
    case OpKind::exp:
      return use([](double x) { return std::exp(x); });
    case OpKind::square:
      return use([](double x) { return x * x; });
    case OpKind::sqrt:
      return use([](double x) { return std::sqrt(x); });
    case OpKind::mul_scalar:
      return use([s = a.scalar](double x) { return x * s; });
    case OpKind::silu:
      return use([](double x) { return x / (1 + std::exp(-x)); });
    case OpKind::sigmoid:
      return use([](double x) { return 1 / (1 + std::exp(-x)); });
    case OpKind::gelu:
      return use(
          [](double x) { return x / 2 * std::erfc(-x / std::numbers::sqrt2); });  // 1 + erf would cancel
    case OpKind::relu:
      return use([](double x) { return x < 0 ? 0.0 : x; });
    case OpKind::clamp:
      return use([lo = a.lo, hi = a.hi](double x) { return x < lo ? lo : x > hi ? hi : x; });
    case OpKind::log:
      return use([](double x) { return std::log(x); });
    default:
      fail("{} has no elementwise function of one operand", name(kind));
  }
}

template <class Use>
void with_binary(OpKind kind, const Use& use) {
  switch (kind) {
    case OpKind::add:
      return use([](double x, double y) { return x + y; });
    case OpKind::sub:
      return use([](double x, double y) { return x - y; });
    case OpKind::mul:
      return use([](double x, double y) { return x * y; });
    case OpKind::div:
      return use([](double x, double y) { return x / y; });
    case OpKind::pow:
      return use([](double x, double y) { return std::pow(x, y); });
    default:
      fail("{} has no elementwise function of two operands", name(kind));
  }
}

void matmul(const Operand& a, const Operand& b, const Result& c) {
  const std::size_t r = a.shape.size();
  const std::int64_t m = a.shape[r - 2], k = a.shape[r - 1], n = b.shape[r - 1];
  const std::int64_t batch = size(a.shape) / (m * k);
  for (std::int64_t i = 0; i < batch; ++i)
    gemm(m, n, k, a.values + i * m * k, k, b.values + i * k * n, n, c.values + i * m * n, n);
}

/// A shape around one dimension: outer x extent x inner.
struct Around {
  std::int64_t outer = 1, extent = 1, inner = 1;
  Around(const Shape& shape, int dim) : extent(shape[dim]) {
    for (int d = 0; d < static_cast<int>(shape.size()); ++d)
      (d < dim ? outer : inner) *= d == dim ? 1 : shape[d];
  }
};

void rms_norm(const Operand& x, const Result& y) {
  const std::int64_t n = x.shape.back(), rows = size(x.shape) / n;
  for (std::int64_t row = 0; row < rows; ++row) {
    const double* from = x.values + row * n;
    double squares = 0;
    for (std::int64_t i = 0; i < n; ++i) squares += from[i] * from[i];
    const double rms = std::sqrt(squares / static_cast<double>(n));
    for (std::int64_t i = 0; i < n; ++i) y.values[row * n + i] = from[i] / rms;
  }
}

/// Copies a part along `dim` between a whole, at `offset`, and a tensor of its own.
template <class Copy>
void copy_part(const Shape& whole, const Shape& part, int dim, std::int64_t offset, const Copy& copy) {
  const Around w(whole, dim), p(part, dim);
  for (std::int64_t o = 0; o < w.outer; ++o)
    copy((o * w.extent + offset) * w.inner, o * p.extent * p.inner, p.extent * p.inner);
}

}  // namespace

double apply(OpKind kind, const Attributes& attributes, double x) {
  double y = 0;
  with_unary(kind, attributes, [&](const auto& f) { y = f(x); });
  return y;
}

double apply(OpKind kind, double x, double y) {
  double z = 0;
  with_binary(kind, [&](const auto& f) { z = f(x, y); });
  return z;
}

void fold(const Operand& x, int dim, bool squared, const Result& y) {
  const Around from(x.shape, dim);
  const std::int64_t to = y.shape[dim], inner = from.inner;
  for (std::int64_t o = 0; o < from.outer; ++o)
    for (std::int64_t e = 0; e < from.extent; ++e) {
      const double* px = x.values + (o * from.extent + e) * inner;
      double* py = y.values + (o * to + e % to) * inner;
      if (squared)
        for (std::int64_t i = 0; i < inner; ++i) py[i] += px[i] * px[i];
      else
        for (std::int64_t i = 0; i < inner; ++i) py[i] += px[i];
    }
}

void fold_max(const Operand& x, int dim, const Result& y) {
  const auto raise = [](double& m, double v) { m = v > m || v != v ? v : m; };
  if (dim < 0) {
    const std::int64_t n = size(x.shape);
    for (std::int64_t i = 0; i < n; ++i) raise(y.values[i], x.values[i]);
    return;
  }
  const Around from(x.shape, dim);
  for (std::int64_t o = 0; o < from.outer; ++o)
    for (std::int64_t e = 0; e < from.extent; ++e)
      for (std::int64_t i = 0; i < from.inner; ++i)
        raise(y.values[o * from.inner + i], x.values[(o * from.extent + e) * from.inner + i]);
}

void evaluate(OpKind kind, const Attributes& attributes, const std::vector<Operand>& in,
              const std::vector<Result>& out) {
  const Operand& x = in[0];
  const Result& y = out[0];
  if (is_unary(kind)) {
    const std::int64_t n = size(x.shape);
    with_unary(kind, attributes, [&](const auto& f) {
      for (std::int64_t i = 0; i < n; ++i) y.values[i] = f(x.values[i]);
    });
  } else if (is_binary(kind)) {
    with_binary(kind, [&](const auto& f) { broadcast(x, in[1], y, f); });
  } else if (kind == OpKind::matmul) {
    matmul(x, in[1], y);
  } else if (kind == OpKind::reduction) {
    std::fill_n(y.values, size(y.shape), 0.0);
    fold(x, attributes.dim, false, y);
  } else if (kind == OpKind::rms_norm) {
    rms_norm(x, y);
  } else if (kind == OpKind::concat) {
    std::int64_t offset = 0;
    for (const Operand& part : in) {
      copy_part(y.shape, part.shape, attributes.dim, offset,
                [&](std::int64_t w, std::int64_t p, std::int64_t n) {
                  std::memcpy(y.values + w, part.values + p, n * sizeof(double));
                });
      offset += part.shape[attributes.dim];
    }
  } else if (kind == OpKind::split) {
    std::int64_t offset = 0;
    for (const Result& part : out) {
      copy_part(x.shape, part.shape, attributes.dim, offset,
                [&](std::int64_t w, std::int64_t p, std::int64_t n) {
                  std::memcpy(part.values + p, x.values + w, n * sizeof(double));
                });
      offset += part.shape[attributes.dim];
    }
  } else {
    fail("{} has a state or a boundary: it cannot be evaluated by itself", name(kind));
  }
}

}  // namespace zellige::graph
