// An mbarrier as the emulator keeps it, beside the 8 bytes that it takes in shared memory.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "emulate/clock.hpp"
#include "emulate/fiber.hpp"

namespace zellige::emulate {

/// A thread's arrival at an mbarrier, in its warp's time.
struct Arrived {
  std::uint32_t epoch = 0;
  std::uint16_t thread = 0;  // of the cluster
};

struct MBarrier {
  std::uint32_t at = 0;  // byte offset in its block's shared memory
  std::string name;      // "full[1]"
  const char* tensor = "";
  std::uint32_t count = 0, pending = 0;  // arrivals a phase; still to come in this one
  std::int64_t bytes = 0;                // announced and not there yet; below 0: there and not announced yet
  std::uint32_t phase = 0;               // the one that has not ended
  std::uint32_t agent = 0, ended = 0;    // phases that have ended since the first init: the agent's time
  bool valid = false, fenced = false;    // fenced: since the init, by the thread that made it
  std::uint16_t made_by = 0;             // thread of the cluster
  std::uint32_t made_at_time = 0, made_site = 0;
  bool counts_bytes = false;               // in some phase
  std::vector<Arrived> came, came_before;  // in this phase, in the last one
  std::uint32_t strays =
      0;             // arrivals in this phase by threads that could not know that the last one had ended
  Site last{};       // where the last thread arrived
  Clock heard{};     // from this phase's arrivals
  Clock released{};  // what the end of the last phase tells
  std::vector<Fiber*> waiting;
};

}  // namespace zellige::emulate
