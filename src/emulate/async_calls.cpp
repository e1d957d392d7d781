// Implements AsyncEngine, the table of functions that emulated kernels call for asynchronous instructions (mbarriers,
// TMA, wgmma, ...). The functions here check operands and forward to the block or the cluster.
#include "emulate/calls.hpp"

namespace zellige::emulate {

namespace {

using Kind = Finding::Kind;

void fence_proxy(Thread& t, bool init) {
  Fiber& f = fiber(t);
  Block& b = *f.home;
  f.init_fenced |= init;
  const std::uint16_t me = std::uint16_t(b.first_thread + f.index);
  for (auto& [at, barrier] : b.mbarriers)
    if (barrier.made_by == me) barrier.fenced = true;
  if (init) return;
  // Makes everything that this thread has observed visible to the asynchronous proxy, for every thread that
  // synchronizes with this one from now on.
  b.fence(f);
}

unsigned smem_address(Thread& t, Place p) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  if (p.region->space != Space::shared || p.region->shadow != &b) {
    b.fail_at(f, p.region->name, site, "a descriptor of {}, which is not in the block's own shared memory",
              p.region->name);
    return 0;
  }
  if (std::size_t(p.p - b.memory) % 16)
    b.report(f, Kind::misaligned, p.region->name, site,
             "in shared tensor {}: {} makes a descriptor of byte {} at \1; it must be a multiple of 16", p.region->name,
             b.who(f.index), p.p - p.region->begin);
  return unsigned(p.p - b.memory);
}

Place mapa(Thread& t, Place p, unsigned rank) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  if (p.region->space != Space::shared || rank >= b.cluster.size()) {
    b.fail_at(f, p.region->name, site, "mapa of {} to block {} of a cluster of {}",
              p.region->space == Space::shared ? p.region->name : "global memory", rank, b.cluster.size());
    b.abandon(f);
  }
  Block& from = *static_cast<Block*>(p.region->shadow);
  Block& there = b.cluster.block(rank);
  const Region* region =
      there.shared(f, p.region->name, unsigned(p.region->begin - from.memory), unsigned(p.region->bytes), site);
  return {region->begin + (p.p - p.region->begin), region};
}

void cluster_arrive(Thread& t, bool release) { fiber(t).home->cluster.arrive(fiber(t), release, ZELLIGE_SITE()); }
void cluster_wait(Thread& t) { fiber(t).home->cluster.wait(fiber(t), ZELLIGE_SITE()); }

void mbarrier_init(Thread& t, Place p, unsigned count) {
  const Site site = ZELLIGE_SITE();
  t.engine->write(t, p, 8);  // the barrier's 8 bytes are checked and written like ordinary bytes
  fiber(t).home->mbarrier_init(fiber(t), p, count, site);
}
void mbarrier_inval(Thread& t, Place p) {
  Fiber& f = fiber(t);
  if (MBarrier* b = f.home->mbarrier(f, p, "invalidates", ZELLIGE_SITE())) b->valid = false;
}

// Returns the mbarrier at `p` in the thread's own block, or at the same offset in block `rank` of the
// cluster. Sets `there` to the block in which it is. If there is no valid mbarrier, reports a finding (an
// error in the kernel) and returns null. `verb`: what the thread does ("arrives at"), for the message.
MBarrier* barrier_at(Fiber& f, Place p, unsigned rank, const char* verb, Site site, Block*& there) {
  Block& b = *f.home;
  there = &b;
  if (rank == own_block || rank == b.rank) return b.mbarrier(f, p, verb, site);
  if (rank >= b.cluster.size() || p.region->space != Space::shared) {
    b.report(f, Kind::instruction, p.region->name, site, "at \1, {} {} mbarrier {} in block {} of a cluster of {}",
             b.who(f.index), verb, p.region->name, rank, b.cluster.size());
    return nullptr;
  }
  there = &b.cluster.block(rank);
  return there->mbarrier(f, std::uint32_t(p.p - static_cast<Block*>(p.region->shadow)->memory), verb, site,
                         p.region->name);
}

