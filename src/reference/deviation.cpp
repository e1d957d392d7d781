#include "reference/deviation.hpp"

#include <algorithm>
#include <cmath>

namespace zellige::reference {
namespace {

void raise(std::vector<double>& to, const std::vector<double>& from, double factor) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], factor * from[i]);
}

/// Returns the norm of each row (last dimension) over its finite elements.
std::vector<double> row_norms(const Array& a) {
  const auto n = static_cast<std::size_t>(a.shape.back());
  std::vector<double> norms(a.values.size() / n, 0);
  for (std::size_t i = 0; i < a.values.size(); ++i)
    if (std::isfinite(a.values[i])) norms[i / n] += a.values[i] * a.values[i];
  for (double& x : norms) x = std::sqrt(x);
  return norms;
}

}  // namespace

Deviation deviation(const Array& found, const Array& expected) {
  const auto n = static_cast<std::size_t>(expected.shape.back());
  Deviation d{std::vector<double>(expected.values.size()), std::vector<double>(expected.values.size() / n), 0, 0};
  double along = 0, square = 0, difference = 0;
  for (std::size_t i = 0; i < d.elements.size(); ++i) {
    const double x = found.values[i], y = expected.values[i], error = distance(x, y);
    d.elements[i] = error;
    if (std::isfinite(y)) square += y * y;
    if (!std::isfinite(error)) continue;  // an infinite deviation is in `elements`
    difference += error * error, d.rows[i / n] += error * error;
    if (error > 0) along += (x - y) * y;
  }
  for (double& x : d.rows) x = std::sqrt(x);
  if (square > 0) d.scale = std::fabs(along) / square, d.norm = std::sqrt(difference / square);
  return d;
}

void raise(Deviation& to, const Deviation& from, double factor) {
  raise(to.elements, from.elements, factor);
  raise(to.rows, from.rows, factor);
  to.scale = std::max(to.scale, factor * from.scale), to.norm = std::max(to.norm, factor * from.norm);
}

Deviation close_by(const Array& expected, graph::DType dtype, const Array* rounded) {
  const Tolerance t = tolerance(dtype);
  Deviation allowed{allowances(expected, close_tolerance(dtype), rounded).values, row_norms(expected),
                    norm_allowed(t, graph::size(expected.shape)), 0};
  for (double& x : allowed.rows) x = norm_allowed(t, expected.shape.back()) * x;
  if (!rounded) return allowed;
  const Deviation omitted = deviation(*rounded, expected);
  for (std::size_t i = 0; i < allowed.rows.size(); ++i) allowed.rows[i] += 2 * omitted.rows[i];
  allowed.scale += omitted.scale + 5 * omitted.norm / std::sqrt(static_cast<double>(allowed.rows.size()));
  return allowed;
}

}  // namespace zellige::reference
