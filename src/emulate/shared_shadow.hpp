// Tracks each byte of a block's shared memory: its last writer, as which tensor it was written, and its
// readers since. Two bytes share a cell; while accesses are 16 bytes wide and aligned, 16 bytes share one, so
// that tiles moved in wide copies cost one lookup each. Accesses of one byte are checked for initialization
// only: two threads may own the two bytes of a cell.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "emulate/clock.hpp"
#include "zellige/emulate/thread.hpp"

namespace zellige::emulate {

/// As what bytes are accessed: the tensor, from 1, and the layout, 0 if unknown.
struct As {
  std::uint16_t region = 0, arrangement = 0;
  As(std::uint16_t r, std::uint16_t a = 0) : region(r), arrangement(a) {}
  As(const Region& r) : region(r.id), arrangement(r.arrangement) {}
};

class SharedShadow {
 public:
  /// Per arrangement, a bit for each other one with which it does not agree.
  std::uint64_t disagrees[64] = {};

  /// Clears everything for a new block.
  void reset(std::size_t bytes);

  /// An access of 1, 2, 4, 8 or 16 bytes at the aligned offset `at`, as tensor `region` (from 1).
  Clash read(std::size_t at, unsigned bytes, const Actor&, As);
  Clash write(std::size_t at, unsigned bytes, const Actor&, As);

  /// An asynchronous copy: from `begin` to `land` the bytes belong to the copy and every access is a race.
  Clash begin(std::size_t at, unsigned bytes, const Actor&, As);
  void land(std::size_t at, unsigned bytes, const Actor&, std::uint16_t region);

  /// The asynchronous proxy's accesses, checked for ordering against ordinary code, and that its writes have
  /// passed a fence. Conflicts within the proxy are checked by AsyncShadow.
  Clash proxy_read(std::size_t at, unsigned bytes, const Actor&);
  Clash proxy_write(std::size_t at, unsigned bytes, const Actor&, std::uint16_t region);
  /// The tensor as which the bytes were last written; 0: never written.
  std::uint16_t region_at(std::size_t at) const;
  /// The clash of an access to them as another tensor's.
  Clash written_as(std::size_t at) const;
  /// Returns whether the bytes at `at` were last written by that thread at that time.
  bool written_by(std::size_t at, std::uint16_t thread, std::uint32_t epoch) const;

 private:
  static constexpr std::uint16_t nobody = 0xFFFF;

  struct Cell {
    std::uint32_t write_epoch, write_site;
    std::uint64_t read_warps;             // since the write; 0: none
    std::uint32_t read_epoch, read_site;  // several_times: read_site is an index into several_
    std::uint16_t writer, region;         // region 0: never written
    std::uint16_t reader, other_reader;   // other_reader: a second thread of the same epoch
    std::uint16_t arrangement;            // of the write; 0: unknown
    bool in_flight, split;                // split: the 2-byte cells are valid
  };
  static constexpr std::uint32_t several_times = 0xFFFFFFFF;
  struct Reads {
    std::uint32_t epoch, site;
    std::uint16_t reader, other_reader;
  };
  using ReadSet = std::array<Reads, max_warps>;  // epoch 0: no read by that warp

  template <class Step>
  Clash each(std::size_t at, unsigned bytes, Step step);
  void split(std::size_t granule);
  void merge(std::size_t granule);
  Clash read_cell(Cell&, const Actor&, As);
  Clash write_cell(Cell&, const Actor&, As, bool in_flight);
  void add_read(Cell&, const Actor&);
  Clash unordered_read(const Cell&, const Actor&) const;
  const Cell& cell_at(std::size_t at) const;

  std::size_t bytes_ = 0;
  std::vector<Cell> granules_;     // of 16 bytes
  std::unique_ptr<Cell[]> cells_;  // of 2 bytes, valid where the granule is split
  std::size_t cell_count_ = 0;
  std::vector<ReadSet> several_;
};

}  // namespace zellige::emulate
