// movmatrix: a warp transposes an 8x8 matrix of 16-bit elements, held in one register a thread as ldmatrix
// leaves it.
//
//   r = movmatrix_trans(r);
#pragma once

#include <zellige/atom/pointer.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/stmatrix_reference.hpp>
#endif

namespace zellige {

ZELLIGE_CALL uint32_t movmatrix_trans(uint32_t r) {
#if defined(ZELLIGE_EMULATE)
  return emulate::meet<uint32_t, uint32_t>(
      r,
      [](const uint32_t* in, uint32_t* out) {
        emulate::count(emulate::Counter::shuffle);
        reference::movmatrix(*reinterpret_cast<const uint32_t(*)[32]>(in),
                             *reinterpret_cast<uint32_t(*)[32]>(out));
      },
      "movmatrix_trans");
#else
  uint32_t result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(r));
  return result;
#endif
}

}  // namespace zellige
