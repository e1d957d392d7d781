// Wraps PTX's setmaxnreg, which changes the number of registers per thread of a warpgroup, so that consumer warpgroups
// get the registers that a producer warpgroup does not need.
//
//   if (producer) register_dealloc<40>(); else register_alloc<232>();
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// Lowers the calling warpgroup's register count to `Registers` per thread and releases the other registers to the
/// block's pool. `Registers` is 24 to 256, a multiple of 8, and not above the current count. All four warps must call
/// this.
template <unsigned Registers>
ZELLIGE_CALL void register_dealloc() {
  static_assert(Registers >= 24 && Registers <= 256 && Registers % 8 == 0,
                "register_dealloc: 24 to 256 registers, a multiple of 8");
#if defined(ZELLIGE_EMULATE)
  emulate::setmaxnreg(Registers, false);
#else
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
#endif
}
/// Raises the calling warpgroup's register count to `Registers` per thread; waits until the block's pool has enough
/// registers. `Registers` is 24 to 256, a multiple of 8, and not below the current count. All four warps must call
/// this.
template <unsigned Registers>
ZELLIGE_CALL void register_alloc() {
  static_assert(Registers >= 24 && Registers <= 256 && Registers % 8 == 0,
                "register_alloc: 24 to 256 registers, a multiple of 8");
#if defined(ZELLIGE_EMULATE)
  emulate::setmaxnreg(Registers, true);
#else
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
#endif
}

}  // namespace zellige
