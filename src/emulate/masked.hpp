// Lets the lanes of a warp that a mask names execute a collective (CUDA's __shfl_sync, __ballot_sync, ...), finds the
// lanes that execute an instruction together (__activemask), and lets other threads run while one spins on memory.
// A collective orders no memory accesses: __syncwarp and barriers do.
#pragma once
#include "emulate/block.hpp"

namespace zellige::emulate {

/// Waits until all lanes of `mask` that have not returned have called this with the same mask and the same name `what`;
/// then the last one runs `compute` for all. in: this lane's operand; out: its result. Reports a mask without the
/// thread's own lane.
void converge_lanes(Fiber&, std::uint32_t mask, const void* in, void* out, MaskedFunction compute, void* with,
                    const char* what, Site);
/// Lets a thread that has returned leave the collectives whose masks name it.
void leave_collectives(const Fiber&);

/// Returns the mask of the lanes that call this at the same place: those that reach it while no thread of the cluster
/// can do anything else.
std::uint32_t active_lanes(Fiber&, Site);
/// Lets the threads of the block that wait in active_lanes() continue. Returns false if there are none.
bool gather_lanes(Block&);

/// Tells that the thread has read memory at an address that others may change, and that nothing has changed. From the
/// fourth time at one place and address on, all other threads run first; later less and less often, because a loop that
/// waits for nobody may read the same address again and again, too.
void spin(Fiber&, const void* address, Site);

}  // namespace zellige::emulate
