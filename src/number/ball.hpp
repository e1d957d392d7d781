// Ball arithmetic: real numbers with a proved error bound, as a center of 256 bits and a radius. If two balls
// are disjoint, the numbers differ, whatever the rounding errors. The comparison of two graphs (equal.hpp)
// uses this to prove that the graphs differ.
//
//   BallArithmetic a;
//   Ball x = a.exact(0.75), y = a.sqrt(a.mul(x, x));
//   disjoint(x, y)                    // false: they may be equal
//
// NaN and infinities exist besides numbers, as in IEEE 754: the square root of a negative number and 0 / 0 are NaN, ln
// 0 is -inf. An unknown result, such as a quotient whose divisor may be 0, or an overflow, has an infinite radius.
#pragma once
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <map>
#include <set>
#include <string>

#include "number/values.hpp"

namespace zellige::number {

constexpr int ball_bits = 256;  // precision of Ball::middle, in bits
using Real = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<ball_bits, boost::multiprecision::digit_base_2, void, std::int64_t>,
    boost::multiprecision::et_off>;

/// A real number in [middle - radius, middle + radius], an infinity, or NaN.
struct Ball {
  Real middle = 0;
  long double radius = 0;
  bool nan = false;
  int infinite = 0;  // 1 or -1: the number is +inf or -inf

  bool known() const;  // a number of finite radius
};

/// Returns whether two numbers certainly differ: their balls are disjoint, or only one of them is finite.
bool disjoint(const Ball&, const Ball&);
/// Returns the relative distance of the centers, |a - b| / max(|a|, |b|, 2^-100). Returns infinity if one
/// number is NaN or infinite and the other is not.
double distance(const Ball&, const Ball&);
/// Returns the center in 17 digits, or "nan", "inf", "-inf" or "unknown".
std::string to_string(const Ball&);

/// The arithmetic of balls, as evaluate_graph uses it (values.hpp). Every function returns a ball that
/// contains the exact result for all numbers in its operands' balls.
class BallArithmetic {
 public:
  using Number = Ball;

  /// Makes the arithmetic. Scalars (constants of a graph) in `loose` get an error bound of about 2^-50 of their
  /// value, because they may be products or sums of other scalars, rounded a few times in float64.
  explicit BallArithmetic(std::set<double> loose = {}) : loose_(std::move(loose)) {}

  Ball exact(double) const;  // an input of the graph, without error
  Ball integer(std::int64_t n) const;
  Ball constant(double c);  // a scalar of a graph: the fraction that it represents (fraction.hpp)
  Ball add(const Ball&, const Ball&) const;
  Ball sub(const Ball& x, const Ball& y) const { return add(x, neg(y)); }
  Ball mul(const Ball&, const Ball&) const;
  Ball div(const Ball&, const Ball&) const;
  Ball sqrt(const Ball&) const;
  Ball neg(const Ball&) const;
  // Returns x after a cast: truncated if the dtype is an integer, else x itself.
  Ball converted(const Ball& x, const graph::Attributes& a) const;
  // Returns the integer x in two's complement of this number of bits; unknown if x is not known exactly.
  Ball wrapped(const Ball& x, int bits) const;
  Ball exp(const Ball&) const;
  Ball log(const Ball&) const;
  Ball sin(const Ball&) const;
  Ball cos(const Ball&) const;
  Ball tanh(const Ball&) const;
  Ball abs(const Ball& x) const { return max(x, neg(x)); }
  Ball normal(const Ball&) const;  // the normal cumulative distribution function
  Ball max(const Ball&, const Ball&) const;
  Ball max_of(const std::vector<Ball>&) const;
  Ball min(const Ball& x, const Ball& y) const { return neg(max(neg(x), neg(y))); }
  Ball pow(const Ball&, const Ball&) const;
  // Comparisons return 1 or 0, or an unknown number if the balls overlap and are not exact.
  Ball less(const Ball&, const Ball&) const;
  Ball less_equal(const Ball&, const Ball&) const;
  Ball same(const Ball&, const Ball&) const;
  // Returns the second argument if the condition is not 0, the third if it is 0, else an unknown number.
  Ball choose(const Ball& condition, const Ball&, const Ball&) const;
  /// Returns the number as an integer; nullopt if it is not known exactly, is no integer, or is larger than 2^31.
  std::optional<std::int64_t> whole(const Ball&) const;
  // Returns x; only finite fields (field.hpp) record which integer selected a number.
  Ball marked(const Ball& x, const Ball&) const { return x; }
  // Returns x; only finite fields record that x depends on an integer of an input with several possible values.
  Ball one_of(const Ball& x, std::int64_t, std::uint64_t) const { return x; }

 private:
  Ball erf(const Ball&) const;

  std::set<double> loose_;
  std::map<double, Ball> constants_;
};

}  // namespace zellige::number
