// Implements the calls in which threads wait for each other: warp collectives, __syncwarp and barriers. The
// path from the kernel's call to the switch of stacks is one function, because the processor mispredicts every
// return after a switch.
#include <bit>

#include "emulate/atomics.hpp"
#include "emulate/calls.hpp"

namespace zellige::emulate {

using Kind = Finding::Kind;

namespace {

void meet(Thread& t, const void* in, void* out, LaneFunction compute, void* with, const char* what) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  Warp& w = *f.its_warp;
  if (w.lanes != ~0u)
    b.stop(f, Kind::divergence, nullptr, site, "at {}: {} needs a warp of 32 threads, its warp has {} (\1)", what,
           b.who(f.index), std::popcount(w.lanes));
  if (!w.met) {
    w.what = what;
    w.converging = site;
  } else if (what != w.what && std::strcmp(what, w.what) != 0) {
    const unsigned first = w.local * 32 + unsigned(std::countr_zero(w.met));
    b.stop(f, Kind::divergence, nullptr, {site, w.converging.address},
           "in warp {} of {}: thread {} reaches {} at \1 while thread {} waits in {} at \2", w.local, b.name(), f.index,
           what, first, w.what);
  } else if (site.address != w.converging.address) {
    const unsigned first = w.local * 32 + unsigned(std::countr_zero(w.met));
    b.report(f, Kind::divergence, nullptr, {site, w.converging.address, true},
             "in warp {} of {}: thread {} reaches {} at \1, thread {} the one at \2", w.local, b.name(), f.index, what,
             first);
  }
  w.in[f.lane] = in;
  w.out[f.lane] = out;
  w.met |= 1u << f.lane;
  if (w.met != ~0u) return b.suspend(f, Fiber::State::converging, site);
  w.met = 0;
  w.converging = site;  // accesses by `compute` are reported at this call
  w.log.flush(b.counters);
  compute(with, w.in, w.out);
  b.make_ready(w, ~(1u << f.lane));
}

// Lets those lanes leave __syncwarp that wait in it with the same mask as `lane`, if they are all that it names and that
// have not returned. Returns their mask; 0 if they still wait.
std::uint32_t complete_sync_warp(const Fiber& f, unsigned lane) {
  Warp& w = *f.its_warp;
  Block& b = *f.home;
  const std::uint32_t mask = w.sync_mask[lane];
  std::uint32_t group = 0;
  for (std::uint32_t left = w.synced_lanes; left; left &= left - 1)
    if (const unsigned other = unsigned(std::countr_zero(left)); w.sync_mask[other] == mask) group |= 1u << other;
  if ((group | w.returned | ~mask) != ~0u) return 0;
  w.synced_lanes &= ~group;
  w.log.flush(b.counters);
  ++b.counters[Counter::syncwarp];
  if (mask != w.lanes) {
    sync_lanes(f, group);
    return group;
  }
  share(w, group, b.cluster.agents());
  w.clock.time[w.index] = w.synced = b.cluster.tick();
  w.minimum = w.clock.minimum(b.cluster.warps());
  return group;
}

// Waits in __syncwarp until the lanes in `mask` have arrived, each with the same mask.
void sync_warp(Thread& t, unsigned mask) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  Warp& w = *f.its_warp;
  mask &= w.lanes;
  if (!(mask >> f.lane & 1)) {
    b.report(f, Kind::divergence, nullptr, {site, Finding::Missing::mask_lanes},
             "{} calls __syncwarp at \1 with the mask {:#x}, which leaves its own lane out", b.who(f.index), mask);
    return;
  }
  w.sync_mask[f.lane] = mask;
  w.synced_lanes |= 1u << f.lane;
  if ((w.synced_lanes | w.returned | ~mask) != ~0u) return b.suspend(f, Fiber::State::in_syncwarp, site);
  const std::uint32_t group = complete_sync_warp(f, f.lane);
  if (!group) return b.suspend(f, Fiber::State::in_syncwarp, site);
  b.make_ready(w, group & ~(1u << f.lane));
}

