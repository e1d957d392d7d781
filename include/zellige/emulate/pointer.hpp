// Checked pointers to global and shared memory, for kernels on the emulator. A checked pointer knows its
// tensor: it has the arithmetic of a raw pointer, and the emulator checks every access through it.
//
//   pointer<half> tile = shared_pointer<half>("X", 0, 4096);
//   tile[i] = half(1.0f);                                     // out of bounds, races: findings that name X
//   pointer<const float4> wide = recast<const float4>(tile);  // one access of 16 bytes, alignment checked
#pragma once
#include "zellige/emulate/registers.hpp"

namespace zellige::emulate {

#define ZELLIGE_INLINE inline __attribute__((always_inline))

/// Removes const from a type (std::remove_const is not available without a standard header).
template <class T>
struct unqualified {
  using type = T;
};
template <class T>
struct unqualified<const T> {
  using type = T;
};

template <class T>
struct pointer;

/// Reports an error of the kernel if the value contains poison: the NaN that the accumulators of a wgmma hold
/// until wgmma_wait. Checks 16-bit elements, and 4-byte words, each as a float and as a pair of 16-bit floats.
template <class T>
ZELLIGE_INLINE void look_for_poison(Thread& t, const T& value) {
  if (!t.watch_poison) [[likely]]
    return;
  constexpr std::size_t element = [] {
    if constexpr (requires(T v) { v.values[0]; })
      return sizeof(T{}.values[0]);
    else
      return sizeof(T);
  }();
  const auto half = [](unsigned h) { return (h & 0x7fff) == poison_half || (h & 0x7fff) == poison_bfloat; };
  bool found = false;
  if constexpr (element == 2) {
    std::uint16_t halves[sizeof(T) / 2];
    __builtin_memcpy(halves, (const void*)&value, sizeof(T));
    for (std::uint16_t h : halves) found |= half(h);
  } else if constexpr (sizeof(T) % 4 == 0) {
    std::uint32_t words[sizeof(T) / 4];
    __builtin_memcpy(words, (const void*)&value, sizeof(T));
    for (std::uint32_t w : words) found |= is_poison(w) || (half(w) && half(w >> 16));
  }
  if (found) t.engine->poisoned(t);
}

/// Result of `*p` and `p[i]` of a checked pointer: converting it to a value reads memory, assigning to it
/// writes. The emulator's engine checks each read and write.
template <class T>
struct reference {
  using value_type = typename unqualified<T>::type;
  T* p;
  const Region* region;

  ZELLIGE_INLINE operator value_type() const { return get(); }
  template <class U>
  requires requires(value_type v) { static_cast<U>(v); }
  ZELLIGE_INLINE explicit operator U() const { return static_cast<U>(get()); }
  ZELLIGE_INLINE const reference& operator=(const value_type& v) const { return set(v), *this; }
  ZELLIGE_INLINE const reference& operator=(const reference& other) const { return set(other.get()), *this; }
  template <class U>
  ZELLIGE_INLINE const reference& operator+=(const U& v) const {
    return set(get() + v), *this;
  }
  template <class U>
  ZELLIGE_INLINE const reference& operator-=(const U& v) const {
    return set(get() - v), *this;
  }
  template <class U>
  ZELLIGE_INLINE const reference& operator*=(const U& v) const {
    return set(get() * v), *this;
  }
  ZELLIGE_INLINE pointer<T> operator&() const { return {p, region}; }

  ZELLIGE_INLINE value_type get() const {
    static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, "an access has 1, 2, 4, 8 or 16 bytes");
    Thread& t = self();
    const void* at = t.engine->read(t, {(unsigned char*)p, region}, sizeof(T));
    return *static_cast<const T*>(at);
  }
  ZELLIGE_INLINE void set(const value_type& v) const {
    static_assert(sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0, "an access has 1, 2, 4, 8 or 16 bytes");
    value_type stored = v;  // v may itself be a checked reference
    Thread& t = self();
    look_for_poison(t, stored);
    look_for_unwritten(stored, Use::stores);
    *static_cast<T*>(t.engine->write(t, {(unsigned char*)p, region}, sizeof(T))) = stored;
  }
};

/// A checked pointer to T in the tensor `region`; a null region means a null pointer.
template <class T>
struct pointer {
  using element_type = T;
  using value_type = typename unqualified<T>::type;
  using difference_type = std::ptrdiff_t;
  using reference = emulate::reference<T>;

  T* p = nullptr;
  const Region* region = nullptr;

  ZELLIGE_INLINE constexpr operator pointer<const T>() const { return {p, region}; }
  ZELLIGE_INLINE constexpr operator Place() const { return {(unsigned char*)p, region}; }
  template <class U>
  ZELLIGE_INLINE constexpr emulate::pointer<U> recast() const {
    return {(U*)p, region};
  }
  ZELLIGE_INLINE reference operator*() const { return {p, region}; }
  ZELLIGE_INLINE reference operator[](std::ptrdiff_t i) const { return {p + i, region}; }
  ZELLIGE_INLINE constexpr pointer operator+(std::ptrdiff_t i) const { return {p + i, region}; }
  ZELLIGE_INLINE constexpr pointer operator-(std::ptrdiff_t i) const { return {p - i, region}; }
  ZELLIGE_INLINE constexpr std::ptrdiff_t operator-(pointer other) const { return p - other.p; }
  ZELLIGE_INLINE constexpr pointer& operator+=(std::ptrdiff_t i) { return p += i, *this; }
  ZELLIGE_INLINE constexpr pointer& operator-=(std::ptrdiff_t i) { return p -= i, *this; }
  ZELLIGE_INLINE constexpr pointer& operator++() { return ++p, *this; }
  ZELLIGE_INLINE constexpr pointer& operator--() { return --p, *this; }
  friend constexpr bool operator==(pointer a, pointer b) { return a.p == b.p; }
  friend constexpr auto operator<(pointer a, pointer b) { return a.p < b.p; }
};

