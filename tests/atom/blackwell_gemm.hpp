// A typical warp-specialized GEMM for SM100: a warp loads stages by TMA, a warp multiplies into tensor memory, four warps read
// the accumulators and store them. C = A B^T, tiles of 128 x 64 x 64 halves, float, in two sets of columns, so that the epilogue of
// a tile overlaps the next product. `bug` injects a fault.
#pragma once
#include <zellige/atom.hpp>
#include <zellige/atom/elect.hpp>
#include <zellige/atom/smem_descriptor.hpp>
#include <zellige/atom/tcgen05.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/umma.hpp>

namespace zellige {

enum class BlackwellBug {
  none,
  // What the block sets up.
  no_barrier_after_init,
  no_fence_after_init,
  full_counted_too_high,
  empty_counted_too_high,
  sums_counted_too_high,
  drained_counted_too_high,
  drained_counted_too_low,
  // Tensor memory.
  no_alloc,
  alloc_of_96_columns,
  alloc_of_16_columns,
  alloc_of_one_set,
  alloc_by_31_lanes,
  address_read_without_a_barrier,
  address_guessed_without_a_barrier,
  alloc_twice,
  alloc_without_the_permit,
  alloc_without_end,
  no_dealloc,
  dealloc_of_half,
  dealloc_twice,
  dealloc_of_other_columns,
  dealloc_before_the_epilogue,
  dealloc_after_the_last_commit,
  dealloc_of_a_pair,
  // The producer.
  producer_does_not_wait,
  producer_waits_with_the_wrong_parity,
  expects_too_little,
  expects_too_much,
  a_loaded_to_the_wrong_place,
  // The products.
  mma_does_not_wait,
  mma_waits_for_the_other_parity,
  mma_waits_at_the_other_stage,
  wrong_swizzle_of_a,
  wrong_stride_of_b,
  stage_not_committed,
  stage_committed_before_the_mma,
  stage_released_by_an_arrival,
  stage_committed_twice,
  sums_not_committed,
  sums_committed_to_the_other_set,
  sums_committed_before_the_mma,
  sums_announced_by_an_arrival,
  committed_to_another_block,
  committed_by_another_thread,
  mma_does_not_wait_for_the_epilogue,
  mma_waits_for_the_epilogue_with_the_wrong_parity,
  mma_without_the_fence_after,
  mma_fences_before_its_wait,
  first_mma_accumulates,
  sums_one_set_too_far,
  sums_at_lane_16,
  descriptor_of_192_rows,
  descriptor_of_integers,
  swizzle_in_units_of_32,
  // The epilogue.
  epilogue_does_not_wait,
  epilogue_waits_at_the_other_set,
  epilogue_waits_for_the_other_parity,
  epilogue_without_the_fence_after,
  epilogue_fences_before_its_wait,
  epilogue_without_the_fence_before,
  epilogue_fences_before_its_load_wait,
  epilogue_fences_after_its_arrival,
  no_fences,
  no_load_wait,
  load_wait_after_the_arrival,
  store_wait_in_its_place,
  lanes_of_another_warp,
  lanes_from_8_on,
  columns_too_far,
  columns_beyond_the_last,
  other_set_read,
  one_thread_misses_the_load,
  one_thread_reads_elsewhere,
  one_warp_does_not_arrive,
  arrives_before_it_reads,
  arrives_twice,
  count
};

struct BlackwellShape {
  static constexpr unsigned tile_m = 128, tile_n = 64, tile_k = 64, stages = 3, threads = 192;
  static constexpr unsigned a_bytes = tile_m * tile_k * 2, b_bytes = tile_n * tile_k * 2;
  static constexpr unsigned b_at = stages * a_bytes, full_at = b_at + stages * b_bytes, empty_at = full_at + 8 * stages,
                            sums_at = empty_at + 8 * stages, drained_at = sums_at + 16, address_at = drained_at + 16,
                            shared_bytes = address_at + 16;
};

/// What all warps of the GEMM know.
struct BlackwellGemm {
  using S = BlackwellShape;
  using Bug = BlackwellBug;
  using Mma = SM100_MMA_F16BF16_SS<half_t, half_t, float, 128, 64, UMMA::Major::K, UMMA::Major::K>;
  using Load = SM100_TMEM_LOAD_32dp32b32x;

  smem<half_t> a, b;
  smem<uint64_t> full, empty, sums, drained;
  uint32_t address;  // of the columns
  unsigned tiles_n, tiles, steps;
  Bug bug;

