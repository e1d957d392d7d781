// Copies that go on while the thread does: cp.async, and the fences after them.
#pragma once
#include <cute/atom/copy_atom.hpp>

#if defined(__CUDACC__)
#include <zellige/atom/cp_async.hpp>

namespace zellige {

/// Closes a group of copies; waits until at most N groups are still going on.
CUTE_DEVICE void cp_async_fence() { cp_async_commit(); }
template <int N>
CUTE_DEVICE void cp_async_wait(Int<N>) {
  cp_async_wait<N>();
}

}  // namespace zellige
#endif
