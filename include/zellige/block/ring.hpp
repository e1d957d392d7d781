// Defines Ring: a multistage pipeline of tiles in shared memory, like CUTLASS's PipelineTmaAsync. One producer thread
// fills stages by TMA, and consumer warps read and release them.
//
//   using Loads = Ring<4, Tiles<16384, 8192>>;            // 4 stages, each with tiles of 16384 and 8192 bytes
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
// A stage has two mbarriers: `full` completes a phase when the stage's bytes have arrived, `empty` when all consumers
// have released it. The template argument Blocks, 1 by default, is the number of blocks of a cluster that share the
// loads by multicast. If it is greater than 1, a consumer releases a stage at each of these blocks, and a stage is
// empty when the consumers of all blocks have released it.
#pragma once
#include <zellige/atom/mbarrier.hpp>
#include <zellige/block/ring_stage.hpp>

namespace zellige {

/// The mbarriers of a ring, two per stage: full[i] and empty[i].
template <int Stages>
struct RingBarriers {
  using Stage = RingStage<Stages>;
  smem<uint64_t> full, empty;

  /// Initialises the mbarriers: a stage is full after `producers` arrivals, and empty after `consumers` arrivals.
  /// Called by one thread, which then calls fence_mbarrier_init; a barrier of the block or cluster must follow.
  ZELLIGE_CALL void init_barriers(unsigned producers, unsigned consumers) const {
    for (int i = 0; i < Stages; ++i) {
      mbarrier_init(full + i, producers);
      mbarrier_init(empty + i, consumers);
    }
  }
  ZELLIGE_CALL smem<uint64_t> full_barrier(const Stage& s) const { return full + s.index; }
  ZELLIGE_CALL smem<uint64_t> empty_barrier(const Stage& s) const { return empty + s.index; }
  /// Waits until stage s is full. Called by consumers.
  ZELLIGE_CALL void wait(const Stage& s) const { mbarrier_wait(full + s.index, s.phase); }
  /// Waits until stage s is empty. Called by the producer.
  ZELLIGE_CALL void wait_empty(const Stage& s) const { mbarrier_wait(empty + s.index, s.phase); }
  /// Waits until all stages are empty; s is the producer's current stage. After that no consumer's arrival is pending,
  /// and the block may exit.
  ZELLIGE_CALL void drain(Stage s) const {
    for (int i = 0; i < Stages; ++i, ++s) wait_empty(s);
  }
};

/// The sizes in bytes of the tiles of a stage. In memory, the first tile of all stages comes first, then the second
/// tile of all stages, and so on.
template <int... Bytes>
struct Tiles {
  static constexpr int count = sizeof...(Bytes), bytes = (Bytes + ...);
  ZELLIGE_CALL static constexpr int bytes_of(int i) {
    constexpr int all[] = {Bytes...};
    return all[i];
  }
};

/// A pipeline of `Stages` stages with the given Tiles, shared by the consumers of `Blocks` blocks of a cluster.
template <int Stages, class Tiles, int Blocks = 1>
struct Ring : RingBarriers<Stages> {
  using typename RingBarriers<Stages>::Stage;
  using RingBarriers<Stages>::full, RingBarriers<Stages>::empty;
  static constexpr int stage_bytes = Tiles::bytes, tiles_bytes = Stages * stage_bytes, barriers_bytes = 16 * Stages;
  smem<unsigned char> tiles[Tiles::count];

  /// Returns a ring with tiles at byte `tiles_offset` of shared memory (tiles_bytes bytes) and mbarriers at byte
  /// `barriers_offset` (barriers_bytes bytes). The emulator's error reports use the names: `names` of the tiles,
  /// `full` and `empty` of the mbarriers.
  ZELLIGE_CALL static Ring at(unsigned tiles_offset, unsigned barriers_offset, const char* const (&names)[Tiles::count],
                              const char* full = "full", const char* empty = "empty") {
    unsigned offsets[Tiles::count];
#pragma unroll
    for (int i = 0; i < Tiles::count; ++i) {
      offsets[i] = tiles_offset;
      tiles_offset += Stages * Tiles::bytes_of(i);
    }
    return at(offsets, barriers_offset, names, full, empty);
  }
  /// Returns a ring at the given places in shared memory. The buffers of the i-th tile begin at byte offsets[i], one
  /// per stage, contiguous. The mbarriers begin at byte `barriers_offset` (barriers_bytes bytes). The emulator's error
  /// reports use the names: names[i] of the i-th tile, `full` and `empty` of the mbarriers.
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
  /// Initialises the mbarriers for one producer thread and `consumers` consumer warps per block. Called by one thread,
  /// which then calls fence_mbarrier_init; a barrier of the block or cluster must follow.
  ZELLIGE_CALL void init(unsigned consumers) const { this->init_barriers(1, consumers * Blocks); }
  /// Returns the address of the i-th tile of stage s.
  ZELLIGE_CALL smem<unsigned char> tile(const Stage& s, int i = 0) const {
    return tiles[i] + s.index * Tiles::bytes_of(i);
  }
  /// Returns the position at which a consumer starts: stage 0, for whose first loads it must wait.
  ZELLIGE_CALL static Stage first() { return Stage::first(); }
  /// Returns the position at which a producer starts: stage 0, which is empty, so that the first wait_empty returns at
  /// once.
  ZELLIGE_CALL static Stage first_empty() { return Stage::first_empty(); }

  /// Waits until stage s is empty, announces the bytes that will arrive (expect_tx), and returns the stage's `full`
  /// mbarrier, on which the TMA loads must complete. Called by the producer.
  ZELLIGE_CALL smem<uint64_t> acquire(const Stage& s) const {
    this->wait_empty(s);
    mbarrier_arrive_expect_tx(full + s.index, stage_bytes);
    return this->full_barrier(s);
  }
  /// Signals that the warp has read stage s. Called by all lanes of a consumer warp. One lane arrives at the stage's
  /// `empty` mbarrier; if Blocks > 1, one lane per block of the cluster arrives at the mbarrier in that block.
  ZELLIGE_CALL void release(const Stage& s) const {
    const int lane = threadIdx.x % 32;
    if constexpr (Blocks > 1) {
      if (lane < Blocks) mbarrier_arrive_remote_relaxed(empty + s.index, lane);
    } else {
      if (lane == 0) mbarrier_arrive(empty + s.index);
    }
  }
};

}  // namespace zellige
