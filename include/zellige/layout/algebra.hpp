// The layout algebra on types: one function per operation of algebra/operation.hpp.
//
//   auto a = make_layout(make_shape(_6{}, _2{}), make_stride(_8{}, _2{}));
//   composition(a, make_layout(make_shape(_4{}, _3{}), make_stride(_3{}, _1{})))
//     is  ((_2,_2),_3):((_24,_2),_8)
//   zipped_divide(a, make_tile(_3{}, _2{}))   is  the tile and the tiles
//
// An operation whose result would not be valid at every coordinate is refused: by the compiler if the numbers
// are static, else at run time.
#pragma once
#include <zellige/layout/plan.hpp>

namespace zellige {

template <class T>
concept int_tuple = tuple_like<T> || integral<T> || basis_like<T>;

// Simplification.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto coalesce(L const& l) {
  return invoke<Op::coalesce>(l);
}
template <layout_like L, int_tuple P>
ZELLIGE_HOST_DEVICE constexpr auto coalesce(L const& l, P const& profile) {
  return invoke<Op::coalesce_profile>(l, profile);
}
template <int_tuple S>
ZELLIGE_HOST_DEVICE constexpr auto coalesce(S const& shape) {
  return invoke<Op::coalesce_shape>(shape);
}
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto filter(L const& l) {
  return invoke<Op::filter>(l);
}
template <layout_like L, int_tuple P>
ZELLIGE_HOST_DEVICE constexpr auto filter(L const& l, P const& profile) {
  return invoke<Op::filter_profile>(l, profile);
}
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto filter_zeros(L const& l) {
  return invoke<Op::filter_zeros>(l);
}
/// Extents become 1 where the profile has a zero.
template <layout_like L, int_tuple P>
ZELLIGE_HOST_DEVICE constexpr auto filter_zeros(L const& l, P const& profile) {
  return invoke<Op::filter_zeros_profile>(l, profile);
}
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto filter_zeros(A const& zeros, B const& t) {
  return invoke<Op::filter_zeros_tuple>(zeros, t);
}

// Composition and inverses.
/// r(c) = a(b(c)); b is a layout, a number, `_`, or a tuple of them, mode by mode.
template <layout_like A, class B>
ZELLIGE_HOST_DEVICE constexpr auto composition(A const& a, B const& b) {
  return invoke<Op::composition>(a, b);
}
/// Composition with a composed layout whose strides are of a user's type; they remain in a separate layout.
template <class S, class D, class A, class O, class B>
requires(detail::of_user_module<Layout<S, D>>) ZELLIGE_HOST_DEVICE
    constexpr auto composition(Layout<S, D> const& a, ComposedLayout<A, O, B> const& b) {
  return make_composed_layout(a, Int<0>{}, b);
}
template <int B, int M, int S, int B2, int M2, int S2>
ZELLIGE_HOST_DEVICE constexpr auto composition(Swizzle<B, M, S> const& a, Swizzle<B2, M2, S2> const& b) {
  return invoke<Op::composition>(a, b);
}
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto complement(L const& l) {
  return invoke<Op::complement1>(l);
}
template <layout_like L, class M>
ZELLIGE_HOST_DEVICE constexpr auto complement(L const& l, M const& cotarget) {
  return invoke<Op::complement>(l, cotarget);
}
template <class L>
requires(layout_like<L> || swizzle_like<L>) ZELLIGE_HOST_DEVICE constexpr auto right_inverse(L const& l) {
  return invoke<Op::right_inverse>(l);
}
template <class L>
requires(layout_like<L> || swizzle_like<L>) ZELLIGE_HOST_DEVICE constexpr auto left_inverse(L const& l) {
  return invoke<Op::left_inverse>(l);
}
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto nullspace(L const& l) {
  return invoke<Op::nullspace>(l);
}
template <layout_like L, int_tuple S>
ZELLIGE_HOST_DEVICE constexpr auto with_shape(L const& l, S const& shape) {
  return invoke<Op::with_shape>(l, shape);
}

