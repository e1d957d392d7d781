// Keeps the vector clocks (clock.hpp) of the lanes of a warp: which accesses of other threads a lane knows to have
// happened. The lanes share the warp's clock. A lane that waits or fences by itself gets a clock of its own (it is
// `diverged`). The warp's clock is updated when all lanes have clocks of their own, or when the warp synchronizes.
#pragma once
#include "emulate/block_state.hpp"

namespace zellige::emulate {

/// Returns the vector clock of a thread: for each warp and each asynchronous agent of the cluster, the
/// latest time that the thread has observed.
inline const Clock& known(const Fiber& f) {
  return f.its_warp->diverged >> f.lane & 1 ? f.its_warp->own[f.lane] : f.its_warp->clock;
}
void hear(Fiber&, const Clock&);  // adds to what a thread has observed
void hear(Fiber&, std::uint32_t agent, std::uint32_t time);
/// fence.proxy.async: makes its observations of these state spaces visible to the asynchronous proxy.
void fence(Fiber&, bool shared, bool global);
/// Starts a new epoch of the thread's warp: what its lanes do from now on is not released.
void start_epoch(const Fiber&);
/// Adds what these lanes have observed to the warp's clock. `agents`: number of the cluster's agents.
void share(Warp&, std::uint32_t lanes, unsigned agents);
/// Orders the accesses of the lanes `group` of the thread's warp before what any of them does from now on. The other
/// lanes learn nothing.
void sync_lanes(const Fiber&, std::uint32_t group);

}  // namespace zellige::emulate
