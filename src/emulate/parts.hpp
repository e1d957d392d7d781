// The stages of a tile in shared memory, and its other parts: that each which is filled is read, and that nobody
// who has read a later one goes back to one that has not been filled again.
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
    std::uint32_t fill = 0;  // which filling of the tile this is, from 1; 0: none yet
    bool read = false;
    std::uint32_t read_epoch = 0;  // of the latest read
    std::uint16_t thread = 0;      // that filled it first
    std::uintptr_t site = 0;
  };
  struct Tile {
    const Region* region = nullptr;
    std::uint32_t fills = 0;
    bool loose =
        false;  // threads fill again what they have read with no barrier between: each has an order of its own
    std::vector<Part> parts;
    std::vector<std::uint32_t> latest;  // that each thread has read
  };

  void clear() { tiles_.clear(); }
  const std::unordered_map<std::uint16_t, Tile>& tiles() const { return tiles_; }

  /// Threads that no barrier parts from the readers still fill what those have read.
  void filled(const Region& r, std::size_t from, std::uint16_t thread, std::uint32_t epoch,
              std::uintptr_t site) {
    Tile& t = tile(r);
    Part& p = t.parts[part(t, r, from)];
    if (p.fill && p.read && epoch <= p.read_epoch && t.latest[thread] >= p.fill) t.loose = true;
    if (p.fill && (!p.read || epoch <= p.read_epoch)) return;
    p = {++t.fills, false, 0, thread, site};
  }
  /// The part, if the thread has read a later one before.
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
