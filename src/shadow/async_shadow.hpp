// Finds races with asynchronous operations. It records, per 16 bytes of a block's shared memory, which asynchronous
// operation wrote the bytes last, and which ones have read them since; and which bytes of global memory a cluster's copies
// may still read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "shadow/clock.hpp"

namespace zellige::shadow {

/// An asynchronous operation on shared memory: a TMA or bulk copy, a store_async, or a wgmma. It is kept from its issue to
/// the end of its cluster. Vector clocks (clock.hpp) count completions per agent: an mbarrier, a thread's bulk groups, or a
/// warpgroup's wgmma groups. The operation completes on `agent`, at that agent's time `epoch`. A thread whose clock has a
/// later time of the agent knows that the operation is complete.
struct AsyncOp {
  enum class Kind : std::uint8_t {
    tma_load,
    bulk_load,
    cluster_copy,
    store_async,
    tma_store,
    bulk_store,
    wgmma,
    tcgen05_mma,
    tcgen05_cp,
    tcgen05_commit,
    try_cancel
  };
  // `epoch` of an operation whose completion is not scheduled
  static constexpr std::uint32_t never = 0xFFFFFFFF;
  static constexpr std::uint32_t no_block = 0xFFFFFFFF;

  Kind kind{};
  std::uint8_t swizzle = 0;  // swizzle of the bytes in shared memory, as in TmaMap
  bool landed = false;       // the bytes have been written (loads), or need no landing (stores, wgmma)
  std::uint16_t thread = 0;  // the issuing thread, within the cluster
  std::uint16_t region = 0;  // the tensor, by its id in `block`
  std::uint32_t site = 0;    // low half of the return address
  std::uint32_t agent = 0, epoch = never;
  std::uint32_t block = no_block;          // rank in the cluster of the block whose shared memory is accessed
  std::uint32_t barrier = 0;               // loads: byte offset in `block` of the mbarrier on which the copy completes
  std::uint32_t from = no_block;           // copies from block to block: rank of the block whose shared memory is read
  std::uint32_t barrier_block = no_block;  // rank of the block of the mbarrier, if that is not `block`

  bool completes_by_commit() const { return kind == Kind::tcgen05_mma || kind == Kind::tcgen05_cp; }
  std::uint32_t block_of_barrier() const { return barrier_block == no_block ? block : barrier_block; }
  bool completes_on_mbarrier() const {
    return kind == Kind::tma_load || kind == Kind::bulk_load || kind == Kind::cluster_copy ||
           kind == Kind::store_async || kind == Kind::try_cancel;
  }
  /// Returns true if a thread with the vector clock `clock` has observed the operation's completion.
  bool over_for(const Clock& clock) const { return epoch != never && clock.time[agent] > epoch; }
};

/// Shadow memory of one block's shared memory: which asynchronous operations have accessed it. `at` is a byte
/// offset; operations are indices into the cluster's list, from 1.
class AsyncShadow {
 public:
  void reset() {
    cells_.clear();
    last_reader_ = last_writer_ = {};
  }
  bool empty() const { return cells_.empty(); }
  /// Allocates the record for `bytes` bytes of shared memory, unless that is done already. Must be called
  /// before an asynchronous operation is recorded.
  void start(std::size_t bytes) {
    if (cells_.empty()) cells_.resize((bytes + 15) / 16);
  }

  /// Checks a thread's own read of up to 16 bytes within an aligned 16-byte cell. Returns the conflict with
  /// an asynchronous write whose completion the actor (the reading thread) has not observed, if any.
  Clash read(std::size_t at, const Actor&, const std::vector<AsyncOp>&) const;
  /// The same for a write, which asynchronous reads conflict with, too.
  Clash write(std::size_t at, const Actor&, const std::vector<AsyncOp>&) const;
  /// Records and checks a read of 16 bytes by the asynchronous operation `op`; the actor is the thread that
  /// issued it. Returns the conflict with an earlier asynchronous write, if any.
  Clash read_by(std::uint32_t op, std::size_t at, const Actor&, const std::vector<AsyncOp>&);
  /// The same for a write, which earlier asynchronous reads conflict with, too.
  Clash write_by(std::uint32_t op, std::size_t at, const Actor&, const std::vector<AsyncOp>&);
  /// Returns the index of the last asynchronous operation that wrote at byte offset `at`; 0 if there is none.
  std::uint32_t writer(std::size_t at) const { return cells_.empty() ? 0 : cells_[at / 16].writer; }

 private:
  static constexpr unsigned readers = 3;
  struct Cell {
    std::uint32_t writer = 0, reader[readers] = {};
    bool operator==(const Cell&) const = default;
  };
  /// What an operation last made of a cell, without a conflict. It makes the same of cells that were equal, as those of a tile are.
  struct Change {
    std::uint32_t op = 0;  // 0: none
    Cell before, after;
  };
  std::vector<Cell> cells_;
  Change last_reader_, last_writer_;
};

/// The reads of global memory by a cluster's asynchronous copies (TMA loads, bulk loads, cp.async): a write to the bytes is a
/// race until the copy is known to be complete. Only buffers that the launch writes are recorded.
class GlobalReads {
 public:
  void clear() { granules_.clear(); }
  bool empty() const { return granules_.empty(); }
  /// Records that the asynchronous operation `op` (an index into the cluster's list) reads `bytes` bytes at `from`.
  /// Operations whose completion the actor, the issuing thread, has observed are forgotten.
  void add(const unsigned char* from, std::size_t bytes, std::uint32_t op, const Actor&,
           const std::vector<AsyncOp>& ops);
  /// Records that a cp.async of the actor's thread reads bytes at `from`; it does so until `land`.
  void begin(const unsigned char* from, std::size_t bytes, const Actor&);
  /// Records that the thread's oldest cp.async of these bytes is complete.
  void land(const unsigned char* from, std::size_t bytes, const Actor&);
  /// Returns the conflict of a write by the actor with a read that may not be over, if any.
  Clash write(const unsigned char* to, std::size_t bytes, const Actor&, const std::vector<AsyncOp>&) const;

 private:
  struct Read {
    std::uint32_t op = 0;  // 0: a cp.async, by the members that follow
    std::uint32_t epoch = AsyncOp::never, site = 0;
    std::uint16_t thread = 0;
  };
  std::unordered_map<std::uintptr_t, std::vector<Read>> granules_;  // by address / 16
};

}  // namespace zellige::shadow
