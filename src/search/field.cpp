#include "search/field.hpp"

#include <cmath>

#include "graph/error.hpp"
#include "search/fraction.hpp"
#include "search/modular.hpp"

namespace zellige::search {
namespace {

constexpr std::uint64_t unlucky = FieldNumber::unlucky, absent = FieldNumber::absent;

/// Both parts by one rule; a part is missing where an operand's is.
template <class F>
FieldNumber by_parts(const FieldNumber& x, const FieldNumber& y, std::uint64_t p, std::uint64_t q,
                     const F& f) {
  const auto part = [&](std::uint64_t a, std::uint64_t b, std::uint64_t m) {
    return a == absent || b == absent ? absent : a == unlucky || b == unlucky ? unlucky : f(a, b, m);
  };
  return {part(x.p, y.p, p), part(x.q, y.q, q)};
}

std::uint64_t modulo(std::int64_t n, std::uint64_t m) {
  const std::uint64_t size = static_cast<std::uint64_t>(n < 0 ? -n : n) % m;
  return n < 0 ? sub_mod(0, size, m) : size;
}

std::uint64_t quotient(std::uint64_t x, std::uint64_t y, std::uint64_t m) {
  return y == 0 ? unlucky : mul_mod(x, inverse_mod(y, m), m);
}

/// The root that is a square itself, m being 3 modulo 4; unlucky for what is no square.
std::uint64_t root(std::uint64_t x, std::uint64_t m) {
  if (x >= absent) return x;
  const std::uint64_t y = pow_mod(x, (m + 1) / 4, m);
  return mul_mod(y, y, m) == x ? y : unlucky;
}

}  // namespace

Field::Field(std::uint64_t seed) : seed_(seed) {
  for (std::uint64_t n = 0; p_ == 0; ++n) {
    const std::uint64_t q = (std::uint64_t{1} << 53) + draw(seed, n) % (std::uint64_t{1} << 53) / 4 * 4 + 3;
    if (!is_prime(q)) continue;
    for (std::uint64_t k = 3; k < 256 && p_ == 0; k += 2)  // 2 q k + 1 is 3 modulo 4
      if (is_prime(2 * q * k + 1)) q_ = q, p_ = 2 * q * k + 1;
  }
  for (std::uint64_t n = 0; w_ <= 1; ++n) w_ = pow_mod(draw(~seed, n) % (p_ - 2) + 2, (p_ - 1) / q_, p_);
}

FieldNumber Field::random(std::uint64_t n) const {
  return {draw(seed_ + 1, 2 * n) % p_, draw(seed_ + 1, 2 * n + 1) % q_};
}
FieldNumber Field::integer(std::int64_t n) const { return {modulo(n, p_), modulo(n, q_)}; }

FieldNumber Field::constant(double c) {
  if (!std::isfinite(c)) fail("a field has no infinity");
  const auto at = constants_.find(c);
  if (at != constants_.end()) return at->second;
  const Fraction f = fraction(c);
  const auto part = [&](std::uint64_t m) {
    const std::uint64_t two = f.exponent < 0 ? inverse_mod(2, m) : 2;
    const std::uint64_t x =
        mul_mod(modulo(f.numerator, m), pow_mod(two, f.exponent < 0 ? -f.exponent : f.exponent, m), m);
    return quotient(x, modulo(f.denominator, m), m);
  };
  return constants_[c] = {part(p_), part(q_)};
}

FieldNumber Field::add(const FieldNumber& x, const FieldNumber& y) const {
  return by_parts(x, y, p_, q_, add_mod);
}
FieldNumber Field::sub(const FieldNumber& x, const FieldNumber& y) const {
  return by_parts(x, y, p_, q_, sub_mod);
}
FieldNumber Field::mul(const FieldNumber& x, const FieldNumber& y) const {
  return by_parts(x, y, p_, q_, mul_mod);
}
FieldNumber Field::div(const FieldNumber& x, const FieldNumber& y) const {
  return by_parts(x, y, p_, q_, quotient);
}

FieldNumber Field::sqrt(const FieldNumber& x) {
  took_root_ = true;
  return {root(x.p, p_), root(x.q, q_)};
}

FieldNumber Field::exp(const FieldNumber& x) {
  took_exp_ = true;
  if (x.q == unlucky) return {unlucky, absent};
  if (x.q != absent) return {pow_mod(w_, x.q, p_), absent};
  return unknown(Unknown::exp, x);
}

FieldNumber Field::tanh(const FieldNumber& x) {
  return sub(integer(1), div(integer(2), add(exp(add(x, x)), integer(1))));
}

FieldNumber Field::unknown(Unknown which, const FieldNumber& x) {
  took_unknown_ = true;
  if (x.p == unlucky) return {};
  const std::uint64_t y = draw(draw(seed_, static_cast<std::uint64_t>(which) + 1), x.p);
  return {y % p_, draw(y, 0) % q_};
}

FieldNumber Field::unknown(Unknown which, const FieldNumber& x, const FieldNumber& y) {
  took_unknown_ = true;
  if (x.p == unlucky || y.p == unlucky) return {};
  const std::uint64_t z = draw(draw(draw(seed_, static_cast<std::uint64_t>(which) + 1), x.p), y.p);
  return {z % p_, draw(z, 0) % q_};
}

FieldNumber Field::unordered(Unknown which, const FieldNumber& x, const FieldNumber& y) {
  return x.p < y.p ? unknown(which, x, y) : unknown(which, y, x);
}

}  // namespace zellige::search
