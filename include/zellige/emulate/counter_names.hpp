// Names the emulator's counters, as reports of runs and plans print them.
//
//   name(Counter::ldmatrix)                              // "ldmatrix"
#pragma once
#include "zellige/emulate/counters.hpp"

namespace zellige::emulate {

/// Returns the counter's identifier, for example "ldmatrix".
constexpr const char* name(Counter c) {
  constexpr const char* names[] = {
      "mma",
      "fma",
      "ldmatrix",
      "shuffle",
      "barrier",
      "syncwarp",
      "global_load_1",
      "global_load_2",
      "global_load_4",
      "global_load_8",
      "global_load_16",
      "global_store_1",
      "global_store_2",
      "global_store_4",
      "global_store_8",
      "global_store_16",
      "shared_load_1",
      "shared_load_2",
      "shared_load_4",
      "shared_load_8",
      "shared_load_16",
      "shared_store_1",
      "shared_store_2",
      "shared_store_4",
      "shared_store_8",
      "shared_store_16",
      "cp_async_1",
      "cp_async_2",
      "cp_async_4",
      "cp_async_8",
      "cp_async_16",
      "cp_async_source_bytes",
      "shared_load_wavefronts",
      "shared_load_wavefronts_ideal",
      "shared_store_wavefronts",
      "shared_store_wavefronts_ideal",
      "ldmatrix_wavefronts",
      "ldmatrix_wavefronts_ideal",
      "cp_async_wavefronts",
      "cp_async_wavefronts_ideal",
      "global_load_sectors",
      "global_load_sectors_ideal",
      "global_store_sectors",
      "global_store_sectors_ideal",
      "cp_async_sectors",
      "cp_async_sectors_ideal",
      "stmatrix",
      "stmatrix_wavefronts",
      "stmatrix_wavefronts_ideal",
      "wgmma",
      "tcgen05_mma",
      "tcgen05_cp",
      "tmem_load",
      "tmem_store",
      "mbarrier_arrive",
      "mbarrier_wait",
      "tma_load",
      "tma_load_bytes",
      "tma_store",
      "tma_store_bytes",
      "cluster_barrier",
      "griddep_wait",
      "griddep_launch_dependents",
  };
  static_assert(sizeof(names) / sizeof(*names) == unsigned(Counter::end), "counters.hpp changed");
  return names[unsigned(c)];
}

}  // namespace zellige::emulate
