// Memory that all ranks of a job on one host have in common: each allocates a part on its GPU, and maps those of the others.
//
//   SymmetricMemory symmetric({rank, ranks, exchange}, 1 << 20);   // throws on every rank if it cannot be on one of them
//   symmetric.address(1)                                      // where this process sees the part of rank 1
//
// The parts are CUDA's virtual memory. Each rank passes a file descriptor of its own to the others, by a socket of the host.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::ranks {

/// One of several ranks, and how they tell each other texts of `max_bytes` bytes at most: all of them call it, and get those of all ranks.
struct RankExchange {
  int rank = 0, ranks = 1;
  std::function<std::vector<std::string>(std::string_view mine, std::size_t max_bytes)> exchange;
};

class SymmetricMemory {
 public:
  /// Allocates `bytes` bytes, all 0, on each rank. All ranks must call it, with the same number. Throws
  /// Error on every rank, with the reason of the first one that has one: other hosts, no SYMMETRICACC, or an old driver.
  SymmetricMemory(RankExchange, std::int64_t bytes);
  ~SymmetricMemory() { release(); }
  SymmetricMemory(const SymmetricMemory&) = delete;
  SymmetricMemory& operator=(const SymmetricMemory&) = delete;

  std::uint64_t address(int rank) const { return parts_[static_cast<std::size_t>(rank)].address; }

 private:
  struct SymmetricPart {
    std::uint64_t address = 0, handle = 0;
    bool mapped = false;
  };
  void release() noexcept;
  void allocate();
  void exchange();
  void map(SymmetricPart&);

  RankExchange ranks_;
  std::uint64_t bytes_ = 0;
  std::vector<SymmetricPart> parts_;  // by rank
};

}  // namespace zellige::ranks
