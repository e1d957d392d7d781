// Defines the emulator's state of an mbarrier, which is kept outside the barrier's 8 bytes of shared memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "emulate/clock.hpp"
#include "emulate/fiber.hpp"

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
  Site last{};       // call of the last arrival
  Clock observed{};  // what the threads had observed that arrived in this phase
  // What the ends of phases up to the n-th, counted like `ended`, pass on to waiting threads: at n % kept.
  static constexpr unsigned kept = 4;
  Clock released[kept]{};
  std::vector<Used> used;       // the last use by each thread of the cluster
  std::vector<Fiber*> waiting;  // threads in mbarrier_wait
};

}  // namespace zellige::emulate
