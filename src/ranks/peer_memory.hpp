// Memory that all ranks of a job on one host have in common: each allocates a part on its GPU, and maps those of the others.
//
//   PeerMemory peers(communicator, 1 << 20);   // throws on every rank if it cannot be on one of them
//   peers.address(1)                           // where this process sees the part of rank 1
//
// The parts are CUDA's virtual memory. Each rank passes a file descriptor of its own to the others, by a socket of the host.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ranks/communicator.hpp"

namespace zellige::ranks {

class PeerMemory {
 public:
  /// Allocates `bytes` bytes, all 0, on each rank. All ranks of the communicator must call it, with the same number. Throws
  /// Error on every rank, with the reason of the first one that has one: other hosts, no peer access, or an old driver.
  PeerMemory(Communicator&, std::int64_t bytes);
  ~PeerMemory() { release(); }
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  std::uint64_t address(int rank) const { return parts_[static_cast<std::size_t>(rank)].address; }

 private:
  struct PeerPart {
    std::uint64_t address = 0, handle = 0;
    bool mapped = false;
  };
  void release() noexcept;
  void allocate();
  void exchange();
  void map(PeerPart&);

  Communicator& ranks_;
  std::uint64_t bytes_ = 0;
  std::vector<PeerPart> parts_;  // by rank
};

}  // namespace zellige::ranks
