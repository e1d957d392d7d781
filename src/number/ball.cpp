#include "number/ball.hpp"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "graph/dtype.hpp"
#include "graph/error.hpp"
#include "number/fraction.hpp"

namespace zellige::number {
namespace {

constexpr long double unbounded = std::numeric_limits<long double>::infinity();
constexpr long double up = 1 + 0x1p-40L;      // covers the rounding of the radii themselves
constexpr long double minimum = 0x1p-16000L;  // the least radius except 0, so that none underflows

/// Returns a power of two that is at least |x| and at most 2 |x|, or 0 if x is 0.
long double above(const Real& x) {
  if (x.is_zero()) return 0;
  const std::int64_t e = x.backend().exponent() + 1;
  return e > 16000 ? unbounded : std::ldexp(1.0L, static_cast<int>(std::max<std::int64_t>(e, -16300)));
}

/// Returns a lower bound of |x|, at least |x| / 2 unless |x| is beyond the range of long double.
long double below(const Real& x) {
  const long double a = above(x);
  return a == unbounded ? 0x1p16000L : a <= 0x1p-16299L ? 0 : a / 2;
}

/// Returns the size of `ulps` units in the last place of x, rounded up.
long double rounding(const Real& x, long double ulps = 1) {
  const long double a = above(x);
  return x.is_zero() || a == unbounded ? a : std::max(minimum, a * ulps * std::ldexp(1.0L, -ball_bits));
}

/// Returns the exponent of the last bit of x that is not 0; x must not be 0.
std::int64_t last_bit(const Real& x) {
  return x.backend().exponent() - ball_bits + 1 + static_cast<std::int64_t>(eval_lsb(x.backend().bits()));
}
/// Returns the number of bits from the first to the last one of x that are not 0.
std::int64_t width(const Real& x) { return x.is_zero() ? 0 : x.backend().exponent() - last_bit(x) + 1; }

/// Returns whether the sum of x and y needs no more bits than a center has, so that it is exact.
bool exact_sum(const Real& x, const Real& y) {
  if (x.is_zero() || y.is_zero()) return true;
  const std::int64_t first = std::max(x.backend().exponent(), y.backend().exponent()) + 1;
  return first - std::min(last_bit(x), last_bit(y)) < ball_bits;
}
/// Returns whether the product of x and y needs no more bits than a center has, so that it is exact.
bool exact_product(const Real& x, const Real& y) { return width(x) + width(y) <= ball_bits; }

/// Returns the ball with this center and radius, or an unknown number if one of them is not finite.
Ball ball(const Real& middle, long double radius) {
  return {middle, radius >= 0 && (boost::multiprecision::isfinite)(middle) ? radius * up : unbounded};
}

/// Returns a ball that contains all numbers, for a number of which nothing is known.
Ball unknown() { return ball(0, unbounded); }
/// Returns NaN.
Ball undefined() { return {.nan = true}; }
/// Returns +inf if `sign` is 1, -inf if it is -1.
Ball infinity(int sign) { return {.infinite = sign}; }

bool negative(const Ball& x) { return x.infinite < 0 || (x.middle < 0 && below(x.middle) > x.radius); }
bool positive(const Ball& x) { return x.infinite > 0 || (x.middle > 0 && below(x.middle) > x.radius); }
/// Returns whether the number is exactly 0.
bool zero(const Ball& x) { return x.middle.is_zero() && x.radius == 0 && x.infinite == 0; }
/// Returns whether it is known which of these x is: NaN, an infinity, or a number.
bool told(const Ball& x) { return x.nan || x.infinite != 0 || x.known(); }

/// Error that is assumed of Boost.Multiprecision's functions, in units in the last place.
constexpr long double library_ulps = 64;

/// Returns f(x), where f is the sine or cosine.
template <class F>
Ball wave(const Ball& x, const F& f) {
  if (x.nan || x.infinite != 0) return undefined();
  if (!x.known() || above(x.middle) > 0x1p64L) return unknown();
  // The error of reducing the argument grows with the argument.
  return ball(Real(f(x.middle)), x.radius + std::ldexp(library_ulps * std::max(1.0L, above(x.middle)), -ball_bits));
}

/// Returns 1 if holds(x, y), which is < or <=, and 0 if it does not hold.
template <class Holds>
Ball compared(const BallArithmetic& a, const Ball& x, const Ball& y, const Holds& holds) {
  if (x.nan || y.nan) return a.integer(0);
  if (x.infinite != y.infinite && told(x) && told(y)) return a.integer(x.infinite < y.infinite);
  if (disjoint(x, y)) return beyond_range(x.middle, y.middle) ? unknown() : a.integer(x.middle < y.middle);
  if (x.infinite != y.infinite) return unknown();
  return x.radius == 0 && y.radius == 0 ? a.integer(holds(x.middle, y.middle)) : unknown();
}

}  // namespace

bool Ball::known() const { return !nan && infinite == 0 && radius < unbounded; }

bool disjoint(const Ball& a, const Ball& b) {
  if (!told(a) || !told(b)) return false;
  if (a.nan || b.nan || a.infinite != b.infinite) return a.nan != b.nan || a.infinite != b.infinite;
  if (!a.known() || !b.known()) return false;
  const Real gap = boost::multiprecision::abs(a.middle - b.middle);
  return gap > Real((a.radius + b.radius) * up) + Real(rounding(gap, 4));
}

double distance(const Ball& a, const Ball& b) {
  if (a.nan || b.nan || a.infinite != b.infinite)
    return a.nan == b.nan && a.infinite == b.infinite ? 0 : std::numeric_limits<double>::infinity();
  const Real maximum = std::max(
      std::max(Real(boost::multiprecision::abs(a.middle)), Real(boost::multiprecision::abs(b.middle))), Real(0x1p-100));
  return Real(boost::multiprecision::abs(a.middle - b.middle) / maximum).convert_to<double>();
}

std::string to_string(const Ball& x) {
  if (x.nan) return "nan";
  if (x.infinite != 0) return x.infinite > 0 ? "inf" : "-inf";
  if (!x.known()) return "unknown";
  return x.middle.str(17, std::ios_base::fmtflags(0));
}

Ball BallArithmetic::exact(double x) const { return ball(x, 0); }
Ball BallArithmetic::integer(std::int64_t n) const { return ball(n, 0); }

Ball BallArithmetic::constant(double c) {
  const auto at = constants_.find(c);
  if (at != constants_.end()) return at->second;
  if (std::isnan(c)) return undefined();
  if (std::isinf(c)) return infinity(c > 0 ? 1 : -1);
  const Fraction f = fraction(c);
  const auto numerator = [&](int exponent) { return ball(ldexp(Real(f.numerator), exponent), 0); };
  Ball b = f.dyadic() ? numerator(f.exponent - std::countr_zero(static_cast<std::uint64_t>(f.denominator)))
                      : div(numerator(f.exponent), integer(f.denominator));
  if (loose_.count(c)) b.radius = above(b.middle) * 0x1p-50L;
  return constants_[c] = b;
}

Ball BallArithmetic::add(const Ball& x, const Ball& y) const {
  if (x.nan || y.nan) return undefined();
  if (x.infinite != 0 || y.infinite != 0) {
    if (!told(x) || !told(y)) return unknown();
    if (x.infinite * y.infinite < 0) return undefined();
    return infinity(x.infinite != 0 ? x.infinite : y.infinite);
  }
  const Real z = x.middle + y.middle;
  if (x.radius == 0 && y.radius == 0 && exact_sum(x.middle, y.middle)) return ball(z, 0);
  return ball(z, x.radius + y.radius + rounding(z));
}

Ball BallArithmetic::mul(const Ball& x, const Ball& y) const {
  if (x.nan || y.nan) return undefined();
  if (x.infinite != 0 || y.infinite != 0) {
    if (zero(x) || zero(y)) return undefined();
    const int sign = (positive(x) - negative(x)) * (positive(y) - negative(y));
    return told(x) && told(y) && sign != 0 ? infinity(sign) : unknown();
  }
  if (!x.known() || !y.known()) return unknown();
  if (zero(x) || zero(y)) return ball(0, 0);
  const Real z = x.middle * y.middle;
  if (x.radius == 0 && y.radius == 0 && exact_product(x.middle, y.middle)) return ball(z, 0);
  const auto spread = [](long double a, long double r) { return r == 0 ? 0 : a * r; };  // not infinity times 0
  return ball(z, minimum + spread(above(x.middle), y.radius) + spread(above(y.middle), x.radius) + x.radius * y.radius +
                     rounding(z));
}

Ball BallArithmetic::div(const Ball& x, const Ball& y) const {
  if (x.nan || y.nan || (zero(x) && zero(y)) || (x.infinite != 0 && y.infinite != 0)) return undefined();
  if (y.infinite != 0) return x.known() ? ball(0, 0) : unknown();
  if (x.infinite != 0) return mul(x, y.known() && zero(y) ? unknown() : y);
  const long double divisor = below(y.middle);
  if (!x.known() || !y.known() || divisor <= y.radius) return unknown();
  if (zero(x)) return ball(0, 0);
  const Real z = x.middle / y.middle;
  if (x.radius == 0 && y.radius == 0 && exact_product(z, y.middle) && z * y.middle == x.middle) return ball(z, 0);
  const long double moved = y.radius == 0 ? 0 : above(z) * y.radius;
  return ball(z, minimum + (x.radius + moved) / (divisor - y.radius) + rounding(z));
}

Ball BallArithmetic::sqrt(const Ball& x) const {
  if (x.nan || negative(x)) return undefined();
  if (x.infinite != 0) return x;
  if (!x.known()) return unknown();
  if (zero(x)) return x;
  if (!positive(x)) return ball(0, std::sqrt(above(x.middle) + x.radius) * up);
  const Real z = boost::multiprecision::sqrt(x.middle);
  if (x.radius == 0 && exact_product(z, z) && z * z == x.middle) return ball(z, 0);
  return ball(z, x.radius / below(z) + rounding(z, library_ulps));
}

Ball BallArithmetic::exp(const Ball& x) const {
  if (x.nan) return undefined();
  if (x.infinite != 0) return x.infinite > 0 ? x : ball(0, 0);
  if (zero(x)) return integer(1);
  if (!x.known() || x.middle > 10000 || x.radius > 1) return unknown();
  if (x.middle < -10000) return ball(0, 0x1p-14000L);
  const Real z = boost::multiprecision::exp(x.middle);
  const long double ulps = library_ulps * std::max(1.0L, above(x.middle));  // the argument is reduced by powers of 2
  return ball(z, above(z) * std::expm1(x.radius) * up + rounding(z, ulps));
}

Ball BallArithmetic::log(const Ball& x) const {
  if (x.nan || negative(x)) return undefined();
  if (x.infinite != 0) return x;
  if (zero(x)) return infinity(-1);
  if (!x.known() || !positive(x)) return unknown();
  if (x.middle == 1 && x.radius == 0) return integer(0);
  const Real z = boost::multiprecision::log(x.middle);
  return ball(
      z, x.radius / (below(x.middle) - x.radius) + rounding(z, library_ulps) + std::ldexp(library_ulps, -ball_bits));
}

/// Returns erf(x) from its series 2/sqrt(pi) exp(-x^2) (x + 2 x^3/3 + 4 x^5/15 + ...), whose terms have the sign of x.
Ball BallArithmetic::erf(const Ball& x) const {
  if (x.nan) return undefined();
  if (x.infinite != 0) return ball(x.infinite, 0);
  if (!x.known()) return unknown();
  if (boost::multiprecision::abs(x.middle) > 20)
    return ball(x.middle < 0 ? -1 : 1, 0x1p-250L + std::min(2.0L, 2 * x.radius));
  const Real square = x.middle * x.middle;
  Real term = x.middle, sum = term;
  for (int n = 1; n < 4000 && boost::multiprecision::abs(term) > ldexp(boost::multiprecision::abs(sum), -ball_bits - 8);
       ++n) {
    term *= 2 * square / (2 * n + 1);
    sum += term;
  }
  static const Real pi = boost::math::constants::pi<Real>();
  const Real z = 2 * sum * boost::multiprecision::exp(Real(-square)) / boost::multiprecision::sqrt(pi);
  return ball(z, 2 * x.radius + 0x1p-240L);  // the slope is at most 2/sqrt(pi)
}

Ball BallArithmetic::max(const Ball& x, const Ball& y) const {
  if (x.nan || y.nan) return undefined();
  if (x.infinite != 0 || y.infinite != 0) {
    if (!told(x) || !told(y)) return unknown();
    return x.infinite > 0 || y.infinite < 0 ? x : y;
  }
  if (beyond_range(x.middle, y.middle)) return unknown();
  return ball(std::max(x.middle, y.middle), std::max(x.radius, y.radius));
}

Ball BallArithmetic::max_of(const std::vector<Ball>& all) const {
  Ball maximum = all.front();
  for (const Ball& x : all) maximum = max(maximum, x);
  return maximum;
}

/// Returns x truncated to the integer dtype of the cast `a`; x itself if that dtype is no integer. Returns an unknown
/// number if numbers of the ball are truncated to different integers, or the dtype cannot represent the result.
Ball BallArithmetic::converted(const Ball& x, const graph::Attributes& a) const {
  if (!graph::is_integer(a.dtype)) return x;
  const graph::Format& f = graph::format(a.dtype);
  if (f.integer_bits == 1) return choose(x, integer(1), integer(0));
  const Real middle = trunc(x.middle);
  if (!x.known() || x.middle > Real(f.greatest) || x.middle < Real(std::max(f.lowest, -f.greatest))) return unknown();
  if (x.radius == 0) return ball(middle, 0);
  const Real low = trunc(Real(x.middle - Real(x.radius * up))), high = trunc(Real(x.middle + Real(x.radius * up)));
  return low == high ? ball(middle, 0) : unknown();
}

Ball BallArithmetic::wrapped(const Ball& x, int bits) const {
  if (!x.known() || x.radius != 0) return unknown();
  const Real size = ldexp(Real(1), bits);
  return ball(x.middle - size * floor(Real(x.middle / size + 0.5)), 0);
}

std::optional<std::int64_t> BallArithmetic::whole(const Ball& x) const {
  if (!x.known() || x.radius != 0 || x.middle != trunc(x.middle) || boost::multiprecision::abs(x.middle) > 0x1p31)
    return std::nullopt;
  return x.middle.convert_to<std::int64_t>();
}

Ball BallArithmetic::pow(const Ball& x, const Ball& y) const {
  if (x.nan || y.nan || !x.known() || !y.known()) return unknown();  // NaN to the power of 0 is 1
  if (y.radius == 0 && y.middle == floor(y.middle) && boost::multiprecision::abs(y.middle) <= 4096)
    return power(*this, x, y.middle.convert_to<int>());
  if (positive(x)) return exp(mul(y, log(x)));
  const Real spread(y.radius);
  if (negative(x) && floor(y.middle - spread) == floor(y.middle + spread) && y.middle - spread > floor(y.middle))
    return undefined();
  return unknown();
}

Ball BallArithmetic::neg(const Ball& x) const {
  Ball y = x;
  y.middle = -x.middle, y.infinite = -x.infinite;
  return y;
}

Ball BallArithmetic::sin(const Ball& x) const {
  return wave(x, [](const Real& middle) { return boost::multiprecision::sin(middle); });
}

Ball BallArithmetic::cos(const Ball& x) const {
  return wave(x, [](const Real& middle) { return boost::multiprecision::cos(middle); });
}

Ball BallArithmetic::tanh(const Ball& x) const {
  if (x.nan) return undefined();
  if (x.infinite != 0) return ball(x.infinite, 0);
  if (!x.known()) return unknown();
  const Ball e = exp(mul(integer(-2), abs(x)));  // at most 1
  const Ball y = div(sub(integer(1), e), add(integer(1), e));
  return x.middle < 0 ? neg(y) : y;
}

Ball BallArithmetic::normal(const Ball& x) const {
  return div(add(integer(1), erf(div(x, sqrt(integer(2))))), integer(2));
}

Ball BallArithmetic::less(const Ball& x, const Ball& y) const { return compared(*this, x, y, std::less<>()); }

Ball BallArithmetic::less_equal(const Ball& x, const Ball& y) const {
  return compared(*this, x, y, std::less_equal<>());
}

Ball BallArithmetic::same(const Ball& x, const Ball& y) const {
  if (x.nan || y.nan || disjoint(x, y)) return integer(0);
  return x.radius == 0 && y.radius == 0 ? integer(x.middle == y.middle) : unknown();
}

Ball BallArithmetic::choose(const Ball& condition, const Ball& x, const Ball& y) const {
  if (condition.nan || disjoint(condition, integer(0))) return x;  // NaN is not 0
  return zero(condition) ? y : unknown();
}

}  // namespace zellige::number
