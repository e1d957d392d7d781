// Wraps PTX's movmatrix: a warp transposes an 8x8 matrix of 16-bit elements that it holds in one register per thread.
//
//   r = movmatrix_trans(r);
#pragma once

#include <zellige/atom/pointer.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/emulated_body.hpp>
#endif

namespace zellige {

/// Returns the thread's two elements of the transposed matrix. Thread t passes the elements 2 (t % 4) and
/// 2 (t % 4) + 1 of row t / 4, as ldmatrix loads them. All 32 threads of the warp must call it.
ZELLIGE_CALL uint32_t movmatrix_trans(uint32_t r) {
#if defined(ZELLIGE_EMULATE)
  static constexpr char row[] = "SM75_U32x1_MOVM_T";
  return emulate::meet<uint32_t, uint32_t>(
      r,
      [](const uint32_t* in, uint32_t* out) {
        emulate::count(emulate::Counter::shuffle);
        const void* from[32];
        void* to[32];
        for (int t = 0; t < 32; ++t) from[t] = in + t, to[t] = out + t;
        run_body<row>({from, nullptr, nullptr, to});
      },
      "movmatrix_trans");
#else
  uint32_t result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(r));
  return result;
#endif
}

}  // namespace zellige
