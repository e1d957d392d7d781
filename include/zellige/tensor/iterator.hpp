// What a tensor may stand on besides memory: iterators over numbers and over coordinates, and pointers that
// know which memory they point into.
//
//   make_gmem_ptr(p)                      p, known to be global memory
//   counting_iterator<int>(42)            42, 43, 44, ...
//   make_inttuple_iter(42, _2{}, _7{})    the coordinate (42, 2, 7); + (0, 5, 2) gives (42, 7, 9)
#pragma once
#include <zellige/layout/basis.hpp>

namespace zellige {

template <class T = int>
struct counting_iterator {
  T n = {};
  ZELLIGE_HOST_DEVICE constexpr counting_iterator(T const& from = {}) : n(from) {}
  ZELLIGE_HOST_DEVICE constexpr T operator*() const { return n; }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr T operator[](I const& i) const {
    return n + T(i);
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr counting_iterator operator+(I const& i) const {
    return {n + T(i)};
  }
};
template <class T>
counting_iterator(T) -> counting_iterator<T>;

template <class T>
struct ArithmeticTupleIterator : private tuple<T> {
  static constexpr bool coordinate_tag = true;
  ZELLIGE_HOST_DEVICE constexpr ArithmeticTupleIterator(T const& at = {}) : tuple<T>(at) {}
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator*() const {
    return get<0>(static_cast<tuple<T> const&>(*this));
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto operator[](I const& i) const {
    return **this + i;
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto operator+(I const& i) const {
    auto const at = **this + i;
    return ArithmeticTupleIterator<remove_cvref_t<decltype(at)>>(at);
  }
};
template <class T>
ArithmeticTupleIterator(T) -> ArithmeticTupleIterator<T>;

/// An iterator over coordinates from one given as a tuple, or number by number.
template <class T>
ZELLIGE_HOST_DEVICE constexpr auto make_inttuple_iter(T const& t) {
  auto const at = as_arithmetic_tuple(t);
  return ArithmeticTupleIterator<remove_cvref_t<decltype(at)>>(at);
}
template <class A, class B, class... T>
ZELLIGE_HOST_DEVICE constexpr auto make_inttuple_iter(A const& a, B const& b, T const&... t) {
  return make_inttuple_iter(make_tuple(a, b, t...));
}

/// f(*iter).
template <class It, class F>
struct transform_iter {
  It iter;
  F f;
  ZELLIGE_HOST_DEVICE constexpr auto operator*() const { return f(*iter); }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto operator[](I const& i) const {
    return f(iter[i]);
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr auto operator+(I const& i) const {
    return transform_iter<remove_cvref_t<decltype(iter + i)>, F>{iter + i, f};
  }
};
template <class It, class F>
ZELLIGE_HOST_DEVICE constexpr transform_iter<It, F> make_transform_iter(It const& it, F const& f) {
  return {it, f};
}

struct gmem_tag {};
struct smem_tag {};
struct rmem_tag {};
struct tmem_tag {};

/// A pointer (or iterator) into a memory.
template <class Memory, class It>
struct memory_ptr {
  using memory = Memory;
  It p = {};
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator*() const { return *p; }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator[](I const& i) const {
    return p[i];
  }
  template <class I>
  ZELLIGE_HOST_DEVICE constexpr memory_ptr operator+(I const& i) const {
    return {p + i};
  }
  ZELLIGE_HOST_DEVICE constexpr It get() const { return p; }
};
template <class It>
using gmem_ptr = memory_ptr<gmem_tag, It>;
template <class It>
using smem_ptr = memory_ptr<smem_tag, It>;
template <class It>
using rmem_ptr = memory_ptr<rmem_tag, It>;
template <class It>
using tmem_ptr = memory_ptr<tmem_tag, It>;

template <class It>
ZELLIGE_HOST_DEVICE constexpr gmem_ptr<It> make_gmem_ptr(It p) {
  return {p};
}
template <class It>
ZELLIGE_HOST_DEVICE constexpr smem_ptr<It> make_smem_ptr(It p) {
  return {p};
}
template <class It>
ZELLIGE_HOST_DEVICE constexpr rmem_ptr<It> make_rmem_ptr(It p) {
  return {p};
}
template <class It>
ZELLIGE_HOST_DEVICE constexpr tmem_ptr<It> make_tmem_ptr(It p) {
  return {p};
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr gmem_ptr<T*> make_gmem_ptr(void* p) {
  return {static_cast<T*>(p)};
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr smem_ptr<T*> make_smem_ptr(void* p) {
  return {static_cast<T*>(p)};
}
template <class T>
ZELLIGE_HOST_DEVICE constexpr rmem_ptr<T*> make_rmem_ptr(void* p) {
  return {static_cast<T*>(p)};
}

template <class T>
ZELLIGE_HOST_DEVICE constexpr T* raw_pointer_cast(T* p) {
  return p;
}
template <class M, class It>
ZELLIGE_HOST_DEVICE constexpr auto raw_pointer_cast(memory_ptr<M, It> const& p) {
  return raw_pointer_cast(p.p);
}

/// The same address, of elements of type U.
template <class U, class T>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(T* p) {
  return reinterpret_cast<U*>(p);
}
template <class U, class T>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(T const* p) {
  return reinterpret_cast<U const*>(p);
}
template <class U, class M, class It>
ZELLIGE_HOST_DEVICE constexpr auto recast_ptr(memory_ptr<M, It> const& p) {
  return memory_ptr<M, decltype(recast_ptr<U>(p.p))>{recast_ptr<U>(p.p)};
}

namespace detail {
template <class It>
struct memory_of {
  using type = void;
};
template <class M, class It>
struct memory_of<memory_ptr<M, It>> {
  using type = M;
};
}  // namespace detail

}  // namespace zellige
