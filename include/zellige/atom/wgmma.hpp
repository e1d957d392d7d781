// Wraps PTX's wgmma for all operand types: a warpgroup of 128 threads multiplies 64 x K by K x N asynchronously on the
// tensor cores. N is 8, 16, ..., 256; K is 32 bytes of the operands' type. B is in shared memory, A in shared memory or
// in registers.
//
//   float d[64] = {};                                    // 64 x 128: N is twice the number of registers
//   wgmma_fence();                                       // the tensor cores may use the registers
//   for (int k = 0; k < 4; ++k) wgmma<half_t>(d, advance(a, 32 * k), advance(b, 32 * k));   // d += a b
//   wgmma_commit();                                      // closes a group
//   wgmma_wait<0>();                                     // d may be read
//
//   wgmma<half_t>(d, a, b, false)                        // d = a b: no zeroing
//   wgmma<half_t>(d, a_registers, b)                     // uint32_t a_registers[4]
//   wgmma<half_t, Major::K, Major::MN>(d, a, b)          // b is stored N-contiguous
//   wgmma<float_e4m3_t, Major::K, Major::K, float_e5m2_t>(d, a, b)
//
// Further template arguments are the signs of a and b (1 or -1), and whether integer accumulators saturate. d is
// float[N / 2], or uint32_t[N / 4] for packed half accumulators (half_t and 8-bit floats), or int32_t[N / 2].
// smem_descriptor.hpp makes the descriptors a and b. Between the first wgmma and the wait, no other code may access d
// or registers of A.
//
// With r = 16 (t / 32) + t % 32 / 4 and c = 8 i + 2 (t % 4), thread t holds these elements of the result:
//
// - d[4 i], d[4 i + 1]: row r, columns c and c + 1
// - d[4 i + 2], d[4 i + 3]: row r + 8, columns c and c + 1
//
// Only sm_90a has these instructions. The header compiles for other GPUs, including sm_90; there a call traps.
#pragma once

#include <zellige/atom/wgmma_call.hpp>
#if !defined(ZELLIGE_EMULATE) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include <zellige/atom/wgmma_b32.hpp>
#endif
