// Records which bytes of global memory the asynchronous copies of a cluster (TMA loads, bulk loads, cp.async) may still
// read: a write to them is a race until the copy is known to be complete. Only buffers that the launch writes are recorded.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "emulate/async_shadow.hpp"

namespace zellige::emulate {

/// The reads of global memory by a cluster's asynchronous copies.
class GlobalReads {
 public:
  void clear() { granules_.clear(); }
  bool empty() const { return granules_.empty(); }
  /// Records that the asynchronous operation `op` (an index into the cluster's list) reads `bytes` bytes at `from`.
  /// Operations whose completion the actor, the issuing thread, has observed are forgotten.
  void add(const unsigned char* from, std::size_t bytes, std::uint32_t op, const Actor&,
           const std::vector<AsyncOp>& ops);
  /// Records that a cp.async of the actor's thread reads bytes at `from`; it does so until `land`.
  void begin(const unsigned char* from, std::size_t bytes, const Actor&);
  /// Records that the thread's oldest cp.async of these bytes is complete.
  void land(const unsigned char* from, std::size_t bytes, const Actor&);
  /// Returns the conflict of a write by the actor with a read that may not be over, if any.
  Clash write(const unsigned char* to, std::size_t bytes, const Actor&, const std::vector<AsyncOp>&) const;

 private:
  struct Read {
    std::uint32_t op = 0;  // 0: a cp.async, by the members that follow
    std::uint32_t epoch = AsyncOp::never, site = 0;
    std::uint16_t thread = 0;
  };
  std::unordered_map<std::uintptr_t, std::vector<Read>> granules_;  // by address / 16
};

}  // namespace zellige::emulate
