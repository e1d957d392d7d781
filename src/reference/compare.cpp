#include "reference/compare.hpp"

#include <algorithm>

namespace zellige::reference {

Tolerance tolerance(graph::DType dtype) {
  constexpr Tolerance rows[] = {
      // in the order of DType
      {.norm = 2.5e-4, .element = 3 * 0x1p-10, .step = 3 * 0x1p-24, .unit = 0x1p-10},
      {.norm = 2e-3, .element = 3 * 0x1p-7, .unit = 0x1p-7},
      {.norm = 3e-6, .element = 3e-5, .floor = 1e-2, .unit = 0x1p-23},
      {.norm = 8e-3, .element = 3 * 0x1p-3, .step = 3 * 0x1p-9, .unit = 0x1p-3},
      {.norm = 1.6e-2, .element = 3 * 0x1p-2, .step = 3 * 0x1p-16, .unit = 0x1p-2},
  };
  if (dtype == graph::DType::f64) return {.norm = 2e-14, .element = 2e-13, .floor = 1e-2, .unit = 0x1p-52};
  const auto row = static_cast<std::size_t>(dtype);
  return row < std::size(rows) ? rows[row] : Tolerance{.norm = 0, .element = 0, .floor = 0};
}

Tolerance close_tolerance(graph::DType dtype) {
  Tolerance t = tolerance(dtype);
  const double minimum = tolerance(graph::computed_in(dtype)).element;
  if (!graph::is_integer(dtype)) t.element = std::max(t.unit, minimum), t.row = minimum;
  t.spread = 5;
  return t;
}

double norm_allowed(const Tolerance& t, std::int64_t count) {
  const double one = t.unit / std::sqrt(static_cast<double>(count));
  return std::sqrt(t.norm * t.norm + 3 * t.norm * one + one * one);
}

namespace {

/// Returns the sum of squares of the finite values. Infinities and NaNs are skipped: they are compared one by
/// one, and must not affect other elements.
double sum_of_squares(const double* values, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i)
    if (std::isfinite(values[i])) sum += values[i] * values[i];
  return sum;
}

/// Returns the sum of squares of a[i] - b[i] over the elements where both are finite.
double sum_of_squares(const double* a, const double* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i)
    if (std::isfinite(a[i]) && std::isfinite(b[i])) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// Returns error / scale: 0 if `error` is 0, infinity if both are infinite or one is NaN. So it is never NaN.
double ratio(double error, double scale) {
  if (error == 0) return 0;
  const double r = error / scale;
  return r == r ? r : infinity;
}

}  // namespace

double Norms::relative() const { return ratio(std::sqrt(difference), std::sqrt(expected)); }

bool Norms::within(const Tolerance& allowed) const {
  return relative() <= norm_allowed(allowed, count) + ratio(std::sqrt(omitted), std::sqrt(expected));
}

Array allowances(const Array& expected, const Tolerance& t, const Array* rounded) {
  const std::int64_t count = graph::size(expected.shape), n = expected.shape.back();
  const double total = sum_of_squares(expected.values.data(), count);
  const double floor = t.floor * std::sqrt(total / static_cast<double>(count));
  Array allowed = make_array(expected.shape);
  for (std::int64_t row = 0; row < count; row += n) {
    const double *y = expected.values.data() + row, length = static_cast<double>(n);
    const double minimum = t.row * std::max(std::sqrt(sum_of_squares(y, n) / length), floor);
    const double added =
        rounded ? t.spread * std::sqrt(sum_of_squares(rounded->values.data() + row, y, n) / length) : 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const double magnitude = std::isfinite(y[i]) ? std::fabs(y[i]) : 0;
      allowed.values[row + i] = std::max({t.element * magnitude, minimum, t.step}) + added;
    }
  }
  return allowed;
}

Comparison compare(const Array& found, const Array& expected, const Tolerance& allowed, const Array* errors,
                   const Array* rounded, const Array* limits) {
  if (found.shape != expected.shape || found.values.size() != expected.values.size())
    fail("comparison: expected an array of shape {}, found {}", graph::to_string(expected.shape),
         graph::to_string(found.shape));
  const std::int64_t count = graph::size(expected.shape);
  const Array bounds = allowances(expected, allowed, rounded);
  Comparison c;
  c.norms = {.expected = sum_of_squares(expected.values.data(), count), .count = count};
  if (rounded) c.norms.omitted = sum_of_squares(rounded->values.data(), expected.values.data(), count);
  double excess = 0;        // sum of squares of the errors beyond the explained ones
  double limit_ratio = -1;  // the largest ratio to a limit
  std::int64_t worst_at = 0, limited_at = 0;
  c.worst = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    const double error = distance(found.values[i], expected.values[i]), bound = bounds.values[i];
    c.norms.difference += error * error;
    const double r = ratio(error, bound);
    const bool limited = limits && !(error <= limits->values[i]);
    c.wrong += !(r <= 1) || limited;
    if (limited && ratio(error, limits->values[i]) > limit_ratio)
      limit_ratio = ratio(error, limits->values[i]), limited_at = i;
    if (r > c.worst) {
      c.worst = r;
      if (c.of_error <= 1) worst_at = i;
    }
    if (!errors) continue;
    const double explained = errors->values[i];
    const bool anything = explained == infinity;  // the error is unbounded, for example if a divisor may be 0
    if (!anything && error > explained) excess += (error - explained) * (error - explained);
    const double share = r <= 1 ? 0 : anything ? 1 : ratio(error, explained);
    if (share > c.of_error) {
      c.of_error = share;
      if (share > 1) worst_at = i;  // takes precedence over a larger error that is explained
    }
  }
  c.limited = limit_ratio >= 0;
  if (c.limited) worst_at = limited_at;
  c.at = graph::coordinates(worst_at, expected.shape);
  c.found = found.values[worst_at];
  c.expected = expected.values[worst_at];
  c.allowed = bounds.values[worst_at];
  c.norm_error = c.norms.relative();
  c.correct = c.norms.within(allowed) && c.worst <= 1 && c.wrong == 0;
  if (c.limited) c.error = limits->values[worst_at], c.of_error = std::max(c.of_error, limit_ratio);
  if (!errors || c.limited) return c;
  c.error = errors->values[worst_at];
  const double norm = std::sqrt(c.norms.expected);
  c.explained = !c.correct && c.of_error <= 1 &&
                ratio(std::sqrt(excess), norm) <= allowed.norm / 4 + ratio(std::sqrt(c.norms.omitted), norm);
  return c;
}

std::string to_string(const Comparison& c) {
  std::string remarks;
  if (c.explained && c.wrong == 0)
    remarks = ", the norm above what is allowed; rounding alone moves it as far";
  else if (c.explained)
    remarks = fmt::format(", {} elements above that; rounding alone explains up to {:.3g} there", c.wrong, c.error);
  else if (c.wrong)
    remarks = fmt::format(", {} elements wrong", c.wrong);
  if (c.wrong && c.of_error > 1) remarks += fmt::format("; rounding alone explains no more than {:.3g} there", c.error);
  if (!c.as_a_whole.empty()) remarks += "; " + c.as_a_whole;
  return fmt::format("relative norm {:.3g}, worst at {}: found {:.6g}, expected {:.6g}, {:.3g} of the {:.3g} allowed{}",
                     c.norm_error, graph::to_string(c.at), c.found, c.expected, c.worst, c.allowed, remarks);
}

}  // namespace zellige::reference
