// Clusters of blocks, and election of one thread of a warp.
#pragma once
#include <cute/arch/config.hpp>

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/cluster_names.hpp>
#endif

#if defined(__CUDACC__)
namespace zellige {

/// Converts this block's 32-bit shared-memory address to the same offset in the cluster's block `rank`.
CUTE_DEVICE uint32_t set_block_rank(uint32_t smem_address, uint32_t rank) {
  uint32_t mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(smem_address), "r"(rank));
  return mapped;
}

struct ElectOneLaneIdReturnType {
  uint32_t is_leader;
  uint32_t leader_lane_id;
};
/// Elects one thread: whether it is this one, and its lane.
CUTE_DEVICE ElectOneLaneIdReturnType elect_one_leader_sync() {
  uint32_t const elected = elect_one();
  return {elected, uint32_t(__ffs(int(__ballot_sync(0xffffffffu, elected)))) - 1};
}

/// Writes a value into the shared memory of block `rank`, and completes 4 bytes on its barrier. The addresses
/// are those of this block.
CUTE_DEVICE void store_shared_remote(uint32_t value, uint32_t smem_address, uint32_t barrier_address,
                                     uint32_t rank) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                   set_block_rank(smem_address, rank)),
               "r"(value), "r"(set_block_rank(barrier_address, rank))
               : "memory");
}

}  // namespace zellige
#endif
