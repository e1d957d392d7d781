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
  // per warp of the block: accesses of earlier times happened before the increment, and ordinary writes to global memory
  // of times before `visible` have passed a fence to the asynchronous proxy
  std::vector<std::uint32_t> times, visible;
  // per thread of the block, the time of its last fence to the asynchronous proxy before the increment; 0: none
  std::vector<std::uint32_t> fences;
  bool in_block = false;  // a fence of the block alone precedes it: it orders nothing for other blocks

  /// Returns true if an access by thread `by` of the block, at time `at` of its warp, happened before the increment.
  /// `several_threads`: other threads made it, too; the incrementing thread must then have observed it.
  bool covers(std::uint16_t by, std::uint32_t at, bool several_threads) const {
    return at < times[by / 32u] || (!several_threads && by == thread && at < epoch);
  }
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
      if (r.block == block && !r.in_block && r.covers(thread, epoch, several_threads)) return true;
  }
  return false;
}

/// Returns true if the actor knows, by increments that order an ordinary write before its access, that a fence to the
/// asynchronous proxy lies between: in the writing block before its increment, or in the actor's block after its own.
inline bool fenced_before(const std::vector<Acquisition>& acquired, const Actor& a, std::uint32_t block,
                          std::uint16_t thread, std::uint32_t epoch) {
  for (const Acquisition& q : acquired) {
    if (!a.after(q.epoch, q.thread)) continue;
    for (const Arrival& r : q.before)
      if (r.block == block && r.covers(thread, epoch, false) &&
          (epoch < r.visible[thread / 32u] || epoch < r.fences[thread] || a.fenced(q.epoch, q.thread, Space::global)))
        return true;
  }
  return false;
}

}  // namespace zellige::emulate
