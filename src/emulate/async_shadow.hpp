// Finds races with asynchronous operations on a block's shared memory. It records, per 16 bytes, the
// operation that wrote them last and the operations that have read them since.
#pragma once
#include <cstddef>
#include <vector>

#include "emulate/async_op.hpp"

namespace zellige::emulate {

/// Shadow memory of a block, for asynchronous operations. `at` is a byte offset in the block's shared memory;
/// operations are indices into the cluster's list, from 1.
class AsyncShadow {
 public:
  void reset() { cells_.clear(); }
  bool empty() const { return cells_.empty(); }
  /// Starts recording for a shared memory of `bytes` bytes, before the block's first asynchronous operation.
  void start(std::size_t bytes) {
    if (cells_.empty()) cells_.resize((bytes + 15) / 16);
  }

  /// Checks an ordinary access of up to 16 bytes within one aligned 16-byte cell. Returns the conflict with
  /// an operation whose completion the actor has not observed, if any.
  Clash read(std::size_t at, const Actor&, const std::vector<AsyncOp>&) const;
  Clash write(std::size_t at, const Actor&, const std::vector<AsyncOp>&) const;
  /// Records and checks the access of operation `op` to 16 bytes; the actor issued the operation. Returns the
  /// conflict with an earlier operation, if any.
  Clash read_by(std::uint32_t op, std::size_t at, const Actor&, const std::vector<AsyncOp>&);
  Clash write_by(std::uint32_t op, std::size_t at, const Actor&, const std::vector<AsyncOp>&);
  /// Returns the last operation that wrote at `at`; 0 if there is none.
  std::uint32_t writer(std::size_t at) const { return cells_.empty() ? 0 : cells_[at / 16].writer; }

 private:
  static constexpr unsigned readers = 3;
  struct Cell {
    std::uint32_t writer = 0, reader[readers] = {};
  };
  std::vector<Cell> cells_;
};

}  // namespace zellige::emulate
