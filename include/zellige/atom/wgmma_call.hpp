// Defines wgmma and its fence, commit and wait; wgmma.hpp documents them. Kernels with float accumulators include this
// header directly, because it compiles faster: it does not include the long PTX for other accumulator types.
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/float8.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/smem_descriptor.hpp>
#include <zellige/atom/tfloat32.hpp>
#include <zellige/atom/wgmma_type.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/wgmma_emulated.hpp>
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
#include <zellige/atom/wgmma_f32.hpp>
#endif

namespace zellige {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
namespace detail {
template <int Registers>
struct wgmma_b32;  // defined in wgmma.hpp
}
#endif

/// Orders this thread's earlier register accesses before the next wgmma. Required before the first wgmma, and whenever
/// ordinary code has accessed accumulators or registers of A since the last wgmma.
ZELLIGE_CALL void wgmma_fence() {
#if defined(ZELLIGE_EMULATE)
  emulate::wgmma_fence();
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#elif defined(__CUDA_ARCH__)
  __trap();
#endif
}
/// Closes a group, which contains the wgmma that the warpgroup has issued since its previous group. wgmma_wait counts
/// groups.
ZELLIGE_CALL void wgmma_commit() {
#if defined(ZELLIGE_EMULATE)
  emulate::wgmma_commit();
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#elif defined(__CUDA_ARCH__)
  __trap();
#endif
}
/// Waits until all groups except the newest `Groups` groups (0 to 7) have completed. The accumulators of completed
/// groups may be read, and their operands in shared memory overwritten.
template <int Groups>
ZELLIGE_CALL void wgmma_wait() {
  static_assert(Groups >= 0 && Groups <= 7, "wgmma_wait: at most 7 groups may be left running");
#if defined(ZELLIGE_EMULATE)
  emulate::wgmma_wait(Groups);
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Groups) : "memory");
#elif defined(__CUDA_ARCH__)
  __trap();
#endif
}

/// Prevents the compiler from moving accesses to the registers d across this call. Generates no instruction.
template <class D, int R>
ZELLIGE_CALL void wgmma_fence_operand([[maybe_unused]] D (&d)[R]) {
#if !defined(ZELLIGE_EMULATE)
#pragma unroll
  for (int i = 0; i < R; ++i) {
    if constexpr (is_float_register<D>)
      asm volatile("" : "+f"(d[i])::"memory");
    else
      asm volatile("" : "+r"(d[i])::"memory");
  }
#endif
}

/// Issues d = a b + (accumulate ? d : 0) asynchronously. a and b are the shared-memory descriptors of tiles with
/// element types T and U and major orders A and B. The instruction's N is twice the number of accumulators per thread.
/// SignA and SignB (1 or -1) multiply a and b; Saturate clamps integer results to int32. All 128 threads must call it.
template <class T, Major A = Major::K, Major B = Major::K, class U = T, int SignA = 1, int SignB = 1,
          bool Saturate = false, class D, int R>
ZELLIGE_CALL void wgmma([[maybe_unused]] D (&d)[R], [[maybe_unused]] uint64_t a, [[maybe_unused]] uint64_t b,
                        [[maybe_unused]] bool accumulate = true) {
  using Type = wgmma_saturated<wgmma_type<T, U, D>, Saturate>;
  constexpr int N = 2 * R * Type::packed;
  wgmma_check<T, N, A, B, SignA, SignB, Saturate, D>();
#if defined(ZELLIGE_EMULATE)
  wgmma_emulated<T, U, N, Saturate>(d, nullptr, a, b, A, B, SignA, SignB, accumulate);
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if constexpr (is_float_register<D>)
    detail::wgmma_f32<R>::template ss<D, wgmma_digits<N>, Type, wgmma_tail<T, SignA, SignB, true, A, B> >(d, a, b,
                                                                                                          accumulate);
  else
    detail::wgmma_b32<R>::template ss<D, wgmma_digits<N>, Type, wgmma_tail<T, SignA, SignB, true, A, B> >(d, a, b,
                                                                                                          accumulate);
#elif defined(__CUDA_ARCH__)
  __trap();
#endif
}

/// Issues d = a b + (accumulate ? d : 0) asynchronously, with A in registers. Each warp holds 16 of A's 64 rows, as
/// ldmatrix loads them. b is the shared-memory descriptor of a tile with element type U and major order B. SignA and
/// SignB (1 or -1) multiply a and b; Saturate clamps integer results to int32. All 128 threads must call it.
template <class T, Major B = Major::K, class U = T, int SignA = 1, int SignB = 1, bool Saturate = false, class D, int R>
ZELLIGE_CALL void wgmma([[maybe_unused]] D (&d)[R], [[maybe_unused]] const uint32_t (&a)[4],
                        [[maybe_unused]] uint64_t b, [[maybe_unused]] bool accumulate = true) {
  using Type = wgmma_saturated<wgmma_type<T, U, D>, Saturate>;
  constexpr int N = 2 * R * Type::packed;
  wgmma_check<T, N, Major::K, B, SignA, SignB, Saturate, D>();
#if defined(ZELLIGE_EMULATE)
  wgmma_emulated<T, U, N, Saturate>(d, a, 0, b, Major::K, B, SignA, SignB, accumulate);
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
  if constexpr (is_float_register<D>)
    detail::wgmma_f32<R>::template rs<D, wgmma_digits<N>, Type, wgmma_tail<T, SignA, SignB, false, Major::K, B> >(
        d, a, b, accumulate);
  else
    detail::wgmma_b32<R>::template rs<D, wgmma_digits<N>, Type, wgmma_tail<T, SignA, SignB, false, Major::K, B> >(
        d, a, b, accumulate);
#elif defined(__CUDA_ARCH__)
  __trap();
#endif
}

}  // namespace zellige
