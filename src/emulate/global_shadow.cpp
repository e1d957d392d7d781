#include "emulate/global_shadow.hpp"

#include <sys/mman.h>

#include "emulate/cluster.hpp"
#include "graph/error.hpp"

namespace zellige::emulate {

namespace {

// Flags of a stamp.
constexpr std::uint64_t several_threads = 1, several_blocks = 2;

// Returns the stamp (block, time and thread in 64 bits) of an access by the actor (the accessing thread),
// which is in block `block`. The functions below return the fields of a stamp.
std::uint64_t stamp(const Actor& a, std::uint32_t block) {
  return std::uint64_t(block + 1) << 36 | std::uint64_t(a.epoch & 0xFFFFFF) << 12 |
         std::uint64_t(a.thread - a.first_warp * 32u) << 2;
}
std::uint32_t block_of(std::uint64_t s) { return std::uint32_t(s >> 36) - 1; }
std::uint32_t epoch_of(std::uint64_t s) { return std::uint32_t(s >> 12) & 0xFFFFFF; }
std::uint16_t thread_of(std::uint64_t s) { return std::uint16_t(s >> 2 & 0x3FF); }

// Returns true if the access with the stamp `earlier` happened before the current access of the actor, a
// thread of block `block`. Accesses of different blocks can be ordered only if the blocks are in one cluster
// or synchronize by an atomic counter.
bool ordered(std::uint64_t earlier, const Actor& a, std::uint32_t block) {
  if (!earlier) return true;
  if (earlier & several_blocks) return false;
  int first_warp = a.first_warp;
  if (block_of(earlier) != block) first_warp = a.cluster ? a.cluster->first_warp(block_of(earlier)) : -1;
  const std::uint32_t epoch = epoch_of(earlier);
  if (first_warp < 0)
    return a.acquired &&
           arrived_before(*a.acquired, a, block_of(earlier), thread_of(earlier), epoch, earlier & several_threads);
  const unsigned warp = unsigned(first_warp) + thread_of(earlier) / 32u;
  if (earlier & several_threads) return epoch < a.observed(warp);
  return a.after(epoch, std::uint16_t(first_warp * 32 + thread_of(earlier)));
}

// Returns the new stamp of the readers of a cell (two bytes) after a read by the actor, a thread of block
// `block`; `before` is the stamp without this read. A stamp names one thread with its block and time, and has
// flags for unordered reads by several threads or several blocks.
std::uint64_t with_reader(std::uint64_t before, const Actor& a, std::uint32_t block) {
  const std::uint64_t mine = stamp(a, block);
  if (!before) return mine;
  if (before & several_blocks) return before;
  const bool earlier = ordered(before, a, block);
  if (block_of(before) != block) return earlier ? mine : before | several_blocks;
  return earlier ? mine : mine | several_threads;
}

}  // namespace

// Allocates the cells by mmap, so that pages without an access cost nothing. Throws Error if there is no memory.
GlobalShadow::GlobalShadow(std::size_t bytes) : count_(bytes / 2 + 1) {
  void* map =
      mmap(nullptr, count_ * sizeof(Cell), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (map == MAP_FAILED) fail("emulator: no room for the shadow of a tensor of {} bytes", bytes);
  cells_ = static_cast<Cell*>(map);
}

GlobalShadow::~GlobalShadow() { munmap(static_cast<void*>(cells_), count_ * sizeof(Cell)); }

Clash GlobalShadow::read(std::size_t at, unsigned bytes, const Actor& a, std::uint32_t block) {
  Clash first;
  if (bytes == 1) return first;
  for (std::size_t c = at / 2, end = (at + bytes + 1) / 2; c < end; ++c) {
    Cell& cell = cells_[c];
    Stamp before = cell.reader.load();
    Stamp now = with_reader(before, a, block);
    if (now != before) {
      cell.read_site.store(a.site, std::memory_order_relaxed);
      while (!cell.reader.compare_exchange_weak(before, now)) now = with_reader(before, a, block);
    }
    const Stamp writer = cell.writer.load();
    if (!first && !ordered(writer, a, block)) {
      first = {Clash::What::written, thread_of(writer), 0, cell.write_site.load(std::memory_order_relaxed),
               block_of(writer)};
    }
  }
  return first;
}

Clash GlobalShadow::write(std::size_t at, unsigned bytes, const Actor& a, std::uint32_t block) {
  Clash first;
  if (bytes == 1) return first;
  const Stamp mine = stamp(a, block);
  for (std::size_t c = at / 2, end = (at + bytes + 1) / 2; c < end; ++c) {
    Cell& cell = cells_[c];
    const std::uint32_t earlier_site = cell.write_site.exchange(a.site, std::memory_order_relaxed);
    const Stamp writer = cell.writer.exchange(mine);
    if (first) continue;
    if (!ordered(writer, a, block)) {
      first = {Clash::What::written, thread_of(writer), 0, earlier_site, block_of(writer)};
      continue;
    }
    const Stamp reader = cell.reader.load();
    if (!ordered(reader, a, block)) {
      first = {Clash::What::read, thread_of(reader), 0, cell.read_site.load(std::memory_order_relaxed),
               block_of(reader) == block ? unnamed_block : block_of(reader)};
      if (first.block == unnamed_block && !(reader & several_blocks)) first.block = block;
    }
  }
  return first;
}

}  // namespace zellige::emulate
