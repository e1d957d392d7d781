// Defines Ring: a multistage pipeline of tiles in shared memory, like CUTLASS's PipelineTmaAsync. One producer thread
// fills stages by TMA, and consumer warps read and release them.
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
// A stage has two mbarriers: `full` completes a phase when the stage's bytes have arrived, `empty` when all consumers
// have released it. Ranks is the number of blocks of a cluster that share the loads by multicast. A consumer then
// releases a stage at each of these blocks, and a stage is empty when the consumers of all blocks have released it.
#pragma once
#include <zellige/atom/mbarrier.hpp>
#include <zellige/block/ring_stage.hpp>

namespace zellige {

/// The mbarriers of a ring, two per stage: full[i] and empty[i].
template <int Stages>
struct RingBarriers {
  using Stage = RingStage<Stages>;
  smem<uint64_t> full, empty;

  /// Initialises the mbarriers: `producers` arrivals fill a stage, `consumers` arrivals empty it. Called by one thread,
  /// which then calls fence_mbarrier_init; a barrier of the block or cluster must follow.
  ZELLIGE_CALL void init_barriers(unsigned producers, unsigned consumers) const {
    for (int i = 0; i < Stages; ++i) {
      mbarrier_init(full + i, producers);
      mbarrier_init(empty + i, consumers);
    }
  }
  ZELLIGE_CALL smem<uint64_t> full_barrier(const Stage& s) const { return full + s.index; }
  ZELLIGE_CALL smem<uint64_t> empty_barrier(const Stage& s) const { return empty + s.index; }
  /// Waits until the stage is full. Called by consumers.
  ZELLIGE_CALL void wait(const Stage& s) const { mbarrier_wait(full + s.index, s.phase); }
  /// Waits until the stage is empty. Called by the producer.
  ZELLIGE_CALL void wait_empty(const Stage& s) const { mbarrier_wait(empty + s.index, s.phase); }
  /// Waits until all stages are empty, from the producer's current stage s on. Then no consumer's arrival is pending,
  /// and the block may exit.
  ZELLIGE_CALL void drain(Stage s) const {
    for (int i = 0; i < Stages; ++i, ++s) wait_empty(s);
  }
};

/// The tiles of a stage, by their sizes in bytes. In memory, all stages of the first tile come first, then those of the
/// second, and so on.
template <int... Bytes>
struct Tiles {
  static constexpr int count = sizeof...(Bytes), bytes = (Bytes + ...);
  ZELLIGE_CALL static constexpr int bytes_of(int i) {
    constexpr int all[] = {Bytes...};
    return all[i];
  }
};

/// A pipeline of `Stages` stages with the given Tiles, shared by the consumers of `Ranks` blocks of a cluster.
template <int Stages, class Tiles, int Ranks = 1>
struct Ring : RingBarriers<Stages> {
  using typename RingBarriers<Stages>::Stage;
  using RingBarriers<Stages>::full, RingBarriers<Stages>::empty;
  static constexpr int stage_bytes = Tiles::bytes, tiles_bytes = Stages * stage_bytes,
                       barriers_bytes = 16 * Stages;
  smem<unsigned char> tiles[Tiles::count];

  /// Returns a ring whose tiles begin at byte `tiles_offset` of shared memory (tiles_bytes bytes) and whose mbarriers
  /// begin at `barriers_offset` (barriers_bytes bytes). The emulator uses the names in its findings.
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
  /// Returns a ring whose i-th tile begins at byte offsets[i] of shared memory, with its stages one after another.
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
  ZELLIGE_CALL void init(unsigned consumers) const { this->init_barriers(1, consumers * Ranks); }
  /// Returns the memory of the i-th tile of a stage.
  ZELLIGE_CALL smem<unsigned char> tile(const Stage& s, int i = 0) const {
    return tiles[i] + s.index * Tiles::bytes_of(i);
  }
  /// Returns the first stage of a consumer.
  ZELLIGE_CALL static Stage first() { return Stage::first(); }
  /// Returns the first stage of a producer, for whom all stages are empty.
  ZELLIGE_CALL static Stage first_empty() { return Stage::first_empty(); }

  /// Waits until the stage is empty, announces its bytes, and returns the mbarrier on which its loads complete.
  /// Called by the producer.
  ZELLIGE_CALL smem<uint64_t> acquire(const Stage& s) const {
    this->wait_empty(s);
    mbarrier_arrive_expect_tx(full + s.index, stage_bytes);
    return this->full_barrier(s);
  }
  /// Releases the stage: the warp has read it. Called by all lanes of a consumer warp. One lane arrives at the `empty`
  /// mbarrier; with several Ranks, one lane per block arrives at that block's.
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
