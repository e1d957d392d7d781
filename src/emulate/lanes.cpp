// Keeps the vector clocks (clock.hpp) of the lanes of a warp: which accesses of other threads a lane knows to have
// happened. The lanes share the warp's clock. A lane that waits or fences by itself gets a clock of its own (it is
// `diverged`). The warp's clock is updated when all lanes have clocks of their own, or when the warp synchronizes.
#include <bit>

#include "emulate/cluster.hpp"

namespace zellige::emulate {

Clock& Block::diverge(Fiber& f) {
  Warp& w = *f.its_warp;
  if (!w.own) w.own = std::make_unique<Clock[]>(32);
  if (!(w.diverged >> f.lane & 1)) {
    w.own[f.lane].assign(w.clock, max_agents);  // later agents are not observed
    w.own_synced[f.lane] = w.synced;
    w.diverged |= 1u << f.lane;
  }
  return w.own[f.lane];
}

// Updates a warp's vector clock: if all lanes that have not returned have clocks of their own, sets it to the
// component-wise minimum of these clocks.
void Block::catch_up(Warp& w) {
  const std::uint32_t running = w.lanes & ~w.returned;
  if ((w.diverged & running) != running || !running) return;
  const unsigned agents = cluster.agents(), first = unsigned(std::countr_zero(running));
  const std::uint32_t now = w.clock.time[w.index];
  w.clock.assign(w.own[first], agents);
  w.synced = w.own_synced[first];
  for (std::uint32_t left = running & (running - 1); left; left &= left - 1) {
    const unsigned lane = unsigned(std::countr_zero(left));
    w.clock.take_minimum(w.own[lane], agents);
    w.synced = std::min(w.synced, w.own_synced[lane]);
  }
  w.clock.time[w.index] = now;
  w.minimum = std::min(w.clock.minimum(cluster.warps()), w.synced);
  // A lane that has observed no more than the others needs no clock of its own.
  for (std::uint32_t left = running; left; left &= left - 1) {
    const unsigned lane = unsigned(std::countr_zero(left));
    const Clock& own = w.own[lane];
    if (w.own_synced[lane] == w.synced && std::equal(own.time, own.time + agents, w.clock.time) &&
        std::equal(own.visible[0], own.visible[0] + cluster.warps(), w.clock.visible[0]) &&
        std::equal(own.visible[1], own.visible[1] + cluster.warps(), w.clock.visible[1]))
      w.diverged &= ~(1u << lane);
  }
}

// Merges `told`, a vector clock that thread `f` receives when a wait ends, into the thread's own clock.
// Accesses by the thread's own warp before the warp's time in `told` are from then on ordered before the
// thread's accesses (`own_synced`).
void Block::hear(Fiber& f, const Clock& told) {
  Warp& w = *f.its_warp;
  Clock& own = diverge(f);
  own.join(told, cluster.agents());
  own.time[w.index] = w.clock.time[w.index];
  w.own_synced[f.lane] = std::max(w.own_synced[f.lane], told.time[w.index]);
  catch_up(w);
}

void Block::hear(Fiber& f, std::uint32_t agent, std::uint32_t time) {
  Clock& own = diverge(f);
  own.time[agent] = std::max(own.time[agent], time);
  catch_up(*f.its_warp);
}

// Executes a lane's fence to the asynchronous proxy. The fence covers the accesses of other warps that the
// lane has observed, and the accesses of the lane's own warp before that warp last synchronized.
void Block::fence(Fiber& f, bool shared, bool global) {
  Warp& w = *f.its_warp;
  release(w);
  Clock& own = diverge(f);
  for (const Space space : {Space::global, Space::shared}) {
    if (!(space == Space::global ? global : shared)) continue;
    std::uint32_t* const visible = own.visible[unsigned(space)];
    for (unsigned i = 0; i < cluster.warps(); ++i)
      visible[i] = std::max(visible[i], i == w.index ? w.own_synced[f.lane] : own.time[i]);
    cluster.fences[first_thread + f.index][unsigned(space)].push_back(w.clock.time[w.index]);
  }
  catch_up(w);
}

// Orders the accesses of the lanes of `group` before what any of them does from now on. The other lanes of the warp learn
// nothing.
void Block::sync_lanes(Warp& w, std::uint32_t group) {
  if (!w.pairs) w.pairs = std::make_unique<std::uint32_t[]>(32 * 32);
  const unsigned agents = cluster.agents();
  Clock joined;
  joined.clear(max_agents);
  std::uint32_t row[32] = {};
  for (std::uint32_t left = group; left; left &= left - 1) {
    const unsigned lane = unsigned(std::countr_zero(left));
    joined.join(known(stacks_.fiber(w.local * 32 + lane)), agents);
    for (unsigned other = 0; other < 32; ++other) row[other] = std::max(row[other], w.pairs[lane * 32 + other]);
  }
  release(w);
  const std::uint32_t now = w.clock.time[w.index];
  for (std::uint32_t left = group; left; left &= left - 1) row[std::countr_zero(left)] = now;
  for (std::uint32_t left = group; left; left &= left - 1) {
    const unsigned lane = unsigned(std::countr_zero(left));
    std::copy(row, row + 32, &w.pairs[lane * 32]);
    Clock& own = diverge(stacks_.fiber(w.local * 32 + lane));
    own.join(joined, agents);
    own.time[w.index] = now;
  }
  catch_up(w);
}

void Block::release(Warp& w) {
  const std::uint32_t now = w.clock.time[w.index] = cluster.tick();
  for (std::uint32_t left = w.diverged; left; left &= left - 1) w.own[std::countr_zero(left)].time[w.index] = now;
  w.minimum = std::min(w.clock.minimum(cluster.warps()), w.synced);
}

void Block::share(Warp& w, std::uint32_t lanes) {
  for (std::uint32_t left = w.diverged & lanes; left; left &= left - 1)
    w.clock.join(w.own[std::countr_zero(left)], cluster.agents());
  w.diverged &= ~lanes;
}

}  // namespace zellige::emulate
