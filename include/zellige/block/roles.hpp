// Implements warp specialization: the warps of a block are divided into roles (producers and consumers) that run
// different code, with different numbers of registers per thread.
//
//   roles(producer<4, 40>([&] { load(ring); }),           // warps 0 to 3: 40 registers per thread; one thread loads
//         consumer<8, 232>([&] { multiply(ring); }));     // warps 4 to 11: 232 registers per thread
//
// The second template argument is the number of registers per thread, set by setmaxnreg, for which a role must consist
// of whole warpgroups; 0, the default, leaves the registers unchanged. The last role has all remaining warps.
#pragma once
#include <zellige/atom/setmaxnreg.hpp>

namespace zellige {

/// A role of `Warps` warps that runs `body` on its first thread only. The role's other threads do not wait for this
/// thread, so code of the whole block after roles() must begin with __syncwarp. `Registers` is the number of registers
/// per thread, or 0 for no change.
template <int Warps, unsigned Registers, class Body>
struct Producer {
  static constexpr unsigned threads = 32 * Warps;
  Body body;
  ZELLIGE_CALL void run(unsigned first) const {
    if constexpr (Registers > 0) register_dealloc<Registers>();
    if (threadIdx.x == first) body();
  }
};
/// A role of `Warps` warps that runs `body` on all its threads. `Registers` is the number of registers per thread, or 0
/// for no change.
template <int Warps, unsigned Registers, class Body>
struct Consumer {
  static constexpr unsigned threads = 32 * Warps;
  Body body;
  ZELLIGE_CALL void run(unsigned) const {
    if constexpr (Registers > 0) register_alloc<Registers>();
    body();
  }
};

template <int Warps, unsigned Registers = 0, class Body>
ZELLIGE_CALL Producer<Warps, Registers, Body> producer(Body body) {
  return {body};
}
template <int Warps, unsigned Registers = 0, class Body>
ZELLIGE_CALL Consumer<Warps, Registers, Body> consumer(Body body) {
  return {body};
}

/// Runs the body of the role to which the calling thread belongs. The first role has the threads from number First on,
/// the second role the threads after these, and so on. Called by all threads of the block.
template <unsigned First = 0, class Role, class... Rest>
ZELLIGE_CALL void roles(const Role& role, const Rest&... rest) {
  if constexpr (sizeof...(Rest) == 0) {
    role.run(First);
  } else {
    if (threadIdx.x < First + Role::threads)
      role.run(First);
    else
      roles<First + Role::threads>(rest...);
  }
}

}  // namespace zellige
