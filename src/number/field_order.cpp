// Defines maxima, comparisons and selections over a random finite field (field.hpp), whose numbers have no order.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "number/field.hpp"
#include "number/modular.hpp"
#include "number/signs.hpp"

namespace zellige::number {
namespace {

using Kind = FieldNumber::Kind;
using Order = FieldTables::Order;
using Op = FieldTables::Op;
using Unknown = FieldTables::Unknown;

/// Returns whether two real constants certainly differ. Constants are kept as doubles, so the order of two
/// constants that are very close is not known.
bool differ(double x, double y) {
  return std::fabs(x - y) > 1e-12 * std::max(std::fabs(x), std::fabs(y)) && std::isfinite(x) && std::isfinite(y);
}

/// Returns whether it is certain that x <= y for all inputs of the graphs for which x and y are numbers.
/// Constants from the largest float32 on count as infinity, constants of at most the smallest normal float32 as 0.
bool certainly_less_equal(Field& f, const FieldNumber& x, const FieldNumber& y) {
  if (x.p == y.p && x.q == y.q) return true;
  if (x.constant && y.constant) return f.real(x) < f.real(y) && differ(f.real(x), f.real(y));
  if (within(x.may, f.below | f.zero) && within(y.may, f.zero | f.above)) return true;
  if (x.constant && (f.real(x) <= -FLT_MAX || (f.real(x) <= FLT_MIN && y.may == f.above))) return true;
  return y.constant && f.real(y) >= FLT_MAX;
}

/// Returns whether x < y, or nullopt if that is not certain.
std::optional<bool> certainly_less(Field& f, const FieldNumber& x, const FieldNumber& y) {
  if (certainly_less_equal(f, y, x)) return false;
  if (x.constant && y.constant && certainly_less_equal(f, x, y)) return true;
  if (within(x.may, f.below) && within(y.may, f.zero | f.above)) return true;
  if (within(x.may, f.below | f.zero) && within(y.may, f.above)) return true;
  return std::nullopt;
}

/// Returns what is known of the members (operands) of maxima: which are constant, which are at most another.
KnownOrder known_order(Field& f) {
  return {[&f](std::uint64_t m) { return f.members.at(m).constant; },
          [&f](std::uint64_t a, std::uint64_t b) { return certainly_less_equal(f, f.members.at(a), f.members.at(b)); }};
}

/// Returns the normal form of a number that is a maximum. For any other number, returns the normal form
/// whose only member is that number.
Lattice lattice(Field& f, const FieldNumber& x) {
  if (const auto at = f.lattices.find(x.p); at != f.lattices.end()) return at->second;
  FieldNumber& member = f.members[x.p];
  const std::uint8_t may = member.p == x.p && member.may != FieldNumber::anything ? member.may : x.may;
  member = x;
  member.may = static_cast<std::uint8_t>(member.may & may ? member.may & may : may);
  return {{{x.p}}};
}

/// The members of a maximum, as deviations from their mean: member - mean = size * deviation.
struct MemberMean {
  std::uint64_t p = 0, q = 0, size_p = 1, size_q = 1;
  bool has_q = true;  // the members have residues modulo q
};

/// Returns the mean of the members `all`, as yet without the size of the deviations. Records in z whether they are hashed.
MemberMean mean_of(Field& f, const std::vector<std::uint64_t>& all, FieldNumber& z) {
  const auto n = static_cast<std::uint64_t>(all.size());
  MemberMean mean;
  for (std::uint64_t m : all) {
    const FieldNumber& x = f.members.at(m);
    mean.p = add_mod(mean.p, x.p, f.p());
    mean.has_q = mean.has_q && f.exponent(x) < f.rootless && x.logs == 0;
    if (mean.has_q) mean.q = add_mod(mean.q, f.exponent(x), f.q());
    z.hashed = f.keeps_sums && (z.hashed || x.hashed || x.q == f.absent);
    f.argument_degree = std::max(f.argument_degree, 2 * x.degrees.all());
  }
  mean.p = mul_mod(mean.p, inverse_mod(n, f.p()), f.p()), mean.q = mul_mod(mean.q, inverse_mod(n, f.q()), f.q());
  return mean;
}

/// Sets the size of the deviations of the members `all` from `mean`: the root of the sum of squares, or of its negative
/// if that is no square. Records in z what that depends on.
void measure_deviations(Field& f, const std::vector<std::uint64_t>& all, MemberMean& mean, FieldNumber& z) {
  const auto root = [&](std::uint64_t sum, std::uint64_t m) {
    const std::uint64_t r = pow_mod(sum, (m + 1) / 4, m);  // if sum is no square, -sum is one
    return r == 0 ? std::uint64_t{1} : r;
  };
  std::uint64_t squares_p = 0, squares_q = 0;
  for (std::uint64_t m : all) {
    const FieldNumber& x = f.members.at(m);
    const std::uint64_t c = sub_mod(x.p, mean.p, f.p());
    squares_p = add_mod(squares_p, mul_mod(c, c, f.p()), f.p());
    const std::uint64_t d = mean.has_q ? sub_mod(f.exponent(x), mean.q, f.q()) : 0;
    if (mean.has_q) squares_q = add_mod(squares_q, mul_mod(d, d, f.q()), f.q());
  }
  mean.size_p = root(squares_p, f.p()), mean.size_q = root(squares_q, f.q());
  z.decisions = f.sets.join(z.decisions, f.sets.single(std::min(squares_p, f.p() - squares_p)));
  z.rooted = true;
  z.sides.numerator = static_cast<float>(f.count(z.decisions));
  z.sides.denominator = 0;
}

/// Returns a hash of the deviations of a normal form's members from `mean`. `negated`: from its negative, for a dual form.
std::uint64_t hash_deviations(const Field& f, const Lattice& form, const MemberMean& mean, bool negated) {
  const std::uint64_t per_size = inverse_mod(mean.size_p, f.p());
  std::vector<std::vector<std::uint64_t>> clauses;
  for (const Lattice::Clause& clause : form.clauses) {
    clauses.emplace_back();
    for (std::uint64_t m : clause) {
      const std::uint64_t c = negated ? add_mod(m, mean.p, f.p()) : sub_mod(m, mean.p, f.p());
      clauses.back().push_back(mul_mod(c, per_size, f.p()));
    }
    std::ranges::sort(clauses.back());
  }
  std::ranges::sort(clauses);
  std::uint64_t h = draw(f.seed, 1000 + clauses.size());
  for (const auto& clause : clauses) {
    h = draw(h, clause.size());
    for (std::uint64_t c : clause) h = draw(h, c);
  }
  return h;
}

/// Returns the maximum with the normal form `l`; its other properties are copied from `z`. Its value is the
/// mean of the members (operands) plus an uninterpreted function of their deviations from the mean. So adding
/// a constant to all members adds it to the maximum.
FieldNumber greatest(Field& f, const Lattice& l, FieldNumber z) {
  const std::vector<std::uint64_t> all = members(l);
  if (all.size() == 1) {
    FieldNumber y = f.members.at(all.front());
    y.domain = z.domain, y.fragile = z.fragile, y.decisions = z.decisions;
    y.unsettled = y.unsettled || z.fragile, y.vanishes = y.vanishes || z.fragile;
    y.degrees = z.degrees, y.sides = z.sides;
    return y;
  }
  f.took_unknown = true;
  ++f.calls;
  MemberMean mean = mean_of(f, all, z);
  if (f.order != Order::unknown) measure_deviations(f, all, mean, z);
  // A normal form and its dual are each other's negative.
  const auto minus = [&](std::uint64_t m) {
    const FieldNumber x = f.neg(f.members.at(m));
    f.members.try_emplace(x.p, x);
    return x.p;
  };
  const std::optional<Lattice> other = dual(l, minus, known_order(f));
  const std::uint64_t h = hash_deviations(f, l, mean, false),
                      h2 = other ? hash_deviations(f, *other, mean, true) : ~std::uint64_t{0};
  FieldNumber around = f.residue(draw(std::min(h, h2), 7));
  if (h == h2) around.p = around.q = 0;
  if (h2 < h) around.p = sub_mod(0, around.p, f.p()), around.q = sub_mod(0, around.q, f.q());
  z.p = add_mod(mean.p, mul_mod(around.p, mean.size_p, f.p()), f.p());
  z.q = mean.has_q ? add_mod(mean.q, mul_mod(around.q, mean.size_q, f.q()), f.q()) : f.absent;
  z.degrees.numerator += 1, z.unsettled = true, z.zero_sign = 1;
  z.vanishes = std::ranges::any_of(all, [&](std::uint64_t m) { return m == 0 || f.members.at(m).vanishes; });
  z.lowest = FieldNumber::unlimited, z.greatest = -FieldNumber::unlimited, z.whole = true;
  for (std::uint64_t m : all) {
    const FieldNumber& x = f.members.at(m);
    z.lowest = std::min(z.lowest, x.lowest), z.greatest = std::max(z.greatest, x.greatest),
    z.whole = z.whole && x.whole;
  }
  z.may = 0;
  for (const Lattice::Clause& clause : l.clauses) {
    std::uint8_t may = FieldNumber::anything;
    bool first = true;
    for (std::uint64_t m : clause)
      may = first ? f.members.at(m).may : min_signs(may, f.members.at(m).may), first = false;
    z.may = z.may == 0 ? may : max_signs(z.may, may);
  }
  f.lattices.try_emplace(z.p, l);
  if (other) f.lattices.try_emplace(sub_mod(0, z.p, f.p()), *other);
  return z;
}

/// Returns whether two numbers with this difference count as equal, as some pairs do with Order::ties.
bool tied(Field& f, const FieldNumber& of) {
  const FieldNumber difference = f.core(of);
  return f.order == Order::ties && f.draws_ties && !difference.constant &&
         draw(draw(f.seed, 33), std::min(difference.p, f.p() - difference.p)) % 3 == 0;
}

/// Returns the value of an uninterpreted function that stands for x < y; `key` distinguishes several.
FieldNumber unknown_less(Field& f, const FieldNumber& x, const FieldNumber& y, std::uint64_t key) {
  FieldNumber z = f.unknown(Unknown::less, f.core(f.sub(y, x)), key);
  z.domain = Sets::empty, z.fragile = false;
  z.boolean = z.whole = z.unsettled = z.vanishes = true;
  z.lowest = 0, z.greatest = 1;
  z.may = f.zero | f.above;
  return z;
}

/// Returns the larger of two numbers of a finite field, which has no order; x counts as larger if x - y is a square.
FieldNumber greater(Field& f, const FieldNumber& x, const FieldNumber& y) {
  FieldNumber z = f.merged(Op::max, x, y);
  const auto take = [&](FieldNumber t) {
    t.domain = z.domain, t.fragile = z.fragile, t.decisions = z.decisions;
    return t;
  };
  if (certainly_less_equal(f, x, y)) return take(y);
  if (certainly_less_equal(f, y, x)) return take(x);
  const FieldNumber d = f.core(f.sub(x, y));
  if (d.p == 0 || tied(f, d)) return take(x.constant || (!y.constant && x.p < y.p) ? x : y);
  const int s = f.sign(d);
  f.decide(z, d);
  if (s == 0) return z.as(Kind::missing);
  FieldNumber t = take(s > 0 ? x : y);
  t.degrees = d.degrees;
  t.sides = {(x.sides + y.sides).numerator + static_cast<float>(f.count(d.decisions) + 1), d.sides.denominator};
  return t;
}

}  // namespace

FieldNumber max_of(Field& f, std::vector<FieldNumber> all) {
  for (Kind k : {Kind::missing, Kind::unclear, Kind::nan})
    for (const FieldNumber& x : all)
      if (x.kind == k) {
        FieldNumber z = f.special(k);
        for (const FieldNumber& y : all) z = f.marked(z, y);
        return z;
      }
  FieldNumber like = all.front();
  bool plus = false;
  std::vector<FieldNumber> numbers;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const FieldNumber& x = all[i];
    plus = plus || x.kind == Kind::plus;
    if (x.kind == Kind::number) numbers.push_back(x);
    if (i == 0) continue;
    const FieldNumber both = f.merged(Op::max, like, x);
    like.domain = both.domain, like.fragile = both.fragile, like.decisions = both.decisions;
    like.unsettled = both.unsettled, like.rooted = both.rooted;
    for (Degrees FieldNumber::*of : {&FieldNumber::degrees, &FieldNumber::sides})
      like.*of = {std::max((like.*of).numerator, (x.*of).numerator), (like.*of).denominator + (x.*of).denominator};
  }
  like.degrees.numerator += like.degrees.denominator, like.sides.numerator += like.sides.denominator;
  like.constant = like.boolean = like.whole = like.graded = false, like.logs = 0;
  like.kind = Kind::number;
  if (plus || numbers.empty()) {
    FieldNumber z = f.special(plus ? Kind::plus : Kind::minus);
    z.domain = like.domain, z.fragile = like.fragile, z.decisions = like.decisions;
    return z;
  }
  const auto as_all = [&](FieldNumber z) {
    z.domain = like.domain, z.fragile = like.fragile;
    z.decisions = f.sets.join(z.decisions, like.decisions);
    return z;
  };
  if (f.sides()) {
    std::vector<FieldNumber> distinct;
    for (const FieldNumber& x : numbers)
      if (std::ranges::none_of(distinct, [&](const FieldNumber& y) { return x.p == y.p; })) distinct.push_back(x);
    if (distinct.size() <= 2) return as_all(distinct.size() == 1 ? distinct[0] : greater(f, distinct[0], distinct[1]));
  }
  // Exp is monotonic.
  std::vector<FieldNumber> arguments;
  for (const FieldNumber& x : numbers)
    if (const auto e = f.exponents.find(x.p); e != f.exponents.end()) arguments.push_back(e->second);
  if (arguments.size() == numbers.size() && numbers.size() > 1) return as_all(f.exp(f.max_of(std::move(arguments))));
  std::vector<Lattice> parts;
  for (const FieldNumber& x : numbers) parts.push_back(lattice(f, x));
  return greatest(f, join(parts, known_order(f)), like);
}

