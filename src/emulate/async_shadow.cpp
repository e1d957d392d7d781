#include "emulate/async_shadow.hpp"

namespace zellige::emulate {

using What = Clash::What;

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
  const Clash clash = read(at, a, ops);
  std::uint32_t* place = nullptr;
  for (std::uint32_t& r : cell.reader) {
    const bool same = r && ops[r].agent == ops[op].agent && ops[r].epoch <= ops[op].epoch;
    if (!r || same || ops[r].over_for(*a.clock))
      if (!place || same) place = &r;
  }
  *(place ? place : &cell.reader[0]) = op;
  return clash;
}

Clash AsyncShadow::write_by(std::uint32_t op, std::size_t at, const Actor& a, const std::vector<AsyncOp>& ops) {
  Cell& cell = cells_[at / 16];
  // store_async operations of several threads may write the same 16 bytes if they complete on the same mbarrier.
  const bool independent = cell.writer && ops[op].kind == AsyncOp::Kind::store_async &&
                           ops[cell.writer].kind == AsyncOp::Kind::store_async &&
                           ops[cell.writer].barrier == ops[op].barrier;
  const Clash clash = independent ? Clash{} : write(at, a, ops);
  cell = {op, {}};
  return clash;
}

}  // namespace zellige::emulate
