// Declares the functions of the engine's tables that calls.cpp does not define itself: those for asynchronous
// instructions (async_calls.cpp), and those that make a thread wait (waiting.cpp).
#pragma once
#include "zellige/emulate/async.hpp"

namespace zellige::emulate {

/// Returns the engine's functions for asynchronous instructions.
const AsyncEngine& async_engine();

}  // namespace zellige::emulate

namespace zellige::emulate::calls {

/// The functions of the engine's table in which a thread waits for other threads; see the functions of the
/// same name in zellige/emulate/device.hpp.
void meet(Thread&, const void* in, void* out, Compute, void* compute, const char* what);
void sync_warp(Thread&, unsigned mask);
void bar_sync(Thread&, unsigned id, unsigned threads);
void bar_arrive(Thread&, unsigned id, unsigned threads);

}  // namespace zellige::emulate::calls
