// Defines array<T, N>: N contiguous elements, like std::array, but aligned for the widest vector access (up to 16
// bytes) that divides the array's size.
//
//   array<float, 8> a;  fill(a, 1.f);  a[3] = 2.f;      // alignof(a) is 16
#pragma once
#include <zellige/layout/config.hpp>

namespace zellige {

namespace detail {
/// Returns the largest power of two from `minimum` to 16 that divides n, or `minimum` if it exceeds 16; n is a number
/// of bytes.
ZELLIGE_ALGEBRA consteval size_t alignment_of(size_t n, size_t minimum) {
  size_t a = minimum > 16 ? minimum : 16;
  while (a > minimum && n % a != 0) a /= 2;
  return a;
}
}  // namespace detail

template <class T, size_t N>
struct alignas(detail::alignment_of(N * sizeof(T), alignof(T))) array {
  using value_type = T;
  using element_type = T;
  using reference = T&;
  using const_reference = T const&;
  using pointer = T*;
  using const_pointer = T const*;
  using iterator = T*;
  using const_iterator = T const*;
  using size_type = size_t;
  using difference_type = decltype(static_cast<T*>(nullptr) - static_cast<T*>(nullptr));

  T elements[N > 0 ? N : 1];

  ZELLIGE_HOST_DEVICE constexpr T& operator[](size_t i) { return elements[i]; }
  ZELLIGE_HOST_DEVICE constexpr T const& operator[](size_t i) const { return elements[i]; }
  ZELLIGE_HOST_DEVICE constexpr T* data() { return elements; }
  ZELLIGE_HOST_DEVICE constexpr T const* data() const { return elements; }
  ZELLIGE_HOST_DEVICE constexpr T* begin() { return elements; }
  ZELLIGE_HOST_DEVICE constexpr T const* begin() const { return elements; }
  ZELLIGE_HOST_DEVICE constexpr T* end() { return elements + N; }
  ZELLIGE_HOST_DEVICE constexpr T const* end() const { return elements + N; }
  ZELLIGE_HOST_DEVICE constexpr T const* cbegin() const { return elements; }
  ZELLIGE_HOST_DEVICE constexpr T const* cend() const { return elements + N; }
  ZELLIGE_HOST_DEVICE constexpr T& front() { return elements[0]; }
  ZELLIGE_HOST_DEVICE constexpr T const& front() const { return elements[0]; }
  ZELLIGE_HOST_DEVICE constexpr T& back() { return elements[N - 1]; }
  ZELLIGE_HOST_DEVICE constexpr T const& back() const { return elements[N - 1]; }
  ZELLIGE_HOST_DEVICE static constexpr size_t size() { return N; }
  ZELLIGE_HOST_DEVICE static constexpr size_t max_size() { return N; }
  ZELLIGE_HOST_DEVICE static constexpr bool empty() { return N == 0; }
  ZELLIGE_HOST_DEVICE constexpr void fill(T const& value) {
    ZELLIGE_UNROLL
    for (size_t i = 0; i < N; ++i) elements[i] = value;
  }
  ZELLIGE_HOST_DEVICE constexpr void clear() { fill(T(0)); }
  ZELLIGE_HOST_DEVICE constexpr void swap(array& other) {
    ZELLIGE_UNROLL
    for (size_t i = 0; i < N; ++i) {
      T const mine = elements[i];
      elements[i] = other.elements[i];
      other.elements[i] = mine;
    }
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator==(array const& a, array const& b) {
    for (size_t i = 0; i < N; ++i) {
      if (!(a.elements[i] == b.elements[i])) return false;
    }
    return true;
  }
};
/// An array with an alignment of at least `Alignment` bytes.
template <class T, size_t N, size_t Alignment = 16>
struct alignas(Alignment) array_aligned : array<T, N> {};

/// Assigns the value to every element of a.
template <class T, size_t N>
ZELLIGE_HOST_DEVICE constexpr void fill(array<T, N>& a, T const& value) {
  a.fill(value);
}
/// Assigns T(0) to every element of a.
template <class T, size_t N>
ZELLIGE_HOST_DEVICE constexpr void clear(array<T, N>& a) {
  a.clear();
}

}  // namespace zellige
