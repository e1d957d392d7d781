// Copies that go on while the thread does: cp.async, and the fences after them.
#pragma once
#include <cute/atom/copy_atom.hpp>

#if defined(__CUDACC__) || defined(ZELLIGE_EMULATE)
namespace zellige {

/// Waits until at most N groups of copies are still going on.
template <int N>
CUTE_DEVICE void cp_async_wait(Int<N>) {
  cp_async_wait<N>();
}

}  // namespace zellige
#endif
