// How slopes are computed with (traced.hpp): as residues of a random finite field, or as float64.
#pragma once
#include <cmath>

#include "number/field.hpp"
#include "number/modular.hpp"
#include "number/rounded.hpp"

namespace zellige::number {

/// Slopes over a finite field, modulo p and q. A residue modulo q that does not exist is `absent`.
struct FieldSlopes {
  struct Slope {
    std::uint64_t p, q;
  };
  static constexpr bool follows_curves = false;  // a step along a curve's slope does not solve an equation exactly
  static constexpr std::uint64_t absent = FieldNumber::absent;
  Field& field;

  static Slope one() { return {1, 1}; }
  static Slope of(const FieldNumber& x) {
    if (x.kind != FieldNumber::Kind::number) return {0, absent};
    return {x.p, x.q >= FieldNumber::rootless || x.logs != 0 ? absent : x.q};
  }
  Slope plus(Slope x, Slope y) const {
    return {add_mod(x.p, y.p, field.p()), both(x, y) ? add_mod(x.q, y.q, field.q()) : absent};
  }
  Slope times(Slope x, Slope y) const {
    return {mul_mod(x.p, y.p, field.p()), both(x, y) ? mul_mod(x.q, y.q, field.q()) : absent};
  }
  Slope minus(Slope x) const {
    return {sub_mod(0, x.p, field.p()), x.q == absent ? absent : sub_mod(0, x.q, field.q())};
  }
  /// Returns x / y, or 0 if y is 0.
  Slope over(Slope x, Slope y) const {
    if (y.p == 0) return {0, absent};
    const bool exists = both(x, y) && y.q != 0;
    return {mul_mod(x.p, inverse_mod(y.p, field.p()), field.p()),
            exists ? mul_mod(x.q, inverse_mod(y.q, field.q()), field.q()) : absent};
  }
  static bool is_zero(Slope x) { return x.p == 0; }
  static bool constant(const FieldNumber& x, std::uint64_t n) {
    return x.kind == FieldNumber::Kind::number && x.constant && x.p == n;
  }
  static bool positive(const FieldNumber& x) { return x.positive_factor(); }
  static bool same(const FieldNumber& x, const FieldNumber& y) { return x.kind == y.kind && x.p == y.p; }
  /// Informs the field whether inputs can be found at which the numbers that it compares next are equal.
  void compares(bool solvable) const { field.draws_ties = !solvable; }

 private:
  static bool both(Slope x, Slope y) { return x.q != absent && y.q != absent; }
};

/// Slopes in float64, for steps toward inputs at which real numbers are equal.
struct RealSlopes {
  using Slope = double;
  static constexpr bool follows_curves = true;

  static double one() { return 1; }
  static double of(const Rounded& x) { return x.finite() ? x.value : 0; }
  /// Returns x + y, or 0 if that is but a rounding error.
  static double plus(double x, double y) {
    const double z = x + y;
    return std::fabs(z) > 0x1p-44 * std::max(std::fabs(x), std::fabs(y)) ? z : 0;
  }
  static double times(double x, double y) { return x * y; }
  static double minus(double x) { return -x; }
  static double over(double x, double y) { return y == 0 ? 0 : x / y; }
  static bool is_zero(double x) { return std::fabs(x) < 1e-200 || !std::isfinite(x); }
  static bool same(const Rounded& x, const Rounded& y) {
    return (x.value == y.value || (std::isnan(x.value) && std::isnan(y.value))) && x.error == y.error;
  }
  static bool constant(const Rounded&, int) { return false; }  // equations are solved by steps, whatever they are
  static bool positive(const Rounded&) { return false; }
  static void compares(bool) {}
};

}  // namespace zellige::number
