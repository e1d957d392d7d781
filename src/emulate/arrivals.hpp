// Records the increments of atomic counters in global memory, by which blocks synchronize, for the emulator's
// race check. If a thread of block B increments a counter after a thread of block A did, the accesses that A's
// thread had made or observed before its increment happened before those that B's thread makes after its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "emulate/clock.hpp"

namespace zellige::emulate {

/// An increment of an atomic counter by a block, with what the incrementing thread had observed of its block's warps by
/// then. Threads and warps are numbered within the block; times are those of the vector clocks (clock.hpp).
struct Arrival {
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  std::uint32_t epoch = 0;  // the time of the thread's warp
  // per warp of the block: accesses of earlier times happened before the increment
  std::vector<std::uint32_t> times;
};

/// An increment of an atomic counter by a thread, with the increments of the same counter that preceded it.
struct Acquisition {
  std::uint32_t epoch = 0;   // the time of the thread's warp
  std::uint16_t thread = 0;  // within its cluster
  std::vector<Arrival> before;
};

/// The increments of the atomic counters in one buffer, by byte offset; the mutex orders them.
struct Arrivals {
  std::mutex mutex;
  std::map<std::size_t, std::vector<Arrival>> at;
};

/// Returns true if increments of an atomic counter order an earlier access before the current access of the
/// actor `a` (the accessing thread). Thread `thread` of block `block` made the earlier access, at time
/// `epoch` of its warp. The accesses are ordered if there are two increments of one counter:
/// 1. an increment by a thread of `block` that had made or observed the earlier access;
/// 2. a later increment by a thread of the actor's block, which the actor has observed.
///
/// `acquired`: the increments by threads of the actor's block, each with the earlier increments of its
/// counter. `several_threads`: other threads of `block` made the earlier access, too; the thread of increment
/// 1 must then have observed it.
inline bool arrived_before(const std::vector<Acquisition>& acquired, const Actor& a, std::uint32_t block,
                           std::uint16_t thread, std::uint32_t epoch, bool several_threads) {
  for (const Acquisition& q : acquired) {
    if (!a.after(q.epoch, q.thread)) continue;
    for (const Arrival& r : q.before)
      if (r.block == block &&
          (epoch < r.times[thread / 32u] || (!several_threads && thread == r.thread && epoch < r.epoch)))
        return true;
  }
  return false;
}

}  // namespace zellige::emulate
