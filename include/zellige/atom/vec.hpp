// Defines Vec<T, N>: N values in a thread's registers, aligned so that a vector access of up to 16 bytes can move them.
//
//   Vec<half_t, 8> v = load<8>(pointer);
//   v[0] = half_t(v[0] + 1.0f);
//   uint32_t pair = word(v, 0);       // v[0] in the low half, v[1] in the high half
#pragma once

#include <zellige/atom/config.hpp>
#if defined(ZELLIGE_EMULATE)
#include <zellige/emulate/registers.hpp>
#endif

namespace zellige {

/// Returns the bytes of a trivially copyable value as another type of the same size, like std::bit_cast.
template <class To, class From>
ZELLIGE_ANYWHERE To bit_cast(const From& from) {
  static_assert(sizeof(To) == sizeof(From), "bit_cast: the two types differ in size");
  return __builtin_bit_cast(To, from);
}
/// Returns the bytes of an array as another type of the same size. A separate overload, because nvcc 13 has an
/// internal error when __builtin_bit_cast is passed an array.
template <class To, class From, int N>
ZELLIGE_ANYWHERE To bit_cast(const From (&from)[N]) {
  static_assert(sizeof(To) == sizeof(from), "bit_cast: the two types differ in size");
  To to;
  __builtin_memcpy(&to, from, sizeof(to));
  return to;
}

/// N values of type T. The alignment is the largest of 16, 8 and 4 bytes that divides the size of the Vec; if none
/// does, the alignment is sizeof(T).
template <class T, int N>
struct alignas(N * sizeof(T) % 16 == 0  ? 16
               : N * sizeof(T) % 8 == 0 ? 8
               : N * sizeof(T) % 4 == 0 ? 4
                                        : sizeof(T)) Vec {
  static_assert(N > 0);
  T values[N];

#if defined(ZELLIGE_EMULATE)
  // Registers have no neighbours: an out-of-bounds index stops the thread with a finding.
  ZELLIGE_ANYWHERE T& operator[](int i) { return i >= 0 && i < N ? values[i] : (__builtin_trap(), values[0]); }
  ZELLIGE_ANYWHERE const T& operator[](int i) const {
    return i >= 0 && i < N ? values[i] : (__builtin_trap(), values[0]);
  }
#else
  ZELLIGE_ANYWHERE T& operator[](int i) { return values[i]; }
  ZELLIGE_ANYWHERE const T& operator[](int i) const { return values[i]; }
#endif
  ZELLIGE_ANYWHERE static constexpr int size() { return N; }
#if defined(ZELLIGE_EMULATE)
  [[no_unique_address]] emulate::Registers<Vec> unwritten{values, N};
#endif
};

/// Returns the bytes of v as 32-bit registers. The size of v must be a multiple of 4 bytes.
template <class T, int N>
ZELLIGE_ANYWHERE auto words(const Vec<T, N>& v) {
  static_assert(N * sizeof(T) % 4 == 0, "words: the vector is not a whole number of 32-bit registers");
  return bit_cast<Vec<uint32_t, static_cast<int>(N * sizeof(T) / 4)>>(v);
}

/// Returns 32-bit register number i of v. The size of v must be a multiple of 4 bytes.
template <class T, int N>
ZELLIGE_ANYWHERE uint32_t word(const Vec<T, N>& v, int i) {
  return words(v)[i];
}

}  // namespace zellige
