// splitmix64's finalizer: 64 bits, each of which depends on all bits of x; the same on every machine.
#pragma once
#include <cstdint>

namespace zellige::graph {

inline std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
/// The increment of a counter that is mixed.
constexpr std::uint64_t mix_step = 0x9e3779b97f4a7c15;

}  // namespace zellige::graph
