// Finds races and uninitialised reads in a block's shared memory. It records, for each byte, the last writer,
// the tensor that the writer accessed, and the readers since.
//
// A cell of the record describes two bytes. As long as all accesses to 16 aligned bytes have 16 bytes, one
// cell describes all of them, so that wide copies cost one lookup each. From the first access of one byte on, each of
// the 16 bytes has a cell of its own.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "shadow/clock.hpp"
#include "zellige/emulate/thread.hpp"

namespace zellige::shadow {

/// How bytes are accessed: as which tensor (Region::id, from 1), and through which layout
/// (Region::arrangement, 0 if unknown).
struct As {
  std::uint16_t region = 0, arrangement = 0;
  As(std::uint16_t r, std::uint16_t a = 0) : region(r), arrangement(a) {}
  As(const emulate::Region& r) : region(r.id), arrangement(r.arrangement) {}
};

/// Shadow memory of one block's shared memory: last writers and readers, per byte. `at` is a byte offset.
/// Functions that return a Clash return the conflict with an earlier access, if any.
class SharedShadow {
 public:
  /// Per layout, a mask of the layouts that are incompatible with it. The block sets it.
  std::uint64_t disagrees[64] = {};

  /// Forgets all accesses, for a new block with `bytes` bytes of shared memory.
  void reset(std::size_t bytes);

  /// What makes a write: a thread by itself, its cp.async, or the asynchronous proxy (TMA, bulk copies).
  enum class By : std::uint8_t { thread, cp_async, proxy };

  /// Record and check a read or write of 1, 2, 4, 8 or 16 aligned bytes at byte offset `at`. As: the tensor and layout of
  /// the access. Return the conflict with an earlier access, if any. A cp.async begins its write when it is issued: until
  /// its completion (land), every access to its bytes is a race. A write by the asynchronous proxy also conflicts with an
  /// earlier ordinary write that has not passed a fence to the proxy.
  Clash read(std::size_t at, unsigned bytes, const Actor& a, As as) {
    if (bytes == 16 && read_in_order(at, a, as)) [[likely]]
      return {};
    return read_any(at, bytes, a, as);
  }
  /// Records a read of 16 bytes in a common case without conflict. Returns false, and has recorded nothing, in other cases.
  bool read_in_order(std::size_t at, const Actor& a, As as) { return reads_in_order(granules_[at / 16], a, as); }
  Clash write(std::size_t at, unsigned bytes, const Actor& a, As as, By by = By::thread) {
    if (bytes == 16 && writes_in_order(granules_[at / 16], a, as, by)) [[likely]]
      return {};
    return write_any(at, bytes, a, as, by);
  }

  /// Checks an atomic, which SharedAdditions records: returns the conflict with an earlier ordinary access, if any.
  Clash add(std::size_t at, unsigned bytes, const Actor&);

  /// Records the completion of a cp.async. From here on, its write counts as made by the actor, the issuing
  /// thread, through the tensor with the id `region`.
  void land(std::size_t at, unsigned bytes, const Actor&, std::uint16_t region);

  /// Checks a read by the asynchronous proxy (TMA, bulk copies, wgmma). Returns the conflict, if any: bytes
  /// that nothing has written, or an earlier ordinary write that is not ordered before the read or has not
  /// passed a fence to the asynchronous proxy. AsyncShadow finds conflicts between asynchronous operations.
  Clash proxy_read(std::size_t at, unsigned bytes, const Actor& a) {
    if (const Cell& cell = granules_[at / 16]; bytes == 16 && cell.split == Split::none && by_proxy(cell, a)) [[likely]]
      return {};
    return proxy_read_any(at, bytes, a);
  }
  /// Returns the id of the tensor through which the byte was last written (tensors may overlap); 0 if none.
  std::uint16_t region_at(std::size_t at) const;
  /// Returns the Clash (conflict) for an access to the byte through a tensor other than the one through which
  /// it was last written.
  Clash written_as(std::size_t at) const;
  /// Returns true if the byte was last written by this thread at this time of its warp.
  bool written_by(std::size_t at, std::uint16_t thread, std::uint32_t epoch) const;

 private:
  static constexpr std::uint16_t nobody = 0xFFFF;
  enum class Split : std::uint8_t { none, pairs, bytes };

