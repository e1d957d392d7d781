#include "number/field_tables.hpp"

#include <cmath>

#include "number/fraction.hpp"

namespace zellige::number {
namespace {

/// Returns n modulo m, a number from 0 to m - 1, for n of any sign.
std::uint64_t modulo(std::int64_t n, std::uint64_t m) {
  const std::uint64_t size = static_cast<std::uint64_t>(n < 0 ? -n : n) % m;
  return n < 0 ? sub_mod(0, size, m) : size;
}

/// Returns whether r, an odd prime or 2, is a square modulo the prime m, where m = 3 mod 4. Uses quadratic reciprocity.
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

}  // namespace

FieldTables::FieldTables(std::uint64_t seed, Order order) : seed(seed), order(order) {
  const bool squares = order != Order::unknown;
  constexpr std::uint64_t minimum = std::uint64_t{1} << 53;
  for (std::uint64_t n = 0; p_ == 0; ++n) {
    const std::uint64_t q = minimum + draw(seed, n) % minimum / 4 * 4 + 3;
    if ((squares && !small_squares(q)) || !is_prime(q)) continue;
    // 2 q k + 1 is 3 modulo 4 if the squares are to be positive; else 1, so that -1 has a root.
    for (std::uint64_t k = squares ? 3 : 2; k < 128 && p_ == 0; k += 2) {
      const std::uint64_t p = 2 * q * k + 1;
      if (p >> 62 == 0 && (!squares || small_squares(p)) && is_prime(p)) q_ = q, p_ = p;
    }
  }
  std::uint64_t w = 0;  // of order q
  for (std::uint64_t n = 0; w <= 1; ++n) w = pow_mod(draw(~seed, n) % (p_ - 2) + 2, (p_ - 1) / q_, p_);
  for (std::uint64_t n = 0; !squares && mul_mod(imaginary, imaginary, p_) != p_ - 1; ++n)
    imaginary = pow_mod(draw(~seed, n) % (p_ - 2) + 2, (p_ - 1) / 4, p_);
  angle = draw(~seed, 1 << 20) % (q_ - 1) + 1;
  constexpr int digits = 64;
  std::uint64_t step = w;
  for (int place = 0; place < 9; ++place) {
    std::uint64_t x = 1;
    for (int d = 0; d < digits; ++d, x = mul_mod(x, step, p_)) powers.push_back(x);
    step = x;
  }
}

FieldNumber FieldTables::random(std::uint64_t n) const {
  return {.p = draw(seed + 1, 2 * n) % p_, .q = draw(seed + 1, 2 * n + 1) % q_, .degrees = {1}};
}

FieldNumber FieldTables::known(FieldNumber z, double value) {
  z.constant = true, z.unsettled = z.vanishes = false, z.zero_sign = 1;
  z.may = value < 0 ? below : value > 0 ? above : zero;
  z.lowest = z.greatest = value;
  reals[z.p] = value;
  return z;
}

FieldNumber FieldTables::integer(std::int64_t n) {
  FieldNumber x{.p = modulo(n, p_), .q = modulo(n, q_), .boolean = n == 0 || n == 1, .whole = true};
  if (n == 0 || n == 1) {  // the most frequent case
    x.constant = true, x.may = n == 0 ? zero : above;
    x.lowest = x.greatest = static_cast<double>(n);
    return x;
  }
  return known(x, static_cast<double>(n));
}

FieldNumber FieldTables::one_of(FieldNumber x, std::int64_t range, std::uint64_t place) {
  const std::uint64_t element = draw(draw(seed, 77), place);
  ranges[element] = static_cast<double>(range);
  x.decisions = sets.join(x.decisions, sets.single(element));
  x.boolean = false;
  return x;
}

FieldNumber FieldTables::marked(FieldNumber x, const FieldNumber& by) {
  x.decisions = sets.join(x.decisions, by.decisions);
  return x;
}

FieldNumber FieldTables::constant(double c) {
  const auto at = constants.find(c);
  if (at != constants.end()) return at->second;
  if (std::isnan(c)) return special(Kind::nan);
  if (std::isinf(c)) return special(c > 0 ? Kind::plus : Kind::minus);
  const Fraction f = fraction(c);
  const auto residue = [&](std::uint64_t m) {
    const std::uint64_t two = f.exponent < 0 ? inverse_mod(2, m) : 2;
    const std::uint64_t x =
        mul_mod(modulo(f.numerator, m), pow_mod(two, static_cast<std::uint64_t>(std::abs(f.exponent)), m), m);
    return mul_mod(x, inverse_mod(modulo(f.denominator, m), m), m);
  };
  const bool boolean = c == 0 || c == 1;
  return constants[c] = known({.p = residue(p_), .q = residue(q_), .boolean = boolean, .whole = c == std::floor(c)}, c);
}

std::uint64_t FieldTables::key(const FieldNumber& x) {
  return draw(draw(x.p, x.domain + (x.fragile ? std::uint64_t{1} << 40 : 0)), static_cast<std::uint64_t>(x.kind));
}

double FieldTables::count(Sets::Index decisions) const {
  return decisions == Sets::many ? INFINITY : static_cast<double>(sets.elements(decisions).size());
}

FieldTables::Cases FieldTables::cases(Sets::Index decisions) const {
  Cases c;
  c.many = decisions == Sets::many;
  for (std::uint64_t element : sets.elements(decisions)) {
    const auto range = ranges.find(element);
    if (range == ranges.end())
      ++c.decisions, c.comparisons += static_cast<double>(jumps.count(element));
    else
      ++c.whole_numbers, c.whole *= range->second;
  }
  return c;
}

void FieldTables::follow(FieldNumber& z, const FieldNumber& x) const {
  z.domain = x.domain, z.decisions = x.decisions, z.unsettled = z.vanishes = z.unsettled || x.unsettled;
  z.sides.numerator = static_cast<float>(count(x.decisions));
}

FieldNumber FieldTables::unknown(Unknown which, const FieldNumber& x, std::uint64_t key) {
  took_unknown = true;
  ++steps, ++calls, argument_degree = std::max(argument_degree, x.degrees.all());
  FieldNumber z = residue(draw(draw(seed, 100 * key + static_cast<std::uint64_t>(which) + 1), x.p));
  follow(z, x);
  if (x.fragile) z.fragile = true, z.domain = sets.single(draw(FieldTables::key(x), static_cast<std::uint64_t>(which)));
  return z;
}

FieldNumber FieldTables::merged(Op op, const FieldNumber& x, const FieldNumber& y) {
  FieldNumber z;
  ++steps;
  z.decisions = sets.join(x.decisions, y.decisions);
  z.unsettled = x.unsettled || y.unsettled;
  z.vanishes = op == Op::mul ? x.vanishes || y.vanishes : op == Op::div ? x.vanishes : z.unsettled;
  z.rooted = x.rooted || y.rooted;
  z.fragile = x.fragile || y.fragile;
  if (!z.fragile) {
    z.domain = sets.join(x.domain, y.domain);
    return z;
  }
  std::uint64_t a = key(x), b = key(y);
  if ((op == Op::add || op == Op::mul || op == Op::max) && a > b) std::swap(a, b);
  z.domain = sets.single(draw(draw(a, b), static_cast<std::uint64_t>(op)));
  return z;
}

FieldNumber FieldTables::opaque(Op op, const FieldNumber& x, const FieldNumber& y) {
  took_unknown = true, ++calls;
  FieldNumber z = merged(op, x, y);
  const bool commutes = op == Op::add || op == Op::mul || op == Op::max;
  std::uint64_t a = key(x), b = key(y);
  if (commutes && a > b) std::swap(a, b);
  const FieldNumber r = residue(draw(draw(draw(seed, 55), a), b + static_cast<std::uint64_t>(op)));
  z.p = r.p, z.q = r.q, z.degrees = {1};
  z.sides.numerator = static_cast<float>(count(z.decisions));
  z.fragile = z.unsettled = z.vanishes = true;
  z.domain = sets.single(draw(draw(a, b), 50 + static_cast<std::uint64_t>(op)));
  return z;
}

int FieldTables::sign_of_fraction(const FieldNumber& x) const {
  if (const auto at = reals.find(x.p); at != reals.end()) return at->second > 0 ? 1 : -1;
  const std::optional<ModularFraction> f = fraction_of(x.p, p_, std::uint64_t{1} << 20);
  if (!f || (x.q < rootless && modulo(f->numerator, q_) != mul_mod(modulo(f->denominator, q_), x.q, q_))) return 0;
  return f->numerator > 0 ? 1 : -1;
}

std::uint64_t FieldTables::exponent(const FieldNumber& x) const {
  if (x.p == 0) return 0;
  return x.q == absent && keeps_sums ? draw(draw(seed, 44), x.p) % q_ : x.q;
}

FieldNumber FieldTables::open(FieldNumber z, std::uint64_t key) {
  z.fragile = z.unsettled = z.vanishes = true;
  z.domain = sets.single(key);
  return z;
}

FieldTables::Grade FieldTables::grade(const FieldNumber& x) {
  if (x.p == 0) return {0, 0, integer(0)};
  if (!x.graded) return {1, 1, integer(0)};
  return grades.at(x.p);
}

std::uint32_t FieldTables::log_sum(LogSum terms) {
  const auto at = log_sum_at.try_emplace(terms, static_cast<std::uint32_t>(log_sums.size())).first->second;
  if (at == log_sums.size()) log_sums.push_back(std::move(terms));
  return at;
}

std::uint32_t FieldTables::log_terms(std::uint32_t a, std::uint32_t b) {
  if (a == 0 || b == 0) return a + b;
  std::map<std::uint32_t, std::int64_t> sum;
  for (std::uint32_t side : {a, b})
    for (const auto& [log, times] : log_sums[side]) sum[log] += times;
  std::erase_if(sum, [](const auto& term) { return term.second == 0; });
  return sum.empty() ? 0 : log_sum({sum.begin(), sum.end()});
}

std::uint64_t FieldTables::without_logs(const FieldNumber& x) const {
  std::uint64_t q = exponent(x);
  for (const auto& [log, times] : log_sums[x.logs]) {
    const std::uint64_t n = static_cast<std::uint64_t>(std::abs(times)) % q_;
    const std::uint64_t term = mul_mod(draw(draw(seed, 45), logged[log]) % q_, n, q_);
    if (q < rootless) q = times < 0 ? sub_mod(q, term, q_) : add_mod(q, term, q_);
  }
  return q;
}

std::uint32_t FieldTables::log_times(std::uint32_t a, std::int64_t n) {
  if (a == 0 || n == 0) return 0;
  LogSum terms = log_sums[a];
  for (auto& term : terms) term.second *= n;
  return log_sum(std::move(terms));
}

std::optional<std::int64_t> FieldTables::whole(const FieldNumber& x) const {
  if (x.kind != Kind::number || !x.constant || x.domain != Sets::empty) return std::nullopt;
  const double n = real(x);
  if (n != std::floor(n) || std::fabs(n) > 0x1p31) return std::nullopt;
  return static_cast<std::int64_t>(n);
}

}  // namespace zellige::number
