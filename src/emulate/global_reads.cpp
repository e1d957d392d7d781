#include "emulate/global_reads.hpp"

#include <algorithm>

namespace zellige::emulate {

namespace {

// Calls `step` with each granule of 16 bytes that the `bytes` bytes at `p` touch.
template <class Step>
void each(const unsigned char* p, std::size_t bytes, Step step) {
  const auto from = reinterpret_cast<std::uintptr_t>(p);
  for (std::uintptr_t granule = from / 16; granule * 16 < from + bytes; ++granule) step(granule);
}

}  // namespace

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
        found = {Clash::What::async_read, ops[r.op].thread, ops[r.op].region, ops[r.op].site, 0, r.op};
      else if (!r.op && (r.epoch == AsyncOp::never || !a.after(r.epoch, r.thread)))
        found = {Clash::What::copying, r.thread, 0, r.site};
    }
  });
  return found;
}

}  // namespace zellige::emulate