// Divides and products.
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto logical_divide(L const& l, T const& tiler) {
  return invoke<Op::logical_divide>(l, tiler);
}
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto zipped_divide(L const& l, T const& tiler) {
  return invoke<Op::zipped_divide>(l, tiler);
}
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto tiled_divide(L const& l, T const& tiler) {
  return invoke<Op::tiled_divide>(l, tiler);
}
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto flat_divide(L const& l, T const& tiler) {
  return invoke<Op::flat_divide>(l, tiler);
}
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto logical_product(L const& block, T const& tiler) {
  return invoke<Op::logical_product>(block, tiler);
}
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto zipped_product(L const& block, T const& tiler) {
  return invoke<Op::zipped_product>(block, tiler);
}
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto tiled_product(L const& block, T const& tiler) {
  return invoke<Op::tiled_product>(block, tiler);
}
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto flat_product(L const& block, T const& tiler) {
  return invoke<Op::flat_product>(block, tiler);
}
template <layout_like L, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto blocked_product(L const& block, T const& tiler) {
  return invoke<Op::blocked_product>(block, tiler);
}
template <layout_like L, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto raked_product(L const& block, T const& tiler) {
  return invoke<Op::raked_product>(block, tiler);
}
namespace detail {
template <int... I>
ZELLIGE_HOST_DEVICE constexpr tuple<Int<I>...> counted(seq<I...>) {
  return {};
}
}  // namespace detail
/// Repeats the block to fill the shape (or that of a layout), with the blocks in LayoutLeft, LayoutRight or
/// an explicit order.
template <layout_like L, layout_like S, class Order = LayoutLeft>
ZELLIGE_HOST_DEVICE constexpr auto tile_to_shape(L const& block, S const& like, Order const& order = {});
template <layout_like L, int_tuple S, class Order = LayoutLeft>
ZELLIGE_HOST_DEVICE constexpr auto tile_to_shape(L const& block, S const& shape, Order const& order = {}) {
  constexpr int n = detail::rank_v<S>;
  if constexpr (is_same_v<Order, LayoutLeft>)
    return invoke<Op::tile_to_shape>(block, shape);
  else if constexpr (is_same_v<Order, LayoutRight>) {
    return invoke<Op::tile_to_shape>(block, shape,
                                     detail::counted(decltype(detail::reversed<n>(make_seq<n>{})){}));
  } else
    return invoke<Op::tile_to_shape>(block, shape, order);
}
template <layout_like L, layout_like S, class Order>
ZELLIGE_HOST_DEVICE constexpr auto tile_to_shape(L const& block, S const& like, Order const& order) {
  return tile_to_shape(block, like.shape(), order);
}

// Construction after another layout.
template <int_tuple S, int_tuple O>
ZELLIGE_HOST_DEVICE constexpr auto make_ordered_layout(S const& shape, O const& order) {
  return invoke<Op::make_ordered_layout>(shape, order);
}
/// The compact layout of the same shape whose strides are in the order of this one's.
template <class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto make_ordered_layout(Layout<S, D> const& l) {
  return make_ordered_layout(l.shape(), l.stride());
}
template <int_tuple S, int_tuple O>
ZELLIGE_HOST_DEVICE constexpr auto compact_order(S const& shape, O const& order) {
  return invoke<Op::make_ordered_layout>(shape, order).stride();
}
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto make_layout_like(L const& l) {
  return invoke<Op::make_layout_like>(l);
}
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto make_fragment_like(L const& l) {
  return invoke<Op::make_fragment_like>(l);
}
template <int_tuple S>
ZELLIGE_HOST_DEVICE constexpr auto make_fragment_like(S const& shape) {
  return make_layout(shape);
}
template <int_tuple S>
ZELLIGE_HOST_DEVICE constexpr auto make_identity_layout(S const& shape) {
  return make_layout(shape, make_basis_like(shape));
}

