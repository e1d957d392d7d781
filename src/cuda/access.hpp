// Finds what an address in a kernel is: shared memory, an allocation, or neither.
#pragma once
#include "cuda/session.hpp"
#include "emulate/block.hpp"

namespace zellige::cuda {

/// Returns the tensor that an address of a kernel lies in, or is nearest to; its region is null if it is neither shared
/// memory of the thread's block nor memory of the device.
emulate::Place place_of(emulate::Fiber&, const void*, emulate::Site);

/// Reports an access to memory that a kernel cannot reach, and ends the block.
[[noreturn]] void refuse_address(emulate::Fiber&, const void*, const char* verb, emulate::Site);

}  // namespace zellige::cuda
