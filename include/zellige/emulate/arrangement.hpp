// Arrangement: the layout through which a tile of shared memory is accessed. It is a finding if bytes are
// written through one layout and read through another that cannot be a view of the same function: if their
// swizzles differ, or each has a stride that the other lacks. (Modes may be permuted, split, joined and
// sliced.)
#pragma once
#include <zellige/layout/composed.hpp>

#include "zellige/emulate/thread.hpp"

namespace zellige::emulate {

struct Arrangement {
  static constexpr int capacity = 12;
  int bits = 0, base = 0, shift = 0;  // the swizzle, of byte offsets; bits 0: none
  int count = 0;
  long strides[capacity] = {};  // in bytes, of modes with more than one element, ascending and each once
  long bytes = 0;               // from the first element to the end of the last one
  bool known = true;

  constexpr void add(long stride) {
    int i = 0;
    while (i < count && strides[i] < stride) ++i;
    if (i < count && strides[i] == stride) return;
    if (count == capacity) return void(known = false);
    for (int j = count; j > i; --j) strides[j] = strides[j - 1];
    strides[i] = stride;
    ++count;
  }
  constexpr bool within(const Arrangement& other) const {
    for (int i = 0, j = 0; i < count; ++i) {
      while (j < other.count && other.strides[j] < strides[i]) ++j;
      if (j == other.count || other.strides[j] != strides[i]) return false;
    }
    return true;
  }
  /// True if the two may be views of the same order of elements.
  constexpr bool agrees(const Arrangement& other) const {
    return bits == other.bits && (!bits || (base == other.base && shift == other.shift)) &&
           (within(other) || other.within(*this));
  }
};

namespace detail {
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
template <int B, int M, int S>
constexpr void add_swizzle(Arrangement& a, int element_bits, Swizzle<B, M, S>) {
  // If no offset reaches the source bits, the swizzle is the identity.
  const int from = M + (S > 0 ? S : 0) + element_bits;
  if (B == 0 || (S > 0 && a.bytes <= (1L << from))) return;
  a.bits = B, a.base = M + element_bits, a.shift = S;
}
}  // namespace detail

/// The arrangement of a layout whose elements have this many bytes, a power of two.
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

/// The part of a tile that is written and read as a unit: a stage of a ring, or one of several partial
/// results. 0: the tile is one part.
struct Parts {
  std::uint32_t bytes = 0;
  bool stages = false;
};

}  // namespace zellige::emulate
