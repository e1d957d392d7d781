// Defines the emulator's state of an mbarrier, which is kept outside the barrier's 8 bytes of shared memory.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "emulate/fiber.hpp"
#include "shadow/clock.hpp"

namespace zellige::emulate {

/// An arrival at an mbarrier: the thread, and the time of its warp in the vector clocks.
struct Arrived {
  std::uint32_t epoch = 0;
  std::uint16_t thread = 0;  // within the cluster
};

/// The last use of an mbarrier by a thread: an arrival, a wait, or the issue of a copy that completes on it.
struct Used {
  std::uint32_t epoch = 0;  // time of the thread's warp; 0: no use
  std::uint32_t site = 0;   // low half of the return address
};

/// An mbarrier in some block's shared memory, from mbarrier_init on. A phase ends when no arrival is missing
/// and all announced bytes have arrived.
struct MBarrier {
  std::uint32_t at = 0;                  // byte offset in its block's shared memory
  std::string name;                      // for messages, for example "full[1]"
  const char* tensor = "";               // the shared tensor that contains it
  std::uint32_t count = 0, pending = 0;  // arrivals per phase; arrivals still missing in this phase
  // announced minus arrived bytes of this phase; negative if bytes arrive before their announcement
  std::int64_t bytes = 0;
  std::uint32_t phase = 0;  // index of the current phase, from 0
  // agent of the clocks, and its time: the number of phases that have ended since the first init
  std::uint32_t agent = 0, ended = 0;
  bool valid = false;  // initialized, and not invalidated since
  // time of the initializing thread's warp at its first fence since the init; 0: none
  std::uint32_t fenced_at = 0;
  std::uint16_t made_by = 0;                      // the initializing thread, within the cluster
  std::uint32_t made_at_time = 0, made_site = 0;  // time of its warp, and low half of the return address
  bool counts_bytes = false;                      // bytes were announced or arrived in some phase
  std::vector<Arrived> came, came_before;         // arrivals in this phase, and in the previous one
  // number of arrivals in this phase by threads that could not know that the previous phase had ended
  std::uint32_t strays = 0;
  std::uint32_t commits = 0;  // tcgen05.commit that are still to arrive
  Site last{};                // call of the last arrival
  shadow::Clock observed{};   // what the threads had observed that arrived in this phase
  // What the ends of phases up to the n-th, counted like `ended`, pass on to waiting threads: at n % kept.
  static constexpr unsigned kept = 4;
  shadow::Clock released[kept]{};
  std::vector<Used> used;       // the last use by each thread of the cluster
  std::vector<Fiber*> waiting;  // threads in mbarrier_wait
};

/// The mbarriers in one block's shared memory.
class MBarriers {
 public:
  /// Returns the mbarrier at byte offset `at`, which bytes `at` to at + 8 hold from now on: writes to them are checked.
  MBarrier& add(std::uint32_t at) {
    from_ = std::min(from_, at);
    to_ = std::max(to_, at + 8);
    return all[at];
  }
  /// Returns the mbarrier at byte offset `at`; null if there has been none.
  MBarrier* find(std::uint32_t at) {
    const auto found = all.find(at);
    return found == all.end() ? nullptr : &found->second;
  }
  /// Checks that a write of bytes at..at + bytes of the block's shared memory, by thread `f`, overlaps no live mbarrier.
  void spare(const Fiber& f, std::size_t at, std::size_t bytes, const char* verb, Site site) const {
    if (at < to_ && at + bytes > from_) [[unlikely]]
      report_write(f, at, bytes, verb, site);
  }

  std::map<std::uint32_t, MBarrier> all;  // by byte offset

 private:
  void report_write(const Fiber&, std::size_t at, std::size_t bytes, const char* verb, Site) const;

  std::uint32_t from_ = ~0u, to_ = 0;  // the bytes between which they lie
};

class Cluster;

/// Returns the mbarrier at a checked pointer. If there is no valid one, reports a finding (an error in the
/// kernel) and returns null. `verb`: what the thread does with it ("waits at"), for the message.
MBarrier* mbarrier_at(Fiber&, Place, const char* verb, Site);
/// Returns the mbarrier at byte offset `at` of block `there`. If there is no valid one, reports a finding (an error in
/// the kernel) and returns null. The thread may be of another block. For the message: `verb`, what the thread does
/// ("waits at"), and the tensor's name `tensor`. `by_copy`: an asynchronous copy uses the mbarrier.
MBarrier* mbarrier_at(Block& there, Fiber&, std::uint32_t at, const char* verb, Site, const char* tensor,
                      bool by_copy = false);
/// Counts `bytes` bytes as arrived at an mbarrier of the cluster. If no arrivals or bytes of its phase are missing, ends
/// the phase and wakes the waiting threads.
void complete_bytes(Cluster&, MBarrier&, std::int64_t bytes);

}  // namespace zellige::emulate
