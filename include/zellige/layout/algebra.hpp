// Defines the layout algebra on Layout types: coalesce, composition, complement, inverses, divides, products,
// recasts. There is one function per operation of the table in algebra/op.hpp.
//
//   auto a = make_layout(make_shape(_6{}, _2{}), make_stride(_8{}, _2{}));
//   composition(a, make_layout(make_shape(_4{}, _3{}), make_stride(_3{}, _1{})))
//     is  ((_2,_2),_3):((_24,_2),_8)
//   zipped_divide(a, make_tile(_3{}, _2{}))   is  of rank 2: mode 0 indexes within a tile, mode 1 selects the tile
//
// An operation is refused if its result would not be a correct layout for all coordinates. If the numbers are
// static, a refusal is a compile error; else it is a LayoutError on the host or a trap on the device (check.hpp).
#pragma once
#include <zellige/layout/invoke.hpp>

namespace zellige {

/// An integer, a basis element, or a tuple of them at any depth: a shape, stride or coordinate.
template <class T>
concept int_tuple = tuple_like<T> || integral<T> || basis_like<T> || user_integer<T>;

// Returns l with as few modes as its static numbers allow: the same function of the linear index.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto coalesce(L const& l) {
  return invoke<Op::coalesce>(l);
}
/// Returns l with its modes coalesced separately. A mode for which the profile has a number is coalesced
/// completely; a mode for which it has a tuple is again coalesced mode by mode. Modes of l beyond the profile
/// are unchanged.
template <layout_like L, int_tuple P>
ZELLIGE_HOST_DEVICE constexpr auto coalesce(L const& l, P const& profile) {
  return invoke<Op::coalesce_profile>(l, profile);
}
/// Returns the shape with adjacent extents multiplied if both are static or both are run-time numbers.
template <int_tuple S>
ZELLIGE_HOST_DEVICE constexpr auto coalesce(S const& shape) {
  return invoke<Op::coalesce_shape>(shape);
}
/// Returns l without repeated elements, coalesced: modes of stride 0 get extent 1 and are then merged away.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto filter(L const& l) {
  return invoke<Op::filter>(l);
}
/// Returns l without repeated elements (modes of stride 0), with its modes coalesced separately, as
/// coalesce(l, profile) does.
template <layout_like L, int_tuple P>
ZELLIGE_HOST_DEVICE constexpr auto filter(L const& l, P const& profile) {
  return invoke<Op::filter_profile>(l, profile);
}
/// Returns l with extent 1 in place of each mode of stride 0.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto filter_zeros(L const& l) {
  return invoke<Op::filter_zeros>(l);
}
/// Returns the tuple or number t, which has no strides that could be 0.
template <int_tuple T>
ZELLIGE_HOST_DEVICE constexpr T filter_zeros(T const& t) {
  return t;
}
/// Returns l with extent 1 in each mode where the profile has a zero.
template <layout_like L, int_tuple P>
ZELLIGE_HOST_DEVICE constexpr auto filter_zeros(L const& l, P const& profile) {
  return invoke<Op::filter_zeros_profile>(l, profile);
}
/// Returns the tuple t with 1 in place of each leaf for which the corresponding leaf of `zeros` is 0.
template <int_tuple A, int_tuple B>
ZELLIGE_HOST_DEVICE constexpr auto filter_zeros(A const& zeros, B const& t) {
  return invoke<Op::filter_zeros_tuple>(zeros, t);
}

