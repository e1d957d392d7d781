#include "emulate/masked.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulate/cluster.hpp"

namespace zellige::emulate {

namespace {

// Ends a collective if all lanes that its mask names have come or returned. Returns the mask of the lanes that have called it; 0: none.
std::uint32_t complete(Block& b, Warp& w, std::size_t i) {
  if ((w.collectives[i].here | w.returned | ~w.collectives[i].mask) != ~0u) return 0;
  const MaskedCollective m = w.collectives[i];
  w.collectives.erase(w.collectives.begin() + std::ptrdiff_t(i));
  w.log.flush(b.counters);
  m.compute(m.with, m.here, m.in, m.out);
  return m.here;
}

}  // namespace

void converge_lanes(Fiber& f, std::uint32_t mask, const void* in, void* out, MaskedFunction compute, void* with,
                    const char* what, Site site) {
  Block& b = *f.home;
  Warp& w = *f.its_warp;
  b.check_time(f, site);
  mask &= w.lanes;
  if (!(mask >> f.lane & 1)) {
    b.report(f, Finding::Kind::divergence, nullptr, {site, Finding::Missing::mask_lanes},
             "{} calls {} at \1 with the mask {:#010x}, which leaves its own lane {} out", b.who(f.index), what, mask,
             f.lane);
    mask = 1u << f.lane;
  }
  std::size_t i = 0;
  while (i < w.collectives.size() && (w.collectives[i].mask != mask || std::strcmp(w.collectives[i].what, what) != 0))
    ++i;
  if (i == w.collectives.size()) w.collectives.push_back({mask, 0, what, compute, with, {}, {}});
  MaskedCollective& m = w.collectives[i];
  m.here |= 1u << f.lane;
  m.in[f.lane] = in;
  m.out[f.lane] = out;
  f.what = what;
  f.mask = mask;
  const std::uint32_t met = complete(b, w, i);
  if (!met) return b.suspend(f, Fiber::State::in_lanes, site);
  b.make_ready(w, met & ~(1u << f.lane));
}

void leave_collectives(const Fiber& f) {
  Warp& w = *f.its_warp;
  for (std::size_t i = 0; i < w.collectives.size();) {
    const std::uint32_t met = complete(*f.home, w, i);
    if (met)
      f.home->make_ready(w, met);
    else
      ++i;
  }
}

std::uint32_t active_lanes(Fiber& f, Site site) {
  f.home->suspend(f, Fiber::State::gathering, site);
  return f.mask;
}

bool gather_lanes(Block& b) {
  bool any = false;
  for (unsigned i = 0; i < b.thread_count(); ++i) {
    Fiber& first = b.thread(i);
    if (first.state != Fiber::State::gathering || (first.its_warp->ready >> first.lane & 1)) continue;
    Warp& w = *first.its_warp;
    std::uint32_t mask = 0;
    for (unsigned lane = first.lane; lane < 32 && (w.lanes >> lane & 1); ++lane) {
      const Fiber& f = b.thread(w.local * 32 + lane);
      if (f.state == Fiber::State::gathering && f.site.address == first.site.address) mask |= 1u << lane;
    }
    for (std::uint32_t left = mask; left; left &= left - 1) {
      Fiber& f = b.thread(w.local * 32 + unsigned(std::countr_zero(left)));
      f.mask = mask;
      f.state = Fiber::State::ready;
    }
    b.make_ready(w, mask);
    any = true;
  }
  return any;
}

void spin(Fiber& f, const void* address, Site site) {
  if (f.spins_at != site.address || f.spins_on != address)
    f.spins_at = site.address, f.spins_on = address, f.spins = 4, f.yields = 0;
  if (--f.spins) return f.home->check_time(f, site);
  ++f.yields;
  f.spins = 1 + f.yields / 10;
  f.home->suspend(f, Fiber::State::spinning, site);
}

}  // namespace zellige::emulate
