// CuTe's header for thread block clusters of SM90: synchronisation, block ranks, remote shared memory, and
// election of one thread of a warp.
#pragma once
#include <cute/arch/config.hpp>

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
#include <zellige/atom/cluster_names.hpp>
#endif

#if defined(__CUDACC__)
namespace zellige {

/// Converts a 32-bit shared-memory address of this block to the same offset in block `rank` of the cluster.
CUTE_DEVICE uint32_t set_block_rank(uint32_t smem_address, uint32_t rank) {
  uint32_t mapped;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(smem_address), "r"(rank));
  return mapped;
}

/// Result of elect_one_leader_sync: 1 if this thread is elected, and the elected lane.
struct ElectOneLaneIdReturnType {
  uint32_t is_leader;
  uint32_t leader_lane_id;
};
/// Elects one thread of the warp; all threads of the warp must call it.
CUTE_DEVICE ElectOneLaneIdReturnType elect_one_leader_sync() {
  uint32_t const elected = elect_one();
  return {elected, uint32_t(__ffs(int(__ballot_sync(0xffffffffu, elected)))) - 1};
}

/// Writes a value into the shared memory of block `rank` and completes 4 bytes on the barrier of that block.
/// Both addresses are offsets as this block has them.
CUTE_DEVICE void store_shared_remote(uint32_t value, uint32_t smem_address, uint32_t barrier_address, uint32_t rank) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(
                   set_block_rank(smem_address, rank)),
               "r"(value), "r"(set_block_rank(barrier_address, rank))
               : "memory");
}

}  // namespace zellige
#endif
