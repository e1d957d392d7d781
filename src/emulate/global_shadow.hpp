// Records the accesses of one launch to one buffer that it writes: per two bytes the last writer and the last
// reader with their blocks, so that a race between blocks is found whichever runs first. Blocks run on
// several cores, so cells are atomic, and each access publishes itself before it inspects the other side: of
// two that race, at least one sees the other. Accesses of one byte are not tracked (two blocks may own the
// two bytes of a cell).
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "emulate/arrivals.hpp"
#include "emulate/clock.hpp"

namespace zellige::emulate {

class GlobalShadow {
 public:
  explicit GlobalShadow(std::size_t bytes);
  ~GlobalShadow();
  GlobalShadow(const GlobalShadow&) = delete;

  /// An access of the aligned bytes at `at` by a thread of block `block` (linear index). The tensor's earlier
  /// content is not tracked here; the buffer tracks initialization.
  Clash read(std::size_t at, unsigned bytes, const Actor&, std::uint32_t block);
  Clash write(std::size_t at, unsigned bytes, const Actor&, std::uint32_t block);

  Arrivals arrivals;  // of the counters in this buffer

 private:
  // block + 1: 28 bits | epoch: 24 | thread: 10 | several blocks: 1 | several threads: 1. 0: none.
  using Stamp = std::uint64_t;
  struct Cell {
    std::atomic<Stamp> writer, reader;
    std::atomic<std::uint32_t> write_site, read_site;
  };
  std::size_t count_;
  Cell* cells_;
};

}  // namespace zellige::emulate
