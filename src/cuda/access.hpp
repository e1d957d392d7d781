// Finds what an address in a kernel is: shared memory, an allocation, or neither.
#pragma once
#include "cuda/session.hpp"
#include "emulate/block.hpp"

namespace zellige::cuda {

/// Returns the tensor that an address of a kernel lies in, or is nearest to; its region is null if it is neither shared
/// memory of the thread's block nor memory of the device.
emulate::Place place_of(emulate::Fiber&, const void*, emulate::Site);

/// Checks and records an access of a kernel, in aligned parts of at most 16 bytes.
void access_memory(emulate::Fiber&, const unsigned char* p, std::size_t bytes, bool writes, emulate::Site);

/// Addresses of shared memory as PTX has them: the offset in the block's shared memory, and in the bits from 24 on the
/// rank of another block of the cluster, plus one.
unsigned shared_address_of(emulate::Fiber&, const void*, emulate::Site);
void* shared_pointer_of(emulate::Fiber&, unsigned address);
/// Returns the place in block `rank` of the cluster that is at the offset of p in its own block.
void* shared_in_block(emulate::Fiber&, const void* p, unsigned rank, emulate::Site);

/// Reports an access to memory that a kernel cannot reach, and ends the block.
[[noreturn]] void refuse_address(emulate::Fiber&, const void*, const char* verb, emulate::Site);

}  // namespace zellige::cuda
