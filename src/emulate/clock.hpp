// Happens-before. Agents are a block's warps, plus whatever runs beside them; each has a vector clock. An
// access is stamped with its thread and its warp's own time; it happened before everything that a thread does
// whose warp has since heard of a later time of that warp, and before what the same thread does next. Times
// are drawn from one counter a block, so that after a block barrier all clocks are equal and one comparison
// decides.
#pragma once
#include <algorithm>
#include <cstdint>

namespace zellige::emulate {

inline constexpr unsigned max_warps = 32;

struct Clock {
  std::uint32_t time[max_warps];

  void join(const Clock& other, unsigned warps) {
    for (unsigned w = 0; w < warps; ++w) time[w] = std::max(time[w], other.time[w]);
  }
  std::uint32_t least(unsigned warps) const { return *std::min_element(time, time + warps); }
};

/// Who accesses, and what it has heard of.
struct Actor {
  const Clock* clock;
  std::uint32_t least;  // of the clock: whatever is older happened before
  std::uint32_t epoch;  // its warp's own time
  std::uint16_t thread, warp;
  std::uint32_t site;  // low half of the return address

  bool after(std::uint32_t other_epoch, std::uint16_t other_thread) const {
    return other_epoch < least || other_thread == thread || other_epoch < clock->time[other_thread / 32];
  }
};

inline constexpr std::uint32_t unnamed_block = 0xFFFFFFFF;  // some other one

/// What an access runs into, if anything.
struct Clash {
  enum class What : std::uint8_t { none, unwritten, other_tensor, written, read, in_flight };
  What what = What::none;
  std::uint16_t thread = 0;  // whose earlier access it is
  std::uint16_t region = 0;  // other_tensor: as which it was written
  std::uint32_t site = 0;
  std::uint32_t block = 0;  // of global memory: the other block's linear index, or unnamed_block

  explicit operator bool() const { return what != What::none; }
};

}  // namespace zellige::emulate
