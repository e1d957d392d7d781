// Tensor<Engine, Layout>: elements somewhere, in the order of a layout.
//
//   Tensor a = make_tensor(make_gmem_ptr(p), make_shape(m, n), make_stride(n, _1{}));   // a view of memory
//   Tensor r = make_tensor<float>(Layout<Shape<_4, _8>>{});                             // its own 32 floats
//   a(i, j) is an element, a(i, _) a row of a; copies of r are deep, copies of a are views of the same
//   memory.
#pragma once
#include <zellige/layout.hpp>
#include <zellige/tensor/iterator.hpp>

namespace zellige {

/// N elements, aligned for vector accesses of up to 16 bytes.
template <class T, int N>
struct alignas(N* int(sizeof(T)) % 16 == 0 ? 16 : alignof(T)) array {
  T elements[N > 0 ? N : 1];
  ZELLIGE_HOST_DEVICE constexpr T& operator[](int i) { return elements[i]; }
  ZELLIGE_HOST_DEVICE constexpr T const& operator[](int i) const { return elements[i]; }
  ZELLIGE_HOST_DEVICE constexpr T* data() { return elements; }
  ZELLIGE_HOST_DEVICE constexpr T const* data() const { return elements; }
  ZELLIGE_HOST_DEVICE constexpr T* begin() { return elements; }
  ZELLIGE_HOST_DEVICE constexpr T* end() { return elements + N; }
  ZELLIGE_HOST_DEVICE constexpr T const* begin() const { return elements; }
  ZELLIGE_HOST_DEVICE constexpr T const* end() const { return elements + N; }
  ZELLIGE_HOST_DEVICE static constexpr int size() { return N; }
};

template <class T, int N>
struct ArrayEngine {
  using value_type = T;
  using reference = T&;
  using memory = rmem_tag;
  array<T, N> storage;
  ZELLIGE_HOST_DEVICE constexpr T* begin() { return storage.elements; }
  ZELLIGE_HOST_DEVICE constexpr T const* begin() const { return storage.elements; }
};
template <class It>
struct ViewEngine {
  using reference = decltype(*It{});
  using value_type = remove_cvref_t<reference>;
  using memory = typename detail::memory_of<It>::type;
  It storage = {};
  ZELLIGE_HOST_DEVICE constexpr It const& begin() const { return storage; }
};
template <class It>
using ConstViewEngine = ViewEngine<It>;

template <class EngineT, class LayoutT>
struct Tensor {
  using engine_type = EngineT;
  using layout_type = LayoutT;
  using value_type = typename EngineT::value_type;
  using element_type = value_type;
  static constexpr bool tensor_tag = true;
  static constexpr int rank = LayoutT::rank;

  EngineT engine_;
  [[no_unique_address]] LayoutT layout_;

  ZELLIGE_HOST_DEVICE constexpr decltype(auto) data() { return engine_.begin(); }
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) data() const { return engine_.begin(); }
  ZELLIGE_HOST_DEVICE constexpr LayoutT const& layout() const { return layout_; }
  template <int... I>
  ZELLIGE_HOST_DEVICE constexpr auto shape() const {
    return layout_.template shape<I...>();
  }
  template <int... I>
  ZELLIGE_HOST_DEVICE constexpr auto stride() const {
    return layout_.template stride<I...>();
  }
  ZELLIGE_HOST_DEVICE constexpr auto size() const { return product(layout_.shape()); }

  template <class Crd>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(Crd const& crd) {
    return at(*this, crd);
  }
  template <class Crd>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(Crd const& crd) const {
    return at(*this, crd);
  }
  template <class C0, class C1, class... C>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(C0 const& c0, C1 const& c1, C const&... c) {
    if constexpr (rank == 2 + int(sizeof...(C)))
      return at(*this, make_coord(c0, c1, c...));
    else
      return wrong_number_of_coordinates<2 + int(sizeof...(C)), rank>(), data()[0];
  }
  template <class C0, class C1, class... C>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator()(C0 const& c0, C1 const& c1, C const&... c) const {
    if constexpr (rank == 2 + int(sizeof...(C)))
      return at(*this, make_coord(c0, c1, c...));
    else
      return wrong_number_of_coordinates<2 + int(sizeof...(C)), rank>(), data()[0];
  }
  template <class Crd>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator[](Crd const& crd) {
    return at(*this, crd);
  }
  template <class Crd>
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) operator[](Crd const& crd) const {
    return at(*this, crd);
  }

  template <class... T>
  ZELLIGE_HOST_DEVICE constexpr auto compose(T const&... tiler) const;

 private:
  template <class Self, class Crd>
  ZELLIGE_HOST_DEVICE static constexpr decltype(auto) at(Self& self, Crd const& crd);
};

