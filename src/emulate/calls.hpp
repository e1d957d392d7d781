// Declares functions that emulated kernels call through the tables Engine and AsyncEngine, and that calls.cpp does not
// define: those for asynchronous instructions (async_calls.cpp), and those that make a thread wait (waiting.cpp).
#pragma once
#include "zellige/emulate/async.hpp"

namespace zellige::emulate {

/// Returns the table of functions that emulated kernels call for asynchronous instructions (mbarriers, TMA, wgmma).
const AsyncEngine& async_engine();

}  // namespace zellige::emulate

namespace zellige::emulate::calls {

/// Takes part in the warp collective `what`, with the operand at `in`. When all 32 lanes of the warp have
/// called it, calls the function Compute once, with its argument `compute`, for all lanes; this writes each
/// lane's result to the lane's `out`.
void meet(Thread&, const void* in, void* out, Compute, void* compute, const char* what);
/// Waits until the lanes in `mask` of the thread's warp have arrived (__syncwarp).
void sync_warp(Thread&, unsigned mask);
/// Waits at barrier `id` until `threads` threads have arrived (PTX bar.sync). `threads` 0: all threads of the block.
void bar_sync(Thread&, unsigned id, unsigned threads);
/// Arrives at barrier `id` without waiting (PTX bar.arrive). `threads` 0: all threads of the block.
void bar_arrive(Thread&, unsigned id, unsigned threads);

}  // namespace zellige::emulate::calls
