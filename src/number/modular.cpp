#include "number/modular.hpp"

#include <boost/integer/mod_inverse.hpp>

namespace zellige::number {

std::uint64_t pow_mod(std::uint64_t a, std::uint64_t n, std::uint64_t m) {
  std::uint64_t y = 1;
  for (; n > 0; n /= 2, a = mul_mod(a, a, m))
    if (n % 2) y = mul_mod(y, a, m);
  return y;
}

std::uint64_t inverse_mod(std::uint64_t a, std::uint64_t m) {
  return static_cast<std::uint64_t>(
      boost::integer::mod_inverse(static_cast<std::int64_t>(a), static_cast<std::int64_t>(m)));
}

/// Stops Euclid's extended algorithm half way: each remainder is a multiple of `a` modulo m by a small factor.
std::optional<ModularFraction> fraction_of(std::uint64_t a, std::uint64_t m, std::uint64_t bound) {
  std::uint64_t before = m, rest = a;
  std::int64_t factor_before = 0, factor = 1;
  while (rest >= bound) {
    const std::uint64_t times = before / rest;
    if (times >= bound) return std::nullopt;
    const std::uint64_t next = before % rest;
    const std::int64_t next_factor = factor_before - static_cast<std::int64_t>(times) * factor;
    before = rest, rest = next, factor_before = factor, factor = next_factor;
    if (static_cast<std::uint64_t>(factor < 0 ? -factor : factor) >= bound) return std::nullopt;
  }
  const auto numerator = static_cast<std::int64_t>(rest);
  return factor < 0 ? ModularFraction{-numerator, -factor} : ModularFraction{numerator, factor};
}

/// Returns whether n is prime, by the Miller-Rabin test with bases for which it is deterministic below 2^64.
bool is_prime(std::uint64_t n) {
  constexpr std::uint64_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
  if (n < 2) return false;
  for (std::uint64_t b : bases)
    if (n % b == 0) return n == b;
  std::uint64_t odd = n - 1;
  int twos = 0;
  for (; odd % 2 == 0; odd /= 2) ++twos;
  for (std::uint64_t b : bases) {
    std::uint64_t x = pow_mod(b, odd, n);
    bool passes = x == 1 || x == n - 1;
    for (int i = 1; i < twos && !passes; ++i) passes = (x = mul_mod(x, x, n)) == n - 1;
    if (!passes) return false;
  }
  return true;
}

}  // namespace zellige::number