template <class T>
concept tensor_like = requires {
  remove_cvref_t<T>::tensor_tag;
};
template <class T>
struct is_tensor : bool_constant<tensor_like<T>> {};
template <class T>
concept memory_tensor = tensor_like<T> && !requires {
  typename remove_cvref_t<T>::coordinate_tag;
};

/// A view: what begins at an iterator, in the order of a layout.
template <class It, class L>
requires(layout_like<L>&& requires(It it) { *it; }) ZELLIGE_HOST_DEVICE
    constexpr auto make_tensor(It const& it, L const& layout) {
  return Tensor<ViewEngine<It>, L>{{it}, layout};
}
template <class It, int_tuple S, class... D>
requires(sizeof...(D) <= 1 && requires(It it) { *it; }) ZELLIGE_HOST_DEVICE
    constexpr auto make_tensor(It const& it, S const& shape, D const&... stride) {
  return make_tensor(it, make_layout(shape, stride...));
}
/// A tensor with elements of its own. The layout must be static.
template <class T, class A, class... B>
ZELLIGE_HOST_DEVICE constexpr auto make_tensor(A const& a, B const&... b) {
  auto const layout = [&] {
    if constexpr (layout_like<A>)
      return a;
    else
      return make_layout(a, b...);
  }();
  using L = remove_cvref_t<decltype(layout)>;
  static_assert(is_static_v<L>,
                "make_tensor<T>(layout): a tensor that owns its elements needs a static layout; "
                "this one has a run-time shape or stride");
  if constexpr (is_static_v<L>)
    return Tensor<ArrayEngine<T, int(cosize_v<L>)>, L>{};
  else
    return Tensor<ArrayEngine<T, 1>, Layout<Int<1>, Int<0>>>{};
}
/// Owning, of the shape of another and its order of strides.
template <class T, class X>
requires(tensor_like<X> || layout_like<X>) ZELLIGE_HOST_DEVICE constexpr auto make_tensor_like(X const& x) {
  return make_tensor<T>(make_layout_like(x.layout()));
}
template <tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto make_tensor_like(X const& x) {
  return make_tensor_like<typename X::value_type>(x);
}
template <class T, class X>
ZELLIGE_HOST_DEVICE constexpr auto make_fragment_like(X const& x) {
  if constexpr (tensor_like<X>)
    return make_tensor<T>(make_fragment_like(x.layout()));
  else
    return make_tensor<T>(make_fragment_like(x));
}
template <tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto make_fragment_like(X const& x) {
  return make_fragment_like<typename X::value_type>(x);
}

namespace detail {
struct to_zero {
  template <class T>
  ZELLIGE_HOST_DEVICE constexpr Int<0> operator()(T const&) const {
    return {};
  }
};
}  // namespace detail
/// The tensor of coordinates that a layout with basis strides makes, from zero.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto make_coord_tensor(L const& layout) {
  return make_tensor(make_inttuple_iter(coprofile(layout)), layout);
}
/// Every element is its own coordinate.
template <int_tuple S>
ZELLIGE_HOST_DEVICE constexpr auto make_identity_tensor(S const& shape) {
  return make_coord_tensor(make_identity_layout(shape));
}

namespace detail {
template <class X>
ZELLIGE_HOST_DEVICE constexpr auto iterator_of(X& x) {
  return x.data();
}
}  // namespace detail

template <class EngineT, class LayoutT>
template <class Self, class Crd>
ZELLIGE_HOST_DEVICE constexpr decltype(auto) Tensor<EngineT, LayoutT>::at(Self& self, Crd const& crd) {
  if constexpr (has_underscore_v<Crd>) {
    auto const part = slice_and_offset(crd, self.layout());
    return make_tensor(self.data() + get<1>(part), get<0>(part));
  } else {
    return self.data()[self.layout()(crd)];
  }
}
template <class EngineT, class LayoutT>
template <class... T>
ZELLIGE_HOST_DEVICE constexpr auto Tensor<EngineT, LayoutT>::compose(T const&... tiler) const {
  if constexpr (sizeof...(T) == 1)
    return make_tensor(data(), composition(layout(), tiler...));
  else
    return make_tensor(data(), composition(layout(), make_tile(tiler...)));
}

template <class X>
struct is_gmem : bool_constant<is_same_v<typename remove_cvref_t<X>::engine_type::memory, gmem_tag>> {};
template <class X>
struct is_smem : bool_constant<is_same_v<typename remove_cvref_t<X>::engine_type::memory, smem_tag>> {};
template <class X>
struct is_rmem : bool_constant<is_same_v<typename remove_cvref_t<X>::engine_type::memory, rmem_tag>> {};

}  // namespace zellige
