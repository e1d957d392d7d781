// Arithmetic modulo a prime below 2^63.
#pragma once
#include <cstdint>

namespace zellige::search {

__extension__ using Wide = unsigned __int128;

inline std::uint64_t mul_mod(std::uint64_t a, std::uint64_t b, std::uint64_t m) {
  return static_cast<std::uint64_t>(static_cast<Wide>(a) * b % m);
}
inline std::uint64_t add_mod(std::uint64_t a, std::uint64_t b, std::uint64_t m) {
  return a + b >= m ? a + b - m : a + b;
}
inline std::uint64_t sub_mod(std::uint64_t a, std::uint64_t b, std::uint64_t m) {
  return a >= b ? a - b : a + m - b;
}

std::uint64_t pow_mod(std::uint64_t a, std::uint64_t n, std::uint64_t m);
/// `a` must not be 0.
std::uint64_t inverse_mod(std::uint64_t a, std::uint64_t m);
bool is_prime(std::uint64_t);

/// splitmix64: the n-th number of a sequence that `seed` names; the same on every machine.
inline std::uint64_t draw(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t x = seed * 0xd1342543de82ef95 + (n + 1) * 0x9e3779b97f4a7c15;
  for (int i = 0; i < 2; ++i) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    x ^= x >> 31;
  }
  return x;
}

}  // namespace zellige::search
