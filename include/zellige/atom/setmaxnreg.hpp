// setmaxnreg: moves registers between warpgroups. All four warps of a warpgroup execute it; 24 to 256, a
// multiple of 8.
//
//   if (producer) register_dealloc<40>(); else register_alloc<232>();
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// At most the thread's current count; the rest returns to the block's pool.
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
/// At least the thread's current count; waits until the pool has enough.
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
