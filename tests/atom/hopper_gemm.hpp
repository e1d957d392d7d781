// A typical warp-specialized GEMM for SM90: one producer warp loads stages by TMA, two warpgroups multiply,
// the result is stored by stmatrix and TMA. C = A B^T, tiles of 128 x 64 x 64 halves. `bug` injects a fault.
#pragma once
#include <zellige/atom.hpp>
#include <zellige/atom/elect.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/setmaxnreg.hpp>
#include <zellige/atom/stmatrix.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/wgmma.hpp>

namespace zellige {

enum class Bug {
  none,
  no_barrier_after_init,
  no_fence_after_init,
  expects_too_little,
  expects_too_much,
  arrivals_counted_too_high,
  arrivals_counted_too_low,
  consumer_does_not_wait,
  consumer_waits_for_the_other_parity,
  consumer_waits_at_the_other_stage,
  producer_does_not_wait,
  producer_waits_with_the_wrong_parity,
  released_before_the_wgmma_is_over,
  one_group_too_many_left_running,
  wrong_swizzle_of_a,
  wrong_stride_of_b,
  no_wgmma_fence,
  no_commit,
  no_wgmma_wait,
  no_fence_before_the_store,
  no_barrier_before_the_store,
  staging_reused_too_early,
  no_store_wait_at_the_end,
  store_not_committed,
  a_loaded_to_the_wrong_place,
  registers_asked_for_too_many,
  one_warp_misses_the_wgmma,
};

struct GemmShape {
  static constexpr unsigned tile_m = 128, tile_n = 64, tile_k = 64, stages = 3, threads = 384;
  static constexpr unsigned a_bytes = tile_m * tile_k * 2, b_bytes = tile_n * tile_k * 2;
  static constexpr unsigned b_at = stages * a_bytes, c_at = b_at + stages * b_bytes,
                            full_at = c_at + tile_m * tile_n * 2, empty_at = full_at + 8 * stages,
                            shared_bytes = empty_at + 8 * stages;
};

__global__ __launch_bounds__(GemmShape::threads) void hopper_gemm(const __grid_constant__ TmaDescriptor map_a,
                                                                  const __grid_constant__ TmaDescriptor map_b,
                                                                  const __grid_constant__ TmaDescriptor map_c,
                                                                  unsigned tiles_m, unsigned tiles_n, unsigned k,
                                                                  Bug bug) {
  using S = GemmShape;
  const auto a = shared<half_t>("A", 0, S::stages * S::tile_m * S::tile_k);
  const auto b = shared<half_t>("B", S::b_at, S::stages * S::tile_n * S::tile_k);
  const auto c = shared<half_t>("C staging", S::c_at, S::tile_m * S::tile_n);
  const auto full = shared<uint64_t>("full", S::full_at, S::stages);
  const auto empty = shared<uint64_t>("empty", S::empty_at, S::stages);
  const unsigned warpgroup = threadIdx.x / 128, steps = k / S::tile_k, tiles = tiles_m * tiles_n;

  if (threadIdx.x == 0) {
    for (unsigned s = 0; s < S::stages; ++s) {
      mbarrier_init(full + s, 1);  // <init>
      mbarrier_init(empty + s, bug == Bug::arrivals_counted_too_high  ? 3
                               : bug == Bug::arrivals_counted_too_low ? 1
                                                                      : 2);
    }
    if (bug != Bug::no_fence_after_init) fence_mbarrier_init();
  }
  if (bug != Bug::no_barrier_after_init) __syncthreads();

  if (warpgroup == 2) {
    register_dealloc<40>();
    if (threadIdx.x / 32 == 8 && elect_one()) {
      prefetch_tma_descriptor(map_a);
      unsigned stage = 0, phase = bug == Bug::producer_waits_with_the_wrong_parity ? 0 : 1;
      for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        for (unsigned step = 0; step < steps; ++step) {
          if (bug != Bug::producer_does_not_wait) mbarrier_wait(empty + stage, phase);  // <producer waits>
          const unsigned bytes = S::a_bytes + S::b_bytes;
          mbarrier_arrive_expect_tx(full + stage,  // <announce>
                                    bug == Bug::expects_too_little ? S::a_bytes
                                    : bug == Bug::expects_too_much ? bytes + 16
                                                                   : bytes);
          const unsigned place = bug == Bug::a_loaded_to_the_wrong_place ? (stage + 1) % S::stages : stage;
          const auto a_tile = a + place * (S::tile_m * S::tile_k), b_tile = b + stage * (S::tile_n * S::tile_k);
          const int at_k = int(step * S::tile_k), at_m = int(tile / tiles_n * S::tile_m);
          tma_load_2d(a_tile, map_a, full + stage, at_k, at_m);                             // <load a>
          tma_load_2d(b_tile, map_b, full + stage, at_k, int(tile % tiles_n * S::tile_n));  // <load b>
          if (++stage == S::stages) stage = 0, phase ^= 1;
        }
      }
      // Nobody may arrive at an mbarrier of a block that has left.
      if (bug != Bug::producer_does_not_wait)
        for (unsigned s = 0; s < S::stages; ++s) {
          mbarrier_wait(empty + stage, phase);  // <producer's end>
          if (++stage == S::stages) stage = 0, phase ^= 1;
        }
    }
    return;
  }
  if (bug == Bug::registers_asked_for_too_many)
    register_alloc<240>();  // <too many registers>
  else
    register_alloc<232>();

