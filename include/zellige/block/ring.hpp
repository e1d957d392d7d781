// Ring: a multistage pipeline of tiles in shared memory between a thread that fills stages by TMA and the
// warps that consume them.
//
//   using Loads = Ring<4, Tiles<16384, 8192>>;            // 4 stages of two tiles, with their bytes
//   const auto ring = Loads::at(/*tiles=*/0, /*barriers=*/Loads::tiles_bytes, {"A", "B"});
//   if (threadIdx.x == 0) ring.init(/*consumers=*/8), fence_mbarrier_init();
//   __syncthreads();
//
//   auto stage = ring.first_empty();                      // the producer
//   const auto full = ring.acquire(stage);
//   tma_load_2d(ring.tile(stage, 0), a, full, k, m);
//   tma_load_2d(ring.tile(stage, 1), b, full, k, n);
//   ++stage;
//
//   auto filled = ring.first();                           // each of the 8 consuming warps
//   ring.wait(filled);
//   const auto first = load<16>(ring.tile(filled, 0) + 16 * threadIdx.x);
//   ring.release(filled);
//   ++filled;
//
// A stage has two mbarriers: `full` completes a phase when the stage's bytes have arrived, `empty` when all
// consumers have released it. Ranks: blocks of a cluster that share the loads (multicast). A stage is then
// empty when the consumers of all these blocks have released it: each releases it at every block.
#pragma once
#include <zellige/atom/mbarrier.hpp>
#include <zellige/block/ring_stage.hpp>

namespace zellige {

/// The two mbarriers of each stage.
template <int Stages>
struct RingBarriers {
  using Stage = RingStage<Stages>;
  smem<uint64_t> full, empty;

  /// Called by one thread; needs fence_mbarrier_init and a barrier of the block or cluster after it.
  ZELLIGE_CALL void init_barriers(unsigned producers, unsigned consumers) const {
    for (int i = 0; i < Stages; ++i) {
      mbarrier_init(full + i, producers);
      mbarrier_init(empty + i, consumers);
    }
  }
  ZELLIGE_CALL smem<uint64_t> full_barrier(const Stage& s) const { return full + s.index; }
  ZELLIGE_CALL smem<uint64_t> empty_barrier(const Stage& s) const { return empty + s.index; }
  ZELLIGE_CALL void wait(const Stage& s) const { mbarrier_wait(full + s.index, s.phase); }
  ZELLIGE_CALL void wait_empty(const Stage& s) const { mbarrier_wait(empty + s.index, s.phase); }
  /// Waits until all of the producer's stages are released, so that no arrival is pending when it exits.
  ZELLIGE_CALL void drain(Stage s) const {
    for (int i = 0; i < Stages; ++i, ++s) wait_empty(s);
  }
};

/// The contents of a stage: tiles with their bytes. The stages of a tile are contiguous, one tile after
/// another.
template <int... Bytes>
struct Tiles {
  static constexpr int count = sizeof...(Bytes), bytes = (Bytes + ...);
  ZELLIGE_CALL static constexpr int bytes_of(int i) {
    constexpr int all[] = {Bytes...};
    return all[i];
  }
};

template <int Stages, class Tiles, int Ranks = 1>
struct Ring : RingBarriers<Stages> {
  using typename RingBarriers<Stages>::Stage;
  using RingBarriers<Stages>::full, RingBarriers<Stages>::empty;
  static constexpr int stage_bytes = Tiles::bytes, tiles_bytes = Stages * stage_bytes,
                       barriers_bytes = 16 * Stages;
  smem<unsigned char> tiles[Tiles::count];

  /// The names are used in the emulator's reports.
  ZELLIGE_CALL static Ring at(unsigned tiles_offset, unsigned barriers_offset,
                              const char* const (&names)[Tiles::count], const char* full = "full",
                              const char* empty = "empty") {
    unsigned offsets[Tiles::count];
#pragma unroll
    for (int i = 0; i < Tiles::count; ++i) {
      offsets[i] = tiles_offset;
      tiles_offset += Stages * Tiles::bytes_of(i);
    }
    return at(offsets, barriers_offset, names, full, empty);
  }
  /// The same with the offset of each tile's stages, as the planner assigned them.
  ZELLIGE_CALL static Ring at(const unsigned (&offsets)[Tiles::count], unsigned barriers_offset,
                              const char* const (&names)[Tiles::count], const char* full = "full",
                              const char* empty = "empty") {
    Ring ring;
#pragma unroll
    for (int i = 0; i < Tiles::count; ++i)
      ring.tiles[i] = shared<unsigned char>(names[i], offsets[i], Stages * Tiles::bytes_of(i));
    ring.full = shared<uint64_t>(full, barriers_offset, Stages);
    ring.empty = shared<uint64_t>(empty, barriers_offset + 8 * Stages, Stages);
    return ring;
  }
  /// Called by one thread, the only producer; needs fence_mbarrier_init and a barrier of the block or cluster
  /// after it.
  ZELLIGE_CALL void init(unsigned consumers) const { this->init_barriers(1, consumers * Ranks); }
  ZELLIGE_CALL smem<unsigned char> tile(const Stage& s, int i = 0) const {
    return tiles[i] + s.index * Tiles::bytes_of(i);
  }
  /// The first stage of a consumer, and of a producer.
  ZELLIGE_CALL static Stage first() { return Stage::first(); }
  ZELLIGE_CALL static Stage first_empty() { return Stage::first_empty(); }

  /// Waits until the stage is empty and announces its bytes. They complete on the returned mbarrier.
  ZELLIGE_CALL smem<uint64_t> acquire(const Stage& s) const {
    this->wait_empty(s);
    mbarrier_arrive_expect_tx(full + s.index, stage_bytes);
    return this->full_barrier(s);
  }
  /// Called by a warp: its first lane arrives, or one lane per rank, at that rank's block.
  ZELLIGE_CALL void release(const Stage& s) const {
    const int lane = threadIdx.x % 32;
    if constexpr (Ranks > 1) {
      if (lane < Ranks) mbarrier_arrive_remote_relaxed(empty + s.index, lane);
    } else {
      if (lane == 0) mbarrier_arrive(empty + s.index);
    }
  }
};

}  // namespace zellige