void mbarrier_arrive(Thread& t, Place p, unsigned rank, unsigned count, unsigned bytes) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  Block* there;
  b.check_time(f, site);
  if (MBarrier* at = barrier_at(f, p, rank, "arrives at", site, there))
    there->mbarrier_arrive(f, *at, count, bytes, site);
}
void mbarrier_complete_tx(Thread& t, Place p, unsigned bytes) {
  Fiber& f = fiber(t);
  if (MBarrier* b = f.home->mbarrier(f, p, "completes bytes of", ZELLIGE_SITE())) f.home->mbarrier_complete(*b, bytes);
}
bool mbarrier_test_wait(Thread& t, Place p, unsigned parity) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  MBarrier* at = b.mbarrier(f, p, "waits at", site);
  return !at || b.mbarrier_poll(f, *at, parity, site);
}
void mbarrier_wait(Thread& t, Place p, unsigned parity) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  if (MBarrier* at = b.mbarrier(f, p, "waits at", site)) b.mbarrier_wait(f, *at, parity, site);
}
// Emulates cp.async.mbarrier.arrive: completes all cp.async copies of the thread at once, then arrives at the
// mbarrier at `p`. A thread that waits at the mbarrier thus knows that the copies are complete.
void cp_async_mbarrier_arrive(Thread& t, Place p) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  Block* there;
  f.group_ends.push_back(std::uint32_t(f.copies.size()));
  b.land_copies(f, 0);
  if (MBarrier* at = barrier_at(f, p, own_block, "arrives at", site, there)) there->mbarrier_arrive(f, *at, 1, 0, site);
}

void prefetch(Thread& t, Place p, unsigned bytes, unsigned alignment) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  const Region& r = *p.region;
  if (alignment > 1 && (bytes % alignment || std::uintptr_t(p.p) % alignment || r.space != Space::global))
    b.report(f, Kind::misaligned, r.name, site,
             "in tensor {}: {} prefetches bytes {}..{} at \1; place and size must be multiples of {} in global memory",
             r.name, b.who(f.index), p.p - r.begin, p.p - r.begin + bytes, alignment);
}

void wgmma(Thread& t, const WgmmaCall& call) { fiber(t).home->wgmma(fiber(t), call, ZELLIGE_SITE()); }
void wgmma_fence(Thread& t) {
  Fiber& f = fiber(t);
  in_flight(f);
  f.together_at = ZELLIGE_SITE();
  f.home->wgmma_fence(f);
}
void wgmma_commit(Thread& t) {
  Fiber& f = fiber(t);
  ++f.together[1];
  f.together_at = ZELLIGE_SITE();
  ++in_flight(f).wgmma_committed;
  f.in_flight->wgmma_open = false;
}
void wgmma_wait(Thread& t, unsigned pending) { fiber(t).home->wgmma_wait(fiber(t), pending, ZELLIGE_SITE()); }
void setmaxnreg(Thread& t, unsigned registers, bool more) {
  fiber(t).home->set_registers(fiber(t), registers, more, ZELLIGE_SITE());
}

void griddep_wait(Thread& t) { fiber(t).home->griddep_wait(fiber(t)); }
void griddep_launch_dependents(Thread& t) { ++fiber(t).home->cluster.counters[Counter::griddep_launch_dependents]; }
void check_descriptor(Thread& t, const char* field, unsigned bytes) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  b.fail_at(f, nullptr, site, "{} of a wgmma descriptor is {} bytes; it must be a multiple of 16 below {}", field,
            bytes, 1u << 18);
}

}  // namespace

const AsyncEngine& async_engine() {
  static const AsyncEngine table = [] {
    AsyncEngine all = {.fence_proxy = fence_proxy,
                       .smem_address = smem_address,
                       .mapa = mapa,
                       .cluster_arrive = cluster_arrive,
                       .cluster_wait = cluster_wait,
                       .mbarrier_init = mbarrier_init,
                       .mbarrier_inval = mbarrier_inval,
                       .mbarrier_arrive = mbarrier_arrive,
                       .mbarrier_complete_tx = mbarrier_complete_tx,
                       .mbarrier_test_wait = mbarrier_test_wait,
                       .mbarrier_wait = mbarrier_wait,
                       .cp_async_mbarrier_arrive = cp_async_mbarrier_arrive,
                       .prefetch = prefetch,
                       .wgmma = wgmma,
                       .wgmma_fence = wgmma_fence,
                       .wgmma_commit = wgmma_commit,
                       .wgmma_wait = wgmma_wait,
                       .setmaxnreg = setmaxnreg,
                       .griddep_wait = griddep_wait,
                       .griddep_launch_dependents = griddep_launch_dependents,
                       .check_descriptor = check_descriptor};
    add_copies(all);
    return all;
  }();
  return table;
}

}  // namespace zellige::emulate
