// The emulator's event counters. Counts are per launch and exact: one `mma` is one warp-wide
// instruction, one `*_load_16` is one thread's access of 16 bytes.
#pragma once
#include <cstdint>

namespace zellige::emulate {

enum class Counter : unsigned {
  mma,       // warp-wide matrix instructions
  fma,       // scalar multiply-adds, one per thread
  ldmatrix,  // warp-wide instructions, whatever their number of 8x8 matrices
  shuffle,   // warp-wide exchanges
  barrier,   // block barriers, one per block and barrier, named ones included
  syncwarp,  // one per warp
  // Accesses by width; the width in bytes is part of the name. Keep each group of five together:
  // see `by_width`.
  global_load_1,
  global_load_2,
  global_load_4,
  global_load_8,
  global_load_16,
  global_store_1,
  global_store_2,
  global_store_4,
  global_store_8,
  global_store_16,
  shared_load_1,
  shared_load_2,
  shared_load_4,
  shared_load_8,
  shared_load_16,
  shared_store_1,
  shared_store_2,
  shared_store_4,
  shared_store_8,
  shared_store_16,
  cp_async_1,
  cp_async_2,
  cp_async_4,
  cp_async_8,
  cp_async_16,            // 1 and 2 do not exist on hardware
  cp_async_source_bytes,  // read from global memory: less than width times count if the rest is
                          // zero-filled
  // Passes of a warp's access through the 32 banks, and the fewest that its width needs.
  shared_load_wavefronts,
  shared_load_wavefronts_ideal,
  shared_store_wavefronts,
  shared_store_wavefronts_ideal,
  ldmatrix_wavefronts,
  ldmatrix_wavefronts_ideal,
  cp_async_wavefronts,
  cp_async_wavefronts_ideal,
  // 32-byte sectors that a warp's access touches, and the fewest that its distinct bytes fill.
  global_load_sectors,
  global_load_sectors_ideal,
  global_store_sectors,
  global_store_sectors_ideal,
  cp_async_sectors,
  cp_async_sectors_ideal,
  // SM90: asynchronous operations.
  stmatrix,  // warp-wide
  stmatrix_wavefronts,
  stmatrix_wavefronts_ideal,
  wgmma,            // one per warpgroup
  mbarrier_arrive,  // one per call
  mbarrier_wait,    // one per call
  tma_load,         // one per instruction, bulk loads included
  tma_load_bytes,   // of the boxes, once per destination; zero fill included
  tma_store,        // reductions included
  tma_store_bytes,  // of the boxes
  cluster_barrier,  // one per cluster
  griddep_wait,     // one per thread
  griddep_launch_dependents,
  end
};

/// The counter of an access of 1, 2, 4, 8 or 16 bytes; `first` is the one of 1 byte.
constexpr Counter by_width(Counter first, unsigned bytes) {
  return Counter(unsigned(first) + (bytes >= 2) + (bytes >= 4) + (bytes >= 8) + (bytes >= 16));
}

struct Counters {
  std::uint64_t value[unsigned(Counter::end)] = {};

  constexpr std::uint64_t& operator[](Counter c) { return value[unsigned(c)]; }
  constexpr std::uint64_t operator[](Counter c) const { return value[unsigned(c)]; }
  constexpr Counters& operator+=(const Counters& other) {
    for (unsigned i = 0; i < unsigned(Counter::end); ++i) value[i] += other.value[i];
    return *this;
  }
};

}  // namespace zellige::emulate
