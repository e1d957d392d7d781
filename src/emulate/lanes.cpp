// Keeps the vector clocks (clock.hpp) of the lanes of a warp: which accesses of other threads a lane knows to have
// happened. The lanes share the warp's clock. A lane that waits or fences by itself gets a clock of its own (it is
// `diverged`). The warp's clock is updated when all lanes have clocks of their own, or when the warp synchronizes.
#include <bit>

#include "emulate/cluster.hpp"

namespace zellige::emulate {

namespace {

// Returns the lane's own clock, made from the warp's if it has none.
shadow::Clock& diverge(const Fiber& f) {
  Warp& w = *f.its_warp;
  if (!w.own) w.own = std::make_unique<shadow::Clock[]>(32);
  if (!(w.diverged >> f.lane & 1)) {
    w.own[f.lane].assign(w.clock, f.home->cluster.agents());
    w.own_synced[f.lane] = w.synced;
    w.diverged |= 1u << f.lane;
  }
  return w.own[f.lane];
}

// Returns whether these lanes have observed the same, as the lanes of a warp that wait for one mbarrier have.
bool all_equal(const Warp& w, std::uint32_t lanes, unsigned agents) {
  const unsigned first = unsigned(std::countr_zero(lanes));
  for (std::uint32_t left = lanes & (lanes - 1); left; left &= left - 1) {
    const unsigned lane = unsigned(std::countr_zero(left));
    if (w.own_synced[lane] != w.own_synced[first] || !w.own[lane].equals(w.own[first], agents)) return false;
  }
  return true;
}

// Updates a warp's vector clock: if all lanes that have not returned have clocks of their own, sets it to the
// component-wise minimum of these clocks.
void catch_up(Warp& w, const Cluster& cluster) {
  const std::uint32_t running = w.lanes & ~w.returned;
  if ((w.diverged & running) != running || !running) return;
  const unsigned agents = cluster.agents(), first = unsigned(std::countr_zero(running));
  const std::uint32_t now = w.clock.time[w.index];
  w.clock.assign(w.own[first], agents);
  if (all_equal(w, running, agents)) {
    w.synced = w.own_synced[first];
    w.clock.time[w.index] = now;
    w.minimum = std::min(w.clock.minimum(cluster.warps()), w.synced);
    w.diverged &= ~running;
    return;
  }
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
    const shadow::Clock& own = w.own[lane];
    if (w.own_synced[lane] == w.synced && own.equals(w.clock, agents)) w.diverged &= ~(1u << lane);
  }
}

}  // namespace

// Merges `told`, a vector clock that thread `f` receives when a wait ends, into the thread's own clock.
// Accesses by the thread's own warp before the warp's time in `told` are from then on ordered before the
// thread's accesses (`own_synced`).
void hear(Fiber& f, const shadow::Clock& told) {
  Warp& w = *f.its_warp;
  shadow::Clock& own = diverge(f);
  own.join(told, f.home->cluster.agents());
  own.time[w.index] = w.clock.time[w.index];
  w.own_synced[f.lane] = std::max(w.own_synced[f.lane], told.time[w.index]);
  catch_up(w, f.home->cluster);
}

void hear(Fiber& f, std::uint32_t agent, std::uint32_t time) {
  shadow::Clock& own = diverge(f);
  own.time[agent] = std::max(own.time[agent], time);
  catch_up(*f.its_warp, f.home->cluster);
}

// Executes a lane's fence to the asynchronous proxy. The fence covers the accesses of other warps that the
// lane has observed, and the accesses of the lane's own warp before that warp last synchronized.
void fence(Fiber& f, bool shared, bool global) {
  Warp& w = *f.its_warp;
  Cluster& cluster = f.home->cluster;
  start_epoch(f);
  shadow::Clock& own = diverge(f);
  for (const Space space : {Space::global, Space::shared}) {
    if (!(space == Space::global ? global : shared)) continue;
    std::uint32_t* const visible = own.visible[unsigned(space)];
    for (unsigned i = 0; i < cluster.warps(); ++i)
      visible[i] = std::max(visible[i], i == w.index ? w.own_synced[f.lane] : own.time[i]);
    cluster.fences[f.home->first_thread + f.index][unsigned(space)].push_back(w.clock.time[w.index]);
  }
  catch_up(w, cluster);
}

void sync_lanes(const Fiber& f, std::uint32_t group) {
  Warp& w = *f.its_warp;
  const Block& b = *f.home;
  if (!w.pairs) w.pairs = std::make_unique<std::uint32_t[]>(32 * 32);
  const unsigned agents = b.cluster.agents();
  shadow::Clock joined;
  joined.clear(shadow::max_agents);
  std::uint32_t row[32] = {};
  for (std::uint32_t left = group; left; left &= left - 1) {
    const unsigned lane = unsigned(std::countr_zero(left));
    joined.join(known(b.thread(w.local * 32 + lane)), agents);
    for (unsigned other = 0; other < 32; ++other) row[other] = std::max(row[other], w.pairs[lane * 32 + other]);
  }
  start_epoch(f);
  const std::uint32_t now = w.clock.time[w.index];
  for (std::uint32_t left = group; left; left &= left - 1) row[std::countr_zero(left)] = now;
  for (std::uint32_t left = group; left; left &= left - 1) {
    const unsigned lane = unsigned(std::countr_zero(left));
    std::copy(row, row + 32, &w.pairs[lane * 32]);
    shadow::Clock& own = diverge(b.thread(w.local * 32 + lane));
    own.join(joined, agents);
    own.time[w.index] = now;
  }
  catch_up(w, b.cluster);
}

void start_epoch(const Fiber& f) {
  Warp& w = *f.its_warp;
  Cluster& cluster = f.home->cluster;
  const std::uint32_t now = w.clock.time[w.index] = cluster.tick();
  for (std::uint32_t left = w.diverged; left; left &= left - 1) w.own[std::countr_zero(left)].time[w.index] = now;
  w.minimum = std::min(w.clock.minimum(cluster.warps()), w.synced);
}

void share(Warp& w, std::uint32_t lanes, unsigned agents) {
  for (std::uint32_t left = w.diverged & lanes; left; left &= left - 1)
    w.clock.join(w.own[std::countr_zero(left)], agents);
  w.diverged &= ~lanes;
}

}  // namespace zellige::emulate
