#include "emulate/atomics.hpp"

#include <algorithm>
#include <cstring>

#include "emulate/calls.hpp"

namespace zellige::emulate {

namespace {

std::mutex performing;  // blocks on several workers perform atomics on the same memory

void check_shared(Fiber& f, Place p, unsigned bytes, Site site) {
  Block &b = *f.home, &there = *static_cast<Block*>(p.region->shadow);
  const std::size_t at = std::size_t(p.p - there.memory);
  const Actor a = b.actor(f, site.address);
  const Clash c = there.shadow.add(at, bytes, a);
  there.additions.add(at, bytes, a);
  if (c) clash(f, f.index, p, bytes, "updates atomically", site, c);
}

// Takes part in the order that atomics of fenced threads give: releases what the thread's last fence covers, and
// acquires what other threads have released at these bytes.
void synchronize(Fiber& f, GlobalShadow& races, std::size_t at, Site site) {
  Block& b = *f.home;
  Arrivals& arrivals = races.arrivals;
  const std::lock_guard lock(arrivals.mutex);
  const auto found = arrivals.at.find(at);
  if (found == arrivals.at.end() && !f.released) return;
  std::vector<Arrival>& all = arrivals.at[at];
  const auto theirs = std::ranges::count_if(all, [&](const Arrival& x) { return x.block != b.linear; });
  if (theirs && (f.acquired_at != &all || f.acquired_count != all.size())) {
    start_epoch(f);
    b.acquired.push_back({b.actor(f, site.address).epoch, std::uint16_t(b.first_thread + f.index), all});
    f.acquired_at = &all;
    f.acquired_count = all.size();
  }
  if (!f.released) return;
  const auto mine = std::ranges::find_if(
      all, [&](const Arrival& x) { return x.block == f.released->block && x.thread == f.released->thread; });
  if (mine == all.end())
    all.push_back(*f.released);
  else
    *mine = *f.released;
}

void check_global(Fiber& f, Place p, unsigned bytes, Site site) {
  Block& b = *f.home;
  const auto& state = *static_cast<const GlobalState*>(p.region->shadow);
  const std::size_t at = std::size_t(p.p - p.region->begin);
  if (state.flags && std::memchr(state.flags + at, 0, bytes))
    clash(f, f.index, p, bytes, "updates atomically", site, {Clash::What::unwritten});
  if (!known(f).time[b.cluster.previous]) early(f, p, bytes, true, site);
  if (!state.races) return;
  synchronize(f, *state.races, at, site);
  if (const Clash c = state.races->add(at, bytes, b.actor(f, site.address), std::uint32_t(b.linear), 0))
    clash_of_global(f, p, bytes, "updates atomically", site, c);
}

}  // namespace

bool atomic(Fiber& f, Place p, unsigned bytes, void (*change)(void* value, void* with), void* with, Site site) {
  f.home->check_time(f, site);
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

void relaxed_access(Fiber& f, Place p, unsigned bytes, bool writes, Site site) {
  f.home->check_time(f, site);
  if (!admit_access(f, p, bytes, writes, site)) return;
  const auto& state = *static_cast<const GlobalState*>(p.region->shadow);
  if (writes && state.flags) std::memset(state.flags + (p.p - p.region->begin), 1, bytes);
  check_global(f, p, bytes, site);
  if (writes)
    f.home->cluster.polled = 0;
  else
    spin(f, p.p, site);
}

Arrival released_by(const Fiber& f, Site site) {
  Block& b = *f.home;
  start_epoch(f);
  const Actor a = b.actor(f, site.address);
  Arrival mine{std::uint32_t(b.linear), std::uint16_t(f.index), a.epoch, {}, {}, {}};
  for (unsigned i = 0; i < b.warp_count(); ++i) {
    const unsigned other = b.first_warp + i;
    mine.times.push_back(a.observed(other));
    mine.visible.push_back(a.clock->visible[unsigned(Space::global)][other]);
    for (unsigned lane = 0; lane < 32; ++lane) mine.fences.push_back(a.last_fence(other * 32 + lane));
  }
  return mine;
}

void thread_fence(Fiber& f) { f.released = std::make_shared<const Arrival>(released_by(f, {})); }

}  // namespace zellige::emulate
