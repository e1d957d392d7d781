// Addresses as instructions take them.
#pragma once
#include <cute/arch/config.hpp>

#if defined(__CUDACC__)
namespace zellige {

/// The 32-bit address in shared memory.
CUTE_DEVICE unsigned cast_smem_ptr_to_uint(void const* pointer) {
  return unsigned(__cvta_generic_to_shared(pointer));
}

}  // namespace zellige
#endif
