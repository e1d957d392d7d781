// Hashes 64-bit integers with splitmix64's finalizer, with the same results on every machine.
#pragma once
#include <cstdint>

namespace zellige::reference {

/// Returns a hash of x; each bit depends on all bits of x.
inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
/// Step of a counter whose values are hashed to a random sequence: mix(n * mix_step) for n = 1, 2, ...
constexpr std::uint64_t mix_step = 0x9e3779b97f4a7c15;

}  // namespace zellige::reference