FieldNumber abs(Field& f, const FieldNumber& x) {
  if (x.kind != Kind::number) return x.kind == Kind::minus ? x.as(Kind::plus) : x;
  if (within(x.may, f.zero | f.above)) return x;
  if (within(x.may, f.below | f.zero)) return f.neg(x);
  FieldNumber z = f.max(x, f.neg(x));
  if (z.kind != Kind::number) return z;
  const bool known = within(z.may, f.zero | f.above) || f.sides();
  z.may = static_cast<std::uint8_t>((x.may & f.zero) | f.above), z.vanishes = x.vanishes;
  if (!known && !x.fragile) f.roots.try_emplace(z.p, f.mul(x, x));
  return z;
}

FieldNumber less(Field& f, const FieldNumber& x, const FieldNumber& y) {
  for (Kind k : {Kind::missing, Kind::unclear})
    if (x.kind == k || y.kind == k) return f.marked(f.marked(f.special(k), x), y);
  const auto is = [&](bool b) { return f.marked(f.marked(f.integer(b), x), y); };
  if (x.kind == Kind::nan || y.kind == Kind::nan) return is(false);
  const bool safe = x.domain == Sets::empty && y.domain == Sets::empty && !x.fragile && !y.fragile;
  if (x.kind != Kind::number || y.kind != Kind::number) {
    if (!safe) return f.marked(f.marked(f.special(Kind::unclear), x), y);
    const auto rank = [](const FieldNumber& v) { return v.kind == Kind::plus ? 1 : v.kind == Kind::minus ? -1 : 0; };
    return is(rank(x) < rank(y));
  }
  if (safe)
    if (const std::optional<bool> known = certainly_less(f, x, y)) return is(*known);
  if (f.sides()) {
    const FieldNumber d = f.core(f.sub(y, x));
    f.compared = true;
    if (d.p == 0) return is(false);
    const int s = f.sign(d);
    FieldNumber z = is(s > 0 && !tied(f, d));
    f.decide(z, d);
    if (!d.constant) f.jumps.insert(std::min(d.p, f.p() - d.p));
    z.sides.numerator = static_cast<float>(f.count(z.decisions));
    if (s == 0) z.kind = Kind::missing;
    return z;
  }
  return unknown_less(
      f, x, y, safe ? 0 : draw(draw(x.domain, y.domain), 2 * std::uint64_t{x.fragile} + std::uint64_t{y.fragile} + 1));
}