  ZELLIGE_CALL void load(const TmaDescriptor& map_a, const TmaDescriptor& map_b) const {
    unsigned stage = 0, phase = bug == Bug::producer_waits_with_the_wrong_parity ? 0 : 1;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x)
      for (unsigned step = 0; step < steps; ++step) {
        if (bug != Bug::producer_does_not_wait) mbarrier_wait(empty + stage, phase);  // <producer waits>
        const unsigned bytes = S::a_bytes + S::b_bytes;
        mbarrier_arrive_expect_tx(full + stage, bug == Bug::expects_too_little ? S::a_bytes
                                                : bug == Bug::expects_too_much ? bytes + 16
                                                                               : bytes);
        const unsigned place = bug == Bug::a_loaded_to_the_wrong_place ? (stage + 1) % S::stages : stage;
        const int at_k = int(step * S::tile_k);
        tma_load_2d(a + place * (S::tile_m * S::tile_k), map_a, full + stage, at_k,  // <load a>
                    int(tile / tiles_n * S::tile_m));
        tma_load_2d(b + stage * (S::tile_n * S::tile_k), map_b, full + stage, at_k,  // <load b>
                    int(tile % tiles_n * S::tile_n));
        if (++stage == S::stages) stage = 0, phase ^= 1;
      }
  }

