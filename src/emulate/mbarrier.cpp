// Implements mbarriers: arrivals, expected bytes (expect_tx), and the end of a phase. At the end of a phase,
// the vector clocks (clock.hpp) of the arriving threads are passed on to the waiting threads, so that the
// accesses before the arrivals are ordered before the accesses after the wait.
#include <algorithm>
#include <utility>

#include "emulate/calls.hpp"

namespace zellige::emulate {

using Kind = Finding::Kind;

namespace {

// Returns true if a thread (the actor) that arrives at the mbarrier knows that the mbarrier's previous phase has ended.
// If it does not know, its arrival might be one too many in that phase. It knows in one of three cases:
// 1. It has observed the end of the phase.
// 2. It has observed all arrivals of the phase.
// 3. It has observed the end of the phase at the mbarrier with the same offset in another block: if the
//    blocks of a cluster share a ring, one instruction of a warp arrives at the mbarriers of all blocks.
bool may_arrive(const MBarrier& b, const shadow::Actor& a, Cluster& cluster) {
  if (b.phase == 0 || a.clock->time[b.agent] >= b.ended) return true;
  for (unsigned r = 0; r < cluster.size(); ++r) {
    const MBarrier* same = cluster.block(r).mbarriers.find(b.at);
    if (same && same->count == b.count && a.clock->time[same->agent] >= b.ended) return true;
  }
  return std::ranges::all_of(b.came_before, [&](const Arrived& x) { return a.after(x.epoch, x.thread); });
}

// Arrives `count` times at an mbarrier, and announces `bytes` more bytes.
void arrive(Fiber& f, MBarrier& b, unsigned count, unsigned bytes, Site site) {
  Block& own = *f.home;
  ++own.counters[Counter::mbarrier_arrive];
  const std::int64_t limit = (1 << 20) - 1;
  if (b.bytes + bytes > limit) {
    own.fail_at(f, b.tensor, site, "mbarrier {} is to expect {} bytes in one phase; {} is the most", b.name,
                b.bytes + bytes, limit);
  }
  b.bytes += bytes;
  b.counts_bytes |= bytes != 0;
  if (!count) {
    if (b.pending == 0) complete_bytes(own.cluster, b, 0);
    return;
  }
  if (count > b.pending) {
    own.fail_at(f, b.tensor, site,
                "mbarrier {} gets more arrivals than the {} that it was initialised for: {} in phase {}", b.name,
                b.count, b.count - b.pending + count, b.phase);
    count = b.pending;
  }
  const shadow::Actor a = own.actor(f, site.address);
  if (!may_arrive(b, a, own.cluster)) {
    b.strays += count;
    own.fail_at(f, b.tensor, site,
                "mbarrier {} gets more arrivals than the {} that it was initialised for: {} in phase {}, since this "
                "thread has not observed that it has ended",
                b.name, b.count, b.count + b.strays, b.phase - 1);
  }
  b.came.push_back({a.epoch, a.thread});
  b.last = site;
  start_epoch(f);
  b.observed.join(known(f), own.cluster.agents());
  b.pending -= count;
  complete_bytes(own.cluster, b, 0);
}

// Returns the mbarrier at `p` in the thread's own block, or at the same offset in block `rank` of the cluster. If there is
// no valid mbarrier, reports a finding (an error in the kernel) and returns null.
MBarrier* barrier_at(Fiber& f, Place p, unsigned rank, Site site) {
  Block& b = *f.home;
  if (rank == own_block || rank == b.rank) return mbarrier_at(f, p, "arrives at", site);
  if (rank >= b.cluster.size() || p.region->space != Space::shared) {
    b.report(f, Kind::instruction, p.region->name, site,
             "at \1, {} arrives at mbarrier {} in block {} of a cluster of {}", b.who(f.index), p.region->name, rank,
             b.cluster.size());
    return nullptr;
  }
  const auto at = std::uint32_t(p.p - static_cast<Block*>(p.region->shadow)->memory);
  return mbarrier_at(b.cluster.block(rank), f, at, "arrives at", site, p.region->name);
}

void mbarrier_init(Thread& t, Place p, unsigned count) {
  const auto [f, own, site] = Call(t, ZELLIGE_SITE());
  if (p.region->space != Space::shared) {
    own.fail_at(f, p.region->name, site, "an mbarrier in global memory; it must be in shared memory");
    return;
  }
  Block& home = *static_cast<Block*>(p.region->shadow);
  if (&home != &own) {
    own.fail_at(f, p.region->name, site, "mbarrier {} of another block is initialised; a block initialises its own",
                p.region->name);
    return;
  }
  const auto from = std::size_t(p.p - p.region->begin);
  const std::uint32_t at = std::uint32_t(p.p - home.memory);
  const std::string name =
      p.region->bytes > 8 ? fmt::format("{}[{}]", p.region->name, from / 8) : std::string(p.region->name);
  if (count == 0 || count >= (1u << 20)) {
    own.fail_at(f, p.region->name, site, "mbarrier {} is initialised for {} arrivals; there must be 1 to {}", name,
                count, (1u << 20) - 1);
    count = 1;
  }
  MBarrier& b = home.mbarriers.add(at);
  if (b.valid)
    own.fail_at(
        f, p.region->name, {site, widen(b.made_site, site.address)},
        "mbarrier {} is initialised again while it is live, initialised by {} at \2{}; mbarrier_inval comes first",
        name, own.cluster.spell(b.made_by),
        b.waiting.empty() ? "" : fmt::format(", and {} threads wait at it", b.waiting.size()));
  b.valid = false;
  t.engine->write(t, p, 8);  // the barrier's 8 bytes are checked and written like ordinary bytes
  if (b.name.empty()) b.agent = own.cluster.new_agent();
  b.at = at, b.name = name, b.tensor = p.region->name;
  b.count = b.pending = count;
  b.bytes = b.phase = b.strays = b.commits = 0;
  b.counts_bytes = false;
  b.came.clear(), b.came_before.clear();
  b.valid = true, b.fenced_at = 0;
  const shadow::Actor a = own.actor(f, site.address);
  b.made_by = a.thread, b.made_at_time = a.epoch, b.made_site = a.site;
  b.observed.clear(shadow::max_agents);
  for (shadow::Clock& c : b.released) c.clear(shadow::max_agents);
  b.used.assign(own.cluster.warps() * 32, {});
}

// Reports what may still use an mbarrier that thread `f` invalidates: waiting threads, uses by other threads that are
// not ordered before, and copies that complete on it.
void check_unused(const Fiber& f, Block& home, const MBarrier& b, Site site) {
  Block& own = *f.home;
  if (!b.waiting.empty())
    own.fail_at(f, b.tensor, site, "mbarrier {} is invalidated while {} threads wait at it", b.name, b.waiting.size());
  const shadow::Actor a = own.actor(f, site.address);
  for (std::size_t i = 0; i < b.used.size(); ++i) {
    const Used& u = b.used[i];
    if (!u.epoch || a.after(u.epoch, std::uint16_t(i))) continue;
    own.report(f, Kind::race, b.tensor, {site, widen(u.site, site.address), false, Finding::Missing::block_barrier},
               "on mbarrier {}: {} invalidates it at \1; {} uses it at \2 and no barrier lies between", b.name,
               own.who(f.index), own.cluster.spell(unsigned(i)));
    break;
  }
  for (const shadow::AsyncOp& op : own.cluster.ops) {
    if (op.block_of_barrier() != home.rank || op.barrier != b.at || op.landed || !op.completes_on_mbarrier()) continue;
    own.fail_at(f, b.tensor, {site, widen(op.site, site.address)},
                "mbarrier {} is invalidated while the copy that {} issued at \2 is still to complete on it", b.name,
                own.cluster.spell(op.thread));
    break;
  }
}

void mbarrier_inval(Thread& t, Place p) {
  const auto [f, own, site] = Call(t, ZELLIGE_SITE());
  MBarrier* b = mbarrier_at(f, p, "invalidates", site);
  if (!b) return;
  check_unused(f, *static_cast<Block*>(p.region->shadow), *b, site);
  b->valid = false;
  t.engine->write(t, p, 8);
}
void mbarrier_arrive(Thread& t, Place p, unsigned rank, unsigned count, unsigned bytes) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  b.check_time(f, site);
  if (MBarrier* at = barrier_at(f, p, rank, site)) arrive(f, *at, count, bytes, site);
}
void mbarrier_complete_tx(Thread& t, Place p, unsigned bytes) {
  const auto [f, own, site] = Call(t, ZELLIGE_SITE());
  if (MBarrier* b = mbarrier_at(f, p, "completes bytes of", site)) complete_bytes(own.cluster, *b, bytes);
}
// The thread learns of the first end of a phase that its wait can mean: the first one with the parity that the thread
// does not precede. In another schedule the wait returns then, and what later phases pass on is not known yet.
void hear(Fiber& f, const MBarrier& b, unsigned parity) {
  const std::uint32_t base = b.ended - b.phase;  // the ends of phases before the mbarrier was last initialised
  std::uint32_t end = std::max(known(f).time[b.agent], base);
  if (((end - base) & 1) == (parity & 1)) ++end;
  if (end == base) return;
  if (end + MBarrier::kept <= b.ended) end = b.ended - MBarrier::kept + 1;
  hear(f, b.released[std::min(end, b.ended) % MBarrier::kept]);
}

bool mbarrier_test_wait(Thread& t, Place p, unsigned parity) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  const MBarrier* at = mbarrier_at(f, p, "waits at", site);
  if (!at) return true;
  if ((at->phase & 1) == (parity & 1)) {  // lets other threads run, and then looks once more
    f.mbarrier = at;
    f.parity = parity & 1;
    b.suspend(f, Fiber::State::polling, site);
    if ((at->phase & 1) == (parity & 1)) return false;
  }
  hear(f, *at, parity);
  return true;
}
void mbarrier_wait(Thread& t, Place p, unsigned parity) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  MBarrier* at = mbarrier_at(f, p, "waits at", site);
  if (!at) return;
  ++b.counters[Counter::mbarrier_wait];
  if ((at->phase & 1) != (parity & 1)) return hear(f, *at, parity);
  f.mbarrier = at;
  f.parity = parity & 1;
  at->waiting.push_back(&f);
  b.suspend(f, Fiber::State::at_mbarrier, site);
}
// Emulates cp.async.mbarrier.arrive: completes all cp.async copies of the thread at once, then arrives at the
// mbarrier at `p`. A thread that waits at the mbarrier thus knows that the copies are complete.
void cp_async_mbarrier_arrive(Thread& t, Place p) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  f.copy_groups.push_back(std::exchange(f.uncommitted, 0));
  land_copies(f, 0);
  if (MBarrier* at = barrier_at(f, p, own_block, site)) arrive(f, *at, 1, 0, site);
}

}  // namespace

