// Declares the functions of the engine's tables that calls.cpp does not define itself: those for asynchronous
// instructions (async_calls.cpp), and those that make a thread wait (waiting.cpp).
#pragma once
#include "zellige/emulate/async.hpp"

namespace zellige::emulate {

/// Returns the engine's functions for asynchronous instructions.
const AsyncEngine& async_engine();

}  // namespace zellige::emulate

namespace zellige::emulate::calls {

/// Runs a warp collective; see meet in zellige/emulate/device.hpp.
void meet(Thread&, const void* in, void* out, Compute, void* compute, const char* what);
/// Waits until the lanes in `mask` of the thread's warp have arrived (__syncwarp).
void sync_warp(Thread&, unsigned mask);
/// Waits at barrier `id` until `threads` threads have arrived (PTX bar.sync). `threads` 0: all threads of the
/// block.
void bar_sync(Thread&, unsigned id, unsigned threads);
/// Arrives at barrier `id` without waiting (PTX bar.arrive). `threads` 0: all threads of the block.
void bar_arrive(Thread&, unsigned id, unsigned threads);

}  // namespace zellige::emulate::calls
