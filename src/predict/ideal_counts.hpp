// Counts what a block of a kernel executes, from the sizes of its layouts alone, as if no access to shared memory had a
// bank conflict. Much faster than predict(), which evaluates every access; the same where there are no conflicts and no
// partial tiles. For kernels whose buffers are not swizzled yet (plan::sketch).
//
//   BlockCounts c = ideal_counts(kernel);
//   c.barriers     // 17, the mean over all blocks of a launch
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::predict {

/// What a block of a launch executes, on average.
struct BlockCounts {
  double wavefronts = 0;  // of shared memory
  double accesses = 0;    // instructions of warps: loads and stores of shared memory, copies to it, and mma.sync
  double barriers = 0;
};

/// Returns what a block of the kernel executes if no access to shared memory has a bank conflict.
BlockCounts ideal_counts(const kernel::Kernel&);

}  // namespace zellige::predict
