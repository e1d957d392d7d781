// What computes the collectives of a graph over ranks on GPUs.
#pragma once
#include <cstdint>

namespace zellige::run {

/// NCCL, or kernels that read the memory of other ranks, where there is one; or whichever takes less expected time.
enum class Collectives : std::uint8_t { cheapest, nccl, symmetric };

}  // namespace zellige::run
