// cp.async: copies from global to shared memory that run while the thread goes on, completed in groups.
//
//   cp_async<16>(tile + i, source + i);            // 4, 8 or 16 bytes, both sides aligned to that
//   cp_async<16>(tile + i, source + i, valid);     // the first `valid` bytes; zeros after them
//   cp_async_hint<16>(tile + i, source + i, CacheHint::evict_first);          // of 16 bytes: what the L2 does with the lines
//   cp_async_hint<16>(tile + i, source + i, valid, CacheHint::evict_first);
//   cp_async_commit();                             // closes a group
//   cp_async_wait<1>();                            // all but the newest group have arrived for this thread
//   cp_async_wait<0>();                            // all, also what no group was closed over
#pragma once

#include <zellige/atom/cache_hint.hpp>
#include <zellige/atom/pointer.hpp>

namespace zellige {

// Ours waits for groups, so that a commit that was left out is a race which the emulator reports. cute::cp_async_wait<0> waits for
// all copies, committed or not (cp.async.wait_all).
#if defined(cute)
inline constexpr bool zero_waits_for_all = true;
#else
inline constexpr bool zero_waits_for_all = false;
#endif

#if defined(ZELLIGE_EMULATE)

template <int Bytes, class T, class U>
ZELLIGE_CALL void cp_async(emulate::pointer<T> to, emulate::pointer<U> from, unsigned valid_bytes = Bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp_async: 4, 8 or 16 bytes");
  emulate::cp_async(to, from, Bytes, valid_bytes);
}
template <int Bytes, class T, class U>
ZELLIGE_CALL void cp_async_hint(emulate::pointer<T> to, emulate::pointer<U> from, CacheHint) {
  static_assert(Bytes == 16, "cp_async_hint: 16 bytes");
  emulate::cp_async(to, from, Bytes, Bytes);
}
template <int Bytes, class T, class U>
ZELLIGE_CALL void cp_async_hint(emulate::pointer<T> to, emulate::pointer<U> from, unsigned valid_bytes,
                                CacheHint) {
  static_assert(Bytes == 16, "cp_async_hint: 16 bytes");
  emulate::cp_async(to, from, Bytes, valid_bytes);
}
ZELLIGE_CALL void cp_async_commit() { emulate::cp_async_commit(); }
template <int Groups, bool All = zero_waits_for_all>
ZELLIGE_CALL void cp_async_wait() {
  if constexpr (Groups == 0 && All)
    emulate::cp_async_wait_all();
  else
    emulate::cp_async_wait(Groups);
}

#else

// 16 bytes pass the L1 by (.cg) and bring the rest of their 128-byte line into the L2; less must go through
// the L1 (.ca).
template <int Bytes>
ZELLIGE_CALL void cp_async(void* to, const void* from) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp_async: 4, 8 or 16 bytes");
  const uint32_t target = smem_address(to);
  const auto source = __cvta_generic_to_global(from);
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(target), "l"(source) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2;" ::"r"(target), "l"(source), "n"(Bytes)
                 : "memory");
  }
}

template <int Bytes>
ZELLIGE_CALL void cp_async(void* to, const void* from, unsigned valid_bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp_async: 4, 8 or 16 bytes");
  const uint32_t target = smem_address(to);
  const auto source = __cvta_generic_to_global(from);
  if constexpr (Bytes == 16) {
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(target), "l"(source),
                 "r"(valid_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(target), "l"(source),
                 "n"(Bytes), "r"(valid_bytes)
                 : "memory");
  }
}

/// Returns the shared-memory address of `to` for a cp.async with a cache policy, in a form that ptxas cannot split into a part of the
/// thread and a part that the warp shares. Beside a policy, ptxas of CUDA 12.0 to 13.3 encodes the wrong register for the shared part,
/// and the GPU ends the kernel with an illegal instruction (docs/reference/hardware.md). The address is ANDed with a value that only the thread
/// knows: 0xffffffff in odd threads, 0x7fffffff in even ones. No shared-memory address has bit 31, so it stays what it is.
ZELLIGE_CALL uint32_t unsplit_smem_address(const void* to) {
  uint32_t keep;
  asm("{\n.reg .b32 thread;\nmov.u32 thread, %%tid.x;\nshl.b32 thread, thread, 31;\nor.b32 %0, thread, "
      "0x7fffffff;\n}"
      : "=r"(keep));
  return smem_address(to) & keep;
}

template <int Bytes>
ZELLIGE_CALL void cp_async_hint(void* to, const void* from, CacheHint hint) {
  static_assert(Bytes == 16, "cp_async_hint: 16 bytes");
  if constexpr (cache_hints) {
    asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2;" ::"r"(
                     unsplit_smem_address(to)),
                 "l"(__cvta_generic_to_global(from)), "l"(static_cast<uint64_t>(hint))
                 : "memory");
  } else {
    cp_async<Bytes>(to, from);
  }
}
template <int Bytes>
ZELLIGE_CALL void cp_async_hint(void* to, const void* from, unsigned valid_bytes, CacheHint hint) {
  static_assert(Bytes == 16, "cp_async_hint: 16 bytes");
  if constexpr (cache_hints) {
    asm volatile("cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2, %3;" ::"r"(
                     unsplit_smem_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(valid_bytes), "l"(static_cast<uint64_t>(hint))
                 : "memory");
  } else {
    cp_async<Bytes>(to, from, valid_bytes);
  }
}

ZELLIGE_CALL void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int Groups, bool All = zero_waits_for_all>
ZELLIGE_CALL void cp_async_wait() {
  if constexpr (Groups == 0 && All)
    asm volatile("cp.async.wait_all;" ::: "memory");
  else
    asm volatile("cp.async.wait_group %0;" ::"n"(Groups) : "memory");
}

#endif

}  // namespace zellige
