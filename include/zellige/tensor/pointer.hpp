// Defines pointers tagged with their memory space (global, shared, register or tensor memory), and casts between
// kinds of pointers.
//
//   make_gmem_ptr(p)              p, tagged as a pointer to global memory
//   make_gmem_ptr<float>(p)       the same for a void pointer p
//   recast_ptr<half_t>(p)         the same address with another element type; keeps the memory space
//   recast_ptr<int4b_t>(p)        a subbyte_iterator, because the elements are smaller than a byte
//   raw_pointer_cast(p)           the pointer without its tag
#pragma once
#include <zellige/tensor/iterator.hpp>
#include <zellige/tensor/subbyte.hpp>

namespace zellige {

struct gmem_tag {};
struct smem_tag {};
struct rmem_tag {};
struct tmem_tag {};

namespace detail {
/// A pointer or iterator into the memory space of the class template `Pointer`.
template <template <class> class Pointer, class Memory, class It>
struct memory_iterator {
  using memory = Memory;
  using iterator = It;
  using reference = iter_reference_t<It>;
  using element_type = iter_element_t<It>;
  using value_type = iter_value_t<It>;
  template <class Other>
  using rebound = Pointer<Other>;

  It p = {};

  memory_iterator() = default;
  ZELLIGE_STEP constexpr memory_iterator(It const& it) : p(it) {}
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator*() const { return *p; }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator[](I const& i) const {
    return p[i];
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr Pointer<It> operator+(I const& i) const {
    return Pointer<It>(p + i);
  }
  ZELLIGE_HOST_DEVICE constexpr It get() const { return p; }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator==(Pointer<It> const& a, Pointer<It> const& b) {
    return a.p == b.p;
  }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator<(Pointer<It> const& a, Pointer<It> const& b) { return a.p < b.p; }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator>(Pointer<It> const& a, Pointer<It> const& b) { return b < a; }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator<=(Pointer<It> const& a, Pointer<It> const& b) { return !(b < a); }
  ZELLIGE_HOST_DEVICE friend constexpr bool operator>=(Pointer<It> const& a, Pointer<It> const& b) { return !(a < b); }
};
}  // namespace detail
/// A pointer or iterator into global memory.
template <class It>
struct gmem_ptr : detail::memory_iterator<gmem_ptr, gmem_tag, It> {
  gmem_ptr() = default;
  ZELLIGE_STEP constexpr gmem_ptr(It const& it) : detail::memory_iterator<zellige::gmem_ptr, gmem_tag, It>(it) {}
};
/// A pointer or iterator into shared memory.
template <class It>
struct smem_ptr : detail::memory_iterator<smem_ptr, smem_tag, It> {
  smem_ptr() = default;
  ZELLIGE_STEP constexpr smem_ptr(It const& it) : detail::memory_iterator<zellige::smem_ptr, smem_tag, It>(it) {}
};
/// A pointer or iterator into a thread's registers.
template <class It>
struct rmem_ptr : detail::memory_iterator<rmem_ptr, rmem_tag, It> {
  rmem_ptr() = default;
  ZELLIGE_STEP constexpr rmem_ptr(It const& it) : detail::memory_iterator<zellige::rmem_ptr, rmem_tag, It>(it) {}
};
/// A gmem_ptr, smem_ptr or rmem_ptr.
template <class P>
concept memory_pointer = requires {
  typename P::template rebound<typename P::iterator>;
};

namespace detail {
/// The least n such that 2^n is not less than x.
ZELLIGE_HOST_DEVICE constexpr int log2_above(int x) {
  int n = 0;
  while ((1 << n) < x) ++n;
  return n;
}
/// log2 of the number of elements per word of 32 bits; negative if an element takes several words. An element of 6 bits takes 8.
template <class T>
inline constexpr int tmem_shift = 5 - log2_above(int(sizeof_bits<T>::value));
}  // namespace detail

/// An address in Blackwell's tensor memory, 128 lanes of 512 32-bit columns, which only instructions can
/// read. Positions of elements within a word are counted in unused high bits of the address.
template <class T>
struct tmem_ptr {
  using element_type = T;
  using value_type = remove_cvref_t<T>;
  using reference = T;
  using memory = tmem_tag;
  static constexpr int shift = detail::tmem_shift<T>;
  static constexpr int OffsetShift = shift;  // CuTe's name