MBarrier* mbarrier_at(Fiber& f, Place p, const char* verb, Site site) {
  const Region& r = *p.region;
  Block& own = *f.home;
  if (r.space != Space::shared) {
    own.report(f, Kind::instruction, r.name, site,
               "at \1, {} {} an mbarrier in global memory; it must be in shared memory", own.who(f.index), verb);
    return nullptr;
  }
  const std::size_t from = std::size_t(p.p - r.begin);
  if (from > r.bytes || 8 > r.bytes - from || from % 8 != 0 || std::uintptr_t(p.p) % 8 != 0) {
    const std::ptrdiff_t signed_from = p.p - r.begin;
    own.report(f, from % 8 ? Kind::misaligned : Kind::out_of_bounds, r.name, site,
               "{} shared tensor {}: {} {} an mbarrier at bytes {}..{} at \1; the tensor has {}",
               from % 8 ? "in" : "on", r.name, own.who(f.index), verb, signed_from, signed_from + 8, r.bytes);
    return nullptr;
  }
  Block& home = *static_cast<Block*>(r.shadow);
  return mbarrier_at(home, f, std::uint32_t(p.p - home.memory), verb, site, r.name);
}

MBarrier* mbarrier_at(Block& there, Fiber& f, std::uint32_t at, const char* verb, Site site, const char* tensor,
                      bool by_copy) {
  Block& own = *f.home;
  MBarrier* const found = there.mbarriers.find(at);
  if (!found || !found->valid) {
    own.report(f, Kind::uninitialised_read, tensor, site,
               "of mbarrier {}: {} {} it{} at \1, and nobody has initialised it", tensor, own.who(f.index), verb,
               &there == &own ? "" : " in " + there.name());
    return nullptr;
  }
  MBarrier& b = *found;
  if (!reach(there, f, verb, "mbarrier", b.name, site, by_copy)) return nullptr;
  const shadow::Actor a = own.actor(f, site.address);
  if (!a.after(b.made_at_time, b.made_by)) {
    own.report(f, Kind::race, b.tensor,
               {site, widen(b.made_site, site.address), false, Finding::Missing::block_barrier},
               "on mbarrier {}: {} {} it at \1; {} initialised it at \2 and no barrier lies between", b.name,
               own.who(f.index), verb, own.cluster.spell(b.made_by));
  } else if (!there.shadow.written_by(at, b.made_by, b.made_at_time)) {
    own.report(f, Kind::race, b.tensor, {site, widen(b.made_site, site.address)},
               "on mbarrier {}: {} {} it at \1, but its bytes have been overwritten since it was initialised at \2",
               b.name, own.who(f.index), verb);
  }
  b.used[a.thread] = {a.epoch, std::uint32_t(site.address)};
  return found;
}

