// roles: warp specialization. Warps of a block run different code, each role with its number of registers.
//
//   roles(producer<4, 40>([&] { load(ring); }),           // warps 0 to 3 keep 40 registers; one thread loads
//         consumer<8, 232>([&] { multiply(ring); }));     // warps 4 to 11 take 232
//
// setmaxnreg works on whole warpgroups; 0 leaves the registers unchanged. The last role has all remaining
// warps.
#pragma once
#include <zellige/atom/setmaxnreg.hpp>

namespace zellige {

/// Runs `body` on the role's first thread. The other lanes do not wait for it: code of the whole block after
/// roles() begins with __syncwarp.
template <int Warps, unsigned Registers, class Body>
struct Producer {
  static constexpr unsigned threads = 32 * Warps;
  Body body;
  ZELLIGE_CALL void run(unsigned first) const {
    if constexpr (Registers > 0) register_dealloc<Registers>();
    if (threadIdx.x == first) body();
  }
};
/// Runs `body` on all threads of the role.
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
