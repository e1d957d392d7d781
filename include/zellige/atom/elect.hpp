// elect_one: selects one thread of a warp by elect.sync, from which the compiler knows that only one thread
// executes the branch. All 32 threads must call it.
//
//   if (warp == 0 && elect_one()) tma_load_2d(...);
#pragma once

#include <zellige/atom/pointer.hpp>

namespace zellige {

/// Returns true in exactly one thread of the warp. All 32 threads must call it.
ZELLIGE_CALL bool elect_one() {
#if defined(ZELLIGE_EMULATE)
  return emulate::meet<int, bool>(
      0,
      [](const int*, bool* out) {
        for (int lane = 0; lane < 32; ++lane) out[lane] = lane == 0;
      },
      "elect_one");
#else
  uint32_t elected;
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(elected));
  return elected != 0;
#endif
}

}  // namespace zellige