FieldNumber less_equal(Field& f, const FieldNumber& x, const FieldNumber& y) {
  if (x.kind == Kind::nan || y.kind == Kind::nan) return f.less(x, y);
  const bool safe = x.domain == Sets::empty && y.domain == Sets::empty && !x.fragile && !y.fragile;
  if (safe || x.kind != Kind::number || y.kind != Kind::number || f.sides()) {
    FieldNumber z = f.sub(f.integer(1), f.less(y, x));
    if (z.kind == Kind::number) z.boolean = true, z.may = f.zero | f.above, z.lowest = 0, z.greatest = 1;
    return z;
  }
  return unknown_less(f, x, y, draw(draw(x.domain, y.domain), 91));
}

FieldNumber choose(Field& f, const FieldNumber& c, const FieldNumber& x, const FieldNumber& y) {
  const auto take = [&](const FieldNumber& t) {
    FieldNumber z = f.marked(t, c);
    z.sides.numerator = std::max(t.sides.numerator, static_cast<float>(f.count(z.decisions)));
    return z;
  };
  if (c.kind == Kind::missing || c.kind == Kind::unclear) return c;
  if (c.kind != Kind::number) return c.domain == Sets::empty && !c.fragile ? take(x) : f.special(Kind::unclear);
  const bool safe = c.domain == Sets::empty && !c.fragile;
  if (safe && (f.sides() || c.constant || c.p == 0)) {
    if (f.sides() && !c.constant) f.compared = true;
    FieldNumber z = take(c.p == 0 || (!c.constant && tied(f, c)) ? y : x);
    if (f.sides() && !c.constant) {
      const float denominator = x.degrees.denominator + y.degrees.denominator;
      z.degrees = {std::max(x.degrees.numerator, y.degrees.numerator) + x.degrees.denominator + y.degrees.denominator,
                   denominator};
    }
    return z;
  }
  const bool equivalent =
      x.kind == y.kind && x.p == y.p && x.q == y.q && x.domain == y.domain && x.fragile == y.fragile;
  if (equivalent) return take(x);
  for (Kind k : {Kind::missing, Kind::unclear})
    if (x.kind == k || y.kind == k) return f.marked(f.marked(f.special(k), x), y);
  const FieldNumber both = f.merged(Op::choose, x, y);
  FieldNumber argument = f.merged(Op::choose, c, both);
  argument.p = draw(draw(c.p, c.domain), draw(f.key(x), f.key(y))) % f.p();
  argument.degrees = c.degrees * x.degrees * y.degrees;
  FieldNumber z = f.unknown(Unknown::choose, argument);
  z.unsettled = z.vanishes = true;
  const bool is_exact =
      x.kind == Kind::number && y.kind == Kind::number && both.domain == Sets::empty && !both.fragile && safe;
  if (is_exact) {
    z.domain = Sets::empty, z.fragile = false;
    z.lowest = std::min(x.lowest, y.lowest), z.greatest = std::max(x.greatest, y.greatest);
    z.may = x.may | y.may, z.boolean = x.boolean && y.boolean, z.whole = x.whole && y.whole;
    return z;
  }
  z.fragile = true;
  z.domain = f.sets.single(draw(argument.p, 60));
  return z;
}

}  // namespace zellige::number
