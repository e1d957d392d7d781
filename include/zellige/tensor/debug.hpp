// Provides debugging aids: conditions to print from a single thread, types in compiler errors, numbers in binary.
//
//   if (thread0()) print(tensor);      only in thread 0 of block 0; also: thread(t, b), block(b); true on the host
//   print_type(x);                     a compile error that shows the type of x
//   print_bits(0x5u)                   prints all bits of the number
//   bfprint<4, 4>(x)                   prints the lowest 8 bits of x as two fields of 4 bits
#pragma once
#include <zellige/layout/config.hpp>

#if !defined(__CUDACC_RTC__)
#include <cstdio>  // printf
#endif

namespace zellige {

/// Calling this function is a compile error that shows the types T.
template <class... T>
ZELLIGE_HOST_DEVICE void print_type() {
  static_assert(never<T...>, "print_type shows the types in the lines above");
}
template <class... T>
ZELLIGE_HOST_DEVICE void print_type(T&&...) {
  static_assert(never<T...>, "print_type shows the types in the lines above");
}

#if defined(__CUDA_ARCH__) || defined(threadIdx)
#define ZELLIGE_IN_A_KERNEL 1  // CUDA's, or the emulator's, which uses the same names
#else
#define ZELLIGE_IN_A_KERNEL 0
#endif

/// Returns true in the threads of the block with linear index bid; always true on the host.
ZELLIGE_HOST_DEVICE inline bool block([[maybe_unused]] int bid) {
#if ZELLIGE_IN_A_KERNEL
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z) == unsigned(bid);
#else
  return true;
#endif
}
/// Returns true in thread tid of block bid (linear indices); always true on the host.
ZELLIGE_HOST_DEVICE inline bool thread([[maybe_unused]] int tid, int bid) {
#if ZELLIGE_IN_A_KERNEL
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z) == unsigned(tid) && block(bid);
#else
  return block(bid);
#endif
}
ZELLIGE_HOST_DEVICE inline bool thread(int tid) { return thread(tid, 0); }
ZELLIGE_HOST_DEVICE inline bool thread0() { return thread(0, 0); }
ZELLIGE_HOST_DEVICE inline bool block0() { return block(0); }
#undef ZELLIGE_IN_A_KERNEL

/// Prints the lowest bits of x in fields of the given widths, separated by bars; the first field has the
/// highest of these bits.
template <int... Bits, class T>
ZELLIGE_HOST_DEVICE void bfprint(T const& x) {
  int at = (0 + ... + Bits);
  auto field = [&](int bits) {
    printf("|");
    for (int i = 0; i < bits; ++i) --at, printf("%d", int(static_cast<unsigned long long>(x) >> at & 1u));
  };
  (field(Bits), ...);
  printf("|\n");
}
/// Prints all bits of x, from the highest to the lowest.
template <class T>
ZELLIGE_HOST_DEVICE void print_bits(T const& x) {
  for (int at = 8 * int(sizeof(T)) - 1; at >= 0; --at) printf("%d", int(static_cast<unsigned long long>(x) >> at & 1u));
}

}  // namespace zellige
