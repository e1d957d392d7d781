// Defines is_byte_aligned, which tests the alignment of a pointer, and aligned_struct, which gives a type an alignment.
#pragma once
#include <zellige/layout/config.hpp>

namespace zellige {

/// Returns true if the address p is a multiple of N bytes; N must be a power of two.
template <int N>
ZELLIGE_HOST_DEVICE inline bool is_byte_aligned(void const* p) {
  static_assert(N > 0 && (N & (N - 1)) == 0, "is_byte_aligned<N>: N must be a power of two");
  return (reinterpret_cast<size_t>(p) & (N - 1)) == 0;
}

/// An empty base class that gives derived classes an alignment of `Alignment` bytes. `Child` has no effect on
/// it; it makes the bases of different classes different types.
template <size_t Alignment, class Child = void>
struct alignas(Alignment) aligned_struct {};

}  // namespace zellige
