// Finds races on a buffer in global memory that a launch writes. A cell of the record describes two bytes:
// the last writer and the last reader, with their blocks.
//
// Blocks run on several cores, so cells are atomic. An access records itself before it looks at the other
// accesses: of two racing accesses, at least one finds the other, whichever runs first. Accesses of one byte
// are not checked, because two blocks may own the two bytes of a cell.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "emulate/arrivals.hpp"
#include "emulate/clock.hpp"

namespace zellige::emulate {

/// Shadow memory of one global buffer during one launch: its last writers and readers. Several threads may use it.
class GlobalShadow {
 public:
  explicit GlobalShadow(std::size_t bytes);
  ~GlobalShadow();
  GlobalShadow(const GlobalShadow&) = delete;

  /// Records and checks a read of aligned bytes at byte offset `at`, by a thread of the block with linear index
  /// `block`. Returns the conflict with an unordered write, if any. (The buffer itself tracks uninitialised bytes.)
  Clash read(std::size_t at, unsigned bytes, const Actor&, std::uint32_t block);
  /// The same for a write, which any unordered access conflicts with.
  Clash write(std::size_t at, unsigned bytes, const Actor&, std::uint32_t block);

  Arrivals arrivals;  // increments of the atomic counters in this buffer

 private:
  // Fields: block + 1 (28 bits), epoch (24), thread (10), several blocks (1), several threads (1). 0: no access.
  using Stamp = std::uint64_t;
  struct Cell {
    std::atomic<Stamp> writer, reader;
    std::atomic<std::uint32_t> write_site, read_site;
  };
  std::size_t count_;
  Cell* cells_;
};

}  // namespace zellige::emulate
