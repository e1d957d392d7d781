// Defines the pointer types of kernels, gmem<T> and smem<T>. On the device they are raw pointers. On the emulator a
// pointer knows its tensor and bounds, and every access through it is checked.
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

/// Returns a pointer to `count` elements of the block's dynamic shared memory, `byte_offset` bytes from its start.
/// The emulator checks accesses against these bounds and uses `name` in its error reports.
template <class T>
ZELLIGE_CALL smem<T> shared(const char* name, unsigned byte_offset, unsigned count) {
#if defined(ZELLIGE_EMULATE)
  return emulate::shared_pointer<T>(name, byte_offset, count);
#else
  extern __shared__ __align__(1024) unsigned char zellige_shared_memory[];
  return reinterpret_cast<T*>(zellige_shared_memory + byte_offset);
#endif
}

/// Returns a pointer to the same address with another element type: recast<uint32_t>(pointer).
#if defined(ZELLIGE_EMULATE)
using emulate::recast;
#else
template <class U, class T>
ZELLIGE_CALL U* recast(T* pointer) {
  return reinterpret_cast<U*>(pointer);
}

/// Converts a generic pointer to the 32-bit shared-memory address that PTX's .shared operands take.
ZELLIGE_CALL uint32_t smem_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}
/// Converts a generic pointer to the address that PTX's .global operands take.
ZELLIGE_CALL uint64_t global_address(const void* pointer) { return __cvta_generic_to_global(pointer); }
#endif

}  // namespace zellige
