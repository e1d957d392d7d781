// Numbers in float64 with a proved error bound, for graphs that are too large for balls (ball.hpp). The bound covers the
// rounding of each operation, and of the C library's functions as far as they are right to 8 units in the last place.
//
//   RoundedArithmetic a;
//   Rounded y = a.mul(a.exact(0.1), a.exact(3));     // y.value is within y.error of 0.1 times 3
#pragma once
#include <cmath>
#include <limits>

#include "number/values.hpp"

namespace zellige::number {

/// A real number within `error` of `value`; with an error of 0 also NaN or an infinity. An infinite error: unknown.
struct Rounded {
  double value = 0, error = 0;

  bool told() const { return std::isfinite(error); }
  bool finite() const { return std::isfinite(value) && told(); }
};

/// Returns whether two numbers certainly differ.
bool disjoint(const Rounded&, const Rounded&);

/// The arithmetic of such numbers, as evaluate_graph uses it (values.hpp).
class RoundedArithmetic {
 public:
  using Number = Rounded;

  static Rounded exact(double x) { return {x, 0}; }
  static Rounded integer(std::int64_t n) { return {static_cast<double>(n), 0}; }
  static Rounded constant(double c);
  static Rounded neg(const Rounded& x) { return {-x.value, x.error}; }
  static Rounded add(const Rounded&, const Rounded&);
  static Rounded sub(const Rounded& x, const Rounded& y) { return add(x, neg(y)); }
  static Rounded mul(const Rounded&, const Rounded&);
  static Rounded div(const Rounded&, const Rounded&);
  static Rounded sqrt(const Rounded&);
  static Rounded exp(const Rounded&);
  static Rounded log(const Rounded&);
  static Rounded pow(const Rounded&, const Rounded&);
  static Rounded sin(const Rounded&);
  static Rounded cos(const Rounded&);
  static Rounded tanh(const Rounded&);
  static Rounded normal(const Rounded&);
  static Rounded abs(const Rounded& x) { return max(x, neg(x)); }
  static Rounded max(const Rounded&, const Rounded&);
  static Rounded max_of(const std::vector<Rounded>&);
  static Rounded min(const Rounded& x, const Rounded& y) { return neg(max(neg(x), neg(y))); }
  static Rounded converted(const Rounded&, const graph::Attributes&);
  static Rounded wrapped(const Rounded&, int bits);
  static Rounded less(const Rounded&, const Rounded&);
  static Rounded less_equal(const Rounded&, const Rounded&);
  static Rounded same(const Rounded&, const Rounded&);
  static Rounded choose(const Rounded& condition, const Rounded&, const Rounded&);
  static std::optional<std::int64_t> whole(const Rounded&);
  static Rounded marked(const Rounded& x, const Rounded&) { return x; }
  static Rounded one_of(const Rounded& x, std::int64_t, std::uint64_t) { return x; }

  /// A dot product, whose roundings are bounded at once.
  class Dot {
   public:
    explicit Dot(RoundedArithmetic&) {}
    void add(const Rounded& x, const Rounded& y) {
      const double z = x.value * y.value, size = std::fabs(z);
      sum_ += z, size_ += size, ++terms_;
      error_ += std::fabs(x.value) * y.error + std::fabs(y.value) * x.error + x.error * y.error;
      if (!(size + x.error + y.error < infinite)) others_ = RoundedArithmetic::add(others_, mul(x, y)), finite_ = false;
    }
    Rounded value() const;

   private:
    static constexpr double infinite = std::numeric_limits<double>::infinity();
    double sum_ = 0, size_ = 0, error_ = 0;
    std::int64_t terms_ = 0;
    bool finite_ = true;  // all products are finite numbers
    Rounded others_;      // else: the sum of the others
  };
};

}  // namespace zellige::number
