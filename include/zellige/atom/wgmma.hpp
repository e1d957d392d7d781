// wgmma: a warpgroup of 128 threads multiplies 64 x K by K x N on the tensor cores while it goes on, for N =
// 8, 16, ..., 256; K is 32 bytes of the operands' type. The second operand is in shared memory, the first
// there too or in registers.
//
//   float d[64] = {};                                    // 64 x 128: N is twice the number of registers
//   wgmma_fence();                                       // the tensor cores may have the registers
//   for (int k = 0; k < 4; ++k) wgmma<half_t>(d, advance(a, 32 * k), advance(b, 32 * k));   // d += a b
//   wgmma_commit();                                      // closes a group
//   wgmma_wait<0>();                                     // d may be read
//
//   wgmma<half_t>(d, a, b, false)                        // d = a b: no zeroing
//   wgmma<half_t>(d, a_registers, b)                     // uint32_t a_registers[4]
//   wgmma<half_t, Major::K, Major::MN>(d, a, b)          // b is stored N-contiguous
//   wgmma<float_e4m3_t, Major::K, Major::K, float_e5m2_t>(d, a, b)
//
// Further: the signs of a and b (1 or -1), and whether integer sums saturate.
// d is float[N / 2]; uint32_t[N / 4] accumulates in half (half_t and 8-bit floats), int32_t[N / 2] integers.
// Between the first wgmma and the wait nothing else may touch d, nor registers of a. Thread t holds in
// d[4 i] and d[4 i + 1] row 16 (t / 32) + t % 32 / 4, columns 8 i + 2 (t % 4) and the next; in d[4 i + 2] and
// d[4 i + 3] the same, eight rows below. Descriptors: smem_descriptor.hpp.
//
// A unit may be compiled for older GPUs too: there a wgmma traps, and its PTX, which is long, is not read.
#pragma once

#include <zellige/atom/bfloat16.hpp>
#include <zellige/atom/float8.hpp>
#include <zellige/atom/half.hpp>
#include <zellige/atom/smem_descriptor.hpp>
#include <zellige/atom/tfloat32.hpp>
#include <zellige/atom/wgmma_type.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/atom/wgmma_emulated.hpp>
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#include <zellige/atom/wgmma_b32.hpp>
#include <zellige/atom/wgmma_f32.hpp>
#endif

namespace zellige {

/// Before the first wgmma, and wherever ordinary code has touched d or the registers of a since the last.
ZELLIGE_CALL void wgmma_fence() {
#if defined(ZELLIGE_EMULATE)
  emulate::wgmma_fence();
#else
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}
ZELLIGE_CALL void wgmma_commit() {
#if defined(ZELLIGE_EMULATE)
  emulate::wgmma_commit();
#else
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}
/// Until at most the Groups newest groups are running.
template <int Groups>
ZELLIGE_CALL void wgmma_wait() {
  static_assert(Groups >= 0 && Groups <= 7, "wgmma_wait: at most 7 groups may be left running");
#if defined(ZELLIGE_EMULATE)
  emulate::wgmma_wait(Groups);
#else
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Groups) : "memory");
#endif
}

/// Keeps the compiler from moving its own uses of the registers across this place. Costs no instruction.
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

/// d = a b + (accumulate ? d : 0), both operands in shared memory.
template <class T, Major A = Major::K, Major B = Major::K, class U = T, int SignA = 1, int SignB = 1,
          bool Saturate = false, class D, int R>
ZELLIGE_CALL void wgmma([[maybe_unused]] D (&d)[R], [[maybe_unused]] uint64_t a, [[maybe_unused]] uint64_t b,
                        [[maybe_unused]] bool accumulate = true) {
  using Type = wgmma_saturated<wgmma_type<T, U, D>, Saturate>;
  constexpr int N = 2 * R * Type::packed;
  wgmma_check<T, N, A, B, SignA, SignB, Saturate, D>();
#if defined(ZELLIGE_EMULATE)
  wgmma_emulated<T, U, N, Saturate>(d, nullptr, a, b, A, B, SignA, SignB, accumulate);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (is_float_register<D>)
    detail::wgmma_f32<R>::template ss<D, wgmma_digits<N>, Type, wgmma_tail<T, SignA, SignB, true, A, B> >(
        d, a, b, accumulate);
  else
    detail::wgmma_b32<R>::template ss<D, wgmma_digits<N>, Type, wgmma_tail<T, SignA, SignB, true, A, B> >(
        d, a, b, accumulate);
#elif defined(__CUDA_ARCH__)
  __trap();
#endif
}

/// The same with the first operand in registers, as ldmatrix leaves 64 x K rows of K.
template <class T, Major B = Major::K, class U = T, int SignA = 1, int SignB = 1, bool Saturate = false,
          class D, int R>
ZELLIGE_CALL void wgmma([[maybe_unused]] D (&d)[R], [[maybe_unused]] const uint32_t (&a)[4],
                        [[maybe_unused]] uint64_t b, [[maybe_unused]] bool accumulate = true) {
  using Type = wgmma_saturated<wgmma_type<T, U, D>, Saturate>;
  constexpr int N = 2 * R * Type::packed;
  wgmma_check<T, N, Major::K, B, SignA, SignB, Saturate, D>();
#if defined(ZELLIGE_EMULATE)
  wgmma_emulated<T, U, N, Saturate>(d, a, 0, b, Major::K, B, SignA, SignB, accumulate);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (is_float_register<D>)
    detail::wgmma_f32<R>::template rs<D, wgmma_digits<N>, Type,
                                      wgmma_tail<T, SignA, SignB, false, Major::K, B> >(d, a, b, accumulate);
  else
    detail::wgmma_b32<R>::template rs<D, wgmma_digits<N>, Type,
                                      wgmma_tail<T, SignA, SignB, false, Major::K, B> >(d, a, b, accumulate);
#elif defined(__CUDA_ARCH__)
  __trap();
#endif
}

}  // namespace zellige
