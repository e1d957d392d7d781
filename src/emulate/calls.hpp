// The calls of the engine's table that make a thread wait; the others are private to calls.cpp.
#pragma once
#include "zellige/emulate/async.hpp"

namespace zellige::emulate {

/// The calls of the asynchronous instructions.
const AsyncEngine& async_engine();

}  // namespace zellige::emulate

namespace zellige::emulate::calls {

void meet(Thread&, const void* in, void* out, Compute, void* compute, const char* what);
void sync_warp(Thread&, unsigned mask);
void bar_sync(Thread&, unsigned id, unsigned threads);
void bar_arrive(Thread&, unsigned id, unsigned threads);

}  // namespace zellige::emulate::calls
