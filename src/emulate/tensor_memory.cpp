#include "emulate/tensor_memory.hpp"

#include <algorithm>
#include <bit>

#include "emulate/calls.hpp"

namespace zellige::emulate {

using Kind = Finding::Kind;

namespace {

/// How an operation is ordered before an access: as it must be, or what is missing.
enum class TensorOrder : std::uint8_t { right, running, not_before, not_after };

// Returns the latest time of an agent at which all lanes of the thread's warp, or the thread alone, executed a fence
// after_thread_sync.
std::uint32_t seen_after_fence(const TensorMemory::Access& x, std::uint32_t agent) {
  const Block& b = *x.f.home;
  const auto of = [&](const Fiber& f) {
    const bool has = f.in_flight && agent < f.in_flight->tensor_seen.size();
    return has ? f.in_flight->tensor_seen[agent] : 0u;
  };
  if (!x.whole_warp) return of(x.f);
  std::uint32_t least = ~0u;
  for (unsigned lane = 0; lane < 32; ++lane) least = std::min(least, of(b.thread(x.f.its_warp->local * 32 + lane)));
  return least;
}

// Returns how the earlier operation `y` is ordered before the access `x`. The tcgen05.mma of one thread are executed in their
// order. All others must be complete, and known to be: by a wait of the same warp, or by a wait or commit, and the fences of
// tcgen05 around what synchronises the threads.
TensorOrder order(const TensorMemory::Access& x, const TensorOp& y) {
  const TensorSource& source = *y.source;
  const bool of_mma = TensorOp::in_order(y.kind);
  const bool over = x.a.clock->time[source.agent] > y.group;
  std::uint32_t needed = source.agent;
  if (of_mma && TensorOp::in_order(x.op.kind)) {
    if (y.thread == x.op.thread) return y.ctas == x.op.ctas ? TensorOrder::right : TensorOrder::running;
    if (!over) {  // in order with the mma of another thread, if that thread's fence comes before it
      if (!x.a.after(y.issued, y.thread)) return TensorOrder::running;
      if (!source.fenced || x.a.clock->time[source.fenced] <= y.group) return TensorOrder::not_before;
      needed = source.fenced;
    }
  } else if (!over) {
    return TensorOrder::running;
  }
  if (y.thread / 32 == x.op.thread / 32) return TensorOrder::right;
  if (!of_mma) {
    if (!source.fenced || x.a.clock->time[source.fenced] <= y.group) return TensorOrder::not_before;
    needed = source.fenced;
  }
  return seen_after_fence(x, needed) > y.group ? TensorOrder::right : TensorOrder::not_after;
}

const char* name_of(TensorOp::Kind kind) {
  switch (kind) {
    case TensorOp::Kind::mma:
      return "tcgen05.mma";
    case TensorOp::Kind::copy:
      return "tcgen05.cp";
    case TensorOp::Kind::load:
      return "tcgen05.ld";
    default:
      return "tcgen05.st";
  }
}

std::string spell(const TensorMemory::Part& p) {
  const unsigned first = unsigned(std::countr_zero(p.cells)), last = 31u - unsigned(std::countl_zero(p.cells));
  constexpr unsigned high = TensorMemory::lanes_of_cell;
  return fmt::format("lanes {}..{} of columns {}..{}", first * high, (last + 1) * high, p.first, p.first + p.count);
}

// Returns what would complete the operation `y` for the access.
std::string what_completes(const TensorOp& y) {
  const bool ended = y.group <= y.source->groups;
  if (TensorOp::in_order(y.kind))
    return ended ? "no wait at an mbarrier of its tcgen05_commit lies between"
                 : "no tcgen05_commit follows it; that and a wait at its mbarrier come first";
  const char* wait = y.kind == TensorOp::Kind::load ? "tmem_load_wait" : "tmem_store_wait";
  return ended ? fmt::format("no barrier lies between its {} and the access", wait)
               : fmt::format("no {} follows it", wait);
}

}  // namespace

void TensorMemory::reset() {
  words_.clear();
  cells_.clear();
  ops_.assign(1, {});
  allocations_.clear();
  freed_.clear();
  sources_.clear();
  relinquished = false;
  ctas = 0;
}

unsigned TensorMemory::find_free(unsigned count) const {
  for (unsigned first = 0; first + count <= columns; first += count) {
    const auto overlaps = [&](const Allocation& a) { return a.first < first + count && first < a.first + a.count; };
    if (std::ranges::none_of(allocations_, overlaps)) return first;
  }
  return columns;
}

void TensorMemory::allocate(const Allocation& a) {
  if (words_.empty()) {
    words_.assign(lanes * columns, 0);
    cells_.assign(lanes / lanes_of_cell, std::vector<Cell>(columns));
  }
  for (auto& row : cells_) std::fill_n(row.begin() + a.first, a.count, Cell{});
  allocations_.push_back(a);
}

bool TensorMemory::free(Fiber& f, unsigned first, unsigned count, unsigned of_ctas, Site site) {
  Block& b = *f.home;
  const auto found =
      std::ranges::find_if(allocations_, [&](const Allocation& a) { return a.first == first && a.count == count; });
  if (found == allocations_.end()) {
    const auto before = std::ranges::find_if(freed_, [&](const Freed& a) { return a.first == first; });
    return b.fail_at(f, "tensor memory", {site, before == freed_.end() ? 0 : before->site},
                     "columns {}..{} of tensor memory are freed, which {}", first, first + count,
                     before != freed_.end() ? "have been freed at \2" : "are no allocation");
  }
  if (found->ctas != of_ctas)
    b.fail_at(f, "tensor memory", {site, found->site.address},
              "columns are freed for {} CTA(s), which were allocated for {} at \2", of_ctas, found->ctas);
  shadow::Actor a = b.actor(f, site.address);
  a.clock = &f.its_warp->clock;
  const TensorOp freeing{TensorOp::Kind::store, 1, a.thread, 0, a.epoch, 0, nullptr};
  const Access x{f, site, a, freeing, "frees", true};
  bool told = false;
  for (std::size_t cell = 0; cell < cells_.size() && !told; ++cell)
    for (unsigned c = first; c < first + count && !told; ++c) {
      const Cell& it = cells_[cell][c];
      for (const std::uint32_t i : {it.writer, it.reader[0], it.reader[1], it.reader[2]}) {
        if (!i || told) continue;
        // A load may be complete because its registers have been used, without a wait: only its issue must come before.
        const TensorOp& y = ops_[i];
        const bool over = a.clock->time[y.source->agent] > y.group;
        const bool before = y.kind == TensorOp::Kind::load && a.after(y.issued, y.thread);
        if (over || before || (!TensorOp::in_order(y.kind) && y.thread / 32 == a.thread / 32)) continue;
        conflict(x, {1u << cell, c, 1}, y, i == it.writer);
        told = true;
      }
    }
  allocations_.erase(found);
  freed_.push_back({first, count, site.address});
  return true;
}

// Returns whether the part lies in allocated columns, by an allocation that happened before; reports it if not.
bool TensorMemory::allocated(const Access& x, const Part& p) {
  Block& b = *x.f.home;
  if (p.first + p.count > columns)
    return b.report(x.f, Kind::out_of_bounds, "tensor memory", x.site,
                    "on tensor memory: {} {} {} at \1; there are {} columns", b.who(x.f.index), x.verb, spell(p),
                    columns);
  for (unsigned c = p.first; c < p.first + p.count;) {
    const auto in = [c](const auto& a) { return c >= a.first && c < a.first + a.count; };
    const auto found = std::ranges::find_if(allocations_, in);
    if (found == allocations_.end()) {
      const auto before = std::find_if(freed_.rbegin(), freed_.rend(), in);
      return b.report(x.f, Kind::out_of_bounds, "tensor memory", {x.site, before == freed_.rend() ? 0 : before->site},
                      "on tensor memory: {} {} {} at \1; column {} {}", b.who(x.f.index), x.verb, spell(p), c,
                      before == freed_.rend() ? "is not allocated" : "has been freed at \2");
    }
    if (found->thread / 32 != x.a.thread / 32 && !x.a.after(found->epoch, found->thread))
      b.report(x.f, Kind::race, "tensor memory", {x.site, found->site.address, false, Finding::Missing::block_barrier},
               "on tensor memory: {} {} {} at \1; {} allocates them at \2 and no barrier lies between",
               b.who(x.f.index), x.verb, spell(p), b.cluster.spell(found->thread));
    c = found->first + found->count;
  }
  return true;
}

std::uint32_t TensorMemory::add(const TensorOp& op) {
  const TensorOp& last = ops_.back();
  if (ops_.size() == 1 || last.site != op.site || last.thread != op.thread || last.issued != op.issued ||
      last.group != op.group || last.kind != op.kind)
    ops_.push_back(op);
  return std::uint32_t(ops_.size() - 1);
}

void TensorMemory::conflict(const Access& x, const Part& p, const TensorOp& y, bool earlier_writes) const {
  Block& b = *x.f.home;
  const TensorOrder how = y.source->agent == 0 || x.a.clock->time[y.source->agent] <= y.group ? TensorOrder::running
                          : x.op.source                                                       ? order(x, y)
                                                                                              : TensorOrder::running;
  const Kind kind = how == TensorOrder::running ? Kind::race : Kind::fence;
  const std::uintptr_t other = widen(y.site, x.site.address);
  if (!b.findings.fresh(kind, "tensor memory", x.site.address, other)) return;
  RawFinding raw{kind, "tensor memory", "", {b.walk(x.f, x.site), {other}}, b.linear};
  const std::string earlier = fmt::format("the {} that {} issued at \2", name_of(y.kind), b.cluster.spell(y.thread));
  raw.text = fmt::format("on tensor memory: {} {} {} at \1; {}", b.who(x.f.index), x.verb, spell(p), earlier);
  if (how == TensorOrder::running)
    raw.text += fmt::format(" may still {} them, {}", earlier_writes ? "write" : "read", what_completes(y));
  else
    raw.text += how == TensorOrder::not_before ? " is followed by no tcgen05_before_thread_sync"
                                               : " is over, and no tcgen05_after_thread_sync follows what says so";
  if (kind == Kind::race)
    b.findings.add(std::move(raw));
  else
    (TensorOp::in_order(y.kind) ? b.cluster.unfenced_commits : b.cluster.unfenced_moves).push_back(std::move(raw));
}

void TensorMemory::record_read(Cell& cell, std::uint32_t op, const shadow::Actor& a) {
  std::uint32_t* place = nullptr;
  for (std::uint32_t& r : cell.reader) {
    const bool same = r && ops_[r].source == ops_[op].source;
    if (same || !r || a.clock->time[ops_[r].source->agent] > ops_[r].group)
      if (!place || same) place = &r;
  }
  *(place ? place : &cell.reader[0]) = op;
}

bool TensorMemory::read(const Access& x, const Part& p, bool must_be_written) {
  if (!allocated(x, p)) return false;
  const std::uint32_t op = add(x.op);
  bool told = false, unwritten = false;
  for (unsigned left = p.cells; left; left &= left - 1)
    for (unsigned c = p.first; c < p.first + p.count; ++c) {
      Cell& cell = cells_[std::size_t(std::countr_zero(left))][c];
      unwritten |= !cell.writer;
      if (!told && cell.writer && order(x, ops_[cell.writer]) != TensorOrder::right) {
        conflict(x, {left & -left, c, 1}, ops_[cell.writer], true);
        told = true;
      }
      record_read(cell, op, x.a);
    }
  if (unwritten && must_be_written) {
    const Block& b = *x.f.home;
    x.f.home->report(x.f, Kind::uninitialised_read, "tensor memory", x.site,
                     "of tensor memory: {} {} {} at \1, of which some have not been written", b.who(x.f.index), x.verb,
                     spell(p));
  }
  return true;
}

bool TensorMemory::write(const Access& x, const Part& p) {
  if (!allocated(x, p)) return false;
  const std::uint32_t op = add(x.op);
  bool told = false, unwritten = false;
  for (unsigned left = p.cells; left; left &= left - 1)
    for (unsigned c = p.first; c < p.first + p.count; ++c) {
      Cell& cell = cells_[std::size_t(std::countr_zero(left))][c];
      unwritten |= !cell.writer;
      for (const std::uint32_t y : {cell.writer, cell.reader[0], cell.reader[1], cell.reader[2]}) {
        if (!y || told || order(x, ops_[y]) == TensorOrder::right) continue;
        conflict(x, {left & -left, c, 1}, ops_[y], y == cell.writer);
        told = true;
      }
      cell = {op, {}};
    }
  if (unwritten && x.accumulates) {
    const Block& b = *x.f.home;
    x.f.home->report(x.f, Kind::uninitialised_read, "tensor memory", x.site,
                     "of tensor memory: {} accumulates by tcgen05.mma on {} at \1, of which some have not been written",
                     b.who(x.f.index), spell(p));
  }
  return true;
}

void TensorMemory::check_freed(Block& b) const {
  for (const Allocation& a : allocations_) {
    if (!b.findings.fresh(Kind::departed, "tensor memory", a.site.address)) continue;
    RawFinding raw{Kind::departed, "tensor memory", "", {{a.site.address}}, b.linear};
    raw.text = fmt::format(
        "{}: it ends while columns {}..{} of tensor memory are allocated, by {} at \1; "
        "TMEM::Allocator::free comes first",
        b.name(), a.first, a.first + a.count, b.cluster.spell(a.thread));
    b.findings.add(std::move(raw));
  }
}

}  // namespace zellige::emulate
