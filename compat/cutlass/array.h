// CUTLASS's Array<T, N> and AlignedArray<T, N>: N contiguous elements; an AlignedArray is aligned so that one
// access can move them all.
#pragma once
#if __has_include_next(<cutlass/array.h>)
#include_next <cutlass/array.h>
#else
#include <cute/container/array.hpp>
#include <cute/numeric/numeric_types.hpp>
#include <cutlass/detail/helper_macros.hpp>

namespace cutlass {

/// N contiguous elements of at least a byte each, with elementwise arithmetic.
template <class T, int N, bool = true>
struct Array {
  static_assert(zellige::sizeof_bits<T>::value % 8 == 0,
                "cutlass::Array of elements smaller than a byte: use cute::array_subbyte");
  using Element = T;
  using value_type = T;
  static constexpr int kElements = N;

  T storage[N];

  CUTLASS_HOST_DEVICE static constexpr int size() { return N; }
  CUTLASS_HOST_DEVICE constexpr T& operator[](int i) { return storage[i]; }
  CUTLASS_HOST_DEVICE constexpr T const& operator[](int i) const { return storage[i]; }
  CUTLASS_HOST_DEVICE constexpr T& at(int i) { return storage[i]; }
  CUTLASS_HOST_DEVICE constexpr T const& at(int i) const { return storage[i]; }
  CUTLASS_HOST_DEVICE constexpr T& front() { return storage[0]; }
  CUTLASS_HOST_DEVICE constexpr T& back() { return storage[N - 1]; }
  CUTLASS_HOST_DEVICE constexpr T* data() { return storage; }
  CUTLASS_HOST_DEVICE constexpr T const* data() const { return storage; }
  CUTLASS_HOST_DEVICE constexpr T* raw_data() { return storage; }
  CUTLASS_HOST_DEVICE constexpr T const* raw_data() const { return storage; }
  CUTLASS_HOST_DEVICE constexpr T* begin() { return storage; }
  CUTLASS_HOST_DEVICE constexpr T const* begin() const { return storage; }
  CUTLASS_HOST_DEVICE constexpr T* end() { return storage + N; }
  CUTLASS_HOST_DEVICE constexpr T const* end() const { return storage + N; }
  CUTLASS_HOST_DEVICE constexpr void fill(T const& value) {
    CUTLASS_PRAGMA_UNROLL
    for (int i = 0; i < N; ++i) storage[i] = value;
  }
  CUTLASS_HOST_DEVICE constexpr void clear() { fill(T(0)); }
};

// Defines elementwise arithmetic on two arrays, or on an array and a number.
#define ZELLIGE_ARRAY_OPERATOR(op)                                                                    \
  template <class T, int N>                                                                           \
  CUTLASS_HOST_DEVICE constexpr Array<T, N> operator op(Array<T, N> const& a, Array<T, N> const& b) { \
    Array<T, N> r{};                                                                                  \
    CUTLASS_PRAGMA_UNROLL                                                                             \
    for (int i = 0; i < N; ++i) r[i] = T(a[i] op b[i]);                                               \
    return r;                                                                                         \
  }                                                                                                   \
  template <class T, int N>                                                                           \
  CUTLASS_HOST_DEVICE constexpr Array<T, N> operator op(Array<T, N> const& a, T const& b) {           \
    Array<T, N> r{};                                                                                  \
    CUTLASS_PRAGMA_UNROLL                                                                             \
    for (int i = 0; i < N; ++i) r[i] = T(a[i] op b);                                                  \
    return r;                                                                                         \
  }                                                                                                   \
  template <class T, int N>                                                                           \
  CUTLASS_HOST_DEVICE constexpr Array<T, N> operator op(T const& a, Array<T, N> const& b) {           \
    Array<T, N> r{};                                                                                  \
    CUTLASS_PRAGMA_UNROLL                                                                             \
    for (int i = 0; i < N; ++i) r[i] = T(a op b[i]);                                                  \
    return r;                                                                                         \
  }                                                                                                   \
  template <class T, int N>                                                                           \
  CUTLASS_HOST_DEVICE constexpr Array<T, N>& operator op##=(Array<T, N>& a, Array<T, N> const& b) {   \
    return a = a op b;                                                                                \
  }
ZELLIGE_ARRAY_OPERATOR(+)
ZELLIGE_ARRAY_OPERATOR(-)
ZELLIGE_ARRAY_OPERATOR(*)
ZELLIGE_ARRAY_OPERATOR(/)
#undef ZELLIGE_ARRAY_OPERATOR
template <class T, int N>
CUTLASS_HOST_DEVICE constexpr Array<T, N> operator-(Array<T, N> const& a) {
  Array<T, N> r{};
  CUTLASS_PRAGMA_UNROLL
  for (int i = 0; i < N; ++i) r[i] = T(-a[i]);
  return r;
}

/// An Array aligned to its own size, or to Alignment bytes.
template <class T, int N, int Alignment = (zellige::sizeof_bits<T>::value * N + 7) / 8>
struct alignas(Alignment) AlignedArray : Array<T, N> {};

}  // namespace cutlass
#endif
