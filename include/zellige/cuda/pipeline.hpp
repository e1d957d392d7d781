// Asynchronous copies from global to shared memory: CUDA's pipeline primitives, and what inline PTX becomes (src/cuda/rewrite_ptx.cpp).
#pragma once
#include "zellige/cuda/intrinsics.hpp"

namespace zellige::cuda {

/// Returns a shared memory address as PTX has it: the offset in the block's shared memory.
ZELLIGE_DEVICE unsigned shared_address(const void* p) { return host->shared_address(p); }

ZELLIGE_DEVICE void ptx_cp_async(unsigned to, const void* from, int bytes) {
  host->cp_async(host->shared_pointer(to), from, static_cast<unsigned>(bytes), static_cast<unsigned>(bytes));
}
/// The first `valid` bytes are copied, the others become zero.
ZELLIGE_DEVICE void ptx_cp_async(unsigned to, const void* from, int bytes, int valid) {
  host->cp_async(host->shared_pointer(to), from, static_cast<unsigned>(bytes), static_cast<unsigned>(valid));
}
ZELLIGE_DEVICE void ptx_cp_async_commit() {
  ::zellige::emulate::Thread& t = ::zellige::emulate::self();
  t.engine->cp_async_commit(t);
}
ZELLIGE_DEVICE void ptx_cp_async_wait(int pending) {
  ::zellige::emulate::Thread& t = ::zellige::emulate::self();
  t.engine->cp_async_wait(t, static_cast<unsigned>(pending));
}
ZELLIGE_DEVICE void ptx_cp_async_wait_all() {
  ptx_cp_async_commit();
  ptx_cp_async_wait(0);
}
ZELLIGE_DEVICE void ptx_bar_sync(int id, int threads = 0) {
  ::zellige::emulate::Thread& t = ::zellige::emulate::self();
  t.engine->bar_sync(t, static_cast<unsigned>(id), static_cast<unsigned>(threads));
}
ZELLIGE_DEVICE void ptx_bar_arrive(int id, int threads) {
  ::zellige::emulate::Thread& t = ::zellige::emulate::self();
  t.engine->bar_arrive(t, static_cast<unsigned>(id), static_cast<unsigned>(threads));
}
ZELLIGE_DEVICE void ptx_fence() { host->fence(false); }
/// Returns the special register of this name; a value is returned as it is.
ZELLIGE_DEVICE unsigned ptx_special(const char* name) {
  const ::zellige::emulate::Thread& t = ::zellige::emulate::self();
  if (!__builtin_strcmp(name, "laneid")) return t.index % 32;
  if (!__builtin_strcmp(name, "warpid")) return t.index / 32;
  if (!__builtin_strcmp(name, "tid.x")) return t.thread.x;
  if (!__builtin_strcmp(name, "ctaid.x")) return t.block.x;
  if (!__builtin_strcmp(name, "smid")) return t.block.x % 2;
  if (!__builtin_strcmp(name, "nsmid")) return 2;
  if (!__builtin_strcmp(name, "lanemask_lt")) return (1u << t.index % 32) - 1;
  host->fault("inline PTX reads a special register that the emulator does not have", false);
  return 0;
}
ZELLIGE_DEVICE unsigned ptx_special(unsigned value) { return value; }

}  // namespace zellige::cuda

ZELLIGE_DEVICE std::size_t __cvta_generic_to_shared(const void* p) { return ::zellige::cuda::shared_address(p); }
ZELLIGE_DEVICE void __pipeline_memcpy_async(void* to, const void* from, std::size_t bytes, std::size_t zeros = 0) {
  ::zellige::cuda::host->cp_async(to, from, static_cast<unsigned>(bytes), static_cast<unsigned>(bytes - zeros));
}
ZELLIGE_DEVICE void __pipeline_commit() { ::zellige::cuda::ptx_cp_async_commit(); }
ZELLIGE_DEVICE void __pipeline_wait_prior(int pending) { ::zellige::cuda::ptx_cp_async_wait(pending); }
