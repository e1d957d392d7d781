// Records, per 16 bytes of a block's shared memory, the asynchronous operation that wrote them last and those
// that have read them since.
#pragma once
#include <cstddef>
#include <vector>

#include "emulate/async_op.hpp"

namespace zellige::emulate {

class AsyncShadow {
 public:
  void reset() { cells_.clear(); }
  bool empty() const { return cells_.empty(); }
  void start(std::size_t bytes) {
    if (cells_.empty()) cells_.resize((bytes + 15) / 16);
  }

  /// An ordinary access of up to 16 aligned bytes.
  Clash read(std::size_t at, const Actor&, const std::vector<AsyncOp>&) const;
  Clash write(std::size_t at, const Actor&, const std::vector<AsyncOp>&) const;
  /// The access of operation `op` itself to 16 bytes; `a` issued it.
  Clash read_by(std::uint32_t op, std::size_t at, const Actor&, const std::vector<AsyncOp>&);
  Clash write_by(std::uint32_t op, std::size_t at, const Actor&, const std::vector<AsyncOp>&);
  /// The last asynchronous operation that wrote there; 0: none.
  std::uint32_t writer(std::size_t at) const { return cells_.empty() ? 0 : cells_[at / 16].writer; }

 private:
  static constexpr unsigned readers = 3;
  struct Cell {
    std::uint32_t writer = 0, reader[readers] = {};
  };
  std::vector<Cell> cells_;
};

}  // namespace zellige::emulate