// Returns the layout r with r(c) = a(b(c)) for each coordinate c of b. b is a layout, a number n (which means
// n:1), `_` (the complete mode), or a tuple of these, which is composed mode by mode.
template <layout_like A, class B>
ZELLIGE_HOST_DEVICE constexpr auto composition(A const& a, B const& b) {
  return invoke<Op::composition>(a, b);
}
/// Returns the composition of a layout a whose strides have a user's type with a composed layout b. The
/// result is a composed layout, because the strides of a and b cannot be merged.
template <class S, class D, class A, class O, class B>
requires(detail::of_user_module<Layout<S, D>>) ZELLIGE_HOST_DEVICE
    constexpr auto composition(Layout<S, D> const& a, ComposedLayout<A, O, B> const& b) {
  return make_composed_layout(a, Int<0>{}, b);
}
/// Returns the swizzle that maps i to a(b(i)). Refused if the shifts of a and b differ, or if no swizzle has
/// the combined bit masks of a and b.
template <int B, int M, int S, int B2, int M2, int S2>
ZELLIGE_HOST_DEVICE constexpr auto composition(Swizzle<B, M, S> const& a, Swizzle<B2, M2, S2> const& b) {
  return invoke<Op::composition>(a, b);
}
/// Returns the complement of l below its own cosize: a layout r such that the sums l(i) + r(j) are all
/// different and cover the integers below the cosize.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto complement(L const& l) {
  return invoke<Op::complement1>(l);
}
/// Returns the complement of l below the cotarget, a number or the size of a shape: a layout r such that the
/// sums l(i) + r(j) are all different and cover the integers below the cotarget. Refused if l is not
/// injective.
template <layout_like L, class M>
ZELLIGE_HOST_DEVICE constexpr auto complement(L const& l, M const& cotarget) {
  return invoke<Op::complement>(l, cotarget);
}
/// Returns the right inverse of l: the longest layout r with l(r(i)) = i for all i from 0 to size(r) - 1.
template <class L>
requires(layout_like<L> || swizzle_like<L>) ZELLIGE_HOST_DEVICE constexpr auto right_inverse(L const& l) {
  return invoke<Op::right_inverse>(l);
}
/// Returns the left inverse of l: a layout r with l(r(l(c))) = l(c) for all c; if l is injective, r(l(c)) =
/// c. Refused if no layout is such an inverse.
template <class L>
requires(layout_like<L> || swizzle_like<L>) ZELLIGE_HOST_DEVICE constexpr auto left_inverse(L const& l) {
  return invoke<Op::left_inverse>(l);
}
/// Returns the nullspace of l: a layout whose elements are the linear coordinates that l maps to 0.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto nullspace(L const& l) {
  return invoke<Op::nullspace>(l);
}
/// Returns the layout r over `shape` with r(c) = l(i), where i is the colexicographic index of c in `shape`.
template <layout_like L, int_tuple S>
ZELLIGE_HOST_DEVICE constexpr auto with_shape(L const& l, S const& shape) {
  return invoke<Op::with_shape>(l, shape);
}

// Divides l by a tiler, mode by mode if the tiler is a tuple. In the result, each divided mode is a pair: a
// mode over the elements of a tile, and a mode over the tiles. The last tile of a mode may be partial.
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto logical_divide(L const& l, T const& tiler) {
  return invoke<Op::logical_divide>(l, tiler);
}
/// Divides l by a tiler. The result has rank 2: mode 0 runs over the elements of a tile, mode 1 over the
/// tiles.
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto zipped_divide(L const& l, T const& tiler) {
  return invoke<Op::zipped_divide>(l, tiler);
}
/// Divides l by a tiler. Mode 0 of the result runs over the elements of a tile; modes 1, 2, ... run over the
/// tiles along modes 0, 1, ... of l.
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto tiled_divide(L const& l, T const& tiler) {
  return invoke<Op::tiled_divide>(l, tiler);
}
/// Divides l by a tiler. The result is flat: first the modes over the elements of a tile, then the modes over
/// the tiles along modes 0, 1, ... of l.
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto flat_divide(L const& l, T const& tiler) {
  return invoke<Op::flat_divide>(l, tiler);
}
/// Repeats the block at the positions that the tiler gives, mode by mode if the tiler is a tuple. The result
/// is the pair (block, layout of its repetitions).
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto logical_product(L const& block, T const& tiler) {
  return invoke<Op::logical_product>(block, tiler);
}
/// Repeats the block as logical_product does. The result has rank 2: mode 0 holds the modes of the block,
/// mode 1 the layouts of its repetitions.
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto zipped_product(L const& block, T const& tiler) {
  return invoke<Op::zipped_product>(block, tiler);
}
/// Repeats the block as logical_product does. Mode 0 of the result is the block; modes 1, 2, ... are its
/// repetitions along mode 0, mode 1, ...
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto tiled_product(L const& block, T const& tiler) {
  return invoke<Op::tiled_product>(block, tiler);
}
/// Repeats the block as logical_product does. The result is flat: first the modes of the block, then its
/// repetitions along mode 0, mode 1, ...
template <layout_like L, class T>
ZELLIGE_HOST_DEVICE constexpr auto flat_product(L const& block, T const& tiler) {
  return invoke<Op::flat_product>(block, tiler);
}
/// Repeats the block over the tiler. Mode i of the result is (mode i of the block, mode i of the tiler), so
/// the elements of one block are adjacent.
template <layout_like L, layout_like T>
ZELLIGE_HOST_DEVICE constexpr auto blocked_product(L const& block, T const& tiler) {
  return invoke<Op::blocked_product>(block, tiler);
}
/// Repeats the block over the tiler. Mode i of the result is (mode i of the tiler, mode i of the block), so
/// the elements of different blocks are interleaved.
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
/// Repeats the block to fill the shape of `like`. `order` says along which mode the blocks are repeated
/// first: LayoutLeft (the first mode), LayoutRight (the last one), or a tuple with one number per mode (the
/// mode with the smallest number). A static extent must be a multiple of the block's extent; a run-time
/// extent may end in a partial block.
template <layout_like L, layout_like S, class Order = LayoutLeft>
ZELLIGE_HOST_DEVICE constexpr auto tile_to_shape(L const& block, S const& like, Order const& order = {});
template <layout_like L, int_tuple S, class Order = LayoutLeft>
ZELLIGE_HOST_DEVICE constexpr auto tile_to_shape(L const& block, S const& shape, Order const& order = {}) {
  constexpr int n = detail::rank_v<S>;
  if constexpr (is_same_v<Order, LayoutLeft>)
    return invoke<Op::tile_to_shape>(block, shape);
  else if constexpr (is_same_v<Order, LayoutRight>) {
    return invoke<Op::tile_to_shape>(block, shape, detail::counted(decltype(detail::reversed<n>(make_seq<n>{})){}));
  } else
    return invoke<Op::tile_to_shape>(block, shape, order);
}
template <layout_like L, layout_like S, class Order>
ZELLIGE_HOST_DEVICE constexpr auto tile_to_shape(L const& block, S const& like, Order const& order) {
  return tile_to_shape(block, like.shape(), order);
}

