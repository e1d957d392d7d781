// Defines maxima, comparisons and selections over a random finite field (field.hpp), whose numbers have no order.
#include <algorithm>
#include <cfloat>
#include <cmath>

#include "number/field.hpp"
#include "number/modular.hpp"
#include "number/signs.hpp"

namespace zellige::number {
namespace {

/// Returns whether two real constants certainly differ. Constants are kept as doubles, so the order of two
/// constants that are very close is not known.
bool differ(double x, double y) {
  return std::fabs(x - y) > 1e-12 * std::max(std::fabs(x), std::fabs(y)) && std::isfinite(x) && std::isfinite(y);
}

}  // namespace

/// Constants from the largest float32 on count as infinity, constants of at most the smallest normal float32 as 0.
bool Field::certainly_less_equal(const FieldNumber& x, const FieldNumber& y) const {
  if (x.p == y.p && x.q == y.q) return true;
  if (x.constant && y.constant) return real(x) < real(y) && differ(real(x), real(y));
  if (within(x.may, below | zero) && within(y.may, zero | above)) return true;
  if (x.constant && (real(x) <= -FLT_MAX || (real(x) <= FLT_MIN && y.may == above))) return true;
  return y.constant && real(y) >= FLT_MAX;
}

std::optional<bool> Field::certainly_less(const FieldNumber& x, const FieldNumber& y) const {
  if (certainly_less_equal(y, x)) return false;
  if (x.constant && y.constant && certainly_less_equal(x, y)) return true;
  if (within(x.may, below) && within(y.may, zero | above)) return true;
  if (within(x.may, below | zero) && within(y.may, above)) return true;
  return std::nullopt;
}

KnownOrder Field::order() {
  return {[this](std::uint64_t m) { return members_.at(m).constant; },
          [this](std::uint64_t a, std::uint64_t b) { return certainly_less_equal(members_.at(a), members_.at(b)); }};
}

Lattice Field::lattice(const FieldNumber& x) {
  if (const auto at = lattices_.find(x.p); at != lattices_.end()) return at->second;
  FieldNumber& member = members_[x.p];
  const std::uint8_t may = member.p == x.p && member.may != FieldNumber::anything ? member.may : x.may;
  member = x;
  member.may = static_cast<std::uint8_t>(member.may & may ? member.may & may : may);
  return {{{x.p}}};
}

/// Returns the maximum with the normal form `l`; its other properties are copied from `z`. Its value is the
/// mean of the members (operands) plus an uninterpreted function of their deviations from the mean. So adding
/// a constant to all members adds it to the maximum.
FieldNumber Field::greatest(const Lattice& l, FieldNumber z) {
  const std::vector<std::uint64_t> all = members(l);
  if (all.size() == 1) {
    FieldNumber y = members_.at(all.front());
    y.domain = z.domain, y.fragile = z.fragile, y.decisions = z.decisions;
    y.unsettled = y.unsettled || z.fragile, y.vanishes = y.vanishes || z.fragile;
    y.signs = z.signs, y.sign_denominator = z.sign_denominator;
    y.numerator = z.numerator, y.denominator = z.denominator;
    return y;
  }
  took_unknown = true;
  ++calls;
  const auto n = static_cast<std::uint64_t>(all.size());
  std::uint64_t mean_p = 0, mean_q = 0;
  bool has_q = true;
  for (std::uint64_t m : all) {
    const FieldNumber& x = members_.at(m);
    mean_p = add_mod(mean_p, x.p, p_);
    has_q = has_q && exponent(x) < rootless && x.logs == 0;
    if (has_q) mean_q = add_mod(mean_q, exponent(x), q_);
    z.hashed = keeps_sums && (z.hashed || x.hashed || x.q == absent);
    argument_degree = std::max(argument_degree, 2 * (double{x.numerator} + x.denominator));
  }
  mean_p = mul_mod(mean_p, inverse_mod(n, p_), p_), mean_q = mul_mod(mean_q, inverse_mod(n, q_), q_);
  std::uint64_t size_p = 1, size_q = 1;
  if (order_ != Order::unknown) {  // the root of the sum of squares, or of its negative if that is no square
    const auto root = [&](std::uint64_t sum, std::uint64_t m) {
      const std::uint64_t r = pow_mod(sum, (m + 1) / 4, m);  // if sum is no square, -sum is one
      return r == 0 ? std::uint64_t{1} : r;
    };
    std::uint64_t squares_p = 0, squares_q = 0;
    for (std::uint64_t m : all) {
      const FieldNumber& x = members_.at(m);
      const std::uint64_t c = sub_mod(x.p, mean_p, p_);
      squares_p = add_mod(squares_p, mul_mod(c, c, p_), p_);
      const std::uint64_t d = has_q ? sub_mod(exponent(x), mean_q, q_) : 0;
      if (has_q) squares_q = add_mod(squares_q, mul_mod(d, d, q_), q_);
    }
    size_p = root(squares_p, p_), size_q = root(squares_q, q_);
    z.decisions = sets_.join(z.decisions, sets_.single(std::min(squares_p, p_ - squares_p)));
    z.rooted = true;
    z.signs = static_cast<float>(count(z.decisions));
    z.sign_denominator = 0;
  }
  const std::uint64_t per_size = inverse_mod(size_p, p_);
  const auto hash = [&](const Lattice& form, bool negated) {
    std::vector<std::vector<std::uint64_t>> clauses;
    for (const Lattice::Clause& clause : form.clauses) {
      clauses.emplace_back();
      for (std::uint64_t m : clause) {
        const std::uint64_t c = negated ? add_mod(m, mean_p, p_) : sub_mod(m, mean_p, p_);
        clauses.back().push_back(mul_mod(c, per_size, p_));
      }
      std::ranges::sort(clauses.back());
    }
    std::ranges::sort(clauses);
    std::uint64_t h = draw(seed_, 1000 + clauses.size());
    for (const auto& clause : clauses) {
      h = draw(h, clause.size());
      for (std::uint64_t c : clause) h = draw(h, c);
    }
    return h;
  };
  // A normal form and its dual are each other's negative.
  const auto minus = [&](std::uint64_t m) {
    const FieldNumber x = neg(members_.at(m));
    members_.try_emplace(x.p, x);
    return x.p;
  };
  const std::optional<Lattice> other = dual(l, minus, order());
  const std::uint64_t h = hash(l, false), h2 = other ? hash(*other, true) : ~std::uint64_t{0};
  FieldNumber around = residue(draw(std::min(h, h2), 7));
  if (h == h2) around.p = around.q = 0;
  if (h2 < h) around.p = sub_mod(0, around.p, p_), around.q = sub_mod(0, around.q, q_);
  z.p = add_mod(mean_p, mul_mod(around.p, size_p, p_), p_);
  z.q = has_q ? add_mod(mean_q, mul_mod(around.q, size_q, q_), q_) : absent;
  z.numerator += 1, z.unsettled = true, z.zero_sign = 1;
  z.vanishes = std::ranges::any_of(all, [&](std::uint64_t m) { return m == 0 || members_.at(m).vanishes; });
  z.lowest = FieldNumber::unlimited, z.greatest = -FieldNumber::unlimited, z.whole = true;
  for (std::uint64_t m : all) {
    const FieldNumber& x = members_.at(m);
    z.lowest = std::min(z.lowest, x.lowest), z.greatest = std::max(z.greatest, x.greatest),
    z.whole = z.whole && x.whole;
  }
  z.may = 0;
  for (const Lattice::Clause& clause : l.clauses) {
    std::uint8_t may = FieldNumber::anything;
    bool first = true;
    for (std::uint64_t m : clause) may = first ? members_.at(m).may : min_signs(may, members_.at(m).may), first = false;
    z.may = z.may == 0 ? may : max_signs(z.may, may);
  }
  lattices_.try_emplace(z.p, l);
  if (other) lattices_.try_emplace(sub_mod(0, z.p, p_), *other);
  return z;
}

FieldNumber Field::core(const FieldNumber& x) {
  const auto at = cores_.find(x.p), of_negative = cores_.find(p_ - x.p);
  if (x.kind != Kind::number || (at == cores_.end() && of_negative == cores_.end())) return x;
  FieldNumber z = at != cores_.end() ? at->second : neg(of_negative->second);
  z.domain = x.domain, z.fragile = x.fragile, z.decisions = sets_.join(z.decisions, x.decisions);
  return z;
}

void Field::same_sign(const FieldNumber& z, const FieldNumber& x) {
  if (tells_order && z.p != 0 && x.kind == Kind::number && !x.fragile && !x.constant)
    cores_.try_emplace(z.p, core(FieldNumber(x)));
}

void Field::exponential_signs(const FieldNumber& z, const FieldNumber& x, const FieldNumber& y) {
  const auto exponent_of = [&](const FieldNumber& e, std::uint64_t residue) -> std::optional<FieldNumber> {
    if (is_exact(e) && residue == 1) return integer(0);
    const auto at = exponents_.find(residue);
    return at == exponents_.end() ? std::nullopt : std::optional(at->second);
  };
  for (const auto& [plus, minus] : {std::pair(&x, &y), std::pair(&y, &x)}) {
    const auto a = exponent_of(*plus, plus->p);
    const auto b = a ? exponent_of(*minus, p_ - minus->p) : std::nullopt;
    if (a && b) return same_sign(z, sub(*a, *b));
  }
}

/// Returns the larger of two numbers of a finite field, which has no order; x counts as larger if x - y is a square.
FieldNumber Field::greater(const FieldNumber& x, const FieldNumber& y) {
  FieldNumber z = merged(Op::max, x, y);
  const auto take = [&](FieldNumber t) {
    t.domain = z.domain, t.fragile = z.fragile, t.decisions = z.decisions;
    return t;
  };
  if (certainly_less_equal(x, y)) return take(y);
  if (certainly_less_equal(y, x)) return take(x);
  const FieldNumber d = core(sub(x, y));
  if (d.p == 0 || tied(d)) return take(x.constant || (!y.constant && x.p < y.p) ? x : y);
  const int s = sign(d);
  decide(z, d);
  z.kind = Kind::missing;
  if (s == 0) return z;
  FieldNumber t = take(s > 0 ? x : y);
  t.numerator = d.numerator, t.denominator = d.denominator;
  t.signs =
      std::max(x.signs + y.sign_denominator, y.signs + x.sign_denominator) + static_cast<float>(count(d.decisions) + 1);
  t.sign_denominator = d.sign_denominator;
  return t;
}

FieldNumber Field::max_of(std::vector<FieldNumber> all) {
  for (Kind k : {Kind::missing, Kind::unclear, Kind::nan})
    for (const FieldNumber& x : all)
      if (x.kind == k) {
        FieldNumber z = special(k);
        for (const FieldNumber& y : all) z = marked(z, y);
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
    const FieldNumber both = merged(Op::max, like, x);
    like.domain = both.domain, like.fragile = both.fragile, like.decisions = both.decisions;
    like.unsettled = both.unsettled, like.rooted = both.rooted;
    like.numerator = std::max(like.numerator, x.numerator), like.denominator += x.denominator;
    like.signs = std::max(like.signs, x.signs), like.sign_denominator += x.sign_denominator;
  }
  like.numerator += like.denominator, like.signs += like.sign_denominator;
  like.constant = like.boolean = like.whole = like.graded = false, like.logs = 0;
  like.kind = Kind::number;
  if (plus || numbers.empty()) {
    FieldNumber z = special(plus ? Kind::plus : Kind::minus);
    z.domain = like.domain, z.fragile = like.fragile, z.decisions = like.decisions;
    return z;
  }
  const auto as_all = [&](FieldNumber z) {
    z.domain = like.domain, z.fragile = like.fragile;
    z.decisions = sets_.join(z.decisions, like.decisions);
    return z;
  };
  if (sides()) {
    std::vector<FieldNumber> distinct;
    for (const FieldNumber& x : numbers)
      if (std::ranges::none_of(distinct, [&](const FieldNumber& y) { return x.p == y.p; })) distinct.push_back(x);
    if (distinct.size() <= 2) return as_all(distinct.size() == 1 ? distinct[0] : greater(distinct[0], distinct[1]));
  }
  // Exp is monotonic.
  std::vector<FieldNumber> arguments;
  for (const FieldNumber& x : numbers)
    if (const auto e = exponents_.find(x.p); e != exponents_.end()) arguments.push_back(e->second);
  if (arguments.size() == numbers.size() && numbers.size() > 1) return as_all(exp(max_of(std::move(arguments))));
  std::vector<Lattice> parts;
  for (const FieldNumber& x : numbers) parts.push_back(lattice(x));
  return greatest(join(parts, order()), like);
}

FieldNumber Field::max(const FieldNumber& x, const FieldNumber& y) { return max_of({x, y}); }

FieldNumber Field::abs(const FieldNumber& x) {
  if (x.kind != Kind::number) return x.kind == Kind::minus ? x.as(Kind::plus) : x;
  if (within(x.may, zero | above)) return x;
  if (within(x.may, below | zero)) return neg(x);
  FieldNumber z = max(x, neg(x));
  if (z.kind != Kind::number) return z;
  const bool known = within(z.may, zero | above) || sides();
  z.may = static_cast<std::uint8_t>((x.may & zero) | above), z.vanishes = x.vanishes;
  if (!known && !x.fragile) roots_.try_emplace(z.p, mul(x, x));
  return z;
}

bool Field::tied(const FieldNumber& of) {
  const FieldNumber difference = core(of);
  return order_ == Order::ties && draws_ties && !difference.constant &&
         draw(draw(seed_, 33), std::min(difference.p, p_ - difference.p)) % 3 == 0;
}

FieldNumber Field::unknown_less(const FieldNumber& x, const FieldNumber& y, std::uint64_t key) {
  FieldNumber z = unknown(Unknown::less, core(sub(y, x)), key);
  z.domain = Sets::empty, z.fragile = false;
  z.boolean = z.whole = z.unsettled = z.vanishes = true;
  z.lowest = 0, z.greatest = 1;
  z.may = zero | above;
  return z;
}

FieldNumber Field::less(const FieldNumber& x, const FieldNumber& y) {
  for (Kind k : {Kind::missing, Kind::unclear})
    if (x.kind == k || y.kind == k) return marked(marked(special(k), x), y);
  const auto is = [&](bool b) { return marked(marked(integer(b), x), y); };
  if (x.kind == Kind::nan || y.kind == Kind::nan) return is(false);
  const bool safe = x.domain == Sets::empty && y.domain == Sets::empty && !x.fragile && !y.fragile;
  if (x.kind != Kind::number || y.kind != Kind::number) {
    if (!safe) return marked(marked(special(Kind::unclear), x), y);
    const auto rank = [](const FieldNumber& v) { return v.kind == Kind::plus ? 1 : v.kind == Kind::minus ? -1 : 0; };
    return is(rank(x) < rank(y));
  }
  if (safe)
    if (const std::optional<bool> known = certainly_less(x, y)) return is(*known);
  if (sides()) {
    const FieldNumber d = core(sub(y, x));
    compared = true;
    if (d.p == 0) return is(false);
    const int s = sign(d);
    FieldNumber z = is(s > 0 && !tied(d));
    decide(z, d);
    if (!d.constant) jumps_.insert(std::min(d.p, p_ - d.p));
    z.signs = static_cast<float>(count(z.decisions));
    if (s == 0) z.kind = Kind::missing;
    return z;
  }
  return unknown_less(
      x, y, safe ? 0 : draw(draw(x.domain, y.domain), 2 * std::uint64_t{x.fragile} + std::uint64_t{y.fragile} + 1));
}

FieldNumber Field::less_equal(const FieldNumber& x, const FieldNumber& y) {
  if (x.kind == Kind::nan || y.kind == Kind::nan) return less(x, y);
  const bool safe = x.domain == Sets::empty && y.domain == Sets::empty && !x.fragile && !y.fragile;
  if (safe || x.kind != Kind::number || y.kind != Kind::number || sides()) {
    FieldNumber z = sub(integer(1), less(y, x));
    if (z.kind == Kind::number) z.boolean = true, z.may = zero | above, z.lowest = 0, z.greatest = 1;
    return z;
  }
  return unknown_less(x, y, draw(draw(x.domain, y.domain), 91));
}

FieldNumber Field::choose(const FieldNumber& c, const FieldNumber& x, const FieldNumber& y) {
  const auto take = [&](const FieldNumber& t) {
    FieldNumber z = marked(t, c);
    z.signs = std::max(t.signs, static_cast<float>(count(z.decisions)));
    return z;
  };
  if (c.kind == Kind::missing || c.kind == Kind::unclear) return c;
  if (c.kind != Kind::number) return c.domain == Sets::empty && !c.fragile ? take(x) : special(Kind::unclear);
  const bool safe = c.domain == Sets::empty && !c.fragile;
  if (safe && (sides() || c.constant || c.p == 0)) {
    if (sides() && !c.constant) compared = true;
    FieldNumber z = take(c.p == 0 || (!c.constant && tied(c)) ? y : x);
    if (sides() && !c.constant) {
      z.numerator = std::max(x.numerator, y.numerator) + x.denominator + y.denominator;
      z.denominator = x.denominator + y.denominator;
    }
    return z;
  }
  const bool equivalent =
      x.kind == y.kind && x.p == y.p && x.q == y.q && x.domain == y.domain && x.fragile == y.fragile;
  if (equivalent) return take(x);
  for (Kind k : {Kind::missing, Kind::unclear})
    if (x.kind == k || y.kind == k) return marked(marked(special(k), x), y);
  const FieldNumber both = merged(Op::choose, x, y);
  FieldNumber argument = merged(Op::choose, c, both);
  argument.p = draw(draw(c.p, c.domain), draw(key(x), key(y))) % p_;
  argument.numerator = c.numerator + x.numerator + y.numerator;
  argument.denominator = c.denominator + x.denominator + y.denominator;
  FieldNumber z = unknown(Unknown::choose, argument);
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
  z.domain = sets_.single(draw(argument.p, 60));
  return z;
}

}  // namespace zellige::number
