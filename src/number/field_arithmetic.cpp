// Defines sums, products, quotients and powers over a random finite field (field.hpp).
#include <algorithm>
#include <cmath>

#include "number/field.hpp"
#include "number/signs.hpp"

namespace zellige::number {
namespace {

constexpr std::uint64_t absent = FieldNumber::absent, rootless = FieldNumber::rootless;

/// Returns f(a, b) for the residues modulo q (values modulo the prime q) of two numbers. If a or b is a marker of a
/// number that has no such residue, returns that marker: `absent` for the result of an exponential, `rootless` for a
/// square root that does not exist modulo q. If both are different markers, returns `absent`.
template <class F>
std::uint64_t part(std::uint64_t a, std::uint64_t b, const F& f) {
  if (a >= rootless || b >= rootless) return a == absent || b == absent ? absent : rootless;
  return f(a, b);
}

}  // namespace

FieldNumber Field::add_special(const FieldNumber& x, const FieldNumber& y) {
  for (Kind k : {Kind::missing, Kind::unclear, Kind::nan})
    if (x.kind == k || y.kind == k) return marked(marked(special(k), x), y);
  const bool both = x.kind != Kind::number && y.kind != Kind::number;
  const FieldNumber z = merged(Op::add, x, y);
  if (z.fragile) return z.as(Kind::unclear);
  if (both && x.kind != y.kind) return z.as(Kind::nan);
  return z.as(x.kind != Kind::number ? x.kind : y.kind);
}

FieldNumber Field::add(const FieldNumber& x, const FieldNumber& y) {
  if (x.kind != Kind::number || y.kind != Kind::number) return add_special(x, y);
  if (is(x, 0) || is(y, 0)) {
    FieldNumber z = is(x, 0) ? y : x;
    z.zero_sign = 1;  // -0 + 0 is +0
    return z;
  }
  FieldNumber z = merged(Op::add, x, y);
  if (x.vanishes && y.vanishes && x.zero_sign == y.zero_sign) z.zero_sign = x.zero_sign;
  z.p = add_mod(x.p, y.p, p_);
  z.hashed = keeps_sums && (x.hashed || y.hashed || x.q == absent || y.q == absent);
  z.q = part(exponent(x), exponent(y), [&](std::uint64_t a, std::uint64_t b) { return add_mod(a, b, q_); });
  z.logs = log_terms(x.logs, y.logs);
  if (x.denominator == 0 && y.denominator == 0)
    z.numerator = std::max(x.numerator, y.numerator);
  else
    z.numerator = std::max(x.numerator + y.denominator, y.numerator + x.denominator),
    z.denominator = x.denominator + y.denominator;
  if (x.sign_denominator == 0 && y.sign_denominator == 0)
    z.signs = std::max(x.signs, y.signs);
  else
    z.signs = std::max(x.signs + y.sign_denominator, y.signs + x.sign_denominator),
    z.sign_denominator = x.sign_denominator + y.sign_denominator;
  z.whole = x.whole && y.whole;
  if (lines) add_lines(z, x, y);
  z.lowest = x.lowest + y.lowest, z.greatest = x.greatest + y.greatest;
  z.may = sum_signs(x.may, y.may);
  if (x.constant && y.constant) return known(z, z.p == 0 ? 0.0 : real(x) + real(y));
  if (tells_order && is_exact(x) != is_exact(y) && !sides()) {
    const FieldNumber &maximum = is_exact(x) ? y : x, &shift = is_exact(x) ? x : y;
    move_members(z, maximum, [&](const FieldNumber& m) { return add(m, shift); });
  }
  if (z.p == 0 && (z.q == 0 || z.q == absent)) z.may = zero;
  if (tells_order && !exponents_.empty()) exponential_signs(z, x, y);
  if ((x.graded || y.graded) && tells_logs) {
    const Grade a = grade(x), b = grade(y);
    z.graded = true;
    grades_[z.p] = {add_mod(a.count_p, b.count_p, p_), add_mod(a.count_q, b.count_q, q_), add(a.sum, b.sum)};
  }
  return z;
}

FieldNumber Field::neg(const FieldNumber& x) {
  FieldNumber z = x;
  z.boolean = z.graded = false;
  if (x.kind != Kind::number) {
    if (x.kind == Kind::plus) z.kind = Kind::minus;
    if (x.kind == Kind::minus) z.kind = Kind::plus;
    return z;
  }
  z.p = sub_mod(0, x.p, p_);
  z.hashed = keeps_sums && (x.hashed || x.q == absent);
  z.zero_sign = sub_mod(0, x.zero_sign, p_);
  z.slope = -x.slope, z.shift = -x.shift;
  z.lowest = -x.greatest, z.greatest = -x.lowest;
  z.q = exponent(x);
  if (z.q < rootless) z.q = sub_mod(0, z.q, q_);
  z.logs = log_times(x.logs, -1);
  z.may = negated_signs(x.may);
  if (x.constant) return known(z, -real(x));
  return z;
}

FieldNumber Field::mul_special(const FieldNumber& x, const FieldNumber& y) {
  for (Kind k : {Kind::missing, Kind::unclear, Kind::nan})
    if (x.kind == k || y.kind == k) return marked(marked(special(k), x), y);
  const FieldNumber &infinite = x.kind != Kind::number ? x : y, &other = x.kind != Kind::number ? y : x;
  FieldNumber z = merged(Op::mul, x, y);
  const auto signed_by = [&](bool positive) {
    z.kind = positive == (infinite.kind == Kind::plus) ? Kind::plus : Kind::minus;
    return z;
  };
  if (z.fragile) return opaque(Op::mul, x, y);
  if (other.kind != Kind::number) return signed_by(other.kind == Kind::plus);
  if (other.p == 0) {
    z.kind = Kind::nan;
    return z;
  }
  if (other.vanishes && (other.may & zero)) return opaque(Op::mul, x, y);
  if (other.constant) return signed_by(real(other) > 0);
  if (other.may == above || other.may == below) return signed_by(other.may == above);
  if (!sides()) return opaque(Op::mul, x, y);
  const int s = sign(other);
  decide(z, other);
  if (s == 0) z.kind = Kind::missing;
  return s == 0 ? z : signed_by(s > 0);
}

FieldNumber Field::mul(const FieldNumber& x, const FieldNumber& y) {
  if (x.kind != Kind::number || y.kind != Kind::number) return mul_special(x, y);
  if (is(x, 1)) return y;
  if (is(y, 1)) return x;
  const bool same = x.p == y.p && x.q == y.q;
  if (same && x.boolean) return x;
  FieldNumber z = merged(Op::mul, x, y);
  if (z.vanishes) z.zero_sign = mul_mod(zero_factor(x), zero_factor(y), p_);
  z.numerator = x.numerator + y.numerator, z.denominator = x.denominator + y.denominator;
  z.signs = x.signs + y.signs, z.sign_denominator = x.sign_denominator + y.sign_denominator;
  z.whole = x.whole && y.whole, z.boolean = x.boolean && y.boolean;
  if (lines) mul_lines(z, x, y);
  if (z.whole) {
    const auto [lowest, greatest] =
        std::minmax({x.lowest * y.lowest, x.lowest * y.greatest, x.greatest * y.lowest, x.greatest * y.greatest});
    if (lowest == lowest && greatest == greatest) z.lowest = lowest, z.greatest = greatest;
  }
  z.may = same ? square_signs(x.may) : product_signs(x.may, y.may);
  if (same && !x.constant)
    if (const auto root = roots_.find(x.p); root != roots_.end()) {
      z.p = root->second.p, z.q = root->second.q, z.logs = root->second.logs;
      return z;
    }
  z.p = mul_mod(x.p, y.p, p_);
  const bool hashed = x.hashed || y.hashed || x.q == absent || y.q == absent;
  z.hashed = keeps_sums && hashed && (is_exact(x) || is_exact(y));
  z.q = hashed && !z.hashed
            ? absent
            : part(exponent(x), exponent(y), [&](std::uint64_t a, std::uint64_t b) { return mul_mod(a, b, q_); });
  if (x.logs || y.logs) {
    const FieldNumber &form = x.logs ? x : y, &factor = x.logs ? y : x;
    const std::optional<std::int64_t> n = factor.logs ? std::nullopt : whole(factor);
    if (n && std::abs(*n) <= 64)
      z.logs = log_times(form.logs, *n);
    else
      z.q = hashed ? absent : part(without_logs(x), without_logs(y), [&](std::uint64_t a, std::uint64_t b) {
        return mul_mod(a, b, q_);
      });
  }
  if (x.constant && y.constant) return known(z, real(x) * real(y));
  if (order_ == Order::scaled && is_exact(x) != is_exact(y)) {
    const FieldNumber &maximum = is_exact(x) ? y : x, &factor = is_exact(x) ? x : y;
    if (factor.may == above) move_members(z, maximum, [&](const FieldNumber& m) { return mul(m, factor); });
  }
  if (z.p == 0) z.may = zero;
  if (x.positive_factor() != y.positive_factor()) same_sign(z, x.positive_factor() ? y : x);
  if (x.may == above && y.may == above) {
    power_law(z, x, y, 1);
    if (tells_logs && !x.constant && !y.constant) products_.try_emplace(z.p, x, y);
  }
  if (same && tells_roots) squares_.try_emplace(z.p, x);
  if ((x.graded || y.graded) && tells_logs) {
    const Grade a = grade(x), b = grade(y);
    z.graded = true;
    const auto times = [&](const FieldNumber& sum, const Grade& g) { return mul(sum, count_of(g)); };
    grades_[z.p] = {mul_mod(a.count_p, b.count_p, p_), mul_mod(a.count_q, b.count_q, q_),
                    add(times(a.sum, b), times(b.sum, a))};
  }
  return z;
}

/// Returns what a factor contributes to the sign of a product's zeros.
std::uint64_t Field::zero_factor(const FieldNumber& x) const {
  if (x.vanishes) return x.zero_sign;
  if (within(x.may, zero | above)) return 1;
  return within(x.may, below | zero) ? p_ - 1 : x.p;
}

void Field::power_law(const FieldNumber& z, const FieldNumber& x, const FieldNumber& y, int times) {
  if (!tells_logs && !tells_order) return;
  const auto a = exponents_.find(x.p), b = exponents_.find(y.p);
  if (a == exponents_.end() || b == exponents_.end()) return;
  const FieldNumber sum = times > 0 ? add(a->second, b->second) : sub(a->second, b->second);
  exponents_.try_emplace(z.p, sum);
}

/// Returns the number modulo the prime q that replaces x where x is an exponent: 0 for 0, otherwise FieldNumber::q. The
/// result x of an exponential has no value modulo q. For such an x, returns a random number that is the same wherever x
/// occurs, if the option keeps_sums is set; otherwise returns the marker `absent`.
std::uint64_t Field::exponent(const FieldNumber& x) const {
  if (x.p == 0) return 0;
  return x.q == absent && keeps_sums ? draw(draw(seed_, 44), x.p) % q_ : x.q;
}

FieldNumber Field::div_special(const FieldNumber& x, const FieldNumber& y) {
  for (Kind k : {Kind::missing, Kind::unclear, Kind::nan})
    if (x.kind == k || y.kind == k) return marked(marked(special(k), x), y);
  FieldNumber z = merged(Op::div, x, y);
  if (z.fragile) return opaque(Op::div, x, y);
  if (y.kind == Kind::number) {
    if (y.p != 0) return mul_special(x, y);
    return z.as(Kind::unclear);
  }
  if (x.kind != Kind::number) return z.as(Kind::nan);
  z.may = zero;  // a number divided by an infinity
  return z;
}

FieldNumber Field::div(const FieldNumber& x, const FieldNumber& y) {
  if (x.kind != Kind::number || y.kind != Kind::number) return div_special(x, y);
  if (is(y, 1)) return x;
  FieldNumber z = merged(Op::div, x, y);
  if (y.p == 0) {
    z.kind = x.p == 0 && !z.fragile ? Kind::nan : Kind::unclear;
    return z;
  }
  z.p = mul_mod(x.p, inverse_mod(y.p, p_), p_);
  const bool hashed = x.hashed || y.hashed || x.q == absent || y.q == absent;
  z.hashed = keeps_sums && hashed && is_exact(y);
  z.q = hashed && !z.hashed ? absent : part(exponent(x), exponent(y), [&](std::uint64_t a, std::uint64_t b) {
    return b == 0 ? absent : mul_mod(a, inverse_mod(b, q_), q_);
  });
  z.numerator = x.numerator + y.denominator, z.denominator = x.denominator + y.numerator;
  z.signs = x.signs + y.sign_denominator, z.sign_denominator = x.sign_denominator + y.signs;
  z.may = product_signs(x.may, static_cast<std::uint8_t>(y.may & ~zero));
  if (x.logs || y.logs) {
    const std::optional<std::int64_t> n = y.logs ? std::nullopt : whole(y);
    if (n && *n == -1)
      z.logs = log_times(x.logs, -1);
    else
      z.q = absent;
  }
  if (z.vanishes) z.zero_sign = mul_mod(zero_factor(x), zero_factor(y), p_);
  if (lines) {
    mul_lines(z, x, y.constant ? constant(1 / real(y)) : y);
    z.line = z.line && y.constant;
  }
  if ((y.may & zero) && y.decisions != Sets::empty)  // whether y is 0 may depend on all of them
    z.signs = std::max(z.signs, static_cast<float>(count(z.decisions)));
  if (y.vanishes && (y.may & zero)) {  // y may be 0 at many points
    z = open(z, draw(draw(draw(key(x), key(y)), y.zero_sign), static_cast<std::uint64_t>(Op::div)));
  }
  if (x.constant && y.constant) return known(z, real(x) / real(y));
  if (z.p == 0) z.may = zero;
  if (y.positive_factor() && !x.positive_factor()) same_sign(z, x);
  if (x.may == above && y.may == above) {
    power_law(z, x, y, -1);
    if (tells_logs) quotients_.try_emplace(z.p, x, y);
  }
  return z;
}

}  // namespace zellige::number
