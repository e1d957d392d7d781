// Asynchronous copies from global to shared memory: CUDA's pipeline primitives.
#pragma once
#include "zellige/cuda/intrinsics.hpp"

namespace zellige::cuda {

/// Returns a shared memory address as PTX has it: the offset in the block's shared memory.
ZELLIGE_DEVICE unsigned shared_address(const void* p) { return host->shared_address(p); }

ZELLIGE_DEVICE void commit_copies() {
  ::zellige::emulate::Thread& t = ::zellige::emulate::self();
  t.engine->cp_async_commit(t);
}
ZELLIGE_DEVICE void wait_for_copies(unsigned pending) {
  ::zellige::emulate::Thread& t = ::zellige::emulate::self();
  t.engine->cp_async_wait(t, pending);
}

/// Copies bytes from global to shared memory by thread `rank` of `threads`, in parts as wide as both addresses allow:
/// asynchronously those of 4, 8 and 16 bytes.
ZELLIGE_DEVICE void copy_by_group(void* to, const void* from, std::size_t bytes, unsigned long long rank,
                                  unsigned long long threads) {
  const std::size_t all = reinterpret_cast<std::size_t>(to) | reinterpret_cast<std::size_t>(from) | bytes;
  const unsigned unit = all % 16 == 0 ? 16 : all % 8 == 0 ? 8 : all % 4 == 0 ? 4 : 1;
  char* const target = static_cast<char*>(to);
  const char* const source = static_cast<const char*>(from);
  for (std::size_t i = rank * unit; i < bytes; i += threads * unit) {
    if (unit >= 4)
      host->cp_async(target + i, source + i, unit, unit);
    else
      target[i] = source[i];
  }
}

}  // namespace zellige::cuda

ZELLIGE_DEVICE std::size_t __cvta_generic_to_shared(const void* p) { return ::zellige::cuda::shared_address(p); }
ZELLIGE_DEVICE std::size_t __cvta_generic_to_global(const void* p) { return reinterpret_cast<std::size_t>(p); }
ZELLIGE_DEVICE void* __cvta_shared_to_generic(std::size_t address) {
  return ::zellige::cuda::host->shared_pointer(static_cast<unsigned>(address));
}
ZELLIGE_DEVICE void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0) {
  ::zellige::cuda::host->cp_async(to, from, static_cast<unsigned>(bytes), static_cast<unsigned>(bytes - zeros));
}
ZELLIGE_DEVICE void __pipeline_commit() { ::zellige::cuda::commit_copies(); }
ZELLIGE_DEVICE void __pipeline_wait_prior(int pending) {
  ::zellige::cuda::wait_for_copies(static_cast<unsigned>(pending));
}