  /// A cell of the shadow memory: the last write to 2 or 16 bytes, and the reads since.
  struct Cell {
    std::uint32_t write_epoch, write_site;  // time of the last write, and low half of its return address
    WarpSet read_warps;                     // warps that have read since the write
    // time and address of these reads; time `several_times`: read_site is an index into several_
    std::uint32_t read_epoch, read_site;
    std::uint16_t writer, region;        // writing thread; tensor of the write, 0: never written
    std::uint16_t reader, other_reader;  // reading thread; a second one of the same time, or `nobody`
    std::uint16_t arrangement;           // layout of the write; 0: unknown
    bool in_flight;                      // written by a cp.async in flight
    Split split;                         // cells of 16 bytes: which cells are valid in place of this one
  };
  static constexpr std::uint32_t several_times = 0xFFFFFFFF;
  /// The reads of a cell by one warp since the last write.
  struct Reads {
    std::uint32_t epoch, site;
    std::uint16_t reader, other_reader;
  };
  using ReadSet = std::array<Reads, max_warps>;  // by warp; epoch 0: no read

  /// The common cases of reads and writes of 16 bytes: all threads know what has been done to the cell before, or others have read it
  /// at the same time. Record the access, or return false and leave it to read_any and write_any.
  bool reads_in_order(Cell& cell, const Actor& a, As as) const {
    if (cell.split != Split::none || cell.region != as.region || cell.in_flight || cell.write_epoch >= a.minimum ||
        (disagrees[as.arrangement] >> cell.arrangement & 1))
      return false;
    const WarpSet mine = WarpSet::of(a.warp);
    if (cell.read_warps.empty()) {
      cell.read_epoch = a.epoch, cell.read_site = a.site, cell.read_warps = mine;
      cell.reader = a.thread, cell.other_reader = nobody;
      return true;
    }
    if (cell.read_epoch != a.epoch) return false;
    cell.read_warps.add(mine);
    if (cell.reader != a.thread && cell.other_reader == nobody) cell.other_reader = a.thread;
    return true;
  }
  static bool writes_in_order(Cell& cell, const Actor& a, As as, By by) {
    const bool as_proxy = by == By::proxy;
    if (cell.split != Split::none || as.region == 0) return false;
    if (cell.region != 0 && (as_proxy ? !by_proxy(cell, a) : cell.in_flight || cell.write_epoch >= a.minimum))
      return false;
    if (!cell.read_warps.empty() && (cell.read_epoch == several_times || cell.read_epoch >= a.minimum)) return false;
    set_writer(cell, a, as_proxy ? 0 : a.epoch, as.region);
    cell.arrangement = as.arrangement;
    cell.in_flight = by == By::cp_async;
    return true;
  }
  /// Returns whether the asynchronous proxy has written the cell, and thus the actor's access by that proxy needs no fence.
  static bool by_proxy(const Cell& cell, const Actor& a) {
    return cell.region != 0 && cell.write_epoch == 0 && !cell.in_flight && a.minimum > 0 &&
           a.clock->visible[unsigned(emulate::Space::shared)][cell.writer / 32] > 0;
  }
  Clash proxy_read_any(std::size_t at, unsigned bytes, const Actor&);
  Clash read_any(std::size_t at, unsigned bytes, const Actor&, As);
  Clash write_any(std::size_t at, unsigned bytes, const Actor&, As, By);

  /// Calls `step` for each shadow cell of the `bytes` bytes at offset `at`. Returns the first conflict, if any.
  template <class Step>
  Clash each(std::size_t at, unsigned bytes, Step step);
  void split(std::size_t granule);           // replaces a 16-byte cell by eight 2-byte cells
  void split_to_bytes(std::size_t granule);  // replaces the cells of 16 bytes by one for each byte
  Cell copy_of(const Cell&);                 // with a record of its own of several reads
  void add_read(Cell&, const Actor&);
  static void set_writer(Cell& cell, const Actor& a, std::uint32_t epoch, std::uint16_t region) {
    cell.write_epoch = epoch, cell.write_site = a.site, cell.writer = a.thread, cell.region = region;
    cell.read_warps = {};
  }
  /// Returns the conflict of the actor's access with the last write, if that is in flight or not ordered before it; for
  /// an access by the asynchronous proxy also if no fence to it followed the write.
  Clash unordered_write(const Cell&, const Actor&, bool by_proxy) const;
  /// Returns the conflict of the actor's write with an earlier read that is not ordered before it, if any.
  Clash unordered_read(const Cell&, const Actor&) const;
  const Cell& cell_at(std::size_t at) const;

  std::vector<Cell> granules_;     // cells of 16 bytes
  std::unique_ptr<Cell[]> cells_;  // cells of 2 bytes, valid where the cell of 16 bytes is split into pairs
  std::vector<Cell> bytes_;        // cells of one byte, where it is split into bytes; empty: nowhere
  std::size_t cell_count_ = 0;
  std::vector<ReadSet> several_;  // reads of cells that were read at several times since the last write
};

}  // namespace zellige::shadow
