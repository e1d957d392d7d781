// Pointers into global and shared memory. On the device they are raw pointers; on the emulator each knows its
// tensor and its bounds, and every access through it is checked.
//
//   smem<half_t> tile = shared<half_t>("A", /*byte_offset=*/0, /*count=*/64 * 64);
//   tile[3] = half_t(1.0f);
//
// any_pointer is the parameter type of instructions that move bytes of any type.
#pragma once

#include <zellige/atom/config.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/emulate/device.hpp>
#endif

namespace zellige {

#if defined(ZELLIGE_EMULATE)
template <class T>
using gmem = emulate::pointer<T>;
template <class T>
using smem = emulate::pointer<T>;
using any_pointer = emulate::Place;
#else
template <class T>
using gmem = T*;
template <class T>
using smem = T*;
using any_pointer = const void*;
#endif

/// `count` elements of the block's dynamic shared memory, `byte_offset` from its start, named for reports.
template <class T>
ZELLIGE_CALL smem<T> shared(const char* name, unsigned byte_offset, unsigned count) {
#if defined(ZELLIGE_EMULATE)
  return emulate::shared_pointer<T>(name, byte_offset, count);
#else
  extern __shared__ __align__(1024) unsigned char zellige_shared_memory[];
  return reinterpret_cast<T*>(zellige_shared_memory + byte_offset);
#endif
}

/// The same memory as another type: recast<uint32_t>(pointer).
#if defined(ZELLIGE_EMULATE)
using emulate::recast;
#else
template <class U, class T>
ZELLIGE_CALL U* recast(T* pointer) {
  return reinterpret_cast<U*>(pointer);
}

/// The 32-bit address for PTX's .shared operands.
ZELLIGE_CALL uint32_t smem_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
ZELLIGE_CALL uint64_t global_address(const void* pointer) { return __cvta_generic_to_global(pointer); }
#endif

}  // namespace zellige