// A checked pointer to read-only memory. It is a specialisation of its own, because otherwise both const T
// and T would convert to pointer<const T>.
template <class T>
struct pointer<const T> {
  using element_type = const T;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using reference = emulate::reference<const T>;

  const T* p = nullptr;
  const Region* region = nullptr;

  ZELLIGE_INLINE constexpr operator Place() const { return {(unsigned char*)p, region}; }
  template <class U>
  ZELLIGE_INLINE constexpr emulate::pointer<U> recast() const {
    return {(U*)p, region};
  }
  ZELLIGE_INLINE T operator*() const { return reference{p, region}.get(); }
  ZELLIGE_INLINE T operator[](std::ptrdiff_t i) const { return reference{p + i, region}.get(); }
  ZELLIGE_INLINE constexpr pointer operator+(std::ptrdiff_t i) const { return {p + i, region}; }
  ZELLIGE_INLINE constexpr pointer operator-(std::ptrdiff_t i) const { return {p - i, region}; }
  ZELLIGE_INLINE constexpr std::ptrdiff_t operator-(pointer other) const { return p - other.p; }
  ZELLIGE_INLINE constexpr pointer& operator+=(std::ptrdiff_t i) { return p += i, *this; }
  ZELLIGE_INLINE constexpr pointer& operator-=(std::ptrdiff_t i) { return p -= i, *this; }
  ZELLIGE_INLINE constexpr pointer& operator++() { return ++p, *this; }
  ZELLIGE_INLINE constexpr pointer& operator--() { return --p, *this; }
  friend constexpr bool operator==(pointer a, pointer b) { return a.p == b.p; }
  friend constexpr auto operator<(pointer a, pointer b) { return a.p < b.p; }
};

/// Returns a pointer to the same address with elements of type U, which may be wider than T; the alignment is
/// checked at the access.
template <class U, class T>
ZELLIGE_INLINE constexpr pointer<U> recast(pointer<T> from) {
  return from.template recast<U>();
}

/// Returns a pointer to `count` elements of the block's dynamic shared memory, from byte_offset on, as the
/// tensor `name`. Tensors may overlap: bytes last written under another name count as uninitialised. If the
/// range exceeds the launch's shared memory, reports an error of the kernel and ends the block.
template <class T>
ZELLIGE_INLINE pointer<T> shared_pointer(const char* name, unsigned byte_offset, unsigned count) {
  Thread& t = self();
  const Region* region = t.engine->shared(t, name, byte_offset, unsigned(count * sizeof(T)));
  return {reinterpret_cast<T*>(region->begin), region};
}

/// Converts a raw pointer to a checked one. The checked pointer's tensor is the launch's tensor that contains
/// `p`, or the block's whole dynamic shared memory. If `p` is in neither, reports an error of the kernel and
/// ends the block.
template <class T>
ZELLIGE_INLINE pointer<T> known(T* p) {
  Thread& t = self();
  return {p, t.engine->region_of(t, p)};
}

/// Checks a read of 1, 2, 4, 8 or 16 bytes at `p` by this thread, and returns the address to read from: `p`
/// itself, or the address of an array of NaNs if the read is an error.
ZELLIGE_INLINE const void* read_address(Place p, unsigned bytes) {
  Thread& t = self();
  return t.engine->read(t, p, bytes);
}
/// Checks a write of 1, 2, 4, 8 or 16 bytes at `p` by this thread, and returns the address to write to: `p`
/// itself, or the address of a scratch buffer if the write is an error.
ZELLIGE_INLINE void* write_address(Place p, unsigned bytes) {
  Thread& t = self();
  return t.engine->write(t, p, bytes);
}

/// Reads a value of type R at `p` as one access of sizeof(R) bytes, whatever the pointer's own type.
template <class R>
ZELLIGE_INLINE R read(Place p) {
  R value;
  __builtin_memcpy((void*)&value, read_address(p, sizeof(R)), sizeof(R));
  return value;
}
template <class T, class R>
ZELLIGE_INLINE void write(pointer<T> p, const R& value) {
  look_for_poison(self(), value);
  look_for_unwritten(value, Use::stores);
  __builtin_memcpy(write_address(p, sizeof(R)), (const void*)&value, sizeof(R));
}

/// Checks a read of `bytes` bytes at `p` by lane `lane` of this warp, and returns the address to read from,
/// as read_address does for the running thread. To be called in the compute function of a warp collective
/// (meet).
ZELLIGE_INLINE const void* read_as(unsigned lane, Place p, unsigned bytes) {
  Thread& t = self();
  return t.engine->read_as(t, lane, p, bytes);
}
/// Checks a write of `bytes` bytes at `p` by lane `lane` of this warp, and returns the address to write to,
/// as write_address does for the running thread. To be called in the compute function of a warp collective
/// (meet).
ZELLIGE_INLINE void* write_as(unsigned lane, Place p, unsigned bytes) {
  Thread& t = self();
  return t.engine->write_as(t, lane, p, bytes);
}

}  // namespace zellige::emulate
