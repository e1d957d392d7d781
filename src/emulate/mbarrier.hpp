// The emulator's state of an mbarrier, in addition to its 8 bytes in shared memory.
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
  std::uint16_t thread = 0;  // within the cluster
};

struct MBarrier {
  std::uint32_t at = 0;  // byte offset in its block's shared memory
  std::string name;      // "full[1]"
  const char* tensor = "";
  std::uint32_t count = 0, pending = 0;  // arrivals per phase; missing in this one
  std::int64_t bytes = 0;                // announced, not arrived yet; negative: arrived, not announced yet
  std::uint32_t phase = 0;               // index of the current phase
  std::uint32_t agent = 0, ended = 0;    // finished phases since the first init: the agent's time
  bool valid = false, fenced = false;    // fenced: since the init, by the thread that initialized it
  std::uint16_t made_by = 0;             // thread within the cluster
  std::uint32_t made_at_time = 0, made_site = 0;
  bool counts_bytes = false;               // in some phase
  std::vector<Arrived> came, came_before;  // in this phase, in the previous one
  // arrivals in this phase by threads that could not know that the previous one had ended
  std::uint32_t strays = 0;
  Site last{};       // of the last arrival
  Clock observed{};  // from this phase's arrivals
  Clock released{};  // passed on by the end of the previous phase
  std::vector<Fiber*> waiting;
};

}  // namespace zellige::emulate
