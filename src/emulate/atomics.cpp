#include "emulate/atomics.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "emulate/calls.hpp"

namespace zellige::emulate {

namespace {

std::mutex performing;  // blocks on several workers perform atomics on the same memory

// Orders what another thread of the block has released before what the thread does from now on.
void hear_arrival(Fiber& f, const shadow::Arrival& x) {
  Block& b = *f.home;
  shadow::Clock told;
  told.clear(shadow::max_agents);
  for (unsigned w = 0; w < x.times.size(); ++w) told.time[b.first_warp + w] = x.times[w];
  std::uint32_t& own = told.time[b.first_warp + x.thread / 32u];
  own = std::max(own, x.epoch);
  hear(f, told);
}

// Takes part in the order that atomics of fenced threads give: acquires what the others have released at these bytes,
// and releases what the thread's own last fence covers.
void synchronize(Fiber& f, std::vector<shadow::Arrival>& all, Site site) {
  Block& b = *f.home;
  std::size_t state = all.size();  // of the list, to acquire it once
  bool others = false;
  for (const shadow::Arrival& x : all) {
    state = state * 31 + x.epoch * 1024 + x.thread;
    others |= x.block != b.linear;
  }
  if (f.acquired_at != &all || f.acquired_count != state) {
    for (const shadow::Arrival& x : all)
      if (x.block == b.linear && x.thread != f.index) hear_arrival(f, x);
    if (others) {
      start_epoch(f);
      b.acquired.push_back({b.actor(f, site.address).epoch, std::uint16_t(b.first_thread + f.index), all});
    }
    f.acquired_at = &all;
    f.acquired_count = state;
  }
  if (!f.released) return;
  const auto mine = std::ranges::find_if(
      all, [&](const shadow::Arrival& x) { return x.block == f.released->block && x.thread == f.released->thread; });
  if (mine == all.end())
    all.push_back(*f.released);
  else
    *mine = *f.released;
}

void synchronize(Fiber& f, std::map<std::size_t, std::vector<shadow::Arrival>>& arrivals, std::size_t at, Site site) {
  const auto found = arrivals.find(at);
  if (found != arrivals.end() || f.released)
    synchronize(f, found != arrivals.end() ? found->second : arrivals[at], site);
}

void check_shared(Fiber& f, Place p, unsigned bytes, Site site) {
  Block &b = *f.home, &there = *static_cast<Block*>(p.region->shadow);
  const std::size_t at = std::size_t(p.p - there.memory);
  if (&there == &b) synchronize(f, b.shared_arrivals, at, site);
  const shadow::Actor a = b.actor(f, site.address);
  const shadow::Clash c = there.shadow.add(at, bytes, a);
  there.additions.add(at, bytes, a);
  if (c) clash(f, f.index, p, bytes, "updates atomically", site, c);
}

void check_global(Fiber& f, Place p, unsigned bytes, Site site) {
  Block& b = *f.home;
  const auto& state = *static_cast<const GlobalState*>(p.region->shadow);
  const std::size_t at = std::size_t(p.p - p.region->begin);
  if (state.flags && std::memchr(state.flags + at, 0, bytes))
    clash(f, f.index, p, bytes, "updates atomically", site, {shadow::Clash::What::unwritten});
  if (!known(f).time[b.cluster.previous]) early(f, p, bytes, true, site);
  if (!state.races) return;
  {
    const std::lock_guard lock(state.races->arrivals.mutex);
    synchronize(f, state.races->arrivals.at, at, site);
  }
  if (const shadow::Clash c = state.races->add(at, bytes, b.actor(f, site.address), std::uint32_t(b.linear), 0))
    clash_of_global(f, p, bytes, "updates atomically", site, c, true);
}

}  // namespace

bool atomic(Fiber& f, Place p, unsigned bytes, void (*change)(void* value, void* with), void* with, Site site) {
  f.home->check_time(f, site);
  acquire_again(f, site);
  if (!admit_access(f, p, bytes, true, site)) return false;
  if (p.region->space == Space::shared)
    check_shared(f, p, bytes, site);
  else
    check_global(f, p, bytes, site);
  alignas(16) unsigned char value[16];
  bool changed = false;
  {
    const std::lock_guard lock(performing);
    std::memcpy(value, p.p, bytes);
    change(value, with);
    changed = std::memcmp(value, p.p, bytes) != 0;
    if (changed) std::memcpy(p.p, value, bytes);
  }
  if (changed)
    f.home->cluster.polled = 0, f.spins_at = 0;
  else
    spin(f, p.p, site);
  return true;
}

void acquire_relaxed(Fiber& f, Site site) {
  const Place p = std::exchange(f.relaxed_read, {});
  const auto& state = *static_cast<const GlobalState*>(p.region->shadow);
  if (!state.races) return;
  const std::lock_guard lock(state.races->arrivals.mutex);
  synchronize(f, state.races->arrivals.at, std::size_t(p.p - p.region->begin), site);
}

void relaxed_access(Fiber& f, Place p, unsigned bytes, bool writes, Site site) {
  f.home->check_time(f, site);
  acquire_again(f, site);
  if (!admit_access(f, p, bytes, writes, site)) return;
  const auto& state = *static_cast<const GlobalState*>(p.region->shadow);
  if (writes && state.flags) std::memset(state.flags + (p.p - p.region->begin), 1, bytes);
  check_global(f, p, bytes, site);
  if (writes)
    f.home->cluster.polled = 0;
  else
    f.relaxed_read = p, spin(f, p.p, site);
}

shadow::Arrival released_by(const Fiber& f, Site site) {
  Block& b = *f.home;
  start_epoch(f);
  const shadow::Actor a = b.actor(f, site.address);
  shadow::Arrival mine{std::uint32_t(b.linear), std::uint16_t(f.index), a.epoch, {}, {}, {}};
  for (unsigned i = 0; i < b.warp_count(); ++i) {
    const unsigned other = b.first_warp + i;
    mine.times.push_back(a.observed(other));
    mine.visible.push_back(a.clock->visible[unsigned(Space::global)][other]);
    for (unsigned lane = 0; lane < 32; ++lane) mine.fences.push_back(a.last_fence(other * 32 + lane));
  }
  return mine;
}

void thread_fence(Fiber& f, bool of_block) {
  acquire_again(f, {});
  auto all = std::make_shared<shadow::Arrival>(released_by(f, {}));
  all->in_block = of_block;
  f.released = std::move(all);
}

}  // namespace zellige::emulate
