// Defines roots, exponentials, logarithms and other functions over a random finite field (field.hpp).
#include <cmath>

#include "graph/dtype.hpp"
#include "number/field.hpp"
#include "number/signs.hpp"

namespace zellige::number {

/// Makes z = f(x) NaN if x is negative, for a function f (`which`) that is undefined for negative numbers,
/// such as a root. Does nothing if x cannot be negative. With Order::unknown, records x >= 0 as a condition
/// under which z is not NaN. With any other order, x counts as negative if it is no square in the field.
void Field::require(FieldNumber& z, Unknown which, const FieldNumber& x) {
  if (!(x.may & below)) return;
  if (order_ == Order::unknown) {
    if (z.fragile) return;
    z.domain = sets_.join(z.domain, sets_.single(draw(draw(x.p, static_cast<std::uint64_t>(which)), 9)));
    return;
  }
  const int s = sign(x);
  decide(z, x);
  z.signs = static_cast<float>(count(z.decisions));
  if (s <= 0) z.kind = s == 0 ? Kind::missing : Kind::nan;
}

/// Returns z, marked as possibly infinite at many points: equal only to what has the same `key`.
FieldNumber Field::open(FieldNumber z, std::uint64_t key) {
  z.fragile = z.unsettled = z.vanishes = true;
  z.domain = sets_.single(key);
  return z;
}

FieldNumber Field::sqrt(const FieldNumber& x) {
  if (x.kind != Kind::number) return x.kind == Kind::minus ? x.as(Kind::nan) : x;
  if (x.p == 0) return x;
  if (within(x.may, below)) return marked(special(Kind::nan), x);
  if (const auto u = squares_.find(x.p); u != squares_.end()) {
    FieldNumber v = u->second;
    v.domain = x.domain, v.fragile = x.fragile, v.decisions = x.decisions;
    v.signs = std::max(v.signs, x.signs);
    return abs(v);
  }
  const auto may = static_cast<std::uint8_t>((x.may & zero) | above);
  if (order_ == Order::unknown || x.fragile) {
    FieldNumber z = unknown(Unknown::sqrt, x);
    z.may = may, z.vanishes = x.vanishes, z.zero_sign = x.zero_sign;
    require(z, Unknown::sqrt, x);
    if (x.constant && x.domain == Sets::empty) return known(z, std::sqrt(real(x)));
    roots_.try_emplace(z.p, x);
    return z;
  }
  FieldNumber z;
  follow(z, x);
  ++calls, argument_degree = std::max(argument_degree, double{x.numerator} + x.denominator);
  z.numerator = 1, z.may = may, z.vanishes = x.vanishes, z.zero_sign = x.zero_sign;
  z.p = pow_mod(x.p, (p_ + 1) / 4, p_);
  if (mul_mod(z.p, z.p, p_) != x.p) {  // no square: negative, or no value of real numbers
    decide(z, x);
    z.kind = (x.may & below) && !x.constant ? Kind::nan : Kind::missing;
    return z;
  }
  z.q = x.hashed ? absent : x.q >= rootless ? x.q : pow_mod(x.q, (q_ + 1) / 4, q_);
  if (z.q < rootless && mul_mod(z.q, z.q, q_) != x.q) z.q = rootless;
  z.rooted = true;
  if (x.constant) return known(z, std::sqrt(real(x)));
  decide(z, x);
  z.signs = static_cast<float>(count(x.decisions) + 1);
  return z;
}

std::uint64_t Field::power_of_w(std::uint64_t n) const {
  std::uint64_t y = 1;
  for (std::size_t place = 0; n > 0; ++place, n /= 64)
    if (n % 64) y = mul_mod(y, powers_[place * 64 + n % 64], p_);
  return y;
}

FieldNumber Field::exp(const FieldNumber& x) {
  if (x.kind == Kind::minus) return {.domain = x.domain, .decisions = x.decisions, .may = zero};
  if (x.kind != Kind::number) return x;
  if (is(x, 0)) return integer(1);
  took_exp = true, ++steps;
  FieldNumber z;
  took_nested = took_nested || x.q == absent || x.hashed;
  if (x.fragile || exponent(x) >= rootless) {
    if (x.q == rootless && !x.fragile) return marked(special(Kind::missing), x);
    z = unknown(Unknown::exp, x);
    z.q = absent;
  } else {
    ++calls, argument_degree = std::max(argument_degree, double{x.numerator} + x.denominator);
    follow(z, x);
    z.numerator = 1;
    z.q = absent;
    z.p = power_of_w(exponent(x));
    if (x.rooted)
      for (std::uint64_t element : std::vector(sets_.elements(x.decisions)))
        z.decisions = sets_.join(z.decisions, sets_.single(draw(element, 3)));
    if (x.rooted) z.signs = static_cast<float>(count(z.decisions));
    for (const auto& [log, times] : log_sums_[x.logs]) {
      const std::uint64_t v = pow_mod(logged_[log], static_cast<std::uint64_t>(std::abs(times)), p_);
      z.p = mul_mod(z.p, times < 0 ? inverse_mod(v, p_) : v, p_);
      z.numerator += static_cast<float>(std::abs(times));
    }
  }
  z.may = above;
  if (x.constant && x.domain == Sets::empty) return known(z, std::exp(real(x)));
  if (tells_logs || tells_order) exponents_.try_emplace(z.p, x);
  if (tells_logs) z.graded = true;
  if (tells_logs && x.logs == 0) grades_[z.p] = {1, 1, x};
  if (tells_logs && x.logs != 0) grades_.try_emplace(z.p, Grade{1, 1, x});  // e^ln y = y may be a sum of exponentials
  return z;
}

Field::Grade Field::grade(const FieldNumber& x) {
  if (x.p == 0) return {0, 0, integer(0)};
  if (!x.graded) return {1, 1, integer(0)};
  return grades_.at(x.p);
}

FieldNumber Field::count_of(const Grade& g) {
  return known({.p = g.count_p, .q = g.count_q}, static_cast<double>(g.count_p));
}

std::optional<FieldNumber> Field::log_by_law(const FieldNumber& x) {
  const auto also_of_x = [&](FieldNumber z) {
    z.domain = sets_.join(z.domain, x.domain), z.decisions = sets_.join(z.decisions, x.decisions);
    return z;
  };
  if (const auto u = exponents_.find(x.p); u != exponents_.end()) return also_of_x(u->second);
  if (const auto u = quotients_.find(x.p); u != quotients_.end()) {
    const auto [dividend, divisor] = u->second;
    return also_of_x(sub(log(dividend), log(divisor)));
  }
  if (const auto u = products_.find(x.p); u != products_.end()) {
    const auto [left, right] = u->second;
    return also_of_x(add(log(left), log(right)));
  }
  if (const auto u = roots_.find(x.p); u != roots_.end())
    return also_of_x(div(log(FieldNumber(u->second)), integer(2)));
  return std::nullopt;
}

FieldNumber Field::log(const FieldNumber& x) {
  if (x.kind != Kind::number) return x.kind == Kind::minus ? x.as(Kind::nan) : x;
  if (x.p == 0) return x.as(x.fragile ? Kind::unclear : Kind::minus);
  if (within(x.may, below)) return marked(special(Kind::nan), x);
  if (is(x, 1)) return integer(0);
  if (!x.fragile && logs_under_way_.insert(x.p).second) {
    const std::optional<FieldNumber> z = log_by_law(x);
    logs_under_way_.erase(x.p);
    if (z) return *z;
  }
  // If x is a sum of exponentials: x = e^a y, where `a` is the mean of the exponents, so ln x = a + ln y.
  // `shift` is a, `rest` the residue of y modulo p.
  FieldNumber shift = integer(0);
  std::uint64_t rest = x.p;
  if (x.graded && !x.fragile) {
    const Grade g = grade(x);
    if (g.count_p != 0 && g.count_q != 0) {
      shift = g.count_p == 1 && g.count_q == 1 ? g.sum : div(g.sum, count_of(g));
      if (shift.kind == Kind::number && shift.q != rootless && shift.logs == 0)
        rest = mul_mod(x.p, inverse_mod(exp(shift).p, p_), p_);
      else
        shift = integer(0);
    }
  }
  FieldNumber of = x;
  of.p = rest;
  FieldNumber z = unknown(Unknown::log, of);
  if (x.fragile) return z;
  if (x.vanishes && (x.may & zero)) return open(z, draw(key(x), static_cast<std::uint64_t>(Unknown::log)));
  const auto [at, fresh] = logged_at_.try_emplace(rest, static_cast<std::uint32_t>(logged_.size()));
  if (fresh) logged_.push_back(rest);
  z.q = 0;
  z.logs = log_sum({{at->second, 1}});
  require(z, Unknown::log, x);
  if (x.constant && x.domain == Sets::empty) return known(z, std::log(real(x)));
  if (z.kind != Kind::number) return z;
  FieldNumber sum = add(z, shift);
  sum.domain = z.domain, sum.decisions = z.decisions, sum.signs = z.signs;
  return sum;
}

std::uint32_t Field::log_sum(LogSum terms) {
  const auto at = log_sum_at_.try_emplace(terms, static_cast<std::uint32_t>(log_sums_.size())).first->second;
  if (at == log_sums_.size()) log_sums_.push_back(std::move(terms));
  return at;
}

std::uint32_t Field::log_terms(std::uint32_t a, std::uint32_t b) {
  if (a == 0 || b == 0) return a + b;
  std::map<std::uint32_t, std::int64_t> sum;
  for (std::uint32_t side : {a, b})
    for (const auto& [log, times] : log_sums_[side]) sum[log] += times;
  std::erase_if(sum, [](const auto& term) { return term.second == 0; });
  return sum.empty() ? 0 : log_sum({sum.begin(), sum.end()});
}

std::uint64_t Field::without_logs(const FieldNumber& x) const {
  std::uint64_t q = exponent(x);
  for (const auto& [log, times] : log_sums_[x.logs]) {
    const std::uint64_t n = static_cast<std::uint64_t>(std::abs(times)) % q_;
    const std::uint64_t term = mul_mod(draw(draw(seed_, 45), logged_[log]) % q_, n, q_);
    if (q < rootless) q = times < 0 ? sub_mod(q, term, q_) : add_mod(q, term, q_);
  }
  return q;
}

std::uint32_t Field::log_times(std::uint32_t a, std::int64_t n) {
  if (a == 0 || n == 0) return 0;
  LogSum terms = log_sums_[a];
  for (auto& term : terms) term.second *= n;
  return log_sum(std::move(terms));
}

// Other functions.

FieldNumber Field::pow(const FieldNumber& x, const FieldNumber& y) {
  if (y.kind == Kind::number && is_exact(y)) {
    const double n = real(y);
    if (n == 0) return integer(1);
    if (n == std::floor(n) && std::fabs(n) <= 64) return power(*this, x, static_cast<int>(n));
    if (2 * n == std::floor(2 * n) && std::fabs(n) <= 64) {  // x^2.5 = x^2 sqrt(x)
      const FieldNumber z = mul(power(*this, x, static_cast<int>(std::fabs(n))), sqrt(x));
      return n > 0 ? z : div(integer(1), z);
    }
  }
  if (x.kind == Kind::number && x.p == 0 && !x.fragile && is_exact(y))
    return real(y) > 0 ? x : marked(special(Kind::plus), x);
  if (x.kind != Kind::number || y.kind != Kind::number || x.fragile || y.fragile || x.p == 0) {
    for (Kind k : {Kind::missing, Kind::unclear})
      if (x.kind == k || y.kind == k) return special(k);
    return marked(marked(special(Kind::unclear), x), y);
  }
  if (x.may == above) return exp(mul(y, log(x)));
  FieldNumber both = merged(Op::function, x, y);
  both.p = draw(x.p, y.p) % p_;
  both.numerator = x.numerator + y.numerator, both.denominator = x.denominator + y.denominator;
  FieldNumber z = unknown(Unknown::pow, both);
  if (x.vanishes && (x.may & zero))
    return open(z, draw(draw(key(x), key(y)), static_cast<std::uint64_t>(Unknown::pow)));
  require(z, Unknown::pow, x);
  return z;
}

FieldNumber Field::sin(const FieldNumber& x) {
  if (x.kind == Kind::plus || x.kind == Kind::minus) return x.as(Kind::nan);
  if (x.kind != Kind::number) return x;
  return x.p == 0 ? x : wave(x, false);
}

FieldNumber Field::cos(const FieldNumber& x) {
  if (x.kind != Kind::number) return sin(x);
  if (is(x, 0)) return integer(1);
  return wave(x, true);
}

FieldNumber Field::wave(const FieldNumber& x, bool even) {
  const bool flipped = x.p > p_ - x.p;
  FieldNumber t = unknown(Unknown::sin, flipped ? neg(x) : x);
  if (flipped) t = neg(t);
  const FieldNumber one = integer(1), square = mul(t, t);
  FieldNumber z = div(even ? sub(one, square) : mul(integer(2), t), add(one, square));
  took_nested = took_nested || x.q == absent || x.hashed;
  if (order_ != Order::unknown || x.fragile || x.logs != 0 || exponent(x) >= rootless) return z;
  const std::uint64_t power = power_of_w(mul_mod(exponent(x), angle_, q_)), inverse = inverse_mod(power, p_);
  z.p = even ? mul_mod(add_mod(power, inverse, p_), inverse_mod(2, p_), p_)
             : mul_mod(sub_mod(power, inverse, p_), inverse_mod(add_mod(i_, i_, p_), p_), p_);
  took_exp = true;
  return z;
}

FieldNumber Field::tanh(const FieldNumber& x) {
  if (x.kind == Kind::plus || x.kind == Kind::minus) return marked(integer(x.kind == Kind::plus ? 1 : -1), x);
  return sub(integer(1), div(integer(2), add(exp(add(x, x)), integer(1))));
}

FieldNumber Field::normal(const FieldNumber& x) {
  if (x.kind == Kind::plus || x.kind == Kind::minus) return marked(integer(x.kind == Kind::plus ? 1 : 0), x);
  if (x.kind != Kind::number) return x;
  // One half plus an odd function.
  const bool flipped = x.p > p_ - x.p;
  FieldNumber t = unknown(Unknown::normal, flipped ? neg(x) : x);
  if (x.p == 0) t = mul(t, integer(0));
  FieldNumber z = add(constant(0.5), flipped ? neg(t) : t);
  z.may = above;
  return z;
}

FieldNumber Field::converted(const FieldNumber& x, const graph::Attributes& a) {
  if (!graph::is_integer(a.dtype)) return x;
  if (x.kind == Kind::missing) return x;
  if (x.kind != Kind::number || x.fragile || x.domain != Sets::empty) return marked(special(Kind::unclear), x);
  const double greatest = graph::format(graph::DType::int32).greatest;
  if (x.boolean || (x.whole && x.lowest >= -greatest - 1 && x.greatest <= greatest)) return x;  // modulo 2^8 or 2^32
  if (x.constant && std::fabs(real(x)) < 100) return marked(integer(static_cast<std::int64_t>(real(x))), x);
  FieldNumber z = unknown(Unknown::cast, x, 2 * static_cast<std::uint64_t>(a.dtype) + a.saturate);
  z.whole = z.unsettled = z.vanishes = true;
  z.greatest = graph::format(a.dtype).greatest, z.lowest = -z.greatest - 1;
  z.may = static_cast<std::uint8_t>(x.may | zero);
  return z;
}

FieldNumber Field::wrapped(const FieldNumber& x, int bits) {
  const double size = std::ldexp(1.0, bits - 1);
  if (x.kind != Kind::number || x.p == 0 || (x.lowest >= -size && x.greatest < size)) return x;
  FieldNumber z = unknown(Unknown::wrap, x, static_cast<std::uint64_t>(bits));
  z.whole = z.unsettled = z.vanishes = true;
  z.lowest = -size, z.greatest = size - 1;
  return z;
}

std::optional<std::int64_t> Field::whole(const FieldNumber& x) const {
  if (x.kind != Kind::number || !x.constant || x.domain != Sets::empty) return std::nullopt;
  const double n = real(x);
  if (n != std::floor(n) || std::fabs(n) > 0x1p31) return std::nullopt;
  return static_cast<std::int64_t>(n);
}

}  // namespace zellige::number
