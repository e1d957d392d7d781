// Asynchronous copies: cp.async, and its fences and waits.
#pragma once
#include <cute/atom/copy_atom.hpp>

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
namespace zellige {

/// Waits until at most N groups of copies are in flight.
template <int N>
CUTE_DEVICE void cp_async_wait(Int<N>) {
  cp_async_wait<N>();
}

}  // namespace zellige
#endif
