// Implements the calls in which threads wait for each other: warp collectives, __syncwarp and barriers. The
// path from the kernel's call to the switch of stacks is one inlined function, because the processor
// mispredicts every return after a switch.
#include <bit>

#include "emulate/calls.hpp"

namespace zellige::emulate {

[[gnu::always_inline]] inline void Block::meet(Fiber& f, const void* in, void* out, LaneFunction compute, void* with,
                                               const char* what, Site site) {
  Warp& w = *f.its_warp;
  if (w.lanes != ~0u)
    stop(f, Finding::Kind::divergence, nullptr, site, "at {}: {} needs a warp of 32 threads, its warp has {} (\1)",
         what, who(f.index), std::popcount(w.lanes));
  if (!w.met) {
    w.what = what;
    w.converging = site;
  } else if (what != w.what && std::strcmp(what, w.what) != 0) {
    const unsigned first = w.local * 32 + unsigned(std::countr_zero(w.met));
    stop(f, Finding::Kind::divergence, nullptr, {site, w.converging.address},
         "in warp {} of {}: thread {} reaches {} at \1 while thread {} waits in {} at \2", w.local, spell_block(linear),
         f.index, what, first, w.what);
  } else if (site.address != w.converging.address) {
    const unsigned first = w.local * 32 + unsigned(std::countr_zero(w.met));
    report(f, Finding::Kind::divergence, nullptr, {site, w.converging.address, true},
           "in warp {} of {}: thread {} reaches {} at \1, thread {} the one at \2", w.local, spell_block(linear),
           f.index, what, first);
  }
  w.in[f.lane] = in;
  w.out[f.lane] = out;
  w.met |= 1u << f.lane;
  if (w.met != ~0u) return suspend(f, Fiber::State::converging, site);
  w.met = 0;
  w.converging = site;  // accesses by `compute` are reported at this call
  w.log.flush(counters);
  compute(with, w.in, w.out);
  make_ready(w, ~(1u << f.lane));
}

std::uint32_t Block::sync_group(const Warp& w, unsigned lane) {
  const std::uint32_t mask = w.sync_mask[lane];
  std::uint32_t group = 0;
  for (std::uint32_t left = w.synced_lanes; left; left &= left - 1)
    if (const unsigned other = unsigned(std::countr_zero(left)); w.sync_mask[other] == mask) group |= 1u << other;
  return (group | w.returned | ~mask) == ~0u ? group : 0;
}

void Block::complete_sync_warp(Warp& w, std::uint32_t group) {
  w.synced_lanes &= ~group;
  w.log.flush(counters);
  ++counters[Counter::syncwarp];
  if (w.sync_mask[std::countr_zero(group)] != w.lanes) return sync_lanes(w, group);
  share(w, group);
  w.clock.time[w.index] = w.synced = cluster.tick();
  w.minimum = w.clock.minimum(cluster.warps());
}

// Waits in __syncwarp until the lanes in `mask` have arrived, each with the same mask.
[[gnu::always_inline]] inline void Block::sync_warp(Fiber& f, unsigned mask, Site site) {
  Warp& w = *f.its_warp;
  mask &= w.lanes;
  if (!(mask >> f.lane & 1)) {
    report(f, Finding::Kind::divergence, nullptr, site,
           "{} calls __syncwarp at \1 with the mask {:#x}, which leaves its own lane out", who(f.index), mask);
    return;
  }
  w.sync_mask[f.lane] = mask;
  w.synced_lanes |= 1u << f.lane;
  if ((w.synced_lanes | w.returned | ~mask) != ~0u) return suspend(f, Fiber::State::in_syncwarp, site);
  const std::uint32_t group = sync_group(w, f.lane);
  if (!group) return suspend(f, Fiber::State::in_syncwarp, site);
  complete_sync_warp(w, group);
  make_ready(w, group & ~(1u << f.lane));
}

NamedBarrier& Block::arrive(Fiber& f, unsigned id, unsigned threads, Site site) {
  const unsigned expected = threads ? std::min(threads, threads_) : threads_;
  if (id >= 16 || threads > warps_ * 32 || threads % 32 != 0)
    stop(f, Finding::Kind::barrier_divergence, nullptr, site,
         "{} reaches barrier {} of {} threads at \1; there are barriers 0 to 15, of whole warps, and {} warps in the "
         "block",
         who(f.index), id, threads, warps_);
  NamedBarrier& b = barrier_[id];
  const unsigned w = f.its_warp->local;
  if (!b.arrived) {
    b.warps = 0;
    std::fill(std::begin(b.come), std::end(b.come), 0u);
    b.observed.clear(max_agents);
    std::fill(std::begin(b.epoch), std::end(b.epoch), 0u);
    b.expected = expected;
    b.first = site;
    b.first_thread = f.index;
  } else if (b.expected != expected) {
    stop(f, Finding::Kind::barrier_divergence, nullptr, {site, b.first.address},
         "in {}: {} reaches barrier {} at \1 for {} threads, {} at \2 for {}", spell_block(linear), spell(f.index), id,
         expected, spell(b.first_thread), b.expected);
  } else if (id == 0 && !threads && site.address != b.first.address) {
    report(f, Finding::Kind::barrier_divergence, nullptr, {site, b.first.address, true},
           "in {}: {} reaches the block's barrier at \1, {} the one at \2", spell_block(linear), spell(f.index),
           spell(b.first_thread));
  }
  if (b.come[w] >> f.lane & 1)
    report(f, Finding::Kind::barrier_divergence, nullptr, site,
           "in {}: {} reaches barrier {} at \1 for the second time before {} threads have come once",
           spell_block(linear), spell(f.index), id, expected);
  if (!b.come[w] && expected != threads_) {
    // The actor is the arriving thread with its vector clock. If it does not know that the previous round has
    // ended, its arrival might be one too many in that round, which is reported.
    const Actor a = actor(f, site.address);
    for (unsigned other = 0; other < warps_; ++other) {
      if (other == w || a.after(b.came_before[other], std::uint16_t(first_thread + other * 32))) continue;
      report(f, Finding::Kind::barrier_divergence, nullptr, site,
             "in {}: {} reaches barrier {} at \1, to which more threads come than the {} that it is for: {} in round "
             "{}, since this warp has not observed that it has ended",
             spell_block(linear), spell(f.index), id, expected, expected + 32 * ++b.strays, b.rounds - 1);
      break;
    }
  }
  b.come[w] |= 1u << f.lane;
  b.epoch[w] = f.its_warp->clock.time[f.its_warp->index];
  ++b.arrived;
  return b;
}

[[gnu::always_inline]] inline void Block::bar_sync(Fiber& f, unsigned id, unsigned threads, Site site) {
  NamedBarrier& b = arrive(f, id, threads, site);
  Warp& w = *f.its_warp;
  if (!(b.warps >> w.local & 1)) b.waiting[w.local] = 0;
  b.warps |= 1u << w.local;
  b.waiting[w.local] |= 1u << f.lane;
  f.barrier = id;
  if (b.arrived < b.expected) return suspend(f, Fiber::State::at_barrier, site);
  share(w, 1u << f.lane);
  b.waiting[w.local] &= ~(1u << f.lane);
  complete(b);
}

// Arrives at a named barrier without waiting. The time of the thread's warp (in the vector clocks) then
// advances, because the barrier does not order what the thread does after its arrival.
void Block::bar_arrive(Fiber& f, unsigned id, unsigned threads, Site site) {
  NamedBarrier& b = arrive(f, id, threads, site);
  Warp& w = *f.its_warp;
  release(w);
  b.observed.join(known(f), cluster.agents());
  if (b.arrived == b.expected) complete(b);
}

void Block::complete(NamedBarrier& b) {
  const std::uint32_t now = cluster.tick();
  const unsigned agents = cluster.agents();
  Clock& joined = b.observed;
  for (std::uint32_t left = b.warps; left; left &= left - 1) {
    Warp& w = warp_[std::countr_zero(left)];
    share(w, b.waiting[w.local]);
    w.clock.time[w.index] = now;
    joined.join(w.clock, agents);
  }
  const std::uint32_t minimum = joined.minimum(cluster.warps());
  for (std::uint32_t left = b.warps; left; left &= left - 1) {
    Warp& w = warp_[std::countr_zero(left)];
    w.log.flush(counters);
    w.clock.assign(joined, agents);
    w.synced = now;
    w.minimum = std::min(minimum, now);
    make_ready(w, b.waiting[w.local]);
  }
  b.arrived = b.strays = 0;
  ++b.rounds;
  std::copy(std::begin(b.epoch), std::end(b.epoch), b.came_before);
  ++counters[Counter::barrier];
}

namespace {

void meet(Thread& t, const void* in, void* out, LaneFunction compute, void* with, const char* what) {
  fiber(t).home->meet(fiber(t), in, out, compute, with, what, ZELLIGE_SITE());
}
void sync_warp(Thread& t, unsigned mask) { fiber(t).home->sync_warp(fiber(t), mask, ZELLIGE_SITE()); }
void bar_sync(Thread& t, unsigned id, unsigned threads) {
  fiber(t).home->bar_sync(fiber(t), id, threads, ZELLIGE_SITE());
}
void bar_arrive(Thread& t, unsigned id, unsigned threads) {
  fiber(t).home->bar_arrive(fiber(t), id, threads, ZELLIGE_SITE());
}

}  // namespace

void add_waits(Engine& all) {
  all.meet = meet;
  all.sync_warp = sync_warp;
  all.bar_sync = bar_sync;
  all.bar_arrive = bar_arrive;
}

}  // namespace zellige::emulate