void complete_bytes(Cluster& cluster, MBarrier& b, std::int64_t bytes) {
  b.bytes -= bytes;
  b.counts_bytes |= bytes != 0;
  if (b.pending || b.bytes) return;
  cluster.polled = 0;
  const std::uint32_t ended = b.phase++;
  b.observed.time[b.agent] = ++b.ended;
  shadow::Clock& released = b.released[b.ended % MBarrier::kept];
  released.assign(b.released[(b.ended - 1) % MBarrier::kept], cluster.agents());
  released.join(b.observed, cluster.agents());
  b.observed.clear(cluster.agents());
  b.pending = b.count;
  b.came_before.swap(b.came);
  b.came.clear();
  b.strays = 0;
  std::vector<Fiber*> later;
  for (Fiber* f : b.waiting) {
    if (f->parity != (ended & 1)) {
      later.push_back(f);
      continue;
    }
    hear(*f, b, f->parity);
    f->home->make_ready(*f->its_warp, 1u << f->lane);
  }
  b.waiting.swap(later);
}

bool begin_commit(Fiber& f, MBarrier& b, Site site) {
  Block& own = *f.home;
  const bool fits = b.commits < b.pending, knows = may_arrive(b, own.actor(f, site.address), own.cluster);
  b.last = {site.address, 0};
  if (!fits || !knows)
    own.fail_at(f, b.tensor, site,
                "mbarrier {} gets more arrivals than the {} that it was initialised for: {} in phase {}{}, the last by "
                "tcgen05_commit",
                b.name, b.count, fits ? b.count + ++b.strays : b.count - b.pending + b.commits + 1,
                fits ? b.phase - 1 : b.phase, fits ? ", since this thread has not observed that it has ended" : "");
  if (fits) ++b.commits;
  return fits;
}

void MBarriers::report_write(const Fiber& f, std::size_t at, std::size_t bytes, const char* verb, Site site) const {
  for (auto i = all.lower_bound(at < 8 ? 0 : std::uint32_t(at - 7)); i != all.end(); ++i) {
    const MBarrier& b = i->second;
    if (b.at >= at + bytes) return;
    if (!b.valid) continue;
    f.home->fail_at(
        f, b.tensor, {site, widen(b.made_site, site.address)},
        "it {} bytes of mbarrier {}, which {} initialised at \2 and which is live; mbarrier_inval comes first", verb,
        b.name, f.home->cluster.spell(b.made_by));
  }
}

void add_mbarriers(AsyncEngine& all) {
  all.mbarrier_init = mbarrier_init;
  all.mbarrier_inval = mbarrier_inval;
  all.mbarrier_arrive = mbarrier_arrive;
  all.mbarrier_complete_tx = mbarrier_complete_tx;
  all.mbarrier_test_wait = mbarrier_test_wait;
  all.mbarrier_wait = mbarrier_wait;
  all.cp_async_mbarrier_arrive = cp_async_mbarrier_arrive;
}

}  // namespace zellige::emulate
