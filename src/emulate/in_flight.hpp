// One thread's asynchronous operations in groups: bulk stores, and wgmma with the accumulators that it owns.
#pragma once
#include <cstdint>
#include <vector>

#include "emulate/site.hpp"
#include "zellige/emulate/tma_map.hpp"

namespace zellige::emulate {

/// Bytes in flight from shared to global memory, already read.
struct StoreInFlight {
  struct Piece {
    std::uint64_t to;  // byte offset in the tensor
    std::uint32_t from, bytes;
  };
  const Region* region = nullptr;
  Reduction reduction{};
  Element element{};
  std::uint32_t op = 0, group = 0;
  Site site{};
  std::vector<unsigned char> data;
  std::vector<Piece> pieces;
};

/// An array of accumulators. Its true content is kept here; meanwhile the thread's registers hold poison.
struct Accumulators {
  unsigned char* d = nullptr;
  std::uint32_t bytes = 0, group = 0;
  bool running = false;  // otherwise: as the last wait wrote it, or
  bool fenced = false;   // as the last fence found it
  std::uintptr_t site = 0;
  std::vector<unsigned char> content;
};

/// The four registers of an A operand: a wgmma reads them until its wait.
struct OperandRegisters {
  const std::uint32_t* a = nullptr;
  std::uint32_t content[4] = {}, group = 0;  // content when the wgmma was issued, or at a later fence
  bool running = false;
  std::uintptr_t site = 0;
};

struct InFlight {
  // Groups count from 1; the open one is `committed` + 1.
  std::uint32_t stores_committed = 0, stores_read = 0, stores_done = 0;
  std::uint32_t store_agent = 0;  // 0: none yet
  std::vector<StoreInFlight> stores;

  std::uint32_t wgmma_committed = 0, wgmma_done = 0;
  bool wgmma_fenced = false, wgmma_open = false;  // open: issued since the last commit
  std::uintptr_t last_wgmma = 0;
  std::vector<Accumulators> accumulators;
  std::vector<OperandRegisters> operands;
};

}  // namespace zellige::emulate
