// Describes one asynchronous operation on shared memory (a TMA or bulk copy, or a wgmma): which thread issued
// it, and how threads learn of its completion. Vector clocks (clock.hpp) count completions per agent: an
// mbarrier, a thread's bulk groups, or a warpgroup's wgmma groups. The operation stores the agent on which it
// completes, and the agent's time `epoch` at that completion. A thread knows that the operation is complete
// if its clock has a later time of that agent.
#pragma once
#include <cstdint>

#include "emulate/clock.hpp"

namespace zellige::emulate {

class Block;

/// An asynchronous operation on shared memory: a TMA or bulk copy, a store_async, or a wgmma. It is kept from
/// its issue to the end of its cluster.
struct AsyncOp {
  enum class Kind : std::uint8_t { tma_load, bulk_load, cluster_copy, store_async, tma_store, bulk_store, wgmma };
  // `epoch` of an operation whose completion is not scheduled
  static constexpr std::uint32_t never = 0xFFFFFFFF;

  Kind kind{};
  std::uint8_t swizzle = 0;  // swizzle of the bytes in shared memory, as in TmaMap
  bool landed = false;       // the bytes have been written (loads), or need no landing (stores, wgmma)
  std::uint16_t thread = 0;  // the issuing thread, within the cluster
  std::uint16_t region = 0;  // the tensor, by its id in `block`
  std::uint32_t site = 0;    // low half of the return address
  std::uint32_t agent = 0, epoch = never;
  Block* block = nullptr;     // the block whose shared memory is accessed
  std::uint32_t barrier = 0;  // loads: byte offset in `block` of the mbarrier on which the copy completes
  Block* from = nullptr;      // copies from block to block: the block whose shared memory is read

  bool completes_on_mbarrier() const {
    return kind == Kind::tma_load || kind == Kind::bulk_load || kind == Kind::cluster_copy || kind == Kind::store_async;
  }
  /// Returns true if a thread with the vector clock `clock` has observed the operation's completion.
  bool over_for(const Clock& clock) const { return epoch != never && clock.time[agent] > epoch; }
};

}  // namespace zellige::emulate
