// Defines sums, products, quotients and signs of numbers of a random finite field.
#include "number/field.hpp"

#include <algorithm>
#include <cmath>

#include "number/signs.hpp"

namespace zellige::number {
namespace {

using Kind = FieldNumber::Kind;
using Op = FieldTables::Op;

/// Returns f(a, b) for the residues modulo q (values modulo the prime q) of two numbers. If a or b is a marker of a
/// number that has no such residue, returns that marker: `absent` for the result of an exponential, `rootless` for a
/// square root that does not exist modulo q. If both are different markers, returns `absent`.
template <class F>
std::uint64_t part(std::uint64_t a, std::uint64_t b, const F& f) {
  if (a >= FieldNumber::rootless || b >= FieldNumber::rootless)
    return a == FieldNumber::absent || b == FieldNumber::absent ? FieldNumber::absent : FieldNumber::rootless;
  return f(a, b);
}

/// Returns whether x is a square modulo the prime m; by Euler's criterion.
bool is_square(std::uint64_t x, std::uint64_t m) { return pow_mod(x, (m - 1) / 2, m) == 1; }

/// Returns x as a line (FieldNumber::base): its own, or itself.
FieldNumber as_line(Field& f, const FieldNumber& x) {
  FieldNumber z = x;
  if (x.base != 0) return z;
  const bool flipped = x.p > f.p() - x.p;  // so that x and -x have one base
  z.base = flipped ? f.p() - x.p : x.p, z.slope = flipped ? -1 : 1, z.shift = 0, z.line = true;
  return z;
}

/// Sets the line of z = x + y.
void add_lines(Field& f, FieldNumber& z, const FieldNumber& x, const FieldNumber& y) {
  z.base = 0, z.line = false;
  if (x.constant && y.constant) return;
  if (x.constant || y.constant) {
    const FieldNumber u = as_line(f, x.constant ? y : x);
    if (u.line) z.base = u.base, z.slope = u.slope, z.shift = u.shift + f.real(x.constant ? x : y), z.line = true;
    return;
  }
  const FieldNumber u = as_line(f, x), v = as_line(f, y);
  const double slope = u.slope + v.slope;
  if (!u.line || !v.line || u.base != v.base || std::fabs(slope) < 1e-9 * std::fabs(u.slope)) return;
  z.base = u.base, z.slope = slope, z.shift = u.shift + v.shift, z.line = true;
}

/// Sets the line of z = x y.
void mul_lines(Field& f, FieldNumber& z, const FieldNumber& x, const FieldNumber& y) {
  z.base = 0, z.line = false;
  if (x.constant == y.constant && x.may != f.above && y.may != f.above) return;
  const bool scales_x = y.constant || (!x.constant && y.may == f.above);
  const FieldNumber &factor = scales_x ? y : x, u = as_line(f, scales_x ? x : y);
  const double scale = factor.constant ? f.real(factor) : 1;
  if (scale == 0 || (x.constant && y.constant)) return;
  z.base = u.base, z.slope = u.slope * scale, z.shift = u.shift * scale, z.line = u.line && factor.constant;
}

/// Returns the sign of x, whose line has a base: a number that is drawn such that each order of it and the bounds with
/// which it is f.compared has the same chance as that of this number of coins.
int sign_on_line(Field& f, const FieldNumber& x) {
  const auto [at, fresh] = f.intervals.try_emplace(x.base, 0, INFINITY);
  auto& [low, high] = at->second;
  if (fresh && !is_square(x.base, f.p())) low = -INFINITY, high = 0;
  const double bound = -x.shift / x.slope, near = 1e-12 * std::fabs(bound);
  bool more = bound <= low + near;  // whether the number exceeds the bound
  if (!more && bound < high - near) {
    more = draw(draw(f.seed, 66), draw(x.base, std::min(x.p, f.p() - x.p))) % 2 == 0;
    (more ? low : high) = bound;
  }
  return more == (x.slope > 0) ? 1 : -1;
}

FieldNumber add_special(Field& f, const FieldNumber& x, const FieldNumber& y) {
  for (Kind k : {Kind::missing, Kind::unclear, Kind::nan})
    if (x.kind == k || y.kind == k) return f.marked(f.marked(f.special(k), x), y);
  const bool both = x.kind != Kind::number && y.kind != Kind::number;
  const FieldNumber z = f.merged(Op::add, x, y);
  if (z.fragile) return z.as(Kind::unclear);
  if (both && x.kind != y.kind) return z.as(Kind::nan);
  return z.as(x.kind != Kind::number ? x.kind : y.kind);
}

FieldNumber mul_special(Field& f, const FieldNumber& x, const FieldNumber& y) {
  for (Kind k : {Kind::missing, Kind::unclear, Kind::nan})
    if (x.kind == k || y.kind == k) return f.marked(f.marked(f.special(k), x), y);
  const FieldNumber &infinite = x.kind != Kind::number ? x : y, &other = x.kind != Kind::number ? y : x;
  FieldNumber z = f.merged(Op::mul, x, y);
  const auto signed_by = [&](bool positive) {
    z.kind = positive == (infinite.kind == Kind::plus) ? Kind::plus : Kind::minus;
    return z;
  };
  if (z.fragile) return f.opaque(Op::mul, x, y);
  if (other.kind != Kind::number) return signed_by(other.kind == Kind::plus);
  if (other.p == 0) return z.as(Kind::nan);
  if (other.vanishes && (other.may & f.zero)) return f.opaque(Op::mul, x, y);
  if (other.constant) return signed_by(f.real(other) > 0);
  if (other.may == f.above || other.may == f.below) return signed_by(other.may == f.above);
  if (!f.sides()) return f.opaque(Op::mul, x, y);
  const int s = f.sign(other);
  f.decide(z, other);
  if (s == 0) z.kind = Kind::missing;
  return s == 0 ? z : signed_by(s > 0);
}

FieldNumber div_special(Field& f, const FieldNumber& x, const FieldNumber& y) {
  for (Kind k : {Kind::missing, Kind::unclear, Kind::nan})
    if (x.kind == k || y.kind == k) return f.marked(f.marked(f.special(k), x), y);
  FieldNumber z = f.merged(Op::div, x, y);
  if (z.fragile) return f.opaque(Op::div, x, y);
  if (y.kind == Kind::number) return y.p != 0 ? mul_special(f, x, y) : z.as(Kind::unclear);
  if (x.kind != Kind::number) return z.as(Kind::nan);
  z.may = f.zero;  // a number divided by an infinity
  return z;
}

/// Returns what a factor contributes to the sign of a product's zeros.
std::uint64_t zero_factor(Field& f, const FieldNumber& x) {
  if (x.vanishes) return x.zero_sign;
  if (within(x.may, f.zero | f.above)) return 1;
  return within(x.may, f.below | f.zero) ? f.p() - 1 : x.p;
}

/// If x = e^a and y = e^b are exponentials, records that z is one, too: z = x y = e^(a+b) if times is 1, z
/// = x / y = e^(a-b) if times is -1.
void power_law(Field& f, const FieldNumber& z, const FieldNumber& x, const FieldNumber& y, int times) {
  if (!f.tells_logs && !f.tells_order) return;
  const auto a = f.exponents.find(x.p), b = f.exponents.find(y.p);
  if (a == f.exponents.end() || b == f.exponents.end()) return;
  const FieldNumber sum = times > 0 ? f.add(a->second, b->second) : f.sub(a->second, b->second);
  f.exponents.try_emplace(z.p, sum);
}

/// Sets the normal form of z, which is the maximum x plus or times a constant: the normal form of x with
/// move(m) in place of each member m (an operand of the maximum).
template <class Move>
void move_members(Field& f, const FieldNumber& z, const FieldNumber& x, const Move& move) {
  constexpr std::size_t capacity = 64;
  const auto at = f.lattices.find(x.p);
  if (at == f.lattices.end() || f.lattices.count(z.p)) return;
  Lattice l = at->second;
  std::size_t count = 0;
  for (const Lattice::Clause& c : l.clauses) count += c.size();
  if (count > capacity) return;
  for (Lattice::Clause& c : l.clauses) {
    for (std::uint64_t& m : c) {
      const FieldNumber y = move(FieldNumber(f.members.at(m)));
      f.members.try_emplace(y.p, y);
      m = y.p;
    }
    std::ranges::sort(c);
  }
  std::ranges::sort(l.clauses);
  f.lattices.emplace(z.p, std::move(l));
}

/// Records that z has the sign of x everywhere.
void same_sign(Field& f, const FieldNumber& z, const FieldNumber& x) {
  if (f.tells_order && z.p != 0 && x.kind == Kind::number && !x.fragile && !x.constant)
    f.cores.try_emplace(z.p, f.core(FieldNumber(x)));
}

/// Records the sign of z = x + y if that is a difference of exponentials, or of an exponential and 1.
void exponential_signs(Field& f, const FieldNumber& z, const FieldNumber& x, const FieldNumber& y) {
  const auto exponent_of = [&](const FieldNumber& e, std::uint64_t residue) -> std::optional<FieldNumber> {
    if (f.is_exact(e) && residue == 1) return f.integer(0);
    const auto at = f.exponents.find(residue);
    return at == f.exponents.end() ? std::nullopt : std::optional(at->second);
  };
  for (const auto& [plus, minus] : {std::pair(&x, &y), std::pair(&y, &x)}) {
    const auto a = exponent_of(*plus, plus->p);
    const auto b = a ? exponent_of(*minus, f.p() - minus->p) : std::nullopt;
    if (a && b) return same_sign(f, z, f.sub(*a, *b));
  }
}

}  // namespace

FieldNumber Field::add(const FieldNumber& x, const FieldNumber& y) {
  if (x.kind != Kind::number || y.kind != Kind::number) return add_special(*this, x, y);
  if (is(x, 0) || is(y, 0)) {
    FieldNumber z = is(x, 0) ? y : x;
    z.zero_sign = 1;  // -0 + 0 is +0
    return z;
  }
  FieldNumber z = merged(Op::add, x, y);
  if (x.vanishes && y.vanishes && x.zero_sign == y.zero_sign) z.zero_sign = x.zero_sign;
  z.p = add_mod(x.p, y.p, p());
  z.hashed = keeps_sums && (x.hashed || y.hashed || x.q == absent || y.q == absent);
  z.q = part(exponent(x), exponent(y), [&](std::uint64_t a, std::uint64_t b) { return add_mod(a, b, q()); });
  z.logs = log_terms(x.logs, y.logs);
  z.degrees = x.degrees + y.degrees, z.sides = x.sides + y.sides;
  z.whole = x.whole && y.whole;
  if (lines) add_lines(*this, z, x, y);
  z.lowest = x.lowest + y.lowest, z.greatest = x.greatest + y.greatest;
  z.may = sum_signs(x.may, y.may);
  if (x.constant && y.constant) return known(z, z.p == 0 ? 0.0 : real(x) + real(y));
  if (tells_order && is_exact(x) != is_exact(y) && !sides()) {
    const FieldNumber &maximum = is_exact(x) ? y : x, &shift = is_exact(x) ? x : y;
    move_members(*this, z, maximum, [&](const FieldNumber& m) { return add(m, shift); });
  }
  if (z.p == 0 && (z.q == 0 || z.q == absent)) z.may = zero;
  if (tells_order && !exponents.empty()) exponential_signs(*this, z, x, y);
  if ((x.graded || y.graded) && tells_logs) {
    const Grade a = grade(x), b = grade(y);
    z.graded = true;
    grades[z.p] = {add_mod(a.count_p, b.count_p, p()), add_mod(a.count_q, b.count_q, q()), add(a.sum, b.sum)};
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
  z.p = sub_mod(0, x.p, p());
  z.hashed = keeps_sums && (x.hashed || x.q == absent);
  z.zero_sign = sub_mod(0, x.zero_sign, p());
  z.slope = -x.slope, z.shift = -x.shift;
  z.lowest = -x.greatest, z.greatest = -x.lowest;
  z.q = exponent(x);
  if (z.q < rootless) z.q = sub_mod(0, z.q, q());
  z.logs = log_times(x.logs, -1);
  z.may = negated_signs(x.may);
  if (x.constant) return known(z, -real(x));
  return z;
}

FieldNumber Field::mul(const FieldNumber& x, const FieldNumber& y) {
  if (x.kind != Kind::number || y.kind != Kind::number) return mul_special(*this, x, y);
  if (is(x, 1)) return y;
  if (is(y, 1)) return x;
  const bool same = x.p == y.p && x.q == y.q;
  if (same && x.boolean) return x;
  FieldNumber z = merged(Op::mul, x, y);
  if (z.vanishes) z.zero_sign = mul_mod(zero_factor(*this, x), zero_factor(*this, y), p());
  z.degrees = x.degrees * y.degrees, z.sides = x.sides * y.sides;
  z.whole = x.whole && y.whole, z.boolean = x.boolean && y.boolean;
  if (lines) mul_lines(*this, z, x, y);
  if (z.whole) {
    const auto [lowest, greatest] =
        std::minmax({x.lowest * y.lowest, x.lowest * y.greatest, x.greatest * y.lowest, x.greatest * y.greatest});
    if (lowest == lowest && greatest == greatest) z.lowest = lowest, z.greatest = greatest;
  }
  z.may = same ? square_signs(x.may) : product_signs(x.may, y.may);
  if (same && !x.constant)
    if (const auto root = roots.find(x.p); root != roots.end()) {
      z.p = root->second.p, z.q = root->second.q, z.logs = root->second.logs;
      return z;
    }
  z.p = mul_mod(x.p, y.p, p());
  const bool hashed = x.hashed || y.hashed || x.q == absent || y.q == absent;
  z.hashed = keeps_sums && hashed && (is_exact(x) || is_exact(y));
  z.q = hashed && !z.hashed
            ? absent
            : part(exponent(x), exponent(y), [&](std::uint64_t a, std::uint64_t b) { return mul_mod(a, b, q()); });
  if (x.logs || y.logs) {
    const FieldNumber &form = x.logs ? x : y, &factor = x.logs ? y : x;
    const std::optional<std::int64_t> n = factor.logs ? std::nullopt : whole(factor);
    if (n && std::abs(*n) <= 64)
      z.logs = log_times(form.logs, *n);
    else
      z.q = hashed ? absent : part(without_logs(x), without_logs(y), [&](std::uint64_t a, std::uint64_t b) {
        return mul_mod(a, b, q());
      });
  }
  if (x.constant && y.constant) return known(z, real(x) * real(y));
  if (order == Order::scaled && is_exact(x) != is_exact(y)) {
    const FieldNumber &maximum = is_exact(x) ? y : x, &factor = is_exact(x) ? x : y;
    if (factor.may == above) move_members(*this, z, maximum, [&](const FieldNumber& m) { return mul(m, factor); });
  }
  if (z.p == 0) z.may = zero;
  if (x.positive_factor() != y.positive_factor()) same_sign(*this, z, x.positive_factor() ? y : x);
  if (x.may == above && y.may == above) {
    power_law(*this, z, x, y, 1);
    if (tells_logs && !x.constant && !y.constant) products.try_emplace(z.p, x, y);
  }
  if (same && tells_roots) squares.try_emplace(z.p, x);
  if ((x.graded || y.graded) && tells_logs) {
    const Grade a = grade(x), b = grade(y);
    z.graded = true;
    const auto times = [&](const FieldNumber& sum, const Grade& g) { return mul(sum, count_of(g)); };
    grades[z.p] = {mul_mod(a.count_p, b.count_p, p()), mul_mod(a.count_q, b.count_q, q()),
                   add(times(a.sum, b), times(b.sum, a))};
  }
  return z;
}

FieldNumber Field::div(const FieldNumber& x, const FieldNumber& y) {
  if (x.kind != Kind::number || y.kind != Kind::number) return div_special(*this, x, y);
  if (is(y, 1)) return x;
  FieldNumber z = merged(Op::div, x, y);
  if (y.p == 0) return z.as(x.p == 0 && !z.fragile ? Kind::nan : Kind::unclear);
  z.p = mul_mod(x.p, inverse_mod(y.p, p()), p());
  const bool hashed = x.hashed || y.hashed || x.q == absent || y.q == absent;
  z.hashed = keeps_sums && hashed && is_exact(y);
  z.q = hashed && !z.hashed ? absent : part(exponent(x), exponent(y), [&](std::uint64_t a, std::uint64_t b) {
    return b == 0 ? absent : mul_mod(a, inverse_mod(b, q()), q());
  });
  z.degrees = x.degrees / y.degrees, z.sides = x.sides / y.sides;
  z.may = product_signs(x.may, static_cast<std::uint8_t>(y.may & ~zero));
  if (x.logs || y.logs) {
    const std::optional<std::int64_t> n = y.logs ? std::nullopt : whole(y);
    if (n && *n == -1)
      z.logs = log_times(x.logs, -1);
    else
      z.q = absent;
  }
  if (z.vanishes) z.zero_sign = mul_mod(zero_factor(*this, x), zero_factor(*this, y), p());
  if (lines) {
    mul_lines(*this, z, x, y.constant ? constant(1 / real(y)) : y);
    z.line = z.line && y.constant;
  }
  if ((y.may & zero) && y.decisions != Sets::empty)  // whether y is 0 may depend on all of them
    z.sides.numerator = std::max(z.sides.numerator, static_cast<float>(count(z.decisions)));
  if (y.vanishes && (y.may & zero))  // y may be 0 at many points
    z = open(z, draw(draw(draw(key(x), key(y)), y.zero_sign), static_cast<std::uint64_t>(Op::div)));
  if (x.constant && y.constant) return known(z, real(x) / real(y));
  if (z.p == 0) z.may = zero;
  if (y.positive_factor() && !x.positive_factor()) same_sign(*this, z, x);
  if (x.may == above && y.may == above) {
    power_law(*this, z, x, y, -1);
    if (tells_logs) quotients.try_emplace(z.p, x, y);
  }
  return z;
}

FieldNumber Field::core(const FieldNumber& x) {
  const auto at = cores.find(x.p), of_negative = cores.find(p() - x.p);
  if (x.kind != Kind::number || (at == cores.end() && of_negative == cores.end())) return x;
  FieldNumber z = at != cores.end() ? at->second : neg(of_negative->second);
  z.domain = x.domain, z.fragile = x.fragile, z.decisions = sets.join(z.decisions, x.decisions);
  return z;
}

int Field::sign(const FieldNumber& of) {
  if (of.constant) return real(of) > 0 ? 1 : -1;
  const FieldNumber x = core(of);
  if (order == Order::ties)
    if (const int s = sign_of_fraction(x); s != 0) return s;
  const int s = lines ? sign_on_line(*this, as_line(*this, x)) : is_square(x.p, p()) ? 1 : -1;
  if (!(x.may & (s > 0 ? above : below))) return 0;
  return s;
}

void Field::decide(FieldNumber& z, const FieldNumber& of) {
  const FieldNumber by = core(of);
  z.decisions = sets.join(z.decisions, by.decisions);
  if (!by.constant) z.decisions = sets.join(z.decisions, sets.single(std::min(by.p, p() - by.p)));
}

}  // namespace zellige::number