  unsigned addr_ = 0;

  ZELLIGE_HOST_DEVICE constexpr tmem_ptr(unsigned address = 0) : addr_(address) {}
  ZELLIGE_HOST_DEVICE constexpr unsigned get() const { return addr_; }
  template <class U = T>
  ZELLIGE_HOST_DEVICE constexpr value_type operator*() const {
    static_assert(never<U>, "tensor memory is read by instructions, not through a tmem_ptr");
    return value_type{};
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr value_type operator[](I const&) const {
    return **this;
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr tmem_ptr operator+(I const& i) const {
    unsigned const n = unsigned(i);
    if constexpr (shift <= 0)
      return {addr_ + (n << -shift)};
    else
      return {addr_ + (n >> shift | n << (32 - shift))};
  }
};
/// Returns `address` as a pointer to Blackwell's tensor memory.
template <class T>
ZELLIGE_HOST_DEVICE constexpr tmem_ptr<T> make_tmem_ptr(unsigned address = 0) {
  return {address};
}

namespace detail {
template <class It>
struct memory_of {
  using type = void;
};
template <class It>
requires requires { typename It::memory; }
struct memory_of<It> {
  using type = typename It::memory;
};
template <class It>
requires(
    requires { typename It::iterator; } && !requires { typename It::memory; }) struct memory_of<It>
    : memory_of<typename It::iterator> {
};
template <class It>
struct memory_of<It const> : memory_of<It> {};

/// True if an iterator points to memory, so that its elements can be accessed as vectors or bytes.
template <class It>
inline constexpr bool names_memory = requires(It it) {
  it.template recast<unsigned>();
};
template <class T>
inline constexpr bool names_memory<T*> = true;
template <class T>
inline constexpr bool names_memory<subbyte_iterator<T>> = true;
template <memory_pointer P>
inline constexpr bool names_memory<P> = names_memory<typename P::iterator>;
}  // namespace detail

/// True for pointers, engines and tensors in global memory.
template <class T>
struct is_gmem : bool_constant<is_same_v<typename detail::memory_of<T>::type, gmem_tag>> {};
template <class T>
struct is_smem : bool_constant<is_same_v<typename detail::memory_of<T>::type, smem_tag>> {};
template <class T>
struct is_tmem : bool_constant<is_same_v<typename detail::memory_of<T>::type, tmem_tag>> {};
template <class T>
struct is_rmem : bool_constant<!is_gmem<T>::value && !is_smem<T>::value && !is_tmem<T>::value> {};
template <class T>
inline constexpr bool is_gmem_v = is_gmem<T>::value;
template <class T>
inline constexpr bool is_smem_v = is_smem<T>::value;
template <class T>
inline constexpr bool is_tmem_v = is_tmem<T>::value;
template <class T>
inline constexpr bool is_rmem_v = is_rmem<T>::value;

/// Returns the pointer inside a tagged pointer or iterator, without its tag.
template <class T>
ZELLIGE_HOST_DEVICE constexpr T* raw_pointer_cast(T* p) {
  return p;
}
template <memory_pointer P>
requires requires(typename P::iterator const& it) { raw_pointer_cast(it); }
ZELLIGE_HOST_DEVICE constexpr auto raw_pointer_cast(P const& p) { return raw_pointer_cast(p.p); }
template <class T>
ZELLIGE_HOST_DEVICE constexpr unsigned raw_pointer_cast(tmem_ptr<T> const& p) {
  return p.addr_;
}

/// True for sparse_elem<N, T>, elements of which one is stored per N logical ones (sparse.hpp).
template <class T>
inline constexpr bool is_sparse_v = false;
template <int N, class It>
ZELLIGE_HOST_DEVICE constexpr auto make_sparse_ptr(It const& it);

/// Returns a pointer to the same address with elements of type U; a subbyte_iterator if U is smaller than a
/// byte.
template <class U, class T>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(T* p) {
  if constexpr (is_sparse_v<U>)
    return make_sparse_ptr<U::sparsity>(reinterpret_cast<U*>(p));
  else if constexpr (is_subbyte_v<U>)
    return subbyte_iterator<U>(p);
  else
    return reinterpret_cast<U*>(p);
}
template <class U, class T>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(T const* p) {
  if constexpr (is_sparse_v<U>)
    return make_sparse_ptr<U::sparsity>(reinterpret_cast<U const*>(p));
  else if constexpr (is_subbyte_v<U>)
    return subbyte_iterator<U const>(p);
  else
    return reinterpret_cast<U const*>(p);
}
template <class U>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(decltype(nullptr)) {
  return recast_ptr<U>(static_cast<U*>(nullptr));
}
template <class U, class It>
requires requires(It it) { it.template recast<U>(); }
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(It const& it) { return it.template recast<U>(); }
template <class U, class T>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(tmem_ptr<T> const& p) {
  return tmem_ptr<U>{p.addr_};
}
template <class U, memory_pointer P>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(P const& p) {
  return typename P::template rebound<decltype(recast_ptr<U>(p.p))>(recast_ptr<U>(p.p));
}

namespace detail {
/// Returns the iterator as a tagged pointer of type P; an iterator that already has P's memory space is
/// returned unchanged.
template <class P, class It>
ZELLIGE_HOST_DEVICE constexpr auto in_memory(It const& it) {
  if constexpr (is_same_v<typename memory_of<It>::type, typename P::memory>)
    return it;
  else
    return P(it);
}
}  // namespace detail
/// Returns the pointer or iterator, tagged as one to global memory.
template <class It>
ZELLIGE_HOST_DEVICE constexpr auto make_gmem_ptr(It it) {
  return detail::in_memory<gmem_ptr<It>>(it);
}
/// Returns the pointer or iterator, tagged as one to shared memory.
template <class It>
ZELLIGE_HOST_DEVICE constexpr auto make_smem_ptr(It it) {
  return detail::in_memory<smem_ptr<It>>(it);
}
/// Returns the pointer or iterator, tagged as one to registers.
template <class It>
ZELLIGE_HOST_DEVICE constexpr auto make_rmem_ptr(It it) {
  return detail::in_memory<rmem_ptr<It>>(it);
}
// Returns the void pointer as a pointer to elements of type T, tagged as global memory.
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto make_gmem_ptr(void* p) {
  return make_gmem_ptr(recast_ptr<T>(p));
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto make_gmem_ptr(void const* p) {
  return make_gmem_ptr(recast_ptr<T const>(p));
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto make_gmem_ptr(decltype(nullptr)) {
  return make_gmem_ptr(recast_ptr<T>(nullptr));
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto make_smem_ptr(void* p) {
  return make_smem_ptr(recast_ptr<T>(p));
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto make_smem_ptr(void const* p) {
  return make_smem_ptr(recast_ptr<T const>(p));
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto make_smem_ptr(decltype(nullptr)) {
  return make_smem_ptr(recast_ptr<T>(nullptr));
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto make_rmem_ptr(void* p) {
  return make_rmem_ptr(recast_ptr<T>(p));
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto make_rmem_ptr(void const* p) {
  return make_rmem_ptr(recast_ptr<T const>(p));
}

/// Returns the largest number of elements that a vector access through the pointer may have, as far as the
/// pointer's type limits it; 0: no limit, as for a plain pointer.
template <class T>
ZELLIGE_HOST_DEVICE constexpr Int<0> max_alignment(T* const&) {
  return {};
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr Int<0> max_alignment(subbyte_iterator<T> const&) {
  return {};
}
template <memory_pointer P>
ZELLIGE_HOST_DEVICE constexpr Int<0> max_alignment(P const&) {
  return {};
}

}  // namespace zellige
