// Implements AsyncEngine, the table of functions that emulated kernels call for asynchronous instructions (mbarriers,
// TMA, wgmma, ...). The functions here check operands and forward to the block or the cluster.
#include "emulate/calls.hpp"

namespace zellige::emulate {

namespace {

using Kind = Finding::Kind;

void fence_proxy(Thread& t, ProxyFence of) {
  Fiber& f = fiber(t);
  Block& b = *f.home;
  const std::uint16_t me = std::uint16_t(b.first_thread + f.index);
  for (auto& [at, barrier] : b.mbarriers.all)
    if (of != ProxyFence::global && barrier.made_by == me && !barrier.fenced_at)
      barrier.fenced_at = f.its_warp->clock.time[f.its_warp->index];
  if (of == ProxyFence::init) {
    start_epoch(f);
    f.init_fenced_at = f.its_warp->clock.time[f.its_warp->index];
    return;
  }
  // Makes everything that this thread has observed visible to the asynchronous proxy, for every thread that
  // synchronizes with this one from now on.
  fence(f, of != ProxyFence::global, of != ProxyFence::shared);
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

void cluster_arrive(Thread& t, bool release) {
  fiber(t).home->cluster.arrive(fiber(t), release, Call(t, ZELLIGE_SITE()).site);
}
void cluster_wait(Thread& t) { fiber(t).home->cluster.wait(fiber(t), Call(t, ZELLIGE_SITE()).site); }

void prefetch(Thread& t, Place p, unsigned bytes, unsigned alignment) {
  const auto [f, b, site] = Call(t, ZELLIGE_SITE());
  const Region& r = *p.region;
  if (alignment > 1 && (bytes % alignment || std::uintptr_t(p.p) % alignment || r.space != Space::global))
    b.report(f, Kind::misaligned, r.name, site,
             "in tensor {}: {} prefetches bytes {}..{} at \1; place and size must be multiples of {} in global memory",
             r.name, b.who(f.index), p.p - r.begin, p.p - r.begin + bytes, alignment);
}

void griddep_wait(Thread& t) {
  Block& b = *fiber(t).home;
  b.cluster.waits_for_previous = true;
  ++b.counters[Counter::griddep_wait];
  hear(fiber(t), b.cluster.previous, 1);
}
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
                       .prefetch = prefetch,
                       .griddep_wait = griddep_wait,
                       .griddep_launch_dependents = griddep_launch_dependents,
                       .check_descriptor = check_descriptor};
    add_mbarriers(all);
    add_copies(all);
    add_wgmma(all);
    add_tcgen05(all);
    return all;
  }();
  return table;
}

}  // namespace zellige::emulate