  /// Multiplies a step's tiles; all threads of a warp call it.
  ZELLIGE_CALL void multiply(unsigned stage, unsigned step, uint32_t to) const {
    const auto mode_a = bug == Bug::wrong_swizzle_of_a ? SwizzleMode::b64 : SwizzleMode::b128;
    const uint64_t version = uint64_t(1) << 46 | uint64_t(bug == Bug::swizzle_in_units_of_32) << 61;
    const uint64_t da = smem_descriptor(a + stage * (S::tile_m * S::tile_k), 0, 1024, mode_a) | version;
    const uint64_t db = smem_descriptor(b + stage * (S::tile_n * S::tile_k), 0,
                                        bug == Bug::wrong_stride_of_b ? 65536 : 1024, SwizzleMode::b128) |
                        version;
    uint32_t instruction = Mma::instruction;
    if (bug == Bug::descriptor_of_192_rows) instruction += 4u << 24;
    if (bug == Bug::descriptor_of_integers) instruction |= 5u << 7;
    for (unsigned i = 0; i < S::tile_k / 16; ++i)
      Mma::fma(advance(da, 32 * i), advance(db, 32 * i), to,  // <mma>
               step + i > 0 || bug == Bug::first_mma_accumulates, uint64_t(instruction) << 32);
  }
  /// Commits to the mbarrier of a stage; all threads of a warp call it.
  ZELLIGE_CALL void commit_stage(unsigned stage) const {
    if (bug == Bug::stage_not_committed || bug == Bug::committed_by_another_thread) {
      if (bug == Bug::committed_by_another_thread && threadIdx.x % 32 == 1) tcgen05_commit(empty + stage);
    } else if (elect_one()) {
      if (bug == Bug::stage_released_by_an_arrival) {
        mbarrier_arrive(empty + stage);  // <released>
      } else if (bug == Bug::committed_to_another_block) {
        tcgen05_commit_multicast(empty + stage, 3);  // <commits to another block>
      } else {
        tcgen05_commit(empty + stage);                                         // <commit>
        if (bug == Bug::stage_committed_twice) tcgen05_commit(empty + stage);  // <commits again>
      }
    }
  }
  ZELLIGE_CALL void commit_sums(unsigned set) const {
    if (bug == Bug::sums_not_committed) return;
    if (bug == Bug::sums_committed_to_the_other_set) set ^= 1;
    if (!elect_one()) return;
    if (bug == Bug::sums_announced_by_an_arrival)
      mbarrier_arrive(sums + set);
    else
      tcgen05_commit(sums + set);  // <commit sums>
  }
  ZELLIGE_CALL void multiply_all() const {
    unsigned stage = 0, phase = bug == Bug::mma_waits_for_the_other_parity ? 1 : 0, set = 0;
    unsigned drained_phase = bug == Bug::mma_waits_for_the_epilogue_with_the_wrong_parity ? 0 : 1;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      if (bug == Bug::mma_fences_before_its_wait) tcgen05_after_thread_sync();
      if (bug != Bug::mma_does_not_wait_for_the_epilogue) mbarrier_wait(drained + set, drained_phase);
      if (bug != Bug::mma_without_the_fence_after && bug != Bug::mma_fences_before_its_wait && bug != Bug::no_fences)
        tcgen05_after_thread_sync();
      const uint32_t lane = bug == Bug::sums_at_lane_16 ? 16u << 16 : 0;
      const uint32_t to = address + S::tile_n * (bug == Bug::sums_one_set_too_far ? set + 1 : set) + lane;
      for (unsigned step = 0; step < steps; ++step) {
        const unsigned looked_at = bug == Bug::mma_waits_at_the_other_stage ? (stage + 1) % S::stages : stage;
        if (bug != Bug::mma_does_not_wait) mbarrier_wait(full + looked_at, phase);
        if (bug == Bug::stage_committed_before_the_mma) commit_stage(stage);
        if (bug == Bug::sums_committed_before_the_mma && step + 1 == steps) commit_sums(set);
        multiply(stage, step, to);
        if (bug != Bug::stage_committed_before_the_mma) commit_stage(stage);
        if (++stage == S::stages) stage = 0, phase ^= 1;
      }
      if (bug != Bug::sums_committed_before_the_mma) commit_sums(set);
      if (++set == 2) set = 0, drained_phase ^= 1;
    }
  }

  /// Loads 32 columns of the accumulators from the warp's lanes.
  ZELLIGE_CALL void read(uint32_t (&r)[32], unsigned set, unsigned column) const {
    const unsigned warp = threadIdx.x / 32;
    uint32_t lane = warp % 4 * 32;
    if (bug == Bug::lanes_of_another_warp) lane = (warp + 1) % 4 * 32;
    if (bug == Bug::lanes_from_8_on) lane += 8;
    if (bug == Bug::columns_too_far) column += 2 * S::tile_n;
    if (bug == Bug::columns_beyond_the_last) column += 480;
    if (bug == Bug::one_thread_reads_elsewhere && threadIdx.x == 70) column += 8;
    if (bug == Bug::one_thread_misses_the_load && threadIdx.x == 70) return;
    if (bug == Bug::other_set_read) set ^= 1;
    Load::call(r, (lane << 16) + address + set * S::tile_n + column);  // <read>
  }
  ZELLIGE_CALL void drain(unsigned set) const {
    const unsigned warp = threadIdx.x / 32;
    if (bug == Bug::epilogue_fences_before_its_load_wait) tcgen05_before_thread_sync();
    if (bug == Bug::store_wait_in_its_place)
      tmem_store_wait();
    else if (bug != Bug::no_load_wait && bug != Bug::load_wait_after_the_arrival)
      tmem_load_wait();
    if (bug != Bug::epilogue_without_the_fence_before && bug != Bug::no_fences &&
        bug != Bug::epilogue_fences_before_its_load_wait && bug != Bug::epilogue_fences_after_its_arrival)
      tcgen05_before_thread_sync();
    __syncwarp();
    if (threadIdx.x % 32 == 0 && (bug != Bug::one_warp_does_not_arrive || warp != 3))
      mbarrier_arrive(drained + set, bug == Bug::arrives_twice ? 2 : 1);  // <drained>
    if (bug == Bug::epilogue_fences_after_its_arrival) tcgen05_before_thread_sync();
    if (bug == Bug::load_wait_after_the_arrival) tmem_load_wait();
  }
  ZELLIGE_CALL void store_all(gmem<float> c) const {
    unsigned set = 0, phase = bug == Bug::epilogue_waits_for_the_other_parity ? 1 : 0;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      if (bug == Bug::epilogue_fences_before_its_wait) tcgen05_after_thread_sync();
      if (bug != Bug::epilogue_does_not_wait)
        mbarrier_wait(sums + (bug == Bug::epilogue_waits_at_the_other_set ? set ^ 1 : set), phase);  // <epilogue waits>
      if (bug != Bug::epilogue_without_the_fence_after && bug != Bug::epilogue_fences_before_its_wait &&
          bug != Bug::no_fences)
        tcgen05_after_thread_sync();
      if (bug == Bug::arrives_before_it_reads) drain(set);
      uint32_t r[2][32];
      read(r[0], set, 0);
      read(r[1], set, 32);
      if (bug != Bug::arrives_before_it_reads) drain(set);
      const unsigned row = tile / tiles_n * S::tile_m + threadIdx.x / 32 % 4 * 32 + threadIdx.x % 32;
      const auto to = c + row * (tiles_n * S::tile_n) + tile % tiles_n * S::tile_n;
      for (unsigned i = 0; i < S::tile_n; ++i) to[i] = __builtin_bit_cast(float, r[i / 32][i % 32]);
      if (++set == 2) set = 0, phase ^= 1;
    }
  }

  /// The warp of the products allocates the columns.
  ZELLIGE_CALL static void allocate(smem<uint32_t> address, Bug bug) {
    const TMEM::Allocator1Sm columns;
    const int wanted = bug == Bug::alloc_of_96_columns   ? 96
                       : bug == Bug::alloc_of_16_columns ? 16
                       : bug == Bug::alloc_of_one_set    ? 64
                                                         : 128;
    if (bug == Bug::alloc_without_the_permit) columns.release_allocation_lock();
    if (bug == Bug::alloc_by_31_lanes && threadIdx.x % 32 == 31) return;
    if (bug != Bug::no_alloc) columns.allocate(wanted, address);     // <alloc>
    if (bug == Bug::alloc_twice) columns.allocate(wanted, address);  // <alloc again>
    if (bug == Bug::alloc_without_end)
      for (int i = 0; i < 4; ++i) columns.allocate(128, address);  // <alloc without end>
    columns.release_allocation_lock();
  }
  ZELLIGE_CALL void free() const {
    const TMEM::Allocator1Sm columns;
    if (bug == Bug::no_dealloc || bug == Bug::no_alloc) return;
#if defined(ZELLIGE_EMULATE)  // ptxas refuses a kernel with both
    if (bug == Bug::dealloc_of_a_pair) return TMEM::Allocator2Sm().free(address, 128);
#endif
    columns.free(address + (bug == Bug::dealloc_of_other_columns ? 64 : 0),  // <free>
                 bug == Bug::dealloc_of_half || bug == Bug::alloc_of_one_set ? 64 : 128);
    if (bug == Bug::dealloc_twice) columns.free(address, 128);  // <free again>
  }
};

