// Describes the layout through which a kernel accesses a tile of shared memory, so that the emulator finds
// bytes that are written through one layout and read through an incompatible one.
//
// Two layouts are compatible if one may be a view of the other, with modes permuted, split, joined or sliced:
// the swizzles are equal, and all strides of one layout are strides of the other.
#pragma once
#include <zellige/layout/composed.hpp>

#include "zellige/emulate/thread.hpp"

namespace zellige::emulate {

/// The layout of a shared memory tile, reduced to what decides whether two layouts are compatible: the
/// swizzle and the set of strides.
struct Arrangement {
  static constexpr int capacity = 12;
  // swizzle of byte offsets, as in Swizzle<bits, base, shift>; bits 0: no swizzle
  int bits = 0, base = 0, shift = 0;
  int count = 0;  // number of entries in `strides`
  // in bytes, ascending, without duplicates; of modes with more than one element
  long strides[capacity] = {};
  long bytes = 0;     // from the first byte of the first element to the last byte of the last element
  bool known = true;  // false: the layout cannot be described, and the tile is not checked

  /// Adds a stride (positive, in bytes) to `strides` unless it is present. If `strides` is full, sets `known`
  /// to false, which means that the layout cannot be described.
  constexpr void add(long stride) {
    int i = 0;
    while (i < count && strides[i] < stride) ++i;
    if (i < count && strides[i] == stride) return;
    if (count == capacity) return void(known = false);
    for (int j = count; j > i; --j) strides[j] = strides[j - 1];
    strides[i] = stride;
    ++count;
  }
  /// Returns true if every stride of this layout is a stride of `other`.
  constexpr bool within(const Arrangement& other) const {
    for (int i = 0, j = 0; i < count; ++i) {
      while (j < other.count && other.strides[j] < strides[i]) ++j;
      if (j == other.count || other.strides[j] != strides[i]) return false;
    }
    return true;
  }
  /// Returns true if a tile that was written through this layout may be read through `other`, or the other
  /// way round: the swizzles are equal, and all strides of one layout are strides of the other.
  constexpr bool agrees(const Arrangement& other) const {
    return bits == other.bits && (!bits || (base == other.base && shift == other.shift)) &&
           (within(other) || other.within(*this));
  }
};

namespace detail {
/// Adds the layout shape:stride to the description `a`: the strides of its modes, in bytes, to a.strides, and
/// the bytes that the modes span to a.bytes. `element`: size of an element in bytes. If a stride is negative,
/// sets a.known to false, which means that the layout cannot be described.
template <int I = 0, class S, class D>
constexpr void add_modes(Arrangement& a, long element, S const& shape, D const& stride) {
  if constexpr (is_tuple_v<S>) {
    if constexpr (I < tuple_size_v<S>) {
      add_modes(a, element, get<I>(shape), get<I>(stride));
      add_modes<I + 1>(a, element, shape, stride);
    }
  } else {
    const long n = long(int(shape)), d = long(int(stride)) * element;
    if (n <= 1 || d == 0) return;
    a.bytes += (n - 1) * (d < 0 ? -d : d);
    if (d > 0) a.add(d);
    if (d < 0) a.known = false;
  }
}
/// Sets the swizzle of the description `a`: converts a swizzle of element indices to one of byte offsets. An
/// element has 2^element_bits bytes. Needs a.bytes, which add_modes sets.
template <int B, int M, int S>
constexpr void add_swizzle(Arrangement& a, int element_bits, Swizzle<B, M, S>) {
  // If no offset reaches the source bits, the swizzle is the identity.
  const int from = M + (S > 0 ? S : 0) + element_bits;
  if (B == 0 || (S > 0 && a.bytes <= (1L << from))) return;
  a.bits = B, a.base = M + element_bits, a.shift = S;
}
}  // namespace detail

/// Returns the description (swizzle and strides, in bytes) of `layout`, whose elements have `element` bytes, a
/// power of two. The result's member `known` is false if the layout cannot be described, for example because
/// it has no strides.
template <class L>
constexpr Arrangement arrangement(L const& layout, int element) {
  Arrangement a;
  a.bytes = element;
  if constexpr (is_composed_layout_v<L>) {
    if constexpr (requires {
                    layout.layout_a().swizzle_code;
                    layout.layout_b().stride();
                  }) {
      detail::add_modes(a, element, layout.layout_b().shape(), layout.layout_b().stride());
      detail::add_swizzle(a, __builtin_ctz(unsigned(element)), layout.layout_a());
    } else {
      a.known = false;
    }
  } else if constexpr (requires { layout.stride(); }) {
    detail::add_modes(a, element, layout.shape(), layout.stride());
  } else {
    a.known = false;
  }
  return a;
}

/// Division of a tile into parts that are each written and read as a unit: the stages of a ring, or several
/// partial results.
struct Parts {
  std::uint32_t bytes = 0;  // size of a part; 0: the tile is one part
  bool stages = false;      // true: stages, which are filled and read in a cyclic order
};

}  // namespace zellige::emulate
