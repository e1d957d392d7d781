// Replaces torch's header of this name: a seed and an offset, which kernels without dropout do not use.
#pragma once
#include <cstdint>

namespace at {
struct PhiloxCudaState {
  std::uint64_t seed = 0, offset = 0;
};
}  // namespace at
