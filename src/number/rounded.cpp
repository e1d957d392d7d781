#include "number/rounded.hpp"

#include <algorithm>
#include <functional>
#include <numbers>

#include "graph/dtype.hpp"
#include "number/fraction.hpp"

namespace zellige::number {
namespace {

constexpr double infinite_value = std::numeric_limits<double>::infinity();
constexpr double margin = 1 + 0x1p-40;  // covers the rounding of the errors themselves
constexpr double smallest = 0x1p-1000;  // covers underflow
constexpr double unit = 0x1p-53;        // relative error of one rounding
constexpr double library = 16 * unit;   // relative error that is assumed of the C library's functions

Rounded unknown_value() { return {0, infinite_value}; }
Rounded undefined_value() { return {std::numeric_limits<double>::quiet_NaN(), 0}; }

/// Returns the number with this value and error; unknown if one of them is not finite, as after an overflow.
Rounded number(double value, double error) {
  return std::isfinite(value) && std::isfinite(error) ? Rounded{value, error * margin} : unknown_value();
}

bool is_nan(const Rounded& x) { return x.told() && std::isnan(x.value); }
bool is_infinite(const Rounded& x) { return x.told() && std::isinf(x.value); }
bool is_zero(const Rounded& x) { return x.value == 0 && x.error == 0; }
bool positive(const Rounded& x) { return x.told() && x.value > x.error; }
bool negative(const Rounded& x) { return x.told() && x.value < -x.error; }

template <class Holds>
Rounded compared(const Rounded& x, const Rounded& y, const Holds& holds) {
  if (is_nan(x) || is_nan(y)) return RoundedArithmetic::integer(0);
  if (!x.told() || !y.told()) return unknown_value();
  if (beyond_range(x.value, y.value)) return unknown_value();
  if (is_infinite(x) || is_infinite(y) || disjoint(x, y) || (x.error == 0 && y.error == 0))
    return RoundedArithmetic::integer(holds(x.value, y.value));
  return unknown_value();
}

/// Returns f(x) with a slope of at most 1 for the error of x.
template <class F>
Rounded gentle(const Rounded& x, const F& f) {
  const double z = f(x.value);
  return number(z, x.error + library * std::fabs(z) + smallest);
}

}  // namespace

bool disjoint(const Rounded& x, const Rounded& y) {
  if (!x.told() || !y.told()) return false;
  if (!x.finite() || !y.finite()) return x.value != y.value && !(std::isnan(x.value) && std::isnan(y.value));
  return std::fabs(x.value - y.value) * (1 - 4 * unit) > (x.error + y.error) * margin;
}

Rounded RoundedArithmetic::constant(double c) {
  return std::isfinite(c) ? Rounded{c, c == std::floor(c) && std::fabs(c) < 0x1p53 ? 0 : std::fabs(c) * unit}
                          : Rounded{c, 0};
}

Rounded RoundedArithmetic::add(const Rounded& x, const Rounded& y) {
  if (is_nan(x) || is_nan(y)) return undefined_value();
  if (!x.told() || !y.told()) return unknown_value();
  const double z = x.value + y.value;
  if (is_infinite(x) || is_infinite(y)) return {z, 0};
  const double bb = z - x.value, rest = (x.value - (z - bb)) + (y.value - bb);
  return number(z, x.error + y.error + std::fabs(rest));
}

Rounded RoundedArithmetic::mul(const Rounded& x, const Rounded& y) {
  if (is_nan(x) || is_nan(y)) return undefined_value();
  if (!x.told() || !y.told()) return unknown_value();
  if (is_infinite(x) || is_infinite(y)) {
    if (is_zero(x) || is_zero(y)) return undefined_value();
    const int sign = (positive(x) - negative(x)) * (positive(y) - negative(y));
    return sign == 0 ? unknown_value() : Rounded{sign * infinite_value, 0};
  }
  if (is_zero(x) || is_zero(y)) return {0, 0};
  const double z = x.value * y.value;
  const double rest = std::fabs(std::fma(x.value, y.value, -z));
  const double lost = std::fabs(z) < smallest ? smallest : rest;
  return number(z, std::fabs(x.value) * y.error + std::fabs(y.value) * x.error + x.error * y.error + lost);
}

/// If a product is no finite number, neither is the sum: it is NaN, an infinity or unknown, whatever the others are.
Rounded RoundedArithmetic::Dot::value() const {
  if (!finite_) return others_;
  return number(sum_, error_ + size_ * static_cast<double>(terms_ + 2) * unit + static_cast<double>(terms_) * smallest);
}

Rounded RoundedArithmetic::div(const Rounded& x, const Rounded& y) {
  if (is_nan(x) || is_nan(y) || (is_zero(x) && is_zero(y)) || (is_infinite(x) && is_infinite(y)))
    return undefined_value();
  if (!x.told() || !y.told()) return unknown_value();
  if (is_infinite(y)) return {0, 0};
  if (is_infinite(x)) return mul(x, is_zero(y) ? unknown_value() : y);
  const double divisor = std::fabs(y.value) - y.error;
  if (!(divisor > 0)) return unknown_value();
  if (is_zero(x)) return {0, 0};
  const double z = x.value / y.value;
  return number(z, (x.error + std::fabs(z) * y.error) / divisor * margin + std::fabs(z) * 2 * unit + smallest);
}

Rounded RoundedArithmetic::sqrt(const Rounded& x) {
  if (is_nan(x) || negative(x)) return undefined_value();
  if (!x.told() || is_infinite(x) || is_zero(x)) return x;
  if (!positive(x)) return number(0, std::sqrt(std::fabs(x.value) + x.error) * margin);
  const double z = std::sqrt(x.value);
  return number(z, x.error / z + std::fabs(z) * 2 * unit);
}

Rounded RoundedArithmetic::exp(const Rounded& x) {
  if (is_nan(x)) return undefined_value();
  if (!x.told()) return unknown_value();
  if (is_infinite(x)) return x.value > 0 ? x : Rounded{0, 0};
  if (is_zero(x)) return {1, 0};
  if (x.error > 1) return unknown_value();
  const double z = std::exp(x.value);
  return number(z, z * (std::expm1(x.error) * margin + library) + smallest);
}

Rounded RoundedArithmetic::log(const Rounded& x) {
  if (is_nan(x) || negative(x)) return undefined_value();
  if (!x.told()) return unknown_value();
  if (is_infinite(x)) return x;
  if (is_zero(x)) return {-infinite_value, 0};
  if (!positive(x)) return unknown_value();
  if (x.value == 1 && x.error == 0) return {0, 0};
  const double z = std::log(x.value);
  return number(z, x.error / (x.value - x.error) * margin + std::fabs(z) * library + smallest);
}

Rounded RoundedArithmetic::pow(const Rounded& x, const Rounded& y) {
  if (!x.finite() || !y.finite()) return unknown_value();
  RoundedArithmetic a;
  if (y.error == 0 && y.value == std::floor(y.value) && std::fabs(y.value) <= 64)
    return power(a, x, static_cast<int>(y.value));
  return positive(x) ? exp(mul(y, log(x))) : unknown_value();
}

Rounded RoundedArithmetic::sin(const Rounded& x) {
  if (is_nan(x) || is_infinite(x)) return undefined_value();
  return x.told() ? gentle(x, [](double v) { return std::sin(v); }) : x;
}

Rounded RoundedArithmetic::cos(const Rounded& x) {
  if (is_nan(x) || is_infinite(x)) return undefined_value();
  return x.told() ? gentle(x, [](double v) { return std::cos(v); }) : x;
}

Rounded RoundedArithmetic::tanh(const Rounded& x) {
  if (is_nan(x)) return undefined_value();
  if (is_infinite(x)) return {x.value > 0 ? 1.0 : -1.0, 0};
  return x.told() ? gentle(x, [](double v) { return std::tanh(v); }) : x;
}

Rounded RoundedArithmetic::normal(const Rounded& x) {
  if (is_nan(x)) return undefined_value();
  if (is_infinite(x)) return {x.value > 0 ? 1.0 : 0.0, 0};
  if (!x.told()) return x;
  const double z = std::erfc(-x.value / std::numbers::sqrt2) / 2;  // the slope is at most 0.4
  return number(z, x.error + (std::fabs(x.value) + 1) * library);
}

Rounded RoundedArithmetic::max(const Rounded& x, const Rounded& y) {
  if (is_nan(x) || is_nan(y)) return undefined_value();
  if (!x.told() || !y.told()) return unknown_value();
  if (is_infinite(x) || is_infinite(y)) return x.value > y.value ? x : y;
  if (beyond_range(x.value, y.value)) return unknown_value();
  if (disjoint(x, y)) return x.value > y.value ? x : y;
  return {std::max(x.value, y.value), std::max(x.error, y.error)};
}

Rounded RoundedArithmetic::max_of(const std::vector<Rounded>& all) {
  Rounded maximum = all.front();
  for (const Rounded& x : all) maximum = max(maximum, x);
  return maximum;
}

Rounded RoundedArithmetic::converted(const Rounded& x, const graph::Attributes& a) {
  if (!graph::is_integer(a.dtype)) return x;
  const graph::Format& f = graph::format(a.dtype);
  if (f.integer_bits == 1) return is_nan(x) || disjoint(x, {0, 0}) ? integer(1) : is_zero(x) ? x : unknown_value();
  if (!x.finite() || x.value > f.greatest || x.value < std::max(f.lowest, -f.greatest)) return unknown_value();
  const double low = std::trunc(x.value - x.error * margin), high = std::trunc(x.value + x.error * margin);
  return low == high ? Rounded{low, 0} : unknown_value();
}

Rounded RoundedArithmetic::wrapped(const Rounded& x, int bits) {
  if (!x.finite() || x.error != 0 || std::fabs(x.value) > 0x1p52) return unknown_value();
  const double size = std::ldexp(1.0, bits);
  return {x.value - size * std::floor(x.value / size + 0.5), 0};
}

Rounded RoundedArithmetic::less(const Rounded& x, const Rounded& y) { return compared(x, y, std::less<>()); }
Rounded RoundedArithmetic::less_equal(const Rounded& x, const Rounded& y) {
  return compared(x, y, std::less_equal<>());
}
Rounded RoundedArithmetic::same(const Rounded& x, const Rounded& y) { return compared(x, y, std::equal_to<>()); }

Rounded RoundedArithmetic::choose(const Rounded& condition, const Rounded& x, const Rounded& y) {
  if (is_nan(condition) || disjoint(condition, {0, 0})) return x;  // NaN is not 0
  return is_zero(condition) ? y : unknown_value();
}

std::optional<std::int64_t> RoundedArithmetic::whole(const Rounded& x) {
  if (!x.finite() || x.error != 0 || x.value != std::floor(x.value) || std::fabs(x.value) > 0x1p31) return std::nullopt;
  return static_cast<std::int64_t>(x.value);
}

}  // namespace zellige::number
