// Tracks the stages and other parts of a tile in shared memory: each part that is filled must be read, and a
// thread that has read a later stage must not read an earlier one again before it is refilled.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulate/site.hpp"
#include "zellige/emulate/thread.hpp"

namespace zellige::emulate {

class PartsRead {
 public:
  struct Part {
    std::uint32_t fill = 0;  // sequence number of its fill, from 1; 0: never filled
    bool read = false;
    std::uint32_t read_epoch = 0;  // of the latest read
    std::uint16_t thread = 0;      // that filled it first
    std::uintptr_t site = 0;
  };
  struct Tile {
    const Region* region = nullptr;
    std::uint32_t fills = 0;
    // threads refill what they have read without a barrier in between: stages have no common order
    bool loose = false;
    std::vector<Part> parts;
    std::vector<std::uint32_t> latest;  // fill that each thread has read last
  };

  void clear() { tiles_.clear(); }
  const std::unordered_map<std::uint16_t, Tile>& tiles() const { return tiles_; }

  /// Records a fill. Fills of threads in the same epoch as the readers do not count as a refill.
  void filled(const Region& r, std::size_t from, std::uint16_t thread, std::uint32_t epoch,
              std::uintptr_t site) {
    Tile& t = tile(r);
    Part& p = t.parts[part(t, r, from)];
    if (p.fill && p.read && epoch <= p.read_epoch && t.latest[thread] >= p.fill) t.loose = true;
    if (p.fill && (!p.read || epoch <= p.read_epoch)) return;
    p = {++t.fills, false, 0, thread, site};
  }
  /// Records a read. Returns the part if the thread has read a later one before.
  const Part* read(const Region& r, std::size_t from, std::uint16_t thread, std::uint32_t epoch) {
    Tile& t = tile(r);
    Part& p = t.parts[part(t, r, from)];
    p.read = true;
    p.read_epoch = std::max(p.read_epoch, epoch);
    if (!r.stages || !p.fill || t.loose) return nullptr;
    if (p.fill < t.latest[thread]) return &p;
    t.latest[thread] = p.fill;
    return nullptr;
  }

 private:
  Tile& tile(const Region& r) {
    Tile& t = tiles_[r.id];
    if (t.parts.empty()) t.region = &r, t.parts.resize(r.bytes / r.part_bytes + 1), t.latest.resize(1024);
    return t;
  }
  static std::size_t part(const Tile& t, const Region& r, std::size_t from) {
    return std::min(from / r.part_bytes, t.parts.size() - 1);
  }

  std::unordered_map<std::uint16_t, Tile> tiles_;  // by Region::id
};

}  // namespace zellige::emulate