// Returns the compact layout of a shape, whose modes are ordered by their numbers in `order`: the mode with
// the smallest number is the fastest.
template <int_tuple S, int_tuple O>
ZELLIGE_HOST_DEVICE constexpr auto make_ordered_layout(S const& shape, O const& order) {
  return invoke<Op::make_ordered_layout>(shape, order);
}
/// Returns the compact layout of l's shape whose modes, from the fastest to the slowest, are in the order of
/// l's strides.
template <class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto make_ordered_layout(Layout<S, D> const& l) {
  return make_ordered_layout(l.shape(), l.stride());
}
/// Returns the strides of make_ordered_layout(shape, order).
template <int_tuple S, int_tuple O>
ZELLIGE_HOST_DEVICE constexpr auto compact_order(S const& shape, O const& order) {
  return invoke<Op::make_ordered_layout>(shape, order).stride();
}
/// Returns the compact layout of l's shape whose modes, from the fastest to the slowest, are in the order of
/// l's strides. Modes of stride 0 keep stride 0.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto make_layout_like(L const& l) {
  return invoke<Op::make_layout_like>(l);
}
/// Returns a layout for a register copy of l's elements: mode 0 is compact and fastest, and the other modes
/// follow in the order of their strides in l.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto make_fragment_like(L const& l) {
  return invoke<Op::make_fragment_like>(l);
}
template <int_tuple S>
ZELLIGE_HOST_DEVICE constexpr auto make_fragment_like(S const& shape) {
  return make_layout(shape);
}
/// Returns the layout that maps each coordinate of the shape to the coordinate itself; its strides are basis
/// elements.
template <int_tuple S>
ZELLIGE_HOST_DEVICE constexpr auto make_identity_layout(S const& shape) {
  return make_layout(shape, make_basis_like(shape));
}

