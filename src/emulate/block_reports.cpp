// Writes the messages of a block's findings (errors in the kernel): conflicting accesses, threads that do not
// converge, and deadlocks.
#include <algorithm>
#include <bit>
#include <string_view>

#include "emulate/cluster.hpp"
#include "zellige/emulate/arrangement.hpp"

namespace zellige::emulate {

std::string Block::spell(unsigned thread) const { return fmt::format("thread {} (warp {})", thread, thread / 32); }

std::string Block::spell_block(std::uint64_t linear_index) const {
  const dim3& grid = launch_->config->grid;
  return fmt::format("block ({},{},{})", linear_index % grid.x, linear_index / grid.x % grid.y,
                     linear_index / grid.x / grid.y);
}

std::string Block::who(unsigned thread) const { return spell(thread) + " of " + spell_block(linear); }

std::vector<std::uintptr_t> Block::walk(const Fiber& f, Site site) const {
  return callers(site, stacks_.low(f.index), stacks_.high(f.index));
}

void Block::add_finding(const Fiber& f, Finding::Kind kind, const char* tensor, const Where& at, std::string text) {
  RawFinding raw{kind, tensor ? tensor : "", std::move(text), {walk(f, at.site)}, linear, at.only_between_lines};
  if (at.other_site) raw.sites.push_back({at.other_site});
  findings.add(std::move(raw));
}

void Block::early(const Fiber& f, const Region& r, std::ptrdiff_t from, std::ptrdiff_t to, bool writes, Site site) {
  if (!writes && (r.constant || !launch_->config->programmatic)) return;
  const void* key = reinterpret_cast<const unsigned char*>(&r) + (writes ? 1 : 0);
  if (!findings.fresh(Finding::Kind::dependency, key, 0)) return;
  RawFinding raw{Finding::Kind::dependency, r.name, "", {walk(f, site)}, linear};
  raw.text = fmt::format("for global tensor {}: {} {} bytes {}..{} at \1, and the kernel before may not {}", r.name,
                         who(f.index), writes ? "writes" : "reads", from, to,
                         writes ? "be done with them" : "have written them yet");
  cluster.early.push_back(std::move(raw));
}

// Reports the first part of a tile (a stage of a ring, or a partial result) that has been filled and never
// read, if other parts of the tile have been read.
void Block::check_parts() {
  if (cluster.live) return;  // the cluster was aborted
  for (const auto& [id, tile] : parts.tiles()) {
    if (std::ranges::none_of(tile.parts, [](const auto& p) { return p.read; })) continue;
    for (std::size_t i = 0; i < tile.parts.size(); ++i) {
      const PartsRead::Part& p = tile.parts[i];
      const Region& r = *tile.region;
      if (!p.fill || p.read || !findings.fresh(Finding::Kind::unread, r.name, p.site)) continue;
      RawFinding raw{Finding::Kind::unread, r.name, "", {{p.site}}, linear};
      raw.text = fmt::format("{} {} of shared tensor {}: {} began to fill it at \1 and nobody has read it",
                             r.stages ? "stage" : "part", i, r.name, who(p.thread));
      findings.add(std::move(raw));
      break;
    }
  }
}

// Returns in words how many announced bytes of an mbarrier's phase are missing, or how many have arrived unannounced.
static std::string lacking_bytes(const MBarrier& b) {
  return b.bytes > 0 ? fmt::format("{} announced bytes have not come", b.bytes)
                     : fmt::format("{} bytes have come that were not announced", -b.bytes);
}

void Block::check_barriers() {
  if (cluster.live) return;  // the cluster was aborted
  const auto add = [&](Finding::Kind kind, const char* tensor, Site site, std::string text) {
    if (findings.fresh(kind, tensor, site.address))
      findings.add({kind, tensor ? tensor : "", std::move(text), {{site.address}}, linear});
  };
  const auto on_their_way = [&](std::uint32_t barrier) {
    return std::ranges::any_of(
        cluster.ops, [&](const AsyncOp& op) { return op.block == this && op.barrier == barrier && !op.landed; });
  };
  for (const auto& [at, b] : mbarriers) {
    if (!b.valid || b.pending == b.count) continue;
    if (b.pending > 0)
      add(Finding::Kind::instruction, b.tensor, b.last,
          fmt::format("in {}: mbarrier {} is left in phase {} with {} of {} arrivals, the last at \1",
                      spell_block(linear), b.name, b.phase, b.count - b.pending, b.count));
    else if (!on_their_way(at))
      add(Finding::Kind::instruction, b.tensor, b.last,
          fmt::format("in {}: mbarrier {} is left in phase {}: {}; the last arrival is at \1", spell_block(linear),
                      b.name, b.phase, lacking_bytes(b)));
  }
  for (unsigned id = 0; id < 16; ++id)
    if (const NamedBarrier& b = barrier_[id]; b.arrived)
      add(Finding::Kind::barrier_divergence, nullptr, b.first,
          fmt::format("in {}: barrier {} is left in round {} with {} of {} threads, the first at \1",
                      spell_block(linear), id, b.rounds, b.arrived, b.expected));
}

namespace {

// Returns the name of the function in <zellige/atom/> that issues the operation.
const char* name_of(AsyncOp::Kind kind) {
  // In the order of the enumeration, which ends with `wgmma`.
  static constexpr const char* names[] = {"tma_load",   "bulk_load", "bulk_copy_cluster", "store_async", "tma_store",
                                          "bulk_store", "wgmma"};
  static_assert(std::size(names) == std::size_t(AsyncOp::Kind::wgmma) + 1);
  return names[std::size_t(kind)];
}

}  // namespace

// Returns the layout of a shared memory tile in words: "Swizzle<3,4,3> of bytes at strides 2, 128".
static std::string spell(const Arrangement& a) {
  std::string text =
      a.bits ? fmt::format("Swizzle<{},{},{}> of bytes at strides", a.bits, a.base, a.shift) : "bytes at strides";
  for (int i = 0; i < a.count; ++i) text += fmt::format("{}{}", i ? ", " : " ", a.strides[i]);
  return text;
}

// \2 is a placeholder for the earlier access's source line.
std::string Block::against(const Clash& c, unsigned thread) const {
  const std::string who = cluster.spell(c.thread);
  switch (c.what) {
    case Clash::What::unwritten:
      return ", which nothing has written";
    case Clash::What::padding:
      return ", of which some are padding: no element lies there";
    case Clash::What::other_tensor:
      return fmt::format(", which {} last wrote as tensor {} at \2", who, region_names[c.region]);
    case Clash::What::other_layout:
      return fmt::format("; {} wrote them at \2 through another layout, {}", who,
                         emulate::spell(*arrangements_[c.region]));
    case Clash::What::in_flight:
      return fmt::format("; the cp.async that {} issued at \2 is still in flight", who);
    case Clash::What::unfenced:
      return fmt::format("; {} wrote them at \2 and no fence_proxy_async lies between", who);
    case Clash::What::async_write: {
      const AsyncOp& op = cluster.ops[c.op];
      const auto barrier = op.block->mbarriers.find(op.barrier);
      const std::string name = barrier == op.block->mbarriers.end() ? "" : barrier->second.name;
      if (!op.landed) return fmt::format("; the {} that {} issued at \2 is still in flight", name_of(op.kind), who);
      return fmt::format("; the {} that {} issued at \2 wrote them and no wait at mbarrier {} lies between",
                         name_of(op.kind), who, name);
    }
    case Clash::What::async_read: {
      const AsyncOp& op = cluster.ops[c.op];
      if (op.completes_on_mbarrier())
        return fmt::format("; the {} that {} issued at \2 may still read them", name_of(op.kind), who);
      return fmt::format("; the {} that {} issued at \2 may still read them, no {} and barrier lie between",
                         name_of(op.kind), who, op.kind == AsyncOp::Kind::wgmma ? "wgmma_wait" : "tma_store_wait_read");
    }
    case Clash::What::storing:
      return fmt::format(
          "; the store or reduction that {} issued at \2 is in flight, no tma_store_wait_complete lies "
          "between",
          who);
    case Clash::What::added:
      return fmt::format("; {} added to them at \2 and no barrier lies between", who);
    case Clash::What::copying:
      return fmt::format("; the cp.async that {} issued at \2 may still read them", who);
    default:
      break;
  }
  const char* deed = c.what == Clash::What::written ? "wrote" : "read";
  const char* between = c.thread / 32 == thread / 32 ? "no __syncwarp or barrier" : "no barrier";
  return fmt::format("; {} {} them at \2 and {} lies between", who, deed, between);
}

void Block::clash(const Fiber& f, unsigned thread, const Region& r, std::ptrdiff_t from, std::ptrdiff_t to,
                  const char* verb, Site site, const Clash& c) {
  using What = Clash::What;
  const Finding::Kind kind = c.what == What::unwritten || c.what == What::other_tensor || c.what == What::padding
                                 ? Finding::Kind::uninitialised_read
                             : c.what == What::other_layout ? Finding::Kind::layout
                             : c.what == What::unfenced     ? Finding::Kind::fence
                                                            : Finding::Kind::race;
  if (!findings.fresh(kind, r.name, site.address)) return;
  RawFinding raw{kind, r.name, "", {walk(f, site)}, linear};
  if (c.site) raw.sites.push_back({widen(c.site, site.address)});
  const Block& there = r.space == Space::shared ? *static_cast<const Block*>(r.shadow) : *this;
  raw.text = fmt::format(
      "{} {} tensor {}{}: {} {} bytes {}..{} at \1{}", kind == Finding::Kind::uninitialised_read ? "of" : "on",
      r.space == Space::shared ? "shared" : "global", r.name, &there == this ? "" : " of " + spell_block(there.linear),
      who(thread), verb, from, to, there.against(c, first_thread + thread));
  if (c.what == What::other_layout)
    raw.text += fmt::format(" instead of {}", emulate::spell(*there.arrangements_[r.arrangement]));
  findings.add(std::move(raw));
}

namespace {

// Returns what an earlier access to global memory does, for the message.
const char* deed_of(Clash::What what) {
  return what == Clash::What::read      ? "reads"
         : what == Clash::What::added   ? "adds to"
         : what == Clash::What::storing ? "stores asynchronously to"
                                        : "writes";
}

}  // namespace

// Of two blocks, the one with the lower index is named first, so that the message does not depend on which block ran
// first.
void Block::clash_of_global(const Fiber& f, Place p, unsigned bytes, const char* mine, Site site, const Clash& c) {
  const Region& r = *p.region;
  const auto from = p.p - r.begin;
  if (c.op || c.what == Clash::What::copying) return clash(f, f.index, r, from, from + bytes, mine, site, c);
  if (c.block == linear) {
    Clash within = c;
    within.thread = std::uint16_t(first_thread + c.thread);
    return clash(f, f.index, r, from, from + bytes, mine, site, within);
  }
  const Finding::Kind kind = c.what == Clash::What::unfenced ? Finding::Kind::fence : Finding::Kind::race;
  const std::uintptr_t other = widen(c.site, site.address);
  if (!findings.fresh(kind, r.name, site.address ^ other)) return;
  const char* theirs = deed_of(c.what);
  const std::string they = c.block == unnamed_block ? "another block" : spell_block(c.block);
  RawFinding raw{kind, r.name, "", {}, std::min<std::uint64_t>(linear, c.block)};
  const bool first = linear < c.block;
  if (first)
    raw.sites = {walk(f, site), {other}};
  else
    raw.sites = {{other}, walk(f, site)};
  const bool together = c.block != unnamed_block && cluster.first_warp(c.block) >= 0;
  raw.text = fmt::format(
      "between blocks on global tensor {}: {} of {} {} bytes {}..{} at \1, {} of {} {} them at \2, and {}", r.name,
      spell(first ? f.index : c.thread), first ? spell_block(linear) : they, first ? mine : theirs, from, from + bytes,
      spell(first ? c.thread : f.index), first ? they : spell_block(linear), first ? theirs : mine,
      kind == Finding::Kind::fence ? "no fence_proxy_async lies between"
      : together                   ? "no cluster barrier lies between"
                                   : "nothing orders two blocks of a launch");
  findings.add(std::move(raw));
}

bool Block::reach(Fiber& f, const char* verb, const char* kind, const std::string& what, Site site, bool by_copy) {
  Block& own = *f.home;
  if (this == &own) return true;
  const Clock& knows = own.known(f);
  const auto started = [&] {
    for (unsigned w = 0; w < warps_; ++w)
      if (knows.time[first_warp + w] > 1) return true;
    return knows.time[cluster.begun] != 0;
  };
  if (kind == std::string_view("shared tensor") && !started())
    own.report(f, Finding::Kind::race, what.c_str(), site,
               "on shared tensor {} of {}: {} {} it at \1, and nothing makes sure that the block has started; "
               "cluster_sync comes first",
               what, spell_block(linear), own.who(f.index), verb);
  if (!live_)
    return own.report(f, Finding::Kind::departed, nullptr, site,
                      "{}: {} {} its {} {} at \1, and all its threads have returned", spell_block(linear),
                      own.who(f.index), verb, kind, what);
  if (by_copy) return true;
  const std::uint32_t time = f.its_warp->clock.time[f.its_warp->index];
  touches[f.its_warp->index] = {time, std::uint16_t(own.first_thread + f.index), site, verb, kind, what};
  return true;
}

// Called when the block's last thread has returned. Reports what may still access the block's shared memory after the
// block has exited: accesses by threads of other blocks of the cluster, and asynchronous operations. An access is
// reported unless at least one of the block's threads has synchronized with it (by a barrier of the cluster or an
// mbarrier). An operation is reported unless one of the block's threads has waited for its completion.
void Block::leave() {
  check_registers();
  if (touches.empty() && cluster.ops.size() == 1) return;
  Clock known = warp_[0].clock;
  for (unsigned w = 0; w < warps_; ++w) {
    known.join(warp_[w].clock, cluster.agents());
    for (std::uint32_t left = warp_[w].diverged; left; left &= left - 1)
      known.join(warp_[w].own[std::countr_zero(left)], cluster.agents());
  }
  for (const auto& [warp, t] : touches) {
    if (t.epoch < known.time[warp]) continue;
    const Fiber& other = cluster.block(warp / warps_).thread(t.thread % (warps_ * 32));
    Block& theirs = *other.home;
    theirs.report(other, Finding::Kind::departed, nullptr, Site{t.site.address, 0},
                  "{}: {} {} its {} {} at \1, and nothing makes the block stay until then", spell_block(linear),
                  theirs.who(other.index), t.verb, t.kind, t.what);
  }
  for (std::size_t i = 1; i < cluster.ops.size(); ++i) {
    const AsyncOp& op = cluster.ops[i];
    if ((op.block != this && op.from != this) || op.over_for(known)) continue;
    using K = AsyncOp::Kind;
    const bool stores = op.kind == K::tma_store || op.kind == K::bulk_store, copied = op.block != this;
    const Finding::Kind kind = Finding::Kind::departed;
    const std::uintptr_t at = widen(op.site, reinterpret_cast<std::uintptr_t>(launch_->kernel));
    if (!findings.fresh(kind, nullptr, at)) continue;
    RawFinding raw{kind, region_names[op.region], "", {{at}}, linear};
    raw.text = fmt::format("{}: it ends while the {} that {} issued at \1 may still {} its shared memory; {}",
                           spell_block(linear), name_of(op.kind), cluster.spell(op.thread),
                           stores || copied || op.kind == K::wgmma ? "read" : "write",
                           stores   ? "tma_store_wait_read comes first"
                           : copied ? "a wait at its mbarrier in the other block, and a barrier, come first"
                           : op.kind == K::wgmma ? "wgmma_wait comes first"
                                                 : "a wait at its mbarrier comes first");
    findings.add(std::move(raw));
  }
}

// Returns what a thread waits for at the mbarrier `b`, and how many arrivals and bytes the mbarrier lacks to
// end its phase. The words continue "thread 0": "waits at mbarrier ...". `parity`: the parity for which the
// thread waits; `line`: placeholder for the source line of its wait.
static std::string lacking(const MBarrier& b, unsigned parity, const char* line) {
  std::string missing;
  if (b.pending) missing = fmt::format("{} of {} arrivals are missing", b.pending, b.count);
  if (b.bytes) missing += (missing.empty() ? "" : " and ") + lacking_bytes(b);
  return fmt::format("waits at mbarrier {} for parity {} (it is in phase {}: {}) at {}", b.name, parity, b.phase,
                     missing, line);
}

// Such as "waits in mma at \3"; \3 is a placeholder for the source line of the third call that `raw` lists.
std::string Block::waiting_for(const Fiber& f, RawFinding& raw) const {
  if (f.state == Fiber::State::returned) return "has returned";
  raw.sites.push_back(walk(f, f.site));
  const char line[] = {char(raw.sites.size()), 0};
  const NamedBarrier& b = barrier_[f.barrier % 16];
  switch (f.state) {
    case Fiber::State::converging:
      return fmt::format("waits in {} at {}", f.its_warp->what, line);
    case Fiber::State::in_syncwarp:
      return fmt::format("waits in __syncwarp at {}", line);
    case Fiber::State::at_barrier:
      if (f.barrier == 0 && b.expected == threads_) return fmt::format("waits at the block's barrier at {}", line);
      return fmt::format("waits at barrier {} ({} of {} threads have come) at {}", f.barrier, b.arrived, b.expected,
                         line);
    case Fiber::State::at_mbarrier:
    case Fiber::State::polling:
      return lacking(*f.mbarrier, f.parity, line);
    case Fiber::State::in_wgmma:
      return fmt::format("waits in wgmma ({} of the 128 threads of its warpgroup have come) at {}",
                         group_[f.index / 128].arrived, line);
    case Fiber::State::at_cluster:
      return fmt::format("waits in cluster_wait ({} of {} threads of the cluster have arrived) at {}", cluster.arrived,
                         cluster.live, line);
    case Fiber::State::for_registers:
      return fmt::format("waits in register_alloc for {} registers a thread, {} are free in the block, at {}",
                         f.barrier, pool_, line);
    default:
      return fmt::format("is at {}", line);
  }
}

bool Block::report_convergence() {
  for (unsigned w = 0; w < warps_; ++w) {
    const Warp& warp = warp_[w];
    if (!warp.met) continue;
    const Fiber& here = stacks_.fiber(w * 32 + unsigned(std::countr_zero(warp.met)));
    const Fiber& there = stacks_.fiber(w * 32 + unsigned(std::countr_zero(~warp.met)));
    if (!findings.fresh(Finding::Kind::divergence, nullptr, here.site.address)) return true;
    RawFinding raw{Finding::Kind::divergence, "", "", {walk(here, here.site)}, linear};
    const std::string other = waiting_for(there, raw);
    raw.text =
        fmt::format("in warp {} of {}: {} of 32 threads, thread {} first, wait in {} at \1 for thread {}, which {}", w,
                    spell_block(linear), std::popcount(warp.met), here.index, warp.what, there.index, other);
    findings.add(std::move(raw));
    return true;
  }
  return false;
}

void Block::report_deadlock(RawFinding& raw, unsigned& ranges, std::uintptr_t& first_site) const {
  raw.text += fmt::format("{} {}:", ranges ? ";" : "", spell_block(linear));
  const unsigned before = ranges;
  for (unsigned i = 0; i < threads_;) {
    const Fiber& f = stacks_.fiber(i);
    unsigned end = i + 1;
    for (; end < threads_; ++end) {
      const Fiber& g = stacks_.fiber(end);
      if (g.state != f.state) break;
      if (f.state != Fiber::State::returned && g.site.address != f.site.address) break;
      if (f.state == Fiber::State::at_barrier && g.barrier != f.barrier) break;
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

bool Block::unstick() {
  NamedBarrier& b = barrier_[0];
  if (!b.arrived || b.arrived != live_ || b.expected != threads_) return false;
  const Fiber& here = stacks_.fiber(b.first_thread);
  unsigned returned = 0;
  while (stacks_.fiber(returned).state != Fiber::State::returned) ++returned;
  report(here, Finding::Kind::barrier_divergence, nullptr, b.first,
         "in {}: {} of {} threads, {} first, reach the block's barrier at \1, {} has returned", spell_block(linear),
         b.arrived, threads_, spell(b.first_thread), spell(returned));
  complete(b);
  return true;
}

}  // namespace zellige::emulate
