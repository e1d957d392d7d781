// Synchronization of blocks by an atomic counter: what each block did before it incremented the counter
// happened before what blocks with later increments do afterwards.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "emulate/clock.hpp"

namespace zellige::emulate {

/// A block's knowledge of its own warps when one of its threads incremented the counter. Threads and warps
/// are numbered within the block.
struct Arrival {
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  std::uint32_t epoch = 0;           // of that thread
  std::vector<std::uint32_t> times;  // per warp: what it did earlier is released
};

/// One thread's increment, and the arrivals that preceded it.
struct Acquisition {
  std::uint32_t epoch = 0;
  std::uint16_t thread = 0;  // within its cluster
  std::vector<Arrival> before;
};

/// The counters of one buffer, by offset.
class Arrivals {
 public:
  /// `count` increments the counter under the lock; returns the earlier arrivals.
  template <class Count>
  std::vector<Arrival> arrive(std::size_t at, const Arrival& mine, Count count) {
    std::lock_guard lock(mutex_);
    count();
    std::vector<Arrival>& all = at_[at];
    std::vector<Arrival> before = all;
    all.push_back(mine);
    return before;
  }

 private:
  std::mutex mutex_;
  std::map<std::size_t, std::vector<Arrival>> at_;
};

/// Returns whether what a thread of another block did in that epoch happened before the actor's current
/// access.
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
