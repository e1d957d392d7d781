// Makes array<T, N> (tensor/array.hpp) usable as a tuple, with get<I>(a), tuple_size_v and the algorithms on tuples.
// Also defines reverse and swap for arrays.
#pragma once
#include <zellige/layout/tuple_modes.hpp>
#include <zellige/tensor/array.hpp>

namespace zellige {

template <class T, size_t N>
inline constexpr bool is_own_tuple_v<array<T, N>> = true;
template <class T, size_t N>
inline constexpr int tuple_size_v<array<T, N>> = int(N);
template <int I, class T, size_t N>
struct tuple_element<I, array<T, N>> {
  using type = T;
};

template <int I, class T, size_t N>
ZELLIGE_HOST_DEVICE constexpr T& get(array<T, N>& a) {
  static_assert(0 <= I && I < int(N), "get<I>: the array has fewer elements");
  return a[I];
}
template <int I, class T, size_t N>
ZELLIGE_HOST_DEVICE constexpr T const& get(array<T, N> const& a) {
  static_assert(0 <= I && I < int(N), "get<I>: the array has fewer elements");
  return a[I];
}
template <int I, class T, size_t N>
ZELLIGE_HOST_DEVICE constexpr T&& get(array<T, N>&& a) {
  static_assert(0 <= I && I < int(N), "get<I>: the array has fewer elements");
  return static_cast<T&&>(a[I]);
}
/// Returns an array with the elements of a in reverse order.
template <class T, size_t N>
ZELLIGE_HOST_DEVICE constexpr array<T, N> reverse(array<T, N> const& a) {
  array<T, N> r{};
  for (size_t i = 0; i < N; ++i) r[i] = a[N - 1 - i];
  return r;
}
template <class T, size_t N>
ZELLIGE_HOST_DEVICE constexpr void swap(array<T, N>& a, array<T, N>& b) {
  array<T, N> const c = a;
  a = b;
  b = c;
}

}  // namespace zellige
