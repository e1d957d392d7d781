// Checks how the parts of a tile in shared memory are used: the stages of a ring, or several partial results.
// Each part that is filled must be read. A thread that has read a later stage must not read an earlier stage
// until the earlier one has been refilled.
#pragma once
#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "zellige/emulate/thread.hpp"

namespace zellige::emulate {

/// Checks the fills and reads of the parts of one block's tiles: stages of a ring, or partial results. Times
/// are those of the accessing thread's warp.
class PartsRead {
 public:
  /// A part of a tile, with its last fill and the reads since.
  struct Part {
    std::uint32_t fill = 0;        // number of its last fill, counted per tile from 1; 0: never filled
    bool read = false;             // since its last fill
    std::uint32_t read_epoch = 0;  // time of the latest read
    std::uint16_t thread = 0;      // the first thread to write in its last fill
    std::uintptr_t site = 0;       // return address of that thread's write
  };
  /// A tile of shared memory that is divided into parts.
  struct Tile {
    const Region* region = nullptr;
    std::uint32_t fills = 0;  // number of fills
    // true once a thread has refilled a part that it has read, without a barrier between: the order of stages
    // is then not checked
    bool loose = false;
    std::vector<Part> parts;
    std::vector<std::uint32_t> latest;  // per thread of the block, the latest fill that it has read
  };

  void clear() { tiles_.clear(); }
  const std::unordered_map<std::uint16_t, Tile>& tiles() const { return tiles_; }

  /// Records that a thread writes byte `from` of the tile `r` at time `epoch` of its warp. The write starts a
  /// new fill of the part (ring stage or partial result) that contains the byte. But it belongs to the part's
  /// last fill if that has not been read, or if no barrier has followed the read.
  void filled(const Region& r, std::size_t from, std::uint16_t thread, std::uint32_t epoch, std::uintptr_t site) {
    Tile& t = tile(r);
    Part& p = t.parts[part(t, r, from)];
    if (p.fill && p.read && epoch <= p.read_epoch && t.latest[thread] >= p.fill) t.loose = true;
    if (p.fill && (!p.read || epoch <= p.read_epoch)) return;
    p = {++t.fills, false, 0, thread, site};
  }
  /// Records that a thread reads byte `from` of the tile `r` at time `epoch` of its warp. Returns null if the
  /// read is valid. If the thread has already read a stage of the ring that was filled later, returns the
  /// stage that contains the byte.
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
