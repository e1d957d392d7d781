// CuTe's header for asynchronous copies of SM80: cp.async, its commit and its waits.
#pragma once
#include <cute/atom/copy_atom.hpp>

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
namespace zellige {

/// Waits until at most N groups of cp.async are in flight.
template <int N>
CUTE_DEVICE void cp_async_wait(Int<N>) {
  cp_async_wait<N>();
}

}  // namespace zellige
#endif
