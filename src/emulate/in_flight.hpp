// Records the asynchronous operations of one thread that complete in groups: TMA and bulk stores, and wgmma
// instructions with the registers that they own until the thread has waited for them (wgmma_wait).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "emulate/fiber.hpp"
#include "zellige/emulate/tma_map.hpp"

namespace zellige::emulate {

/// A TMA or bulk store. Its bytes have been read, and are written to global memory when the thread waits for its group.
struct StoreInFlight {
  /// A contiguous range of the store's bytes.
  struct Piece {
    std::uint64_t to;           // byte offset in the tensor
    std::uint32_t from, bytes;  // byte offset in `data`, and size
  };
  const Region* region = nullptr;  // destination tensor
  Reduction reduction{};
  Element element{};
  std::uint32_t op = 0, group = 0;  // index of its AsyncOp, and number of its group
  Site site{};
  std::vector<unsigned char> data;
  std::vector<Piece> pieces;
};

/// An array of accumulators that a wgmma has used. While the wgmma runs, `content` has the values and the
/// thread's registers hold poison.
struct Accumulators {
  unsigned char* d = nullptr;          // the registers
  std::uint32_t bytes = 0, group = 0;  // size; group of the last wgmma
  bool running = false;                // a wgmma owns the registers
  bool fenced = false;                 // `content` is from the last wgmma_fence; false: from the last wait
  std::uintptr_t site = 0;             // return address of the last wgmma
  std::vector<unsigned char> content;
};

/// The four registers of an A operand, which a wgmma reads until its wait.
struct WgmmaRegisters {
  const std::uint32_t* a = nullptr;
  // what the registers held when the wgmma was issued, or at a later fence
  std::uint32_t content[4] = {}, group = 0;
  bool running = false;
  std::uintptr_t site = 0;
};

/// The bulk stores and wgmma of one thread. Their commit groups are numbered from 1; the open group is `committed` + 1.
struct InFlight {
  std::uint32_t stores_committed = 0, stores_read = 0;  // bulk groups committed, and read from shared memory
  std::uint32_t store_agent = 0;                        // the clocks' agent of the thread's bulk groups; 0: none yet
  std::vector<StoreInFlight> stores;

  std::uint32_t wgmma_committed = 0, wgmma_done = 0;
  // a fence since the last wait; a wgmma since the last commit
  bool wgmma_fenced = false, wgmma_open = false;
  std::uintptr_t last_wgmma = 0;  // return address
  std::vector<Accumulators> accumulators;
  std::vector<WgmmaRegisters> operands;
};

/// Returns the record of a thread's asynchronous operations; creates it if there is none.
inline InFlight& in_flight(Fiber& f) {
  if (!f.in_flight) f.in_flight = std::make_shared<InFlight>();
  return *f.in_flight;
}

}  // namespace zellige::emulate
