// Counters of the events in an emulated launch: instructions, accesses by width, bank conflicts and sectors.
// Counts are exact. One `mma` is one warp-wide instruction; one `*_load_16` is one thread's access of 16
// bytes.
#pragma once
#include <cstdint>

namespace zellige::emulate {

enum class Counter : unsigned {
  mma,       // warp-wide mma.sync instructions
  fma,       // scalar multiply-adds, one per thread
  ldmatrix,  // warp-wide instructions, of 1, 2 or 4 8x8 matrices
  shuffle,   // warp-wide shuffle instructions
  barrier,   // completed barriers of a block (bar.sync), named barriers included
  syncwarp,  // __syncwarp calls, one per warp
  // Accesses by width: the last part of the name is the width in bytes. `by_width` relies on the order of
  // each group of five.
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
  cp_async_16,  // on hardware only 4, 8 and 16 bytes exist
  // Bytes that cp.async copies read from global memory; less than the sum of their widths if copies fill
  // their last bytes with zeros.
  cp_async_source_bytes,
  // Passes of warp accesses through the 32 banks, and (_ideal) the fewest passes that accesses of this width
  // need.
  shared_load_wavefronts,
  shared_load_wavefronts_ideal,
  shared_store_wavefronts,
  shared_store_wavefronts_ideal,
  ldmatrix_wavefronts,
  ldmatrix_wavefronts_ideal,
  cp_async_wavefronts,
  cp_async_wavefronts_ideal,
  // 32-byte sectors that warp accesses touch, and (_ideal) the fewest sectors that hold the distinct bytes.
  global_load_sectors,
  global_load_sectors_ideal,
  global_store_sectors,
  global_store_sectors_ideal,
  cp_async_sectors,
  cp_async_sectors_ideal,
  // Asynchronous operations of SM90 and SM100.
  stmatrix,  // warp-wide instructions
  stmatrix_wavefronts,
  stmatrix_wavefronts_ideal,
  wgmma,                      // warpgroup-wide instructions
  tcgen05_mma,                // instructions of single threads, those of pairs of blocks once
  tcgen05_cp,                 // instructions of single threads
  tmem_load,                  // warp-wide tcgen05.ld
  tmem_store,                 // warp-wide tcgen05.st
  mbarrier_arrive,            // calls of single threads
  mbarrier_wait,              // calls of single threads
  tma_load,                   // instructions, bulk loads included
  tma_load_bytes,             // size of the boxes, zero fill included, once per destination block
  tma_store,                  // instructions, bulk stores and reductions included
  tma_store_bytes,            // size of the boxes
  cluster_barrier,            // completed barriers of a cluster
  griddep_wait,               // calls of single threads
  griddep_launch_dependents,  // calls of single threads
  end                         // number of counters
};

/// Returns the counter of accesses of `bytes` bytes (1, 2, 4, 8 or 16). `first` is the counter of the
/// accesses of 1 byte.
constexpr Counter by_width(Counter first, unsigned bytes) {
  return Counter(unsigned(first) + (bytes >= 2) + (bytes >= 4) + (bytes >= 8) + (bytes >= 16));
}

/// The count of each event in a launch, or the sum over launches.
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
