// Defines roots, exponentials, logarithms and other functions over a random finite field (field.hpp).
#include <cmath>

#include "graph/dtype.hpp"
#include "number/field.hpp"
#include "number/signs.hpp"

namespace zellige::number {
namespace {

using Kind = FieldNumber::Kind;
using Order = FieldTables::Order;
using Op = FieldTables::Op;
using Unknown = FieldTables::Unknown;

/// Makes z = f(x) NaN if x is negative, for a function f (`which`) that is undefined for negative numbers,
/// such as a root. Does nothing if x cannot be negative. With Order::unknown, records x >= 0 as a condition
/// under which z is not NaN. With any other order, x counts as negative if it is no square in the field.
void require(Field& f, FieldNumber& z, Unknown which, const FieldNumber& x) {
  if (!(x.may & f.below)) return;
  if (f.order == Order::unknown) {
    if (z.fragile) return;
    z.domain = f.sets.join(z.domain, f.sets.single(draw(draw(x.p, static_cast<std::uint64_t>(which)), 9)));
    return;
  }
  const int s = f.sign(x);
  f.decide(z, x);
  z.sides.numerator = static_cast<float>(f.count(z.decisions));
  if (s <= 0) z.kind = s == 0 ? Kind::missing : Kind::nan;
}

/// Returns w^n modulo p.
std::uint64_t power_of_w(Field& f, std::uint64_t n) {
  std::uint64_t y = 1;
  for (std::size_t place = 0; n > 0; ++place, n /= 64)
    if (n % 64) y = mul_mod(y, f.powers[place * 64 + n % 64], f.p());
  return y;
}

/// Returns the sine of x, or its cosine if `even`, from e^(ix), so that addition theorems hold; modulo q and where x is
/// no exponent, from the tangent of half the angle, so that sin^2 + cos^2 = 1.
FieldNumber wave(Field& f, const FieldNumber& x, bool even) {
  const bool flipped = x.p > f.p() - x.p;
  FieldNumber t = f.unknown(Unknown::sin, flipped ? f.neg(x) : x);
  if (flipped) t = f.neg(t);
  const FieldNumber one = f.integer(1), square = f.mul(t, t);
  FieldNumber z = f.div(even ? f.sub(one, square) : f.mul(f.integer(2), t), f.add(one, square));
  f.took_nested = f.took_nested || x.q == f.absent || x.hashed;
  if (f.order != Order::unknown || x.fragile || x.logs != 0 || f.exponent(x) >= f.rootless) return z;
  const std::uint64_t power = power_of_w(f, mul_mod(f.exponent(x), f.angle, f.q())),
                      inverse = inverse_mod(power, f.p());
  z.p = even ? mul_mod(add_mod(power, inverse, f.p()), inverse_mod(2, f.p()), f.p())
             : mul_mod(sub_mod(power, inverse, f.p()), inverse_mod(add_mod(f.imaginary, f.imaginary, f.p()), f.p()),
                       f.p());
  f.took_exp = true;
  return z;
}

/// Returns ln x if x is known as an exponential, a quotient or product of positive numbers, or a root.
std::optional<FieldNumber> log_by_law(Field& f, const FieldNumber& x) {
  const auto also_of_x = [&](FieldNumber z) {
    z.domain = f.sets.join(z.domain, x.domain), z.decisions = f.sets.join(z.decisions, x.decisions);
    return z;
  };
  if (const auto u = f.exponents.find(x.p); u != f.exponents.end()) return also_of_x(u->second);
  if (const auto u = f.quotients.find(x.p); u != f.quotients.end()) {
    const auto [dividend, divisor] = u->second;
    return also_of_x(f.sub(f.log(dividend), f.log(divisor)));
  }
  if (const auto u = f.products.find(x.p); u != f.products.end()) {
    const auto [left, right] = u->second;
    return also_of_x(f.add(f.log(left), f.log(right)));
  }
  if (const auto u = f.roots.find(x.p); u != f.roots.end())
    return also_of_x(f.div(f.log(FieldNumber(u->second)), f.integer(2)));
  return std::nullopt;
}

}  // namespace

FieldNumber sqrt(Field& f, const FieldNumber& x) {
  if (x.kind != Kind::number) return x.kind == Kind::minus ? x.as(Kind::nan) : x;
  if (x.p == 0) return x;
  if (within(x.may, f.below)) return f.marked(f.special(Kind::nan), x);
  if (const auto u = f.squares.find(x.p); u != f.squares.end()) {
    FieldNumber v = u->second;
    v.domain = x.domain, v.fragile = x.fragile, v.decisions = x.decisions;
    v.sides.numerator = std::max(v.sides.numerator, x.sides.numerator);
    return f.abs(v);
  }
  const auto may = static_cast<std::uint8_t>((x.may & f.zero) | f.above);
  if (f.order == Order::unknown || x.fragile) {
    FieldNumber z = f.unknown(Unknown::sqrt, x);
    z.may = may, z.vanishes = x.vanishes, z.zero_sign = x.zero_sign;
    require(f, z, Unknown::sqrt, x);
    if (x.constant && x.domain == Sets::empty) return f.known(z, std::sqrt(f.real(x)));
    f.roots.try_emplace(z.p, x);
    return z;
  }
  FieldNumber z;
  f.follow(z, x);
  ++f.calls, f.argument_degree = std::max(f.argument_degree, x.degrees.all());
  z.degrees.numerator = 1, z.may = may, z.vanishes = x.vanishes, z.zero_sign = x.zero_sign;
  z.p = pow_mod(x.p, (f.p() + 1) / 4, f.p());
  if (mul_mod(z.p, z.p, f.p()) != x.p) {  // no square: negative, or no value of real numbers
    f.decide(z, x);
    z.kind = (x.may & f.below) && !x.constant ? Kind::nan : Kind::missing;
    return z;
  }
  z.q = x.hashed ? f.absent : x.q >= f.rootless ? x.q : pow_mod(x.q, (f.q() + 1) / 4, f.q());
  if (z.q < f.rootless && mul_mod(z.q, z.q, f.q()) != x.q) z.q = f.rootless;
  z.rooted = true;
  if (x.constant) return f.known(z, std::sqrt(f.real(x)));
  f.decide(z, x);
  z.sides.numerator = static_cast<float>(f.count(x.decisions) + 1);
  return z;
}

FieldNumber exp(Field& f, const FieldNumber& x) {
  if (x.kind == Kind::minus) return {.domain = x.domain, .decisions = x.decisions, .may = f.zero};
  if (x.kind != Kind::number) return x;
  if (f.is(x, 0)) return f.integer(1);
  f.took_exp = true, ++f.steps;
  FieldNumber z;
  f.took_nested = f.took_nested || x.q == f.absent || x.hashed;
  if (x.fragile || f.exponent(x) >= f.rootless) {
    if (x.q == f.rootless && !x.fragile) return f.marked(f.special(Kind::missing), x);
    z = f.unknown(Unknown::exp, x);
    z.q = f.absent;
  } else {
    ++f.calls, f.argument_degree = std::max(f.argument_degree, x.degrees.all());
    f.follow(z, x);
    z.degrees.numerator = 1;
    z.q = f.absent;
    z.p = power_of_w(f, f.exponent(x));
    if (x.rooted)
      for (std::uint64_t element : std::vector(f.sets.elements(x.decisions)))
        z.decisions = f.sets.join(z.decisions, f.sets.single(draw(element, 3)));
    if (x.rooted) z.sides.numerator = static_cast<float>(f.count(z.decisions));
    for (const auto& [log, times] : f.log_sums[x.logs]) {
      const std::uint64_t v = pow_mod(f.logged[log], static_cast<std::uint64_t>(std::abs(times)), f.p());
      z.p = mul_mod(z.p, times < 0 ? inverse_mod(v, f.p()) : v, f.p());
      z.degrees.numerator += static_cast<float>(std::abs(times));
    }
  }
  z.may = f.above;
  if (x.constant && x.domain == Sets::empty) return f.known(z, std::exp(f.real(x)));
  if (f.tells_logs || f.tells_order) f.exponents.try_emplace(z.p, x);
  if (f.tells_logs) z.graded = true;
  if (f.tells_logs && x.logs == 0) f.grades[z.p] = {1, 1, x};
  if (f.tells_logs && x.logs != 0)
    f.grades.try_emplace(z.p, Field::Grade{1, 1, x});  // e^ln y = y may be a sum of exponentials
  return z;
}

FieldNumber log(Field& f, const FieldNumber& x) {
  if (x.kind != Kind::number) return x.kind == Kind::minus ? x.as(Kind::nan) : x;
  if (x.p == 0) return x.as(x.fragile ? Kind::unclear : Kind::minus);
  if (within(x.may, f.below)) return f.marked(f.special(Kind::nan), x);
  if (f.is(x, 1)) return f.integer(0);
  if (!x.fragile && f.logs_under_way.insert(x.p).second) {
    const std::optional<FieldNumber> z = log_by_law(f, x);
    f.logs_under_way.erase(x.p);
    if (z) return *z;
  }
  // If x is a sum of exponentials: x = e^a y, where `a` is the mean of the exponents, so ln x = a + ln y.
  // `shift` is a, `rest` the residue of y modulo p.
  FieldNumber shift = f.integer(0);
  std::uint64_t rest = x.p;
  if (x.graded && !x.fragile) {
    const Field::Grade g = f.grade(x);
    if (g.count_p != 0 && g.count_q != 0) {
      shift = g.count_p == 1 && g.count_q == 1 ? g.sum : f.div(g.sum, f.count_of(g));
      if (shift.kind == Kind::number && shift.q != f.rootless && shift.logs == 0)
        rest = mul_mod(x.p, inverse_mod(f.exp(shift).p, f.p()), f.p());
      else
        shift = f.integer(0);
    }
  }
  FieldNumber of = x;
  of.p = rest;
  FieldNumber z = f.unknown(Unknown::log, of);
  if (x.fragile) return z;
  if (x.vanishes && (x.may & f.zero)) return f.open(z, draw(f.key(x), static_cast<std::uint64_t>(Unknown::log)));
  const auto [at, fresh] = f.logged_at.try_emplace(rest, static_cast<std::uint32_t>(f.logged.size()));
  if (fresh) f.logged.push_back(rest);
  z.q = 0;
  z.logs = f.log_sum({{at->second, 1}});
  require(f, z, Unknown::log, x);
  if (x.constant && x.domain == Sets::empty) return f.known(z, std::log(f.real(x)));
  if (z.kind != Kind::number) return z;
  FieldNumber sum = f.add(z, shift);
  sum.domain = z.domain, sum.decisions = z.decisions, sum.sides.numerator = z.sides.numerator;
  return sum;
}

FieldNumber pow(Field& f, const FieldNumber& x, const FieldNumber& y) {
  if (y.kind == Kind::number && f.is_exact(y)) {
    const double n = f.real(y);
    if (n == 0) return f.integer(1);
    if (n == std::floor(n) && std::fabs(n) <= 64) return power(f, x, static_cast<int>(n));
    if (2 * n == std::floor(2 * n) && std::fabs(n) <= 64) {  // x^2.5 = x^2 f.sqrt(x)
      const FieldNumber z = f.mul(power(f, x, static_cast<int>(std::fabs(n))), f.sqrt(x));
      return n > 0 ? z : f.div(f.integer(1), z);
    }
  }
  if (x.kind == Kind::number && x.p == 0 && !x.fragile && f.is_exact(y))
    return f.real(y) > 0 ? x : f.marked(f.special(Kind::plus), x);
  if (x.kind != Kind::number || y.kind != Kind::number || x.fragile || y.fragile || x.p == 0) {
    for (Kind k : {Kind::missing, Kind::unclear})
      if (x.kind == k || y.kind == k) return f.special(k);
    return f.marked(f.marked(f.special(Kind::unclear), x), y);
  }
  if (x.may == f.above) return f.exp(f.mul(y, f.log(x)));
  FieldNumber both = f.merged(Op::function, x, y);
  both.p = draw(x.p, y.p) % f.p();
  both.degrees = x.degrees * y.degrees;
  FieldNumber z = f.unknown(Unknown::pow, both);
  if (x.vanishes && (x.may & f.zero))
    return f.open(z, draw(draw(f.key(x), f.key(y)), static_cast<std::uint64_t>(Unknown::pow)));
  require(f, z, Unknown::pow, x);
  return z;
}

FieldNumber sin(Field& f, const FieldNumber& x) {
  if (x.kind == Kind::plus || x.kind == Kind::minus) return x.as(Kind::nan);
  if (x.kind != Kind::number) return x;
  return x.p == 0 ? x : wave(f, x, false);
}

FieldNumber cos(Field& f, const FieldNumber& x) {
  if (x.kind != Kind::number) return f.sin(x);
  if (f.is(x, 0)) return f.integer(1);
  return wave(f, x, true);
}

FieldNumber tanh(Field& f, const FieldNumber& x) {
  if (x.kind == Kind::plus || x.kind == Kind::minus) return f.marked(f.integer(x.kind == Kind::plus ? 1 : -1), x);
  return f.sub(f.integer(1), f.div(f.integer(2), f.add(f.exp(f.add(x, x)), f.integer(1))));
}

FieldNumber normal(Field& f, const FieldNumber& x) {
  if (x.kind == Kind::plus || x.kind == Kind::minus) return f.marked(f.integer(x.kind == Kind::plus ? 1 : 0), x);
  if (x.kind != Kind::number) return x;
  // One half plus an odd function.
  const bool flipped = x.p > f.p() - x.p;
  FieldNumber t = f.unknown(Unknown::normal, flipped ? f.neg(x) : x);
  if (x.p == 0) t = f.mul(t, f.integer(0));
  FieldNumber z = f.add(f.constant(0.5), flipped ? f.neg(t) : t);
  z.may = f.above;
  return z;
}

FieldNumber converted(Field& f, const FieldNumber& x, const graph::Attributes& a) {
  if (!graph::is_integer(a.dtype)) return x;
  if (x.kind == Kind::missing) return x;
  if (x.kind != Kind::number || x.fragile || x.domain != Sets::empty) return f.marked(f.special(Kind::unclear), x);
  const graph::Format& to = graph::format(graph::is_stored_only(a.dtype) ? a.dtype : graph::DType::int32);
  if (a.dtype == graph::DType::boolean && !x.boolean) {
    FieldNumber nonzero = f.sub(f.integer(1), f.same(x, f.integer(0)));
    nonzero.boolean = true;
    return nonzero;
  }
  if (x.boolean || (x.whole && x.lowest >= to.lowest && x.greatest <= to.greatest)) return x;  // modulo 2^8 or 2^32
  if (x.constant && !graph::is_stored_only(a.dtype) && std::fabs(f.real(x)) < 100)
    return f.marked(f.integer(static_cast<std::int64_t>(f.real(x))), x);
  FieldNumber z = f.unknown(Unknown::cast, x, 2 * static_cast<std::uint64_t>(a.dtype) + a.saturate);
  z.whole = z.unsettled = z.vanishes = true;
  z.greatest = graph::format(a.dtype).greatest, z.lowest = graph::format(a.dtype).lowest;
  z.may = static_cast<std::uint8_t>(x.may | f.zero);
  return z;
}

FieldNumber wrapped(Field& f, const FieldNumber& x, int bits) {
  const double size = std::ldexp(1.0, bits - 1);
  if (x.kind != Kind::number || x.p == 0 || (x.lowest >= -size && x.greatest < size)) return x;
  if (const auto input = f.ranges_of_inputs.find(x.p); x.whole && input != f.ranges_of_inputs.end()) {
    const auto [lowest, greatest] = input->second;
    f.argument_degree = std::max(f.argument_degree, x.degrees.all()), ++f.calls;  // it equals the input by chance else
    if (lowest >= -size && greatest < size) return x;
  }
  FieldNumber z = f.unknown(Unknown::wrap, x, static_cast<std::uint64_t>(bits));
  z.whole = z.unsettled = z.vanishes = true;
  z.lowest = -size, z.greatest = size - 1;
  return z;
}

}  // namespace zellige::number
