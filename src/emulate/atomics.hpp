// Atomic operations on global and shared memory, and thread fences, with the order that they give: what a thread did
// before a fence happened before what another block's thread does after it has seen a later atomic of the first thread.
//
// Within a block the order is coarser: other lanes of the fenced thread's warp count as fenced, too.
//
//   atomic(f, place, 4, [](void* value, void*) { ++*static_cast<unsigned*>(value); }, nullptr, site);
#pragma once
#include "emulate/block.hpp"
#include "emulate/masked.hpp"

namespace zellige::emulate {

/// Checks and performs an atomic operation of 1 to 16 bytes. `change` gets a copy of the bytes and makes the new value
/// of it; `with` is passed on. Returns false if the access is invalid; it is then not performed. Atomics are unordered
/// among themselves and conflict with unordered ordinary accesses.
bool atomic(Fiber&, Place, unsigned bytes, void (*change)(void* value, void* with), void* with, Site);
/// Checks a relaxed read or write of 1 to 8 bytes of global memory (CUDA's volatile, PTX's ld.relaxed and st.relaxed),
/// which the kernel itself makes. It takes part in the order of atomics. A thread that reads again and again lets the
/// others run first.
void relaxed_access(Fiber&, Place, unsigned bytes, bool writes, Site);
/// Acquires what others have released at the place that the thread read relaxed, if it did so since its last access. The
/// kernel reads after relaxed_access() has checked it, so it may see the value of a thread that ran on another worker between
/// the two.
void acquire_relaxed(Fiber&, Site);
inline void acquire_again(Fiber& f, Site site) {
  if (f.relaxed_read.region) acquire_relaxed(f, site);
}
/// __threadfence(): the thread's atomics from now on release what it has done and observed so far. `of_block`:
/// __threadfence_block(), which does so for threads of its block alone.
void thread_fence(Fiber&, bool of_block = false);
/// Returns what the thread has done and observed by now, for an atomic that releases it. Starts a new epoch of its warp.
shadow::Arrival released_by(const Fiber&, Site);

}  // namespace zellige::emulate