__global__ __launch_bounds__(BlackwellShape::threads) void blackwell_gemm(const __grid_constant__ TmaDescriptor map_a,
                                                                          const __grid_constant__ TmaDescriptor map_b,
                                                                          gmem<float> c, unsigned tiles_m,
                                                                          unsigned tiles_n, unsigned k,
                                                                          BlackwellBug bug) {
  using S = BlackwellShape;
  using Bug = BlackwellBug;
  BlackwellGemm g{shared<half_t>("A", 0, S::stages * S::tile_m * S::tile_k),
                  shared<half_t>("B", S::b_at, S::stages * S::tile_n * S::tile_k),
                  shared<uint64_t>("full", S::full_at, S::stages),
                  shared<uint64_t>("empty", S::empty_at, S::stages),
                  shared<uint64_t>("sums", S::sums_at, 2),
                  shared<uint64_t>("drained", S::drained_at, 2),
                  0,
                  tiles_n,
                  tiles_m * tiles_n,
                  k / S::tile_k,
                  bug};
  const auto address = shared<uint32_t>("address", S::address_at, 1);
  const unsigned warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < S::stages; ++s) {
      mbarrier_init(g.full + s, bug == Bug::full_counted_too_high ? 2 : 1);  // <init>
      mbarrier_init(g.empty + s, bug == Bug::empty_counted_too_high ? 2 : 1);
    }
    for (unsigned s = 0; s < 2; ++s) {
      mbarrier_init(g.sums + s, bug == Bug::sums_counted_too_high ? 2 : 1);
      mbarrier_init(g.drained + s, bug == Bug::drained_counted_too_high  ? 5
                                   : bug == Bug::drained_counted_too_low ? 3
                                                                         : 4);
    }
    if (bug != Bug::no_fence_after_init) fence_mbarrier_init();
  }
  const bool guesses = bug == Bug::address_guessed_without_a_barrier;
  const bool early = guesses || bug == Bug::address_read_without_a_barrier;
  if (early) __syncthreads();
  if (warp == (guesses ? 0 : 1)) BlackwellGemm::allocate(address, bug);
  if (!early && bug != Bug::no_barrier_after_init) __syncthreads();
  g.address = bug == Bug::no_alloc || guesses ? 0 : *address;  // <address>

  if (warp == 0) {
    if (threadIdx.x == 0) g.load(map_a, map_b);
  } else if (warp == 1) {
    g.multiply_all();
    if (bug == Bug::dealloc_after_the_last_commit) g.free();
  } else {
    g.store_all(c);
  }
  if (bug != Bug::dealloc_before_the_epilogue) __syncthreads();
  if (warp == 1 && bug != Bug::dealloc_after_the_last_commit) g.free();
}

}  // namespace zellige
