#include "number/field.hpp"

#include <cfloat>
#include <cmath>

#include "graph/error.hpp"
#include "number/fraction.hpp"
#include "number/modular.hpp"
#include "number/signs.hpp"

namespace zellige::search {
namespace {

using Kind = FieldNumber::Kind;
constexpr std::uint64_t absent = FieldNumber::absent;
constexpr std::uint64_t rootless = FieldNumber::rootless;
constexpr std::uint8_t below = FieldNumber::below, zero = FieldNumber::zero, above = FieldNumber::above;

/// Returns n modulo m, a number from 0 to m - 1, for n of any sign.
std::uint64_t modulo(std::int64_t n, std::uint64_t m) {
  const std::uint64_t size = static_cast<std::uint64_t>(n < 0 ? -n : n) % m;
  return n < 0 ? sub_mod(0, size, m) : size;
}

/// Returns f(a, b) for the residues modulo q (values modulo the prime q) of two numbers. If a or b is a
/// marker of a number that has no such residue, returns that marker: `absent` for the result of an
/// exponential, `rootless` for a square root that does not exist modulo q. If both are different markers,
/// returns `absent`.
template <class F>
std::uint64_t part(std::uint64_t a, std::uint64_t b, const F& f) {
  if (a >= rootless || b >= rootless) return a == absent || b == absent ? absent : rootless;
  return f(a, b);
}

/// Returns whether r, an odd prime or 2, is a square modulo the prime m, where m = 3 mod 4. Uses quadratic
/// reciprocity.
bool square_modulo(std::uint64_t r, std::uint64_t m) {
  if (r == 2) return m % 8 == 7;
  bool square = false;
  for (std::uint64_t x = 1; x < r; ++x) square = square || x * x % r == m % r;
  return square == (r % 4 == 1);
}

/// Returns whether 2, 3, 5, 7 and 11 are squares modulo the prime m.
bool small_squares(std::uint64_t m) {
  for (std::uint64_t r : {2, 3, 5, 7, 11})
    if (m % r == 0 || !square_modulo(r, m)) return false;
  return true;
}

/// Returns whether x is a square modulo the prime m; by Euler's criterion.
bool is_square(std::uint64_t x, std::uint64_t m) { return pow_mod(x, (m - 1) / 2, m) == 1; }

}  // namespace

Field::Field(std::uint64_t seed, Order order) : seed_(seed), order_(order) {
  const bool squares = order != Order::unknown;
  constexpr std::uint64_t minimum = std::uint64_t{1} << 53;
  for (std::uint64_t n = 0; p_ == 0; ++n) {
    const std::uint64_t q = minimum + draw(seed, n) % minimum / 4 * 4 + 3;
    if ((squares && !small_squares(q)) || !is_prime(q)) continue;
    for (std::uint64_t k = 3; k < 128 && p_ == 0; k += 2) {  // 2 q k + 1 is 3 modulo 4
      const std::uint64_t p = 2 * q * k + 1;
      if (p >> 62 == 0 && (!squares || small_squares(p)) && is_prime(p)) q_ = q, p_ = p;
    }
  }
  for (std::uint64_t n = 0; w_ <= 1; ++n) w_ = pow_mod(draw(~seed, n) % (p_ - 2) + 2, (p_ - 1) / q_, p_);
  constexpr int digits = 64;
  std::uint64_t step = w_;
  for (int place = 0; place < 9; ++place) {
    std::uint64_t x = 1;
    for (int d = 0; d < digits; ++d, x = mul_mod(x, step, p_)) powers_.push_back(x);
    step = x;
  }
}

FieldNumber Field::random(std::uint64_t n) const {
  FieldNumber x;
  x.p = draw(seed_ + 1, 2 * n) % p_, x.q = draw(seed_ + 1, 2 * n + 1) % q_;
  x.numerator = 1;
  return x;
}

FieldNumber Field::known(FieldNumber z, double value) {
  z.constant = true;
  z.may = value < 0 ? below : value > 0 ? above : zero;
  reals_[z.p] = value;
  return z;
}

FieldNumber Field::integer(std::int64_t n) {
  FieldNumber x;
  x.p = modulo(n, p_), x.q = modulo(n, q_);
  x.whole = true, x.boolean = n == 0 || n == 1;
  if (n == 0 || n == 1) {  // the most frequent case
    x.constant = true, x.may = n == 0 ? zero : above;
    return x;
  }
  return known(x, static_cast<double>(n));
}

FieldNumber Field::drawn(std::int64_t n, std::int64_t range, std::uint64_t place) {
  return one_of(integer(n), range, place);
}

FieldNumber Field::one_of(FieldNumber x, std::int64_t range, std::uint64_t place) {
  const std::uint64_t element = draw(draw(seed_, 77), place);
  ranges_[element] = static_cast<double>(range);
  x.decisions = sets_.join(x.decisions, sets_.single(element));
  x.boolean = false;
  return x;
}

FieldNumber Field::marked(FieldNumber x, const FieldNumber& by) {
  x.decisions = sets_.join(x.decisions, by.decisions);
  return x;
}

FieldNumber Field::constant(double c) {
  const auto at = constants_.find(c);
  if (at != constants_.end()) return at->second;
  if (std::isnan(c)) return special(Kind::nan);
  if (std::isinf(c)) return special(c > 0 ? Kind::plus : Kind::minus);
  const Fraction f = fraction(c);
  const auto residue = [&](std::uint64_t m) {
    const std::uint64_t two = f.exponent < 0 ? inverse_mod(2, m) : 2;
    const std::uint64_t x =
        mul_mod(modulo(f.numerator, m), pow_mod(two, static_cast<std::uint64_t>(std::abs(f.exponent)), m), m);
    return mul_mod(x, inverse_mod(modulo(f.denominator, m), m), m);
  };
  FieldNumber x;
  x.p = residue(p_), x.q = residue(q_);
  x.whole = c == std::floor(c), x.boolean = c == 0 || c == 1;
  return constants_[c] = known(x, c);
}

double Field::real(const FieldNumber& x) const {
  if (x.p <= 1) return static_cast<double>(x.p);
  return reals_.at(x.p);
}

FieldNumber Field::special(Kind kind) const {
  FieldNumber x;
  x.kind = kind;
  return x;
}

FieldNumber Field::residue(std::uint64_t hash) const {
  FieldNumber x;
  x.p = hash % p_, x.q = draw(hash, 0) % q_;
  x.numerator = 1;
  return x;
}

std::uint64_t Field::key(const FieldNumber& x) {
  return draw(draw(x.p, x.domain + (x.fragile ? std::uint64_t{1} << 40 : 0)),
              static_cast<std::uint64_t>(x.kind));
}

double Field::count(Sets::Index decisions) const {
  return decisions == Sets::many ? INFINITY : static_cast<double>(sets_.elements(decisions).size());
}

Field::Cases Field::cases(Sets::Index decisions) const {
  Cases c;
  c.many = decisions == Sets::many;
  for (std::uint64_t element : sets_.elements(decisions)) {
    const auto range = ranges_.find(element);
    if (range == ranges_.end())
      ++c.decisions;
    else
      ++c.whole_numbers, c.whole *= range->second;
  }
  return c;
}

void Field::follow(FieldNumber& z, const FieldNumber& x) const {
  z.domain = x.domain, z.decisions = x.decisions, z.piecewise = z.piecewise || x.piecewise;
  z.signs = static_cast<float>(count(x.decisions));
}

FieldNumber Field::unknown(Unknown which, const FieldNumber& x, std::uint64_t key) {
  took_unknown = true;
  ++steps, ++calls, argument_degree = std::max(argument_degree, double{x.numerator} + x.denominator);
  FieldNumber z = residue(draw(draw(seed_, 100 * key + static_cast<std::uint64_t>(which) + 1), x.p));
  follow(z, x);
  if (x.fragile)
    z.fragile = true, z.domain = sets_.single(draw(Field::key(x), static_cast<std::uint64_t>(which)));
  return z;
}

FieldNumber Field::merged(Op op, const FieldNumber& x, const FieldNumber& y) {
  FieldNumber z;
  ++steps;
  z.decisions = sets_.join(x.decisions, y.decisions);
  z.piecewise = x.piecewise || y.piecewise;
  z.rooted = x.rooted || y.rooted;
  z.fragile = x.fragile || y.fragile;
  if (!z.fragile) {
    z.domain = sets_.join(x.domain, y.domain);
    return z;
  }
  std::uint64_t a = key(x), b = key(y);
  if ((op == Op::add || op == Op::mul || op == Op::max) && a > b) std::swap(a, b);
  z.domain = sets_.single(draw(draw(a, b), static_cast<std::uint64_t>(op)));
  return z;
}

/// Returns a result of which it is unknown whether it is a number, an infinity or NaN. It is equal only to
/// results of the same operation on equal operands.
FieldNumber Field::opaque(Op op, const FieldNumber& x, const FieldNumber& y) {
  took_unknown = true, ++calls;
  FieldNumber z = merged(op, x, y);
  const bool commutes = op == Op::add || op == Op::mul || op == Op::max;
  std::uint64_t a = key(x), b = key(y);
  if (commutes && a > b) std::swap(a, b);
  const FieldNumber r = residue(draw(draw(draw(seed_, 55), a), b + static_cast<std::uint64_t>(op)));
  z.p = r.p, z.q = r.q, z.numerator = 1;
  z.signs = static_cast<float>(count(z.decisions));
  z.fragile = z.piecewise = true;
  z.domain = sets_.single(draw(draw(a, b), 50 + static_cast<std::uint64_t>(op)));
  return z;
}

int Field::sign(const FieldNumber& x) {
  if (x.constant) return real(x) > 0 ? 1 : -1;
  const int s = is_square(x.p, p_) ? 1 : -1;
  if (!(x.may & (s > 0 ? above : below))) return 0;
  return s;
}

void Field::decide(FieldNumber& z, const FieldNumber& by) {
  took_order = true;
  z.decisions = sets_.join(z.decisions, by.decisions);
  if (!by.constant) z.decisions = sets_.join(z.decisions, sets_.single(std::min(by.p, p_ - by.p)));
}

// Additions and products.

FieldNumber Field::add_special(const FieldNumber& x, const FieldNumber& y) {
  for (Kind k : {Kind::missing, Kind::unclear, Kind::nan})
    if (x.kind == k || y.kind == k) return marked(marked(special(k), x), y);
  const bool both = x.kind != Kind::number && y.kind != Kind::number;
  FieldNumber z = merged(Op::add, x, y);
  if (z.fragile) {
    z.kind = Kind::unclear;
    return z;
  }
  if (both && x.kind != y.kind)
    z.kind = Kind::nan;
  else
    z.kind = x.kind != Kind::number ? x.kind : y.kind;
  return z;
}

FieldNumber Field::add(const FieldNumber& x, const FieldNumber& y) {
  if (x.kind != Kind::number || y.kind != Kind::number) return add_special(x, y);
  if (is(x, 0)) return y;
  if (is(y, 0)) return x;
  FieldNumber z = merged(Op::add, x, y);
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
  z.may = sum_signs(x.may, y.may);
  if (x.constant && y.constant) return known(z, z.p == 0 ? 0.0 : real(x) + real(y));
  if (tells_order && is_exact(x) != is_exact(y) && !sides()) {
    const FieldNumber &maximum = is_exact(x) ? y : x, &shift = is_exact(x) ? x : y;
    move_members(z, maximum, [&](const FieldNumber& m) { return add(m, shift); });
  }
  if (z.p == 0 && (z.q == 0 || z.q == absent)) z.may = zero;
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
  z.numerator = x.numerator + y.numerator, z.denominator = x.denominator + y.denominator;
  z.signs = x.signs + y.signs, z.sign_denominator = x.sign_denominator + y.sign_denominator;
  z.whole = x.whole && y.whole, z.boolean = x.boolean && y.boolean;
  z.may = same ? square_signs(x.may) : product_signs(x.may, y.may);
  if (same && !x.constant)
    if (const auto root = roots_.find(x.p); root != roots_.end()) {
      z.p = root->second.p, z.q = root->second.q, z.logs = root->second.logs;
      return z;
    }
  z.p = mul_mod(x.p, y.p, p_);
  const bool hashed = x.hashed || y.hashed || x.q == absent || y.q == absent;
  z.hashed = keeps_sums && hashed && (is_exact(x) || is_exact(y));
  z.q = hashed && !z.hashed ? absent : part(exponent(x), exponent(y), [&](std::uint64_t a, std::uint64_t b) {
    return mul_mod(a, b, q_);
  });
  if (x.logs || y.logs) {
    const FieldNumber &form = x.logs ? x : y, &factor = x.logs ? y : x;
    const std::optional<std::int64_t> n = factor.logs ? std::nullopt : whole(factor);
    if (n && std::abs(*n) <= 64)
      z.logs = log_times(form.logs, *n);
    else
      z.q = absent;
  }
  if (x.constant && y.constant) return known(z, real(x) * real(y));
  if (order_ == Order::scaled && is_exact(x) != is_exact(y)) {
    const FieldNumber &maximum = is_exact(x) ? y : x, &factor = is_exact(x) ? x : y;
    if (factor.may == above) move_members(z, maximum, [&](const FieldNumber& m) { return mul(m, factor); });
  }
  if (z.p == 0) z.may = zero;
  if (x.may == above && y.may == above) power_law(z, x, y, 1);
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

/// If x = e^a and y = e^b are exponentials, records that z is one, too: z = x y = e^(a+b) if times is 1, z =
/// x / y = e^(a-b) if times is -1.
void Field::power_law(const FieldNumber& z, const FieldNumber& x, const FieldNumber& y, int times) {
  if (!tells_logs && !tells_order) return;
  const auto a = exponents_.find(x.p), b = exponents_.find(y.p);
  if (a == exponents_.end() || b == exponents_.end()) return;
  const FieldNumber sum = times > 0 ? add(a->second, b->second) : sub(a->second, b->second);
  exponents_.try_emplace(z.p, sum);
}

/// Returns the number modulo the prime q that replaces x where x is an exponent: 0 for 0, otherwise
/// FieldNumber::q. The result x of an exponential has no value modulo q. For such an x, returns a random
/// number that is the same wherever x occurs, if the option keeps_sums is set; otherwise returns the marker
/// `absent`.
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
    z.kind = Kind::unclear;
    return z;
  }
  if (x.kind != Kind::number) {
    z.kind = Kind::nan;
    return z;
  }
  z.may = zero;  // a number divided by an infinity
  z.piecewise = true;
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
  if (!sides() && y.piecewise && (y.may & zero) && !y.constant) {  // y may be 0 at many points
    z.fragile = true;
    z.domain = sets_.single(draw(draw(key(x), key(y)), static_cast<std::uint64_t>(Op::div)));
  }
  if (x.constant && y.constant) return known(z, real(x) / real(y));
  if (z.p == 0) z.may = zero;
  if (x.may == above && y.may == above) {
    power_law(z, x, y, -1);
    if (tells_logs) quotients_.try_emplace(z.p, x, y);
  }
  return z;
}

FieldNumber Field::power(FieldNumber x, int n) {
  FieldNumber y = integer(1);
  for (int i = std::abs(n); i > 0; i /= 2) {
    if (i % 2) y = mul(y, x);
    if (i > 1) x = mul(x, x);
  }
  return n < 0 ? div(integer(1), y) : y;
}

}  // namespace zellige::search
