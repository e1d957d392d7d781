// wgmma: a warpgroup of 128 threads multiplies 64 x K by K x N asynchronously on the tensor cores, for N = 8,
// 16, ..., 256; K is 32 bytes of the operands' type. The second operand is in shared memory, the first in
// shared memory or in registers.
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
// Further template arguments: the signs of a and b (1 or -1), and whether integer accumulators saturate. d is
// float[N / 2]; uint32_t[N / 4] accumulates in half (half_t and 8-bit floats), int32_t[N / 2] integers.
// Between the first wgmma and the wait no other code may access d, nor registers of a. Thread t holds in d[4
// i] and d[4 i + 1] row 16 (t / 32) + t % 32 / 4, columns 8 i + 2 (t % 4) and the next; in d[4 i + 2] and d[4
// i + 3] the same, eight rows below. Descriptors: smem_descriptor.hpp.
//
// Only sm_90a has these instructions. A unit may be compiled for other GPUs too, including sm_90: there a
// call traps, and the long PTX is not parsed.
#pragma once

#include <zellige/atom/wgmma_call.hpp>
#if !defined(ZELLIGE_EMULATE) && defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include <zellige/atom/wgmma_b32.hpp>
#endif
