// Defines arithmetic modulo a prime m below 2^63, for finite fields. Operands must be less than m.
#pragma once
#include <cstdint>
#include <optional>

#include "reference/mix.hpp"

namespace zellige::number {

__extension__ using Wide = unsigned __int128;

inline std::uint64_t mul_mod(std::uint64_t a, std::uint64_t b, std::uint64_t m) {
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % m);
}
inline std::uint64_t add_mod(std::uint64_t a, std::uint64_t b, std::uint64_t m) {
  return a + b >= m ? a + b - m : a + b;
}
inline std::uint64_t sub_mod(std::uint64_t a, std::uint64_t b, std::uint64_t m) { return a >= b ? a - b : a + m - b; }

/// Returns a to the power n, modulo m.
std::uint64_t pow_mod(std::uint64_t a, std::uint64_t n, std::uint64_t m);
/// Returns the inverse of `a` modulo m, by Euclid's extended algorithm. `a` must not be 0.
std::uint64_t inverse_mod(std::uint64_t a, std::uint64_t m);
/// The fraction numerator / denominator, whose denominator is positive.
struct ModularFraction {
  std::int64_t numerator, denominator;
};
/// Returns the fraction of numerator and denominator below `bound` that is `a` modulo m, if there is one. `bound` must
/// be well below the root of m, so that few residues represent such a fraction by chance.
std::optional<ModularFraction> fraction_of(std::uint64_t a, std::uint64_t m, std::uint64_t bound);
/// Returns whether n is prime, without any probability of error.
bool is_prime(std::uint64_t);

/// Returns the n-th number of the pseudo-random sequence of `seed` (splitmix64); the same on every machine.
inline std::uint64_t draw(std::uint64_t seed, std::uint64_t n) {
  return reference::mix(reference::mix(seed * 0xd1342543de82ef95 + (n + 1) * reference::mix_step));
}

}  // namespace zellige::number
