#include "emulate/block_reports.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "emulate/calls.hpp"
#include "zellige/emulate/arrangement.hpp"

namespace zellige::emulate {

using Kind = Finding::Kind;
using What = shadow::Clash::What;
using Missing = Finding::Missing;

namespace {

// Returns in words how many announced bytes of an mbarrier's phase are missing, or how many have arrived unannounced.
std::string lacking_bytes(const MBarrier& b) {
  return b.bytes > 0 ? fmt::format("{} announced bytes have not come", b.bytes)
                     : fmt::format("{} bytes have come that were not announced", -b.bytes);
}

// Returns the name of the function in <zellige/atom/> that issues the operation.
const char* name_of(shadow::AsyncOp::Kind kind) {
  // In the order of the enumeration, which ends with `try_cancel`.
  static constexpr const char* names[] = {"tma_load",
                                          "bulk_load",
                                          "bulk_copy_cluster",
                                          "store_async",
                                          "tma_store",
                                          "bulk_store",
                                          "wgmma",
                                          "tcgen05.mma",
                                          "tcgen05.cp",
                                          "tcgen05_commit",
                                          "cluster_launch_try_cancel"};
  static_assert(std::size(names) == std::size_t(shadow::AsyncOp::Kind::try_cancel) + 1);
  return names[std::size_t(kind)];
}

// Returns the layout of a shared memory tile in words: "Swizzle<3,4,3> of bytes at strides 2, 128".
std::string spell(const Arrangement& a) {
  std::string text =
      a.bits ? fmt::format("Swizzle<{},{},{}> of bytes at strides", a.bits, a.base, a.shift) : "bytes at strides";
  for (int i = 0; i < a.count; ++i) text += fmt::format("{}{}", i ? ", " : " ", a.strides[i]);
  return text;
}

// Returns the earlier access of a conflict in words, as the end of a sentence. `there`: the block whose memory is
// accessed; `thread`: the thread that makes the later access. \2 is a placeholder for the earlier access's source line.
std::string spell_earlier(const shadow::Clash& c, const Block& there, unsigned thread) {
  const std::string who = there.cluster.spell(c.thread);
  switch (c.what) {
    case What::unwritten:
      return ", which nothing has written";
    case What::padding:
      return ", of which some are padding: no element lies there";
    case What::other_tensor:
      return fmt::format(", which {} last wrote as tensor {} at \2", who, there.region_names[c.region]);
    case What::other_layout:
      return fmt::format("; {} wrote them at \2 through another layout, {}", who, spell(*there.arrangements[c.region]));
    case What::in_flight:
      return fmt::format("; the cp.async that {} issued at \2 is still in flight", who);
    case What::unfenced:
      return fmt::format("; {} wrote them at \2 and no fence_proxy_async lies between", who);
    case What::async_write: {
      const shadow::AsyncOp& op = there.cluster.ops[c.op];
      const MBarrier* barrier = there.cluster.block(op.block_of_barrier()).mbarriers.find(op.barrier);
      if (!op.landed) return fmt::format("; the {} that {} issued at \2 is still in flight", name_of(op.kind), who);
      return fmt::format("; the {} that {} issued at \2 wrote them and no wait at mbarrier {} lies between",
                         name_of(op.kind), who, barrier ? barrier->name : "");
    }
    case What::async_read: {
      const shadow::AsyncOp& op = there.cluster.ops[c.op];
      if (op.completes_on_mbarrier())
        return fmt::format("; the {} that {} issued at \2 may still read them", name_of(op.kind), who);
      return fmt::format("; the {} that {} issued at \2 may still read them, no {} and barrier lie between",
                         name_of(op.kind), who,
                         op.kind == shadow::AsyncOp::Kind::wgmma ? "wgmma_wait"
                         : op.completes_by_commit()              ? "wait at an mbarrier of its tcgen05_commit"
                                                                 : "tma_store_wait_read");
    }
    case What::storing:
      return fmt::format(
          "; the store or reduction that {} issued at \2 is in flight, no tma_store_wait_complete lies "
          "between",
          who);
    case What::added:
      return fmt::format("; {} added to them at \2 and no barrier lies between", who);
    case What::copying:
      return fmt::format("; the cp.async that {} issued at \2 may still read them", who);
    default:
      break;
  }
  const char* deed = c.what == What::written ? "wrote" : "read";
  const char* between = c.thread / 32 == thread / 32 ? "no __syncwarp or barrier" : "no barrier";
  return fmt::format("; {} {} them at \2 and {} lies between", who, deed, between);
}

// Returns what would order the access of `thread` after the earlier one.
Missing missing_between(const shadow::Clash& c, unsigned thread) {
  if (c.what == What::in_flight) return Missing::copy_wait;
  if (c.what == What::added) return Missing::block_barrier;
  if (c.what != What::written && c.what != What::read) return Missing::nothing;
  return c.thread / 32 == thread / 32 ? Missing::warp_barrier : Missing::block_barrier;
}

// Returns what an earlier access to global memory does, for the message.
const char* deed_of(What what) {
  return what == What::read      ? "reads"
         : what == What::added   ? "adds to"
         : what == What::storing ? "stores asynchronously to"
                                 : "writes";
}

// Returns what a thread waits for at the mbarrier `b`, and how many arrivals and bytes the mbarrier lacks to
// end its phase. The words continue "thread 0": "waits at mbarrier ...". `parity`: the parity for which the
// thread waits; `line`: placeholder for the source line of its wait.
std::string lacking(const MBarrier& b, unsigned parity, const char* line) {
  std::string missing;
  if (b.pending) missing = fmt::format("{} of {} arrivals are missing", b.pending, b.count);
  if (b.bytes) missing += (missing.empty() ? "" : " and ") + lacking_bytes(b);
  return fmt::format("waits at mbarrier {} for parity {} (it is in phase {}: {}) at {}", b.name, parity, b.phase,
                     missing, line);
}

// Returns what a thread waits for, such as "waits in mma at \3". Appends the call in which it waits to those that `raw` (an
// unfinished message) lists; \3 is a placeholder for the source line of the third one.
std::string waiting_for(const Fiber& f, RawFinding& raw) {
  const Block& home = *f.home;
  if (f.state == Fiber::State::returned) return "has returned";
  if (f.state == Fiber::State::ready && !f.site.address) return "has not begun";
  raw.sites.push_back(home.walk(f, f.site));
  if (raw.kind == Kind::deadlock && f.state == Fiber::State::at_barrier && f.barrier == 0 &&
      home.barriers[0].expected == home.thread_count())
    raw.missing = Missing::all_threads;
  if (raw.kind == Kind::divergence && f.state == Fiber::State::in_lanes) raw.missing = Missing::mask_lanes;
  const char line[] = {char(raw.sites.size()), 0};
  const NamedBarrier& b = home.barriers[f.barrier % 16];
  switch (f.state) {
    case Fiber::State::converging:
      return fmt::format("waits in {} at {}", f.its_warp->what, line);
    case Fiber::State::in_syncwarp:
      return fmt::format("waits in __syncwarp at {}", line);
    case Fiber::State::at_barrier:
      if (f.barrier == 0 && b.expected == home.thread_count())
        return fmt::format("waits at the block's barrier at {}", line);
      return fmt::format("waits at barrier {} ({} of {} threads have come) at {}", f.barrier, b.arrived, b.expected,
                         line);
    case Fiber::State::at_mbarrier:
    case Fiber::State::polling:
      return lacking(*f.mbarrier, f.parity, line);
    case Fiber::State::in_wgmma:
      return fmt::format("waits in wgmma ({} of the 128 threads of its warpgroup have come) at {}",
                         home.warpgroups[f.index / 128].arrived, line);
    case Fiber::State::at_cluster:
      return fmt::format("waits in cluster_wait ({} of {} threads of the cluster have arrived) at {}",
                         home.cluster.arrived, home.cluster.live, line);
    case Fiber::State::for_registers:
      return fmt::format("waits in register_alloc for {} registers a thread, {} are free in the block, at {}",
                         f.barrier, home.free_registers, line);
    case Fiber::State::for_columns:
      return fmt::format("waits in tcgen05.alloc for {} columns of tensor memory, which are not free, at {}", f.barrier,
                         line);
    case Fiber::State::in_lanes:
      return fmt::format("waits in {} with the mask {:#010x} at {}", f.what, f.mask, line);
    case Fiber::State::spinning:
      return fmt::format("waits for memory to change at {}", line);
    default:
      return fmt::format("is at {}", line);
  }
}

// Adds a finding about the call at code address `site`, which is over. Returns whether it is new.
bool report_past(Block& b, Kind kind, const char* tensor, std::uintptr_t site, std::string text) {
  const bool fresh = b.findings.fresh(kind, tensor, site);
  if (fresh) b.findings.add({kind, tensor ? tensor : "", std::move(text), {{site}}, b.linear});
  return fresh;
}

/// A store that waits for its value.
struct PostponedStore {
  const Fiber* by = nullptr;  // null: none waits
  Place at{};
  unsigned bytes = 0;
  std::uintptr_t site = 0;
  shadow::Clash clash;
  std::uint64_t block = 0;
  unsigned char before[16] = {};
};
thread_local PostponedStore waiting;
thread_local bool postpones = false;

// Returns true if a conflict is between stores of one instruction by lanes of a warp, and stores wait for their values: then nothing
// is to be reported yet.
bool postpone(const Fiber& f, Place p, unsigned bytes, Site site, const shadow::Clash& c) {
  if (!postpones || c.what != shadow::Clash::What::written || c.site != std::uint32_t(site.address) || bytes > 16)
    return false;
  const Block& b = *f.home;
  if (c.thread / 32 != (b.first_thread + f.index) / 32) return false;
  waiting = {&f, p, bytes, site.address, c, b.linear, {}};
  std::memcpy(waiting.before, p.p, bytes);
  return true;
}

}  // namespace

void early(const Fiber& f, Place p, unsigned bytes, bool writes, Site site) {
  Block& b = *f.home;
  const Region& r = *p.region;
  const std::ptrdiff_t from = p.p - r.begin;
  if (!writes && (r.constant || !b.cluster.launch().config->programmatic)) return;
  const void* key = reinterpret_cast<const unsigned char*>(&r) + (writes ? 1 : 0);
  if (!b.findings.fresh(Kind::dependency, key, 0)) return;
  RawFinding raw{Kind::dependency, r.name, "", {b.walk(f, site)}, b.linear};
  raw.text = fmt::format("for global tensor {}: {} {} bytes {}..{} at \1, and the kernel before may not {}", r.name,
                         b.who(f.index), writes ? "writes" : "reads", from, from + bytes,
                         writes ? "be done with them" : "have written them yet");
  b.cluster.early.push_back(std::move(raw));
}

void check_parts(Block& b) {
  for (const auto& [id, tile] : b.parts.tiles()) {
    if (std::ranges::none_of(tile.parts, [](const auto& p) { return p.read; })) continue;
    const Region& r = *tile.region;
    for (std::size_t i = 0; i < tile.parts.size(); ++i) {
      const PartsRead::Part& p = tile.parts[i];
      if (p.fill && !p.read &&
          report_past(b, Kind::unread, r.name, p.site,
                      fmt::format("{} {} of shared tensor {}: {} began to fill it at \1 and nobody has read it",
                                  r.stages ? "stage" : "part", i, r.name, b.who(p.thread))))
        break;
    }
  }
}

void check_barriers(Block& home) {
  const auto on_their_way = [&](std::uint32_t barrier) {
    return std::ranges::any_of(home.cluster.ops, [&](const shadow::AsyncOp& op) {
      return op.block_of_barrier() == home.rank && op.barrier == barrier && !op.landed;
    });
  };
  for (const auto& [at, b] : home.mbarriers.all) {
    if (!b.valid || b.pending == b.count) continue;
    if (b.pending > 0)
      report_past(home, Kind::instruction, b.tensor, b.last.address,
                  fmt::format("in {}: mbarrier {} is left in phase {} with {} of {} arrivals, the last at \1",
                              home.name(), b.name, b.phase, b.count - b.pending, b.count));
    else if (!on_their_way(at))
      report_past(home, Kind::instruction, b.tensor, b.last.address,
                  fmt::format("in {}: mbarrier {} is left in phase {}: {}; the last arrival is at \1", home.name(),
                              b.name, b.phase, lacking_bytes(b)));
  }
  for (unsigned id = 0; id < 16; ++id)
    if (const NamedBarrier& b = home.barriers[id]; b.arrived)
      report_past(home, Kind::barrier_divergence, nullptr, b.first.address,
                  fmt::format("in {}: barrier {} is left in round {} with {} of {} threads, the first at \1",
                              home.name(), id, b.rounds, b.arrived, b.expected));
}

PostponesStores::PostponesStores() { postpones = true; }
PostponesStores::~PostponesStores() { postpones = false; }

void judge_postponed() {
  if (!waiting.by) return;
  const PostponedStore s = std::exchange(waiting, {});
  if (s.by->home->linear != s.block || std::memcmp(s.before, s.at.p, s.bytes) == 0) return;
  clash(*s.by, s.by->index, s.at, s.bytes, "writes", {s.site, 0}, s.clash);
}

void clash(const Fiber& f, unsigned thread, Place p, unsigned bytes, const char* verb, Site site,
           const shadow::Clash& c) {
  Block& own = *f.home;
  const Region& r = *p.region;
  const std::ptrdiff_t from = p.p - r.begin;
  const Kind kind = c.what == What::unwritten || c.what == What::other_tensor || c.what == What::padding
                        ? Kind::uninitialised_read
                    : c.what == What::other_layout ? Kind::layout
                    : c.what == What::unfenced     ? Kind::fence
                                                   : Kind::race;
  if (postpone(f, p, bytes, site, c)) return;
  if (!own.findings.fresh(kind, r.name, site.address)) return;
  RawFinding raw{kind, r.name, "", {own.walk(f, site)}, own.linear};
  if (c.site) raw.sites.push_back({widen(c.site, site.address)});
  const Block& there = r.space == Space::shared ? *static_cast<const Block*>(r.shadow) : own;
  raw.text =
      fmt::format("{} {} tensor {}{}: {} {} bytes {}..{} at \1{}", kind == Kind::uninitialised_read ? "of" : "on",
                  r.space == Space::shared ? "shared" : "global", r.name, &there == &own ? "" : " of " + there.name(),
                  own.who(thread), verb, from, from + bytes, spell_earlier(c, there, own.first_thread + thread));
  if (kind == Kind::race) raw.missing = missing_between(c, own.first_thread + thread);
  if (c.what == What::other_layout)
    raw.text += fmt::format(" instead of {}", spell(*there.arrangements[r.arrangement]));
  own.findings.add(std::move(raw));
}

// Of two blocks, the one with the lower index is named first, so that the message does not depend on which block ran
// first.
void clash_of_global(const Fiber& f, Place p, unsigned bytes, const char* mine, Site site, const shadow::Clash& c,
                     bool atomic) {
  Block& b = *f.home;
  const Region& r = *p.region;
  const auto from = p.p - r.begin;
  if (c.op || c.what == What::copying) return clash(f, f.index, p, bytes, mine, site, c);
  if (c.block == b.linear) {
    shadow::Clash within = c;
    within.thread = std::uint16_t(b.first_thread + c.thread);
    return clash(f, f.index, p, bytes, mine, site, within);
  }
  const Kind kind = c.what == What::unfenced ? Kind::fence : Kind::race;
  const std::uintptr_t other = widen(c.site, site.address);
  if (!b.findings.fresh(kind, r.name, site.address ^ other)) return;
  const char* theirs = deed_of(c.what);
  const std::string they = c.block == shadow::unnamed_block ? "another block" : b.spell_block(c.block);
  RawFinding raw{kind, r.name, "", {}, std::min<std::uint64_t>(b.linear, c.block)};
  if (kind == Kind::race) raw.missing = atomic || c.what == What::added ? Missing::atomicity : Missing::block_order;
  const bool first = b.linear < c.block;
  if (first)
    raw.sites = {b.walk(f, site), {other}};
  else
    raw.sites = {{other}, b.walk(f, site)};
  const bool together = c.block != shadow::unnamed_block && b.cluster.first_warp(c.block) >= 0;
  raw.text =
      fmt::format("between blocks on global tensor {}: {} of {} {} bytes {}..{} at \1, {} of {} {} them at \2, and {}",
                  r.name, b.spell(first ? f.index : c.thread), first ? b.name() : they, first ? mine : theirs, from,
                  from + bytes, b.spell(first ? c.thread : f.index), first ? they : b.name(), first ? theirs : mine,
                  kind == Kind::fence ? "no fence_proxy_async lies between"
                  : together          ? "no cluster barrier lies between"
                                      : "nothing orders two blocks of a launch");
  b.findings.add(std::move(raw));
}

bool reach(Block& there, Fiber& f, const char* verb, const char* kind, const std::string& what, Site site,
           bool by_copy) {
  Block& own = *f.home;
  if (&there == &own) return true;
  const shadow::Clock& knows = known(f);
  const auto started = [&] {
    for (unsigned w = 0; w < there.warp_count(); ++w)
      if (knows.time[there.first_warp + w] > 1) return true;
    return knows.time[own.cluster.begun] != 0;
  };
  if (kind == std::string_view("shared tensor") && !started())
    own.report(f, Kind::race, what.c_str(), site,
               "on shared tensor {} of {}: {} {} it at \1, and nothing makes sure that the block has started; "
               "cluster_sync comes first",
               what, there.name(), own.who(f.index), verb);
  if (!there.live())
    return own.report(f, Kind::departed, nullptr, site, "{}: {} {} its {} {} at \1, and all its threads have returned",
                      there.name(), own.who(f.index), verb, kind, what);
  if (by_copy) return true;
  const std::uint32_t time = f.its_warp->clock.time[f.its_warp->index];
  there.touches[f.its_warp->index] = {time, std::uint16_t(own.first_thread + f.index), site, verb, kind, what};
  return true;
}

void check_departure(Block& b) {
  Cluster& cluster = b.cluster;
  if (b.touches.empty() && cluster.ops.size() == 1) return;
  shadow::Clock known = b.warps[0].clock;
  for (unsigned w = 0; w < b.warp_count(); ++w) {
    known.join(b.warps[w].clock, cluster.agents());
    for (std::uint32_t left = b.warps[w].diverged; left; left &= left - 1)
      known.join(b.warps[w].own[std::countr_zero(left)], cluster.agents());
  }
  for (const auto& [warp, t] : b.touches) {
    if (t.epoch < known.time[warp]) continue;
    const Fiber& other = cluster.block(warp / b.warp_count()).thread(t.thread % (b.warp_count() * 32));
    Block& theirs = *other.home;
    theirs.report(other, Kind::departed, nullptr, Site{t.site.address, 0},
                  "{}: {} {} its {} {} at \1, and nothing makes the block stay until then", b.name(),
                  theirs.who(other.index), t.verb, t.kind, t.what);
  }
  for (std::size_t i = 1; i < cluster.ops.size(); ++i) {
    const shadow::AsyncOp& op = cluster.ops[i];
    if ((op.block != b.rank && op.from != b.rank) || op.over_for(known)) continue;
    using K = shadow::AsyncOp::Kind;
    const bool stores = op.kind == K::tma_store || op.kind == K::bulk_store, copied = op.block != b.rank;
    const Kind kind = Kind::departed;
    const std::uintptr_t at = widen(op.site, reinterpret_cast<std::uintptr_t>(cluster.launch().kernel));
    if (!b.findings.fresh(kind, nullptr, at)) continue;
    RawFinding raw{kind, b.region_names[op.region], "", {{at}}, b.linear};
    const bool multiplies = op.kind == K::wgmma || op.completes_by_commit();
    raw.text = fmt::format("{}: it ends while the {} that {} issued at \1 may still {} its shared memory; {}", b.name(),
                           name_of(op.kind), cluster.spell(op.thread),
                           stores || copied || multiplies ? "read"
                           : op.kind == K::tcgen05_commit ? "arrive at an mbarrier in"
                                                          : "write",
                           stores   ? "tma_store_wait_read comes first"
                           : copied ? "a wait at its mbarrier in the other block, and a barrier, come first"
                           : op.kind == K::wgmma      ? "wgmma_wait comes first"
                           : op.completes_by_commit() ? "tcgen05_commit and a wait at its mbarrier come first"
                                                      : "a wait at its mbarrier comes first");
    b.findings.add(std::move(raw));
  }
}

// The same for a collective of the lanes that a mask names.
static bool report_collective(Block& b, unsigned w) {
  const Warp& warp = b.warps[w];
  if (warp.collectives.empty()) return false;
  const MaskedCollective& m = warp.collectives.front();
  const Fiber& here = b.thread(w * 32 + unsigned(std::countr_zero(m.here)));
  const Fiber& there = b.thread(w * 32 + unsigned(std::countr_zero(m.mask & ~m.here & ~warp.returned)));
  if (!b.findings.fresh(Kind::divergence, nullptr, here.site.address)) return true;
  RawFinding raw{Kind::divergence, "", "", {b.walk(here, here.site)}, b.linear};
  raw.missing = Missing::mask_lanes;
  const std::string other = waiting_for(there, raw);
  raw.text = fmt::format(
      "in warp {} of {}: {} of the {} threads that the mask {:#010x} names, thread {} first, wait in {} at \1 for "
      "thread "
      "{}, which {}",
      w, b.name(), std::popcount(m.here), std::popcount(m.mask), m.mask, here.index, m.what, there.index, other);
  b.findings.add(std::move(raw));
  return true;
}

bool report_convergence(Block& b) {
  for (unsigned w = 0; w < b.warp_count(); ++w) {
    const Warp& warp = b.warps[w];
    if (report_collective(b, w)) return true;
    if (!warp.met) continue;
    const Fiber& here = b.thread(w * 32 + unsigned(std::countr_zero(warp.met)));
    const Fiber& there = b.thread(w * 32 + unsigned(std::countr_zero(~warp.met)));
    if (!b.findings.fresh(Kind::divergence, nullptr, here.site.address)) return true;
    RawFinding raw{Kind::divergence, "", "", {b.walk(here, here.site)}, b.linear};
    const std::string other = waiting_for(there, raw);
    raw.text =
        fmt::format("in warp {} of {}: {} of 32 threads, thread {} first, wait in {} at \1 for thread {}, which {}", w,
                    b.name(), std::popcount(warp.met), here.index, warp.what, there.index, other);
    b.findings.add(std::move(raw));
    return true;
  }
  return false;
}

void report_deadlock(const Block& b, RawFinding& raw, unsigned& ranges, std::uintptr_t& first_site) {
  raw.text += fmt::format("{} {}:", ranges ? ";" : "", b.name());
  const unsigned before = ranges;
  for (unsigned i = 0; i < b.thread_count();) {
    const Fiber& f = b.thread(i);
    unsigned end = i + 1;
    for (; end < b.thread_count(); ++end) {
      const Fiber& g = b.thread(end);
      if (g.state != f.state) break;
      if (f.state != Fiber::State::returned && g.site.address != f.site.address) break;
      if (f.state == Fiber::State::at_barrier && g.barrier != f.barrier) break;
      if (f.state == Fiber::State::in_lanes && g.mask != f.mask) break;
      if (f.state == Fiber::State::at_mbarrier && (g.mbarrier != f.mbarrier || g.parity != f.parity)) break;
    }
    if (f.state != Fiber::State::returned && !first_site) first_site = f.site.address;
    if (++ranges > 12 || ranges - before > 6) {
      raw.text += ", and so on";
      return;
    }
    const std::string waits = waiting_for(f, raw);
    const std::string who =
        end - i == 1 ? fmt::format("thread {}", i) : fmt::format("each of threads {}..{}", i, end - 1);
    raw.text += fmt::format("{} {} {}", ranges - before > 1 ? "," : "", who, waits);
    i = end;
  }
}

bool unstick(Block& home) {
  NamedBarrier& b = home.barriers[0];
  if (!b.arrived || b.arrived != home.live() || b.expected != home.thread_count()) return false;
  const Fiber& here = home.thread(b.first_thread);
  unsigned returned = 0;
  while (home.thread(returned).state != Fiber::State::returned) ++returned;
  home.report(here, Kind::barrier_divergence, nullptr, {b.first, Missing::all_threads},
              "in {}: {} of {} threads, {} first, reach the block's barrier at \1, {} has returned", home.name(),
              b.arrived, home.thread_count(), home.spell(b.first_thread), home.spell(returned));
  end_round(home, b);
  return true;
}

}  // namespace zellige::emulate
