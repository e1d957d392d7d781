// Multiplies tiles of A and B with wgmma, as one wgmma group. A is in shared memory or in registers, B in shared
// memory.
//
//   Accumulator<WgmmaOf<half_t, 128>> d;
//   multiply_wgmma<half_t, 4>(d, k_major<64>(a), k_major<128>(b), /*accumulate=*/false);   // K = 4 * 32 bytes
//   wgmma_wait<0>();                                      // d may be read
//
//   // A in registers, uint32_t p[8][4]; B is the tile v, 128 columns (N-contiguous) by K = 128
//   multiply_wgmma<half_t, 8>(d, p, mn_major<128, 128>(v), true);
//
// wgmma_operand.hpp defines k_major<rows>(tile), a K-contiguous operand, and mn_major<columns, depth>(tile).
#pragma once
#include <zellige/block/accumulator.hpp>
#include <zellige/block/wgmma_operand.hpp>

namespace zellige {

/// Issues d = a b + (accumulate ? d : 0) over `Steps` times 32 bytes of K, and commits the wgmma group. a is an operand
/// in shared memory, or an array with the A registers of each step. Called by all 128 threads of the warpgroup;
/// wgmma_wait must follow.
template <class T, int Steps, class Instruction, class A, class B>
ZELLIGE_CALL void multiply_wgmma(Accumulator<Instruction>& d, const A& a, const B& b, bool accumulate) {
  issue_wgmma<T, Steps>(d.d, a, b, accumulate);
  wgmma_commit();
}

}  // namespace zellige