// Records that a thread arrives at a named barrier; returns the barrier.
NamedBarrier& reach_barrier(Fiber& f, unsigned id, unsigned threads, Site site) {
  Block& b = *f.home;
  const unsigned all = b.thread_count(), warps = b.warp_count();
  const unsigned expected = threads ? std::min(threads, all) : all;
  if (id >= 16 || threads > warps * 32 || threads % 32 != 0)
    b.stop(f, Kind::barrier_divergence, nullptr, site,
           "{} reaches barrier {} of {} threads at \1; there are barriers 0 to 15, of whole warps, and {} warps in the "
           "block",
           b.who(f.index), id, threads, warps);
  acquire_again(f, site);  // what the thread has read relaxed last orders what others do after the barrier
  NamedBarrier& bar = b.barriers[id];
  const unsigned w = f.its_warp->local;
  if (!bar.arrived) {
    bar.warps = 0;
    std::fill(std::begin(bar.come), std::end(bar.come), 0u);
    bar.observed.clear(shadow::max_agents);
    std::fill(std::begin(bar.epoch), std::end(bar.epoch), 0u);
    bar.expected = expected;
    bar.first = site;
    bar.first_thread = f.index;
  } else if (bar.expected != expected) {
    b.stop(f, Kind::barrier_divergence, nullptr, {site, bar.first.address},
           "in {}: {} reaches barrier {} at \1 for {} threads, {} at \2 for {}", b.name(), b.spell(f.index), id,
           expected, b.spell(bar.first_thread), bar.expected);
  } else if (id == 0 && !threads && site.address != bar.first.address) {
    b.report(f, Kind::barrier_divergence, nullptr, {site, bar.first.address, true, Finding::Missing::all_threads},
             "in {}: {} reaches the block's barrier at \1, {} the one at \2", b.name(), b.spell(f.index),
             b.spell(bar.first_thread));
  }
  if (bar.come[w] >> f.lane & 1)
    b.report(f, Kind::barrier_divergence, nullptr, site,
             "in {}: {} reaches barrier {} at \1 for the second time before {} threads have come once", b.name(),
             b.spell(f.index), id, expected);
  if (!bar.come[w] && expected != all) {
    // The actor is the arriving thread with its vector clock. If it does not know that the previous round has
    // ended, its arrival might be one too many in that round, which is reported.
    const shadow::Actor a = b.actor(f, site.address);
    for (unsigned other = 0; other < warps; ++other) {
      if (other == w || a.after(bar.came_before[other], std::uint16_t(b.first_thread + other * 32))) continue;
      b.report(f, Kind::barrier_divergence, nullptr, site,
               "in {}: {} reaches barrier {} at \1, to which more threads come than the {} that it is for: {} in round "
               "{}, since this warp has not observed that it has ended",
               b.name(), b.spell(f.index), id, expected, expected + 32 * ++bar.strays, bar.rounds - 1);
      break;
    }
  }
  bar.come[w] |= 1u << f.lane;
  bar.epoch[w] = f.its_warp->clock.time[f.its_warp->index];
  ++bar.arrived;
  return bar;
}

[[gnu::always_inline]] inline void reach_and_wait(Fiber& f, unsigned id, unsigned threads, Site site) {
  Block& b = *f.home;
  NamedBarrier& bar = reach_barrier(f, id, threads, site);
  Warp& w = *f.its_warp;
  if (!(bar.warps >> w.local & 1)) bar.waiting[w.local] = 0;
  bar.warps |= 1u << w.local;
  bar.waiting[w.local] |= 1u << f.lane;
  f.barrier = id;
  if (bar.arrived < bar.expected) return b.suspend(f, Fiber::State::at_barrier, site);
  share(w, 1u << f.lane, b.cluster.agents());
  bar.waiting[w.local] &= ~(1u << f.lane);
  end_round(b, bar);
}

void bar_sync(Thread& t, unsigned id, unsigned threads) {
  reach_and_wait(fiber(t), id, threads, Call(t, ZELLIGE_SITE()).site);
}

// Arrives at a named barrier without waiting. The time of the thread's warp (in the vector clocks) then
// advances, because the barrier does not order what the thread does after its arrival.
void bar_arrive(Thread& t, unsigned id, unsigned threads) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  NamedBarrier& bar = reach_barrier(f, id, threads, site);
  start_epoch(f);
  bar.observed.join(known(f), b.cluster.agents());
  if (bar.arrived == bar.expected) end_round(b, bar);
}

}  // namespace

void sync_block(Fiber& f, Site site) { reach_and_wait(f, 0, 0, site); }

void end_round(Block& b, NamedBarrier& bar) {
  Cluster& cluster = b.cluster;
  cluster.polled = 0;
  const std::uint32_t now = cluster.tick();
  const unsigned agents = cluster.agents();
  shadow::Clock& joined = bar.observed;
  for (std::uint32_t left = bar.warps; left; left &= left - 1) {
    Warp& w = b.warps[std::countr_zero(left)];
    share(w, bar.waiting[w.local], agents);
    w.clock.time[w.index] = now;
    joined.join(w.clock, agents);
  }
  const std::uint32_t minimum = joined.minimum(cluster.warps());
  for (std::uint32_t left = bar.warps; left; left &= left - 1) {
    Warp& w = b.warps[std::countr_zero(left)];
    w.log.flush(b.counters);
    w.clock.assign(joined, agents);
    w.synced = now;
    w.minimum = std::min(minimum, now);
    b.make_ready(w, bar.waiting[w.local]);
  }
  bar.arrived = bar.strays = 0;
  ++bar.rounds;
  std::copy(std::begin(bar.epoch), std::end(bar.epoch), bar.came_before);
  ++b.counters[Counter::barrier];
}

void leave_syncwarp(const Fiber& f) {
  Warp& w = *f.its_warp;
  for (std::uint32_t left = w.synced_lanes; left;) {
    const std::uint32_t group = complete_sync_warp(f, unsigned(std::countr_zero(left)));
    left &= ~(group ? group : left & -left);
    f.home->make_ready(w, group);
  }
}

void add_waits(Engine& all) {
  all.meet = meet;
  all.sync_warp = sync_warp;
  all.bar_sync = bar_sync;
  all.bar_arrive = bar_arrive;
}

}  // namespace zellige::emulate
