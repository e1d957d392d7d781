// Defines ComposedLayout<A, Offset, B>: the function c -> A(offset + B(c)), where A is usually a swizzle and B a
// layout. It represents functions that no single layout can express, such as swizzled shared memory.
//
//   auto a = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _128, _3>, Stride<_128, _1, _8192>>{});
//   a(k, n, stage)   is  Swizzle<3, 3, 3>{}(k*128 + n + stage*8192)
#pragma once
#include <zellige/layout/layout.hpp>
#include <zellige/layout/swizzle.hpp>

namespace zellige {

/// The layout c -> A(offset + B(c)). Coordinates and shape are those of B; it has no strides.
template <class A, class Offset, class B>
struct ComposedLayout : private tuple<A, Offset, B> {
  static constexpr bool layout_tag = true;
  static constexpr int rank = B::rank;

  constexpr ComposedLayout() = default;
  ZELLIGE_HOST_DEVICE constexpr ComposedLayout(A const& a, Offset const& offset = {}, B const& b = {})
      : tuple<A, Offset, B>(a, offset, b) {}

  ZELLIGE_HOST_DEVICE constexpr decltype(auto) layout_a() const { return get<0>(parts()); }
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) offset() const { return get<1>(parts()); }
  ZELLIGE_HOST_DEVICE constexpr decltype(auto) layout_b() const { return get<2>(parts()); }
  ZELLIGE_HOST_DEVICE constexpr ComposedLayout layout() const { return *this; }
  template <int... I>
  ZELLIGE_HOST_DEVICE constexpr auto shape() const {
    return layout_b().template shape<I...>();
  }
  void stride() const = delete;  // a composed layout has no strides

  /// Returns the index of a coordinate or, if the coordinate contains `_`, the slice: the layout of the modes
  /// under `_`.
  template <class Crd>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(Crd const& crd) const {
    if constexpr (has_underscore_v<Crd>)
      return slice(crd, *this);
    else
      return layout_a()(offset() + layout_b()(crd));
  }
  template <class C0, class C1, class... Crd>
  ZELLIGE_HOST_DEVICE constexpr auto operator()(C0 const& c0, C1 const& c1, Crd const&... c) const {
    if constexpr (rank == 2 + int(sizeof...(Crd)) && is_swizzle_v<A> && is_constant<0, Offset>::value &&
                  is_builtin_integer<C0> && is_same_v<C0, C1> && (is_same_v<C0, Crd> && ...))
      return A::apply(layout_b()(c0, c1, c...));
    else if constexpr (rank == 2 + int(sizeof...(Crd)))
      return (*this)(make_coord(c0, c1, c...));
    else
      return wrong_number_of_coordinates<2 + int(sizeof...(Crd)), rank>(), Int<0>{};
  }

  /// Returns composition(*this, l) for one argument l. For several arguments, composes mode i with argument
  /// i.
  template <class... L>
  ZELLIGE_HOST_DEVICE constexpr auto compose(L const&... l) const {
    if constexpr (sizeof...(L) == 1)
      return composition(*this, l...);
    else
      return composition(*this, make_tile(l...));
  }
  /// Returns the layout over another shape of the same size: composition(*this, compact layout of the shape).
  /// The shape is one argument, or one argument per mode.
  template <class... S>
  ZELLIGE_HOST_DEVICE constexpr auto with_shape(S const&... s) const {
    if constexpr (sizeof...(S) == 1)
      return composition(*this, make_layout(s...));
    else
      return composition(*this, make_layout(make_shape(s...)));
  }
  /// Returns tiled_divide(*this, l) for one argument l. For several arguments, divides mode i by argument i.
  template <class... L>
  ZELLIGE_HOST_DEVICE constexpr auto tile(L const&... l) const {
    if constexpr (sizeof...(L) == 1)
      return tiled_divide(*this, l...);
    else
      return tiled_divide(*this, make_tile(l...));
  }

 private:
  ZELLIGE_HOST_DEVICE constexpr tuple<A, Offset, B> const& parts() const { return *this; }
};

template <class T>
inline constexpr bool is_composed_layout_v = false;
template <class A, class O, class B>
inline constexpr bool is_composed_layout_v<ComposedLayout<A, O, B>> = true;

template <class A, class O, class B>
ZELLIGE_HOST_DEVICE constexpr auto make_composed_layout(A const& a, O const& offset, B const& b) {
  return ComposedLayout<A, O, B>(a, offset, b);
}
/// Returns the composed layout c -> a(offset + b(c)).
template <class A, class O, class B>
ZELLIGE_HOST_DEVICE constexpr auto composition(A const& a, O const& offset, B const& b) {
  return ComposedLayout<A, O, B>(a, offset, b);
}
/// Returns the composed layout c -> swizzle(l(c)), or l unchanged if the swizzle has 0 bits.
template <int B, int M, int S, layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto composition(Swizzle<B, M, S> const& swizzle, L const& l) {
  static_assert(!detail::of_user_module<L>, "composition(swizzle, layout): a swizzle moves the bits of integers");
  if constexpr (B == 0)
    return l;
  else if constexpr (__is_empty(L))
    return ComposedLayout<Swizzle<B, M, S>, Int<0>, L>{};
  else
    return make_composed_layout(swizzle, Int<0>{}, l);
}

/// Returns the pair (l with its origin moved to crd, 0): the offset of a composed layout is part of the layout.
template <class Crd, class A, class O, class B>
ZELLIGE_HOST_DEVICE constexpr auto domain_offset(Crd const& crd, ComposedLayout<A, O, B> const& l) {
  return make_tuple(make_composed_layout(l.layout_a(), l.offset() + l.layout_b()(crd), l.layout_b()), Int<0>{});
}
/// Returns mode I of a composed layout, with the same swizzle and offset.
template <int I, class A, class O, class B>
ZELLIGE_HOST_DEVICE constexpr auto get(ComposedLayout<A, O, B> const& l) {
  return make_composed_layout(l.layout_a(), l.offset(), get<I>(l.layout_b()));
}

}  // namespace zellige
