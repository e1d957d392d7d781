// Multiplies tiles of A and B with wgmma, as one wgmma group. A is in shared memory or in registers, B in shared
// memory.
//
//   Accumulator<WgmmaOf<half_t, 128>> d;
//   multiply_wgmma<half_t, 4>(d, k_major<64>(a), k_major<128>(b), /*accumulate=*/false);   // K = 4 * 32 bytes
//   wgmma_wait<0>();                                      // d may be read
//
//   multiply_wgmma<half_t, 8>(d, p, mn_major<128, 128>(v), true);    // uint32_t p[8][4]; v is 128 of K by 128 of N
//
// wgmma_operand.hpp defines k_major and mn_major.
#pragma once
#include <zellige/block/accumulator.hpp>
#include <zellige/block/wgmma_operand.hpp>

namespace zellige {

/// Issues d = a b + (accumulate ? d : 0) over `Steps` times 32 bytes of K, and commits the group. a is a tile, or an
/// array of A registers per step. Called by all 128 threads; wgmma_wait must follow.
template <class T, int Steps, class Instruction, class A, class B>
ZELLIGE_CALL void multiply_wgmma(Accumulator<Instruction>& d, const A& a, const B& b, bool accumulate) {
  issue_wgmma<T, Steps>(d.d, a, b, accumulate);
  wgmma_commit();
}

}  // namespace zellige
