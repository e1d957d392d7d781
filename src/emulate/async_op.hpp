// One asynchronous operation on shared memory: its issuer, and how its completion becomes known. It is
// complete for every thread that has observed a time of its agent later than `epoch`.
#pragma once
#include <cstdint>

#include "emulate/clock.hpp"

namespace zellige::emulate {

class Block;

struct AsyncOp {
  enum class Kind : std::uint8_t {
    tma_load,
    bulk_load,
    cluster_copy,
    store_async,
    tma_store,
    bulk_store,
    wgmma
  };
  static constexpr std::uint32_t never = 0xFFFFFFFF;

  Kind kind{};
  std::uint8_t swizzle = 0;  // swizzle under which the bytes are stored
  bool landed = false;
  std::uint16_t thread = 0;  // within the cluster
  std::uint16_t region = 0;  // id in its block
  std::uint32_t site = 0;
  std::uint32_t agent = 0, epoch = never;
  Block* block = nullptr;     // owner of the shared memory
  std::uint32_t barrier = 0;  // loads: byte offset of the mbarrier there

  bool over_for(const Clock& clock) const { return epoch != never && clock.time[agent] > epoch; }
};

}  // namespace zellige::emulate
