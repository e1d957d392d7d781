// What computes the collectives of a graph over ranks on GPUs.
#pragma once
#include <cstdint>

namespace zellige::run {

/// NCCL, or kernels in which ranks read each other's memory, where there is one; or whichever takes less expected time as far as it was
/// measured. The last three say which kernels: those that add all tiles of all ranks, or a share for all; or the kernel that makes what is added.
enum class Collectives : std::uint8_t { cheapest, nccl, symmetric, one_shot, two_shots, fused };

}  // namespace zellige::run