// Vectors and element sizes.
template <layout_like A, layout_like B>
ZELLIGE_HOST_DEVICE constexpr auto max_common_layout(A const& a, B const& b) {
  return invoke<Op::max_common_layout>(a, b);
}
template <layout_like A, layout_like B>
ZELLIGE_HOST_DEVICE constexpr auto max_common_vector(A const& a, B const& b) {
  return invoke<Op::max_common_vector>(a, b);
}
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto max_alignment(L const& l) {
  return invoke<Op::max_alignment>(l);
}
template <int_tuple S, int_tuple N>
ZELLIGE_HOST_DEVICE constexpr auto domain_distribute(S const& shape, N const& n) {
  return invoke<Op::domain_distribute>(shape, n);
}
template <int N, class L>
requires(layout_like<L> || swizzle_like<L>) ZELLIGE_HOST_DEVICE constexpr auto upcast(L const& l) {
  return invoke<Op::upcast>(l, Int<N>{});
}
/// safe_div of an offset, or of a shape with strides, mode by mode; strides of a user's type are divided by
/// their own safe_div.
template <int N, integral T>
ZELLIGE_HOST_DEVICE constexpr auto upcast(T const& offset) {
  return safe_div(offset, Int<N>{});
}
namespace detail {
template <int N, class S, class D, int... I>
ZELLIGE_HOST_DEVICE constexpr auto upcast_modes(S const& shape, D const& stride, seq<I...>);
}
template <int N, class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto upcast(S const& shape, D const& stride) {
  if constexpr (tuple_like<S>) {
    return detail::upcast_modes<N>(shape, stride, make_seq<tuple_size_v<S>>{});
  } else if constexpr (detail::is_own_stride<D>) {
    return upcast<N>(make_layout(shape, stride));
  } else if constexpr (requires { safe_div(stride, Int<N>{}); }) {
    return make_layout(shape, safe_div(stride, Int<N>{}));
  } else {
    strides_of_a_user_module_cannot_be_compared_or_divided<Op::upcast, Layout<S, D>>();
    return Layout<Int<1>, Int<0>>{};
  }
}
namespace detail {
template <int N, class S, class D, int... I>
ZELLIGE_HOST_DEVICE constexpr auto upcast_modes(S const& shape, D const& stride, seq<I...>) {
  return make_layout(upcast<N>(get<I>(shape), get<I>(stride))...);
}
}  // namespace detail
template <int N, class S, class D>
requires(detail::of_user_module<Layout<S, D>>) ZELLIGE_HOST_DEVICE
    constexpr auto upcast(Layout<S, D> const& l) {
  return upcast<N>(l.shape(), l.stride());
}
template <int N, class L>
requires(layout_like<L> || swizzle_like<L>) ZELLIGE_HOST_DEVICE constexpr auto downcast(L const& l) {
  return invoke<Op::downcast>(l, Int<N>{});
}

/// The bits of an element; specialised for those that are smaller than a byte.
template <class T>
struct sizeof_bits : Int<int(8 * sizeof(T))> {};
template <class Old, class New, layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto recast_layout(L const& l) {
  return invoke<Op::recast_layout>(l, Int<sizeof_bits<Old>::value>{}, Int<sizeof_bits<New>::value>{});
}
/// make_swizzle<0b1100, 0b0011>() xors the bits of the first mask into those of the second.
template <int Y, int Z>
ZELLIGE_HOST_DEVICE constexpr auto make_swizzle() {
  return invoke<Op::make_swizzle>(Int<Y>{}, Int<Z>{});
}

// The parts of a composed layout: the swizzle, and the layout without it.
template <class L>
ZELLIGE_HOST_DEVICE constexpr auto get_swizzle_portion(L const& l) {
  if constexpr (is_composed_layout_v<L>) {
    static_assert(swizzle_like<decltype(l.layout_a())>,
                  "get_swizzle_portion(layout): its left part is a layout, not a swizzle");
    return l.layout_a();
  } else {
    return Swizzle<0, 4, 3>{};
  }
}
template <class L>
ZELLIGE_HOST_DEVICE constexpr auto get_nonswizzle_portion(L const& l) {
  if constexpr (is_composed_layout_v<L>) {
    static_assert(swizzle_like<decltype(l.layout_a())>,
                  "get_nonswizzle_portion(layout): its left part is a layout, not a swizzle");
    return l.layout_b();
  } else {
    return l;
  }
}

// Slices of composed layouts. If the coordinate fixes all source bits of the swizzle, the result is an
// ordinary layout whose strides depend on the coordinate.
template <class Crd, class A, class O, class B>
ZELLIGE_HOST_DEVICE constexpr auto slice_and_offset(Crd const& crd, ComposedLayout<A, O, B> const& l) {
  return invoke<Op::slice_and_offset>(crd, l);
}
template <class Crd, class A, class O, class B>
ZELLIGE_HOST_DEVICE constexpr auto slice(Crd const& crd, ComposedLayout<A, O, B> const& l) {
  return get<0>(slice_and_offset(crd, l));
}

// Codomain.
template <int... I, class A, class O, class B>
ZELLIGE_HOST_DEVICE constexpr auto cosize(ComposedLayout<A, O, B> const& l) {
  return invoke<Op::cosize>(l, Int<I>{}...);
}
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto coshape(L const& l) {
  return invoke<Op::coshape>(l);
}
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto coprofile(L const& l) {
  return invoke<Op::coprofile>(l);
}

}  // namespace zellige
