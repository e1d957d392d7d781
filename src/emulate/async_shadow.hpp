// Finds races with asynchronous operations on a block's shared memory. It records, per 16 bytes, which
// asynchronous operation wrote the bytes last, and which ones have read them since.
#pragma once
#include <cstddef>
#include <vector>

#include "emulate/async_op.hpp"

namespace zellige::emulate {

/// Shadow memory of one block's shared memory: which asynchronous operations have accessed it. `at` is a byte
/// offset; operations are indices into the cluster's list, from 1.
class AsyncShadow {
 public:
  void reset() { cells_.clear(); }
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
  };
  std::vector<Cell> cells_;
};

}  // namespace zellige::emulate