  unsigned stage = 0, phase = 0;
  const unsigned t = threadIdx.x % 128;
  for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    float d[S::tile_n / 2];
    for (unsigned step = 0; step < steps; ++step) {
      const unsigned looked_at = bug == Bug::consumer_waits_at_the_other_stage ? (stage + 1) % S::stages : stage;
      if (bug != Bug::consumer_does_not_wait)
        mbarrier_wait(full + looked_at,  // <consumer waits>
                      bug == Bug::consumer_waits_for_the_other_parity ? phase ^ 1 : phase);
      const auto mode_a = bug == Bug::wrong_swizzle_of_a ? SwizzleMode::b64 : SwizzleMode::b128;
      const uint64_t da =
          smem_descriptor(a + stage * (S::tile_m * S::tile_k) + warpgroup * (64 * S::tile_k), 0, 1024, mode_a);
      const uint64_t db = smem_descriptor(b + stage * (S::tile_n * S::tile_k), 0,
                                          bug == Bug::wrong_stride_of_b ? 65536 : 1024, SwizzleMode::b128);
      if (bug == Bug::released_before_the_wgmma_is_over && t == 0) mbarrier_arrive(empty + stage);  // <released>
      if (bug != Bug::no_wgmma_fence) wgmma_fence();
      if (bug != Bug::one_warp_misses_the_wgmma || threadIdx.x / 32 != 5)
        for (unsigned i = 0; i < S::tile_k / 16; ++i)
          wgmma<half_t>(d, advance(da, 32 * i), advance(db, 32 * i), step + i > 0);  // <wgmma>
      if (bug != Bug::no_commit) wgmma_commit();
      if (bug == Bug::one_group_too_many_left_running)
        wgmma_wait<1>();  // <wait for all but one>
      else if (bug != Bug::no_wgmma_wait)
        wgmma_wait<0>();
      if (bug != Bug::released_before_the_wgmma_is_over && t == 0) mbarrier_arrive(empty + stage);  // <release>
      if (++stage == S::stages) stage = 0, phase ^= 1;
    }
    if (bug == Bug::one_group_too_many_left_running) wgmma_wait<0>();

    // Each warpgroup's 64 rows: its staging is free once the last tile's store has read it.
    const auto mine = c + warpgroup * (64 * S::tile_n);
    if (bug != Bug::staging_reused_too_early) {
      if (t == 0) tma_store_wait_read<0>();
      named_barrier_sync(1 + warpgroup, 128);
    }
    const unsigned lane = t % 32, row = t / 32 * 16 + lane % 16;
    for (unsigned j = 0; j < S::tile_n / 16; ++j) {
      const uint32_t r[4] = {pack<half_t>(d[8 * j], d[8 * j + 1]), pack<half_t>(d[8 * j + 2], d[8 * j + 3]),
                             pack<half_t>(d[8 * j + 4], d[8 * j + 5]), pack<half_t>(d[8 * j + 6], d[8 * j + 7])};
      const unsigned chunk = 2 * j + lane / 16;
      stmatrix_x4(mine + row * 64 + (chunk ^ row % 8) * 8, r);  // <stage>
    }
    if (bug != Bug::no_fence_before_the_store) fence_proxy_async_shared();
    if (bug != Bug::no_barrier_before_the_store) named_barrier_sync(1 + warpgroup, 128);
    if (t == 0) {
      tma_store_2d(map_c, mine, int(tile % tiles_n * S::tile_n),  // <store>
                   int(tile / tiles_n * S::tile_m + warpgroup * 64));
      if (bug != Bug::store_not_committed) tma_store_commit();
    }
  }
  if (bug != Bug::no_store_wait_at_the_end && t == 0) tma_store_wait_read<0>();
}

}  // namespace zellige
