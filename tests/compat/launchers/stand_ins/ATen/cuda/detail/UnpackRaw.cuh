// Stands in for torch's header of this name.
#pragma once
#include <cstdint>
#include <tuple>

namespace at::cuda::philox {
__host__ __device__ inline std::tuple<std::uint64_t, std::uint64_t> unpack(PhiloxCudaState state) {
  return {state.seed, state.offset};
}
}  // namespace at::cuda::philox
