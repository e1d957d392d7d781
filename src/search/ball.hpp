// Real numbers with a proved error bound: a center of 256 bits and a radius. If two balls are disjoint, the
// numbers differ, whatever the rounding errors.
//
//   BallArithmetic a;
//   Ball x = a.exact(0.75), y = a.sqrt(a.mul(x, x));
//   disjoint(x, y)                    // false: they may be equal
//
// NaN and infinities are classes of their own, as in IEEE 754: the square root of a negative number and 0 / 0
// are NaN, ln 0 is -inf. An unknown result (a division by what may be 0, an overflow) has an infinite radius.
#pragma once
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <map>
#include <set>
#include <string>

#include "search/values.hpp"

namespace zellige::search {

constexpr int ball_bits = 256;
using Real = boost::multiprecision::number<
    boost::multiprecision::cpp_bin_float<ball_bits, boost::multiprecision::digit_base_2, void, std::int64_t>,
    boost::multiprecision::et_off>;

struct Ball {
  Real middle = 0;
  long double radius = 0;
  bool nan = false;
  int infinite = 0;  // 1 or -1: +inf or -inf

  bool known() const;  // a number of finite radius
};

/// Returns whether they certainly differ: numbers with disjoint balls, or different classes.
bool disjoint(const Ball&, const Ball&);
/// Returns whether the radius is small enough for agreement to be meaningful: at most 2^-bits of the value,
/// or of 1 if that is more.
bool sharp(const Ball&, int bits);
/// |a - b| / max(|a|, |b|, 2^-100), roughly.
double distance(const Ball&, const Ball&);
std::string to_string(const Ball&);  // 17 digits, or nan

class BallArithmetic {
 public:
  using Number = Ball;

  /// Scalars in `loose` are known to 50 bits only: the precision of a double, less what folding a few of them
  /// costs.
  explicit BallArithmetic(std::set<double> loose = {}) : loose_(std::move(loose)) {}

  Ball exact(double) const;  // an input
  Ball integer(std::int64_t n) const;
  Ball constant(double c);  // a scalar: the fraction that it represents
  Ball add(const Ball&, const Ball&) const;
  Ball sub(const Ball&, const Ball&) const;
  Ball mul(const Ball&, const Ball&) const;
  Ball div(const Ball&, const Ball&) const;
  Ball sqrt(const Ball&) const;
  Ball neg(const Ball&) const;
  Ball converted(const Ball& x, const graph::Attributes& a) const;
  Ball exp(const Ball&) const;
  Ball log(const Ball&) const;
  Ball sin(const Ball&) const;
  Ball cos(const Ball&) const;
  Ball tanh(const Ball&) const;
  Ball abs(const Ball&) const;
  Ball normal(const Ball&) const;
  Ball max(const Ball&, const Ball&) const;
  Ball max_of(const std::vector<Ball>&) const;
  Ball min(const Ball&, const Ball&) const;
  Ball pow(const Ball&, const Ball&) const;
  // Unknown if the two may be equal, or the condition may be 0.
  Ball less(const Ball&, const Ball&) const;
  Ball less_equal(const Ball&, const Ball&) const;
  Ball same(const Ball&, const Ball&) const;
  Ball choose(const Ball& condition, const Ball&, const Ball&) const;
  std::optional<std::int64_t> whole(const Ball&) const;
  Ball marked(const Ball& x, const Ball&) const { return x; }
  Ball one_of(const Ball& x, std::int64_t, std::uint64_t) const { return x; }

 private:
  Ball erf(const Ball&) const;

  std::set<double> loose_;
  std::map<double, Ball> constants_;
};

}  // namespace zellige::search
