// cp.async: asynchronous copies from global to shared memory, completed in groups.
//
//   cp_async<16>(tile + i, source + i);            // copies 4, 8 or 16 bytes; addresses are multiples of that
//   cp_async<16>(tile + i, source + i, valid);     // copies `valid` bytes, writes zeros for the rest
//   cp_async_hint<16>(tile + i, source + i, CacheHint::evict_first);          // 16 bytes only, with an L2 policy
//   cp_async_hint<16>(tile + i, source + i, valid, CacheHint::evict_first);
//   cp_async_commit();                             // closes a group of copies
//   cp_async_wait<1>();                            // all groups but the newest have arrived for this thread
//   cp_async_wait<0>();                            // all committed groups have arrived for this thread
#pragma once

#include <zellige/atom/cache_hint.hpp>
#include <zellige/atom/pointer.hpp>

namespace zellige {

// True if cp_async_wait<0> also waits for copies that are not committed (cp.async.wait_all), as CuTe's function does.
// If false, it waits for committed groups only, so that the emulator reports a missing commit as a race.
#if defined(cute)
inline constexpr bool zero_waits_for_all = true;
#else
inline constexpr bool zero_waits_for_all = false;
#endif

#if defined(ZELLIGE_EMULATE)

/// Copies `Bytes` (4, 8 or 16) bytes from global to shared memory, asynchronously. Both addresses must be multiples of
/// `Bytes`. Reads only the first `valid_bytes` bytes of the source, and writes zeros to the rest of the destination.
template <int Bytes, class T, class U>
ZELLIGE_CALL void cp_async(emulate::pointer<T> to, emulate::pointer<U> from, unsigned valid_bytes = Bytes) {
  static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "cp_async: 4, 8 or 16 bytes");
  emulate::cp_async(to, from, Bytes, valid_bytes);
}
/// Copies 16 bytes like cp_async, with an L2 cache policy.
template <int Bytes, class T, class U>
ZELLIGE_CALL void cp_async_hint(emulate::pointer<T> to, emulate::pointer<U> from, CacheHint) {
  static_assert(Bytes == 16, "cp_async_hint: 16 bytes");
  emulate::cp_async(to, from, Bytes, Bytes);
}
template <int Bytes, class T, class U>
ZELLIGE_CALL void cp_async_hint(emulate::pointer<T> to, emulate::pointer<U> from, unsigned valid_bytes, CacheHint) {
  static_assert(Bytes == 16, "cp_async_hint: 16 bytes");
  emulate::cp_async(to, from, Bytes, valid_bytes);
}
/// Closes a group, which contains all copies that this thread has issued and not yet committed.
ZELLIGE_CALL void cp_async_commit() { emulate::cp_async_commit(); }
/// Waits until at most the `Groups` newest committed groups of this thread are in flight. Other threads see the
/// data after a barrier. If `All`, cp_async_wait<0> also waits for copies that are not committed.
template <int Groups, bool All = zero_waits_for_all>
ZELLIGE_CALL void cp_async_wait() {
  if constexpr (Groups == 0 && All)
    emulate::cp_async_wait_all();
  else
    emulate::cp_async_wait(Groups);
}

#else

// Copies `Bytes` bytes. Copies of 16 bytes bypass the L1 (.cg); PTX has smaller copies only through the L1 (.ca).
// L2::128B prefetches the 128-byte line into the L2.
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
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(valid_bytes)
                 : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], %2, %3;" ::"r"(target), "l"(source), "n"(Bytes),
                 "r"(valid_bytes)
                 : "memory");
  }
}

/// Returns the shared-memory address of `to` for a cp.async with a cache policy, in a form that ptxas cannot split
/// into a per-thread and a warp-uniform part. For a split address, ptxas of CUDA 12.0 to 13.3 encodes the wrong
/// register, and the GPU ends the kernel with an illegal instruction (docs/reference/hardware.md). The function ANDs
/// the address with 0xffffffff in odd threads and with 0x7fffffff in even ones. The AND does not change the address,
/// because bit 31 of a shared-memory address is 0.
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
    asm volatile(
        "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2;" ::"r"(unsplit_smem_address(to)),
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
    asm volatile(
        "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%0], [%1], 16, %2, %3;" ::"r"(unsplit_smem_address(to)),
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
