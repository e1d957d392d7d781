#include "shadow/global_shadow.hpp"

#include <sys/mman.h>

#include <algorithm>

#include "graph/error.hpp"

namespace zellige::shadow {

namespace {

// Flags of a reader's stamp, and of a writer's.
constexpr std::uint64_t several_threads = 1, several_blocks = 2;
constexpr std::uint64_t asynchronous = 1, unfinished = 2;

// Returns the stamp (block, time and thread in 64 bits) of an access by the actor (the accessing thread),
// which is in block `block`.
std::uint64_t stamp(const Actor& a, std::uint32_t block) {
  return std::uint64_t(block + 1) << 36 | std::uint64_t(a.epoch & 0xFFFFFF) << 12 |
         std::uint64_t(a.thread - a.first_warp * 32u) << 2;
}

// An earlier access: its block, its thread within the block, and the time of the thread's warp.
struct Earlier {
  std::uint32_t block, epoch;
  std::uint16_t thread;
  explicit Earlier(std::uint64_t stamp)
      : block(std::uint32_t(stamp >> 36) - 1),
        epoch(std::uint32_t(stamp >> 12) & 0xFFFFFF),
        thread(std::uint16_t(stamp >> 2 & 0x3FF)) {}
  Earlier(std::uint32_t b, std::uint32_t e, std::uint16_t t) : block(b), epoch(e), thread(t) {}
};

// Returns the first warp of the earlier access's block, numbered within the actor's cluster; -1 if the block is of
// another cluster.
int first_warp_of(const Earlier& e, const Actor& a, std::uint32_t block) {
  if (e.block == block) return a.first_warp;
  const auto found = std::ranges::find(a.blocks, e.block, &BlockOfCluster::linear);
  return found == a.blocks.end() ? -1 : found->first_warp;
}

// Returns true if two increments of one atomic counter order the earlier access before the current access of the actor, and
// `also(later, sooner)` is true of them:
// 1. `sooner`, by a thread of the earlier access's block that had made or observed that access (observed, if `several`
//    threads made it);
// 2. `later`, by a thread of the actor's block, which the actor has observed.
template <class Also>
bool counted(const Earlier& e, bool several, const Actor& a, Also also) {
  return a.acquired && std::ranges::any_of(*a.acquired, [&](const Acquisition& later) {
           return a.after(later.epoch, later.thread) && std::ranges::any_of(later.before, [&](const Arrival& sooner) {
                    return sooner.block == e.block && sooner.covers(e.thread, e.epoch, several) && also(later, sooner);
                  });
         });
}

// Returns true if the earlier access happened before the current access of the actor, a thread of block `block`. Accesses
// of different blocks can be ordered only if the blocks are in one cluster or synchronize by an atomic counter.
// `several`: other threads of the earlier access's warp made it, too.
bool ordered(const Earlier& e, bool several, const Actor& a, std::uint32_t block) {
  const int first_warp = first_warp_of(e, a, block);
  if (first_warp < 0)
    return counted(e, several, a, [](const Acquisition&, const Arrival& sooner) { return !sooner.in_block; });
  const unsigned warp = unsigned(first_warp) + e.thread / 32u;
  if (several && !(a.pairs && warp == a.warp)) return e.epoch < a.observed(warp);
  return a.after(e.epoch, std::uint16_t(first_warp * 32 + e.thread));
}

// Returns true if the readers with the stamp `reader` read before the current access of the actor.
bool read_before(std::uint64_t reader, const Actor& a, std::uint32_t block) {
  return !reader || (!(reader & several_blocks) && ordered(Earlier(reader), reader & several_threads, a, block));
}

// Returns true if the actor knows that an earlier ordinary write has passed a fence to the asynchronous proxy.
// Precondition: the write is ordered before the actor's access. Where increments of a counter order them, the fence lies in
// the writing block before its increment, or in the actor's block after its own.
bool fenced(const Earlier& e, const Actor& a, std::uint32_t block) {
  const int first_warp = first_warp_of(e, a, block);
  if (first_warp >= 0) return a.fenced(e.epoch, std::uint16_t(first_warp * 32 + e.thread), emulate::Space::global);
  return counted(e, false, a, [&](const Acquisition& later, const Arrival& sooner) {
    return e.epoch < sooner.visible[e.thread / 32u] || e.epoch < sooner.fences[e.thread] ||
           a.fenced(later.epoch, later.thread, emulate::Space::global);
  });
}

// Returns the new stamp of the readers of a cell (two bytes) after a read by the actor, a thread of block
// `block`; `before` is the stamp without this read. A stamp names one thread with its block and time, and has
// flags for unordered reads by several threads or several blocks.
std::uint64_t add_reader(std::uint64_t before, const Actor& a, std::uint32_t block) {
  const std::uint64_t mine = stamp(a, block);
  if (!before) return mine;
  if (before & several_blocks) return before;
  const bool earlier = read_before(before, a, block);
  if (Earlier(before).block != block) return earlier ? mine : before | several_blocks;
  return earlier ? mine : mine | several_threads;
}

}  // namespace

// Allocates the cells by mmap, so that pages without an access cost nothing. Throws Error if there is no memory.
GlobalShadow::GlobalShadow(std::size_t bytes) : count_(bytes / 2 + 1 + bytes) {
  void* map =
      mmap(nullptr, count_ * sizeof(Cell), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) fail("emulator: no room for the shadow of a tensor of {} bytes", bytes);
  cells_ = static_cast<Cell*>(map);
  bytes_ = cells_ + bytes / 2 + 1;
}

GlobalShadow::~GlobalShadow() { munmap(static_cast<void*>(cells_), count_ * sizeof(Cell)); }

void GlobalShadow::forget() {
  madvise(static_cast<void*>(cells_), count_ * sizeof(Cell), MADV_DONTNEED);
  any_bytes_.store(false);
  any_additions_.store(false);
  additions_.clear();
  arrivals.at.clear();
}

// The accesses of one byte, and the others, are recorded apart; each looks at the other's record, too.
template <class Look>
Clash GlobalShadow::look(std::size_t at, unsigned bytes, Look look) const {
  if (bytes == 1) return look(cells_[at / 2]);
  if (!any_bytes_.load()) return {};
  for (std::size_t b = at; b < at + bytes; ++b)
    if (Clash found = look(bytes_[b])) return found;
  return {};
}

Clash GlobalShadow::with_writer(Stamp writer, std::uint32_t site, const Actor& a, std::uint32_t block, AccessProxy by) {
  if (!writer) return {};
  const Earlier e(writer);
  const auto clash = [&](Clash::What what) { return Clash{what, e.thread, 0, site, e.block}; };
  if (writer & unfinished) return clash(Clash::What::storing);
  if (!ordered(e, false, a, block)) return clash(Clash::What::written);
  if (by == AccessProxy::async && !(writer & asynchronous) && !fenced(e, a, block)) return clash(Clash::What::unfenced);
  return {};
}

Clash GlobalShadow::with_reader(const Cell& cell, const Actor& a, std::uint32_t block) {
  const Stamp reader = cell.reader.load();
  if (read_before(reader, a, block)) return {};
  const Earlier e(reader);
  return {Clash::What::read, e.thread, 0, cell.read_site.load(std::memory_order_relaxed),
          e.block == block && (reader & several_blocks) ? unnamed_block : e.block};
}

Clash GlobalShadow::with_additions(std::size_t at, unsigned bytes, const Actor& a, std::uint32_t block,
                                   AccessProxy by) {
  if (!any_additions_.load()) return {};
  const std::lock_guard lock(additions_mutex_);
  for (std::size_t granule = at / 16; granule * 16 < at + bytes; ++granule) {
    const auto found = additions_.find(granule);
    if (found == additions_.end()) continue;
    for (const Addition& x : found->second) {
      if (granule * 16 + x.to <= at || granule * 16 + x.from >= at + bytes) continue;
      const Earlier e(x.block, x.epoch, x.thread);
      const auto clash = [&](Clash::What what) { return Clash{what, x.thread, 0, x.site, x.block}; };
      if (x.in_flight) return clash(Clash::What::storing);
      if (!ordered(e, false, a, block)) return clash(Clash::What::added);
      if (by == AccessProxy::async && !x.op && !fenced(e, a, block)) return clash(Clash::What::unfenced);
    }
  }
  return {};
}

Clash GlobalShadow::read(std::size_t at, unsigned bytes, const Actor& a, std::uint32_t block, AccessProxy by) {
  Clash first;
  const auto written = [&](const Cell& cell) {
    return with_writer(cell.writer.load(), cell.write_site.load(std::memory_order_relaxed), a, block, by);
  };
  const auto [cells, end] = cells_of(at, bytes);
  for (Cell* c = cells; c < end; ++c) {
    Cell& cell = *c;
    Stamp before = cell.reader.load();
    Stamp now = add_reader(before, a, block);
    if (now != before) {
      cell.read_site.store(a.site, std::memory_order_relaxed);
      while (!cell.reader.compare_exchange_weak(before, now)) now = add_reader(before, a, block);
    }
    if (!first) first = written(cell);
  }
  if (!first) first = look(at, bytes, written);
  return first ? first : with_additions(at, bytes, a, block, by);
}

Clash GlobalShadow::write(std::size_t at, unsigned bytes, const Actor& a, std::uint32_t block, AccessProxy by) {
  Clash first;
  const Stamp mine = stamp(a, block) | (by == AccessProxy::async ? asynchronous | unfinished : 0);
  const auto [cells, end] = cells_of(at, bytes);
  for (Cell* c = cells; c < end; ++c) {
    Cell& cell = *c;
    const std::uint32_t earlier_site = cell.write_site.exchange(a.site, std::memory_order_relaxed);
    const Stamp writer = cell.writer.exchange(mine);
    if (!first) first = with_writer(writer, earlier_site, a, block, by);
    if (!first) first = with_reader(cell, a, block);
  }
  if (!first)
    first = look(at, bytes, [&](const Cell& cell) {
      const std::uint32_t site = cell.write_site.load(std::memory_order_relaxed);
      return first_of(with_writer(cell.writer.load(), site, a, block, by), with_reader(cell, a, block));
    });
  return first ? first : with_additions(at, bytes, a, block, by);
}

void GlobalShadow::land(std::size_t at, unsigned bytes, const Actor& a, std::uint32_t block) {
  const Stamp mine = stamp(a, block) | asynchronous;
  for (std::size_t c = at / 2, end = (at + bytes + 1) / 2; c < end; ++c) {
    Stamp there = cells_[c].writer.load();
    const Earlier e(there);
    if ((there & unfinished) && e.block == block && e.thread == a.thread - a.first_warp * 32u)
      cells_[c].writer.compare_exchange_strong(there, mine);
  }
}

// Of a thread's additions to the same bytes only the last is kept: whatever comes after it comes after the others. Of
// many threads' atomics the last are kept.
Clash GlobalShadow::add(std::size_t at, unsigned bytes, const Actor& a, std::uint32_t block, std::uint32_t op) {
  const auto thread = std::uint16_t(a.thread - a.first_warp * 32u);
  {
    const std::lock_guard lock(additions_mutex_);
    for (std::size_t granule = at / 16; granule * 16 < at + bytes; ++granule) {
      const std::size_t base = granule * 16;
      Addition mine{block,
                    a.epoch,
                    a.site,
                    op,
                    thread,
                    std::uint8_t(at > base ? at - base : 0),
                    std::uint8_t(std::min<std::size_t>(at + bytes - base, 16)),
                    op != 0};
      std::vector<Addition>& all = additions_[granule];
      std::erase_if(all, [&](const Addition& x) {
        return !x.in_flight && x.block == block && x.thread == thread && x.from == mine.from && x.to == mine.to;
      });
      if (all.size() >= 64 && !all.front().in_flight) all.erase(all.begin());
      all.push_back(mine);
    }
    any_additions_.store(true);
  }
  const auto other = [&](const Cell& cell) {
    const std::uint32_t site = cell.write_site.load(std::memory_order_relaxed);
    return first_of(with_writer(cell.writer.load(), site, a, block, op ? AccessProxy::async : AccessProxy::generic),
                    with_reader(cell, a, block));
  };
  const auto [cells, end] = cells_of(at, bytes);
  for (const Cell* c = cells; c < end; ++c)
    if (Clash found = other(*c)) return found;
  return look(at, bytes, other);
}

void GlobalShadow::land_add(std::size_t at, unsigned bytes, const Actor& a, std::uint32_t block, std::uint32_t op) {
  const auto thread = std::uint16_t(a.thread - a.first_warp * 32u);
  const std::lock_guard lock(additions_mutex_);
  for (std::size_t granule = at / 16; granule * 16 < at + bytes; ++granule)
    for (Addition& x : additions_[granule])
      if (x.block == block && x.thread == thread && x.op == op) x.in_flight = false, x.epoch = a.epoch;
}

}  // namespace zellige::shadow
