#include "shadow/async_shadow.hpp"

#include <algorithm>

namespace zellige::shadow {

using What = Clash::What;

namespace {

// Calls `step` with each granule of 16 bytes that the `bytes` bytes at `p` touch.
template <class Step>
void each(const unsigned char* p, std::size_t bytes, Step step) {
  const auto from = reinterpret_cast<std::uintptr_t>(p);
  for (std::uintptr_t granule = from / 16; granule * 16 < from + bytes; ++granule) step(granule);
}

}  // namespace

Clash AsyncShadow::read(std::size_t at, const Actor& a, const std::vector<AsyncOp>& ops) const {
  const std::uint32_t w = cells_[at / 16].writer;
  if (!w || ops[w].over_for(*a.clock)) return {};
  return {What::async_write, ops[w].thread, ops[w].region, ops[w].site, 0, w};
}

Clash AsyncShadow::write(std::size_t at, const Actor& a, const std::vector<AsyncOp>& ops) const {
  const Cell& cell = cells_[at / 16];
  if (Clash c = read(at, a, ops)) return c;
  for (const std::uint32_t r : cell.reader)
    if (r && !ops[r].over_for(*a.clock)) return {What::async_read, ops[r].thread, ops[r].region, ops[r].site, 0, r};
  return {};
}

// Checks and records a read by the asynchronous operation `op`. The record has three slots for readers. `op` takes an
// empty slot, or the slot of a reader that needs no check by threads that know `op` to be complete. That is a reader
// that completes on the same agent (an mbarrier or a sequence of groups) no later than `op`, or whose completion the
// actor (the thread that issued `op`) has observed. If there is no such slot, `op` overwrites the first one.
Clash AsyncShadow::read_by(std::uint32_t op, std::size_t at, const Actor& a, const std::vector<AsyncOp>& ops) {
  Cell& cell = cells_[at / 16];
  if (last_reader_.op == op && cell == last_reader_.before) {
    cell = last_reader_.after;
    return {};
  }
  const Cell before = cell;
  const Clash clash = read(at, a, ops);
  std::uint32_t* place = nullptr;
  for (std::uint32_t& r : cell.reader) {
    const bool same = r && ops[r].agent == ops[op].agent && ops[r].epoch <= ops[op].epoch;
    if (!r || same || ops[r].over_for(*a.clock))
      if (!place || same) place = &r;
  }
  *(place ? place : &cell.reader[0]) = op;
  if (!clash) last_reader_ = {op, before, cell};
  return clash;
}

Clash AsyncShadow::write_by(std::uint32_t op, std::size_t at, const Actor& a, const std::vector<AsyncOp>& ops) {
  Cell& cell = cells_[at / 16];
  if (last_writer_.op == op && cell == last_writer_.before) {
    cell = last_writer_.after;
    return {};
  }
  const Cell before = cell;
  // store_async operations of several threads may write the same 16 bytes if they complete on the same mbarrier.
  const bool independent = cell.writer && ops[op].kind == AsyncOp::Kind::store_async &&
                           ops[cell.writer].kind == AsyncOp::Kind::store_async &&
                           ops[cell.writer].barrier == ops[op].barrier;
  const Clash clash = independent ? Clash{} : write(at, a, ops);
  cell = {op, {}};
  if (!clash) last_writer_ = {op, before, cell};
  return clash;
}

void GlobalReads::add(const unsigned char* from, std::size_t bytes, std::uint32_t op, const Actor& a,
                      const std::vector<AsyncOp>& ops) {
  each(from, bytes, [&](std::uintptr_t granule) {
    std::vector<Read>& all = granules_[granule];
    std::erase_if(all, [&](const Read& r) { return r.op && ops[r.op].over_for(*a.clock); });
    all.push_back({op, 0, 0, 0});
  });
}

// A thread's earlier copies of the same bytes that are complete are forgotten: what is ordered after this one is ordered
// after them.
void GlobalReads::begin(const unsigned char* from, std::size_t bytes, const Actor& a) {
  each(from, bytes, [&](std::uintptr_t granule) {
    std::vector<Read>& all = granules_[granule];
    std::erase_if(all, [&](const Read& r) { return !r.op && r.thread == a.thread && r.epoch != AsyncOp::never; });
    all.push_back({0, AsyncOp::never, a.site, a.thread});
  });
}

void GlobalReads::land(const unsigned char* from, std::size_t bytes, const Actor& a) {
  each(from, bytes, [&](std::uintptr_t granule) {
    std::vector<Read>& all = granules_[granule];
    const auto oldest = std::ranges::find_if(
        all, [&](const Read& r) { return !r.op && r.thread == a.thread && r.epoch == AsyncOp::never; });
    if (oldest != all.end()) oldest->epoch = a.epoch;
  });
}

Clash GlobalReads::write(const unsigned char* to, std::size_t bytes, const Actor& a,
                         const std::vector<AsyncOp>& ops) const {
  Clash found;
  each(to, bytes, [&](std::uintptr_t granule) {
    const auto at = found ? granules_.end() : granules_.find(granule);
    if (at == granules_.end()) return;
    for (const Read& r : at->second) {
      if (r.op && !ops[r.op].over_for(*a.clock))
        found = {What::async_read, ops[r.op].thread, ops[r.op].region, ops[r.op].site, 0, r.op};
      else if (!r.op && (r.epoch == AsyncOp::never || !a.after(r.epoch, r.thread)))
        found = {What::copying, r.thread, 0, r.site};
    }
  });
  return found;
}

}  // namespace zellige::shadow