// Returns the longest layout r with a(r(i)) = b(r(i)) = i for all i below its size. The elements at the
// linear coordinates r(0), r(1), ... are consecutive in both layouts, so that a copy can move them as one
// vector.
template <layout_like A, layout_like B>
ZELLIGE_HOST_DEVICE constexpr auto max_common_layout(A const& a, B const& b) {
  return invoke<Op::max_common_layout>(a, b);
}
/// Returns how many elements a copy between the two layouts can move as one vector.
template <layout_like A, layout_like B>
ZELLIGE_HOST_DEVICE constexpr auto max_common_vector(A const& a, B const& b) {
  return invoke<Op::max_common_vector>(a, b);
}
/// Returns the largest n such that l consists of vectors of n consecutive indices, and every vector starts at
/// a multiple of n. Run-time strides are assumed to be multiples of n.
template <layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto max_alignment(L const& l) {
  return invoke<Op::max_alignment>(l);
}
/// Returns a layout that spreads n elements over the modes of a shape. Mode by mode, g = gcd(extent, n)
/// elements are placed in the mode, and n is divided by g.
template <int_tuple S, int_tuple N>
ZELLIGE_HOST_DEVICE constexpr auto domain_distribute(S const& shape, N const& n) {
  return invoke<Op::domain_distribute>(shape, n);
}
/// Returns the layout or swizzle of the same memory in elements N times as large. Refused if a static stride
/// neither divides N nor is a multiple of N.
template <int N, class L>
requires(layout_like<L> || swizzle_like<L>) ZELLIGE_HOST_DEVICE constexpr auto upcast(L const& l) {
  return invoke<Op::upcast>(l, Int<N>{});
}
/// Returns an offset in units of elements N times as large: the offset divided by N. N must divide the
/// offset.
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
requires(detail::of_user_module<Layout<S, D>>) ZELLIGE_HOST_DEVICE constexpr auto upcast(Layout<S, D> const& l) {
  return upcast<N>(l.shape(), l.stride());
}
/// Returns the layout of this shape and stride in elements N times as small. A single mode of another stride than 1 or
/// -1, which the other modes of a layout must have then, keeps its shape.
template <int N, class S, class D>
ZELLIGE_HOST_DEVICE constexpr auto downcast(S const& shape, D const& stride) {
  if constexpr (tuple_like<S>)
    return downcast<N>(make_layout(shape, stride));
  else if constexpr (is_constant<1, D>::value || is_constant<-1, D>::value)
    return make_layout(shape * Int<N>{}, stride);
  else
    return make_layout(shape, stride * Int<N>{});
}
/// Returns the layout or swizzle of the same memory in elements N times as small.
template <int N, class L>
requires(layout_like<L> || swizzle_like<L>) ZELLIGE_HOST_DEVICE constexpr auto downcast(L const& l) {
  return invoke<Op::downcast>(l, Int<N>{});
}

/// Size of an element in bits; specialised for types smaller than a byte.
template <class T>
struct sizeof_bits : Int<int(8 * sizeof(T))> {};
/// Returns the layout of the same memory in elements of type New; l is its layout in elements of type Old.
template <class Old, class New, layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto recast_layout(L const& l) {
  return invoke<Op::recast_layout>(l, Int<sizeof_bits<Old>::value>{}, Int<sizeof_bits<New>::value>{});
}
/// Returns the swizzle that xors the bits of an index under mask Y into those under mask Z:
/// make_swizzle<0b1100, 0b0011>().
template <int Y, int Z>
ZELLIGE_HOST_DEVICE constexpr auto make_swizzle() {
  return invoke<Op::make_swizzle>(Int<Y>{}, Int<Z>{});
}

// Returns the swizzle of a composed layout; for an uncomposed layout, a swizzle of 0 bits, which is the
// identity.
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
/// Returns a composed layout without its swizzle, or an uncomposed layout unchanged.
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

// Returns the pair (slice of the composed layout l at crd, offset to add to the slice's indices). If crd
// fixes all bits that the swizzle xors into others, the slice can be an uncomposed layout; its strides then
// depend on crd.
template <class Crd, class A, class O, class B>
ZELLIGE_HOST_DEVICE constexpr auto slice_and_offset(Crd const& crd, ComposedLayout<A, O, B> const& l) {
  return invoke<Op::slice_and_offset>(crd, l);
}
/// Returns the slice of the composed layout l at crd, without the offset that slice_and_offset also returns.
template <class Crd, class A, class O, class B>
ZELLIGE_HOST_DEVICE constexpr auto slice(Crd const& crd, ComposedLayout<A, O, B> const& l) {
  return get<0>(slice_and_offset(crd, l));
}

// Returns one more than the greatest index of a composed layout, or of its nested mode that indices I select.
// If run-time numbers are swizzled, the result is an upper bound.
template <int... I, class A, class O, class B>
ZELLIGE_HOST_DEVICE constexpr auto cosize(ComposedLayout<A, O, B> const& l) {
  return invoke<Op::cosize>(l, Int<I>{}...);
}
/// Returns the extents of the codomain of l: the cosize or, if l maps to coordinates, the shape of the
/// smallest box from zero that contains all of these coordinates.
template <int... I, layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto coshape(L const& l) {
  return invoke<Op::coshape>(layout<I...>(l));
}
/// Returns the profile (nesting) of the indices to which l maps: a number, or a tuple if l maps to
/// coordinates.
template <int... I, layout_like L>
ZELLIGE_HOST_DEVICE constexpr auto coprofile(L const& l) {
  return invoke<Op::coprofile>(layout<I...>(l));
}

}  // namespace zellige
