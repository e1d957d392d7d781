// Divides tensors into tiles and per-thread partitions. Applies the operations of the layout algebra to tensors, and
// defines local_tile, which selects a tile by its coordinate, and local_partition, which selects a thread's elements.
//
//   Tensor tiles = zipped_divide(a, Shape<_128, _64>{});                       // mode 0: 128 x 64, mode 1: the tiles
//   Tensor mine  = local_tile(a, Shape<_128, _64>{}, make_coord(bx, by));      // tile (bx, by)
//   Tensor part  = local_partition(mine, Layout<Shape<_32, _8>>{}, tid);       // of thread tid: one element per 32 x 8
#pragma once
#include <zellige/tensor/tensor.hpp>

namespace zellige {

// Defines an operation of the layout algebra for tensors, for operations that keep all elements: returns a
// view of the same memory with the resulting layout.
#define ZELLIGE_ON_THE_LAYOUT(name)                                            \
  template <tensor_like X, class... T>                                         \
  ZELLIGE_HOST_DEVICE constexpr auto name(X&& x, T const&... t) {              \
    return detail::view_of(x, detail::iterator_of(x), name(x.layout(), t...)); \
  }
ZELLIGE_ON_THE_LAYOUT(coalesce)
ZELLIGE_ON_THE_LAYOUT(flatten)
ZELLIGE_ON_THE_LAYOUT(filter)
ZELLIGE_ON_THE_LAYOUT(filter_zeros)
#undef ZELLIGE_ON_THE_LAYOUT

/// Returns a view of x with modes B to N - 1 grouped into one mode.
template <int B, int N, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto group_modes(X&& x) {
  return detail::view_of(x, detail::iterator_of(x), group<B, N>(x.layout()));
}
/// Returns a view of modes B to N - 1 of x, at coordinate 0 in the other modes.
template <int B, int N, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto take(X&& x) {
  return detail::view_of_modes<B, N>(x, detail::iterator_of(x), take<B, N>(x.layout()),
                                     make_seq<remove_cvref_t<X>::rank>{});
}
/// Returns a view of modes I... of x, at coordinate 0 in the other modes.
template <int... I, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto select(X&& x) {
  return detail::view(detail::iterator_of(x), select<I...>(x.layout()), NoOverhang{});
}
namespace detail {
/// Returns the composed layout l with its origin moved to the coordinate crd: r(c) = l(crd + c).
template <class Crd, class A, class O, class B>
ZELLIGE_HOST_DEVICE constexpr auto started_at(Crd const& crd, ComposedLayout<A, O, B> const& l) {
  if constexpr (is_composed_layout_v<B>)
    return make_composed_layout(l.layout_a(), l.offset(), started_at(crd, l.layout_b()));
  else
    return make_composed_layout(l.layout_a(), l.offset() + l.layout_b()(crd), l.layout_b());
}
}  // namespace detail
/// Returns the tensor with its origin moved to the coordinate crd: r(c) = x(crd + c). If the layout is
/// swizzled, the offset is added before the swizzle is applied.
template <class Crd, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto domain_offset(Crd const& crd, X&& x) {
  auto const& l = x.layout();
  if constexpr (is_composed_layout_v<remove_cvref_t<decltype(l)>>)
    return make_tensor(detail::iterator_of(x), detail::started_at(crd, l));
  else
    return make_tensor(x.data() + l(crd), l);
}

namespace detail {
template <class X>
inline constexpr bool stands_on_memory = names_memory<typename remove_cvref_t<X>::iterator>;
/// True if views of a tensor of type X have an out-of-bounds record (overhang.hpp).
template <class X>
inline constexpr bool can_overhang =
    remembers_overhang<remove_cvref_t<decltype(iterator_of(lvalue<remove_cvref_t<X>>()))>>;
/// Returns the out-of-bounds record of x; an empty record if x has none.
template <class X>
ZELLIGE_HOST_DEVICE constexpr Overhang known_of([[maybe_unused]] X const& x) {
  if constexpr (remembers<X>)
    return overhang_of(x);
  else
    return {};
}
/// Returns a view of all elements of x under `layout`, which is the layout of x divided by the tiler.
template <class X, class L, class T>
ZELLIGE_HOST_DEVICE constexpr auto divided(X& x, L const& layout, T const& tiler) {
  if constexpr (can_overhang<X>)
    return view(iterator_of(x), layout,
                either(cut_layout<CutPart::every>(known_of(x), x.layout(), layout, tiler, Underscore{}),
                       rearranged(known_of(x))));
  else
    return make_tensor(iterator_of(x), layout);
}
/// Returns the out-of-bounds record of the elements that thread number `thread` owns in all tiles of a view
/// with the given shape, which had the record `had` before it was divided. tv maps (thread, value) to an
/// element of a tile. Returns an empty record if `tile` is not a tuple of numbers.
template <class S, class T, class TV>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_thread_of(Overhang const& had, S const& shape, T const& tile, TV const& tv,
                                                     int thread) {
  if constexpr (flat_numbers<T> && tuple_like<S>)
    return cut_thread(had, shape, tile, tv, thread, make_seq<tuple_size_v<T>>{});
  else
    return Overhang{};  // a tile whose elements are not contiguous
}
/// Returns a view of the elements that one thread owns in all tiles of x. The view begins at `it` and has the
/// layout `part`; `tile` is the tile's shape. The functions tv() and thread() return the thread-value layout and
/// the thread's index; they are called only if some tiles are partial.
template <class X, class It, class L, class T, class TV, class I>
ZELLIGE_HOST_DEVICE constexpr auto view_of_thread(X const& x, It const& it, L const& part, T const& tile,
                                                  [[maybe_unused]] TV const& tv, [[maybe_unused]] I const& thread) {
  if constexpr (can_overhang<X>) {
    auto const all = cut_shape<CutPart::every>(known_of(x), x.layout().shape(), tile, Underscore{});
    if (all.tile == 0) return view(it, part, Overhang{});
    return view(it, part, cut_thread_of(known_of(x), x.layout().shape(), tile, tv(), int(thread())));
  } else {
    return make_tensor(it, part);
  }
}
}  // namespace detail

/// Returns the view r with r(c) = x(b(c)), where b is the tiler.
template <tensor_like X, class T>
ZELLIGE_HOST_DEVICE constexpr auto composition(X&& x, T const& tiler) {
  auto const layout = composition(x.layout(), tiler);
  if constexpr (detail::can_overhang<X>)
    return detail::view(detail::iterator_of(x), layout,
                        detail::reach_layout(detail::known_of(x), x.layout().shape(), tiler));
  else
    return make_tensor(detail::iterator_of(x), layout);
}
/// Divides x by a tiler. Each divided mode becomes a pair: a mode over the elements of a tile, and a mode
/// over the tiles.
template <tensor_like X, class T>
ZELLIGE_HOST_DEVICE constexpr auto logical_divide(X&& x, T const& tiler) {
  return detail::divided(x, logical_divide(x.layout(), tiler), tiler);
}
/// Divides x by a tiler. The result has rank 2: mode 0 runs over the elements of a tile, mode 1 over the
/// tiles.
template <tensor_like X, class T>
ZELLIGE_HOST_DEVICE constexpr auto zipped_divide(X&& x, T const& tiler) {
  return detail::divided(x, zipped_divide(x.layout(), tiler), tiler);
}
/// Divides x by a tiler. Mode 0 of the result runs over the elements of a tile; modes 1, 2, ... run over the
/// tiles along modes 0, 1, ... of x.
template <tensor_like X, class T>
ZELLIGE_HOST_DEVICE constexpr auto tiled_divide(X&& x, T const& tiler) {
  return detail::divided(x, tiled_divide(x.layout(), tiler), tiler);
}
/// Divides x by a tiler. The result is flat: first the modes over the elements of a tile, then the modes over
/// the tiles along modes 0, 1, ... of x.
template <tensor_like X, class T>
ZELLIGE_HOST_DEVICE constexpr auto flat_divide(X&& x, T const& tiler) {
  return detail::divided(x, flat_divide(x.layout(), tiler), tiler);
}

namespace detail {
// Returns the coordinate crd extended by `_` at its end to N modes. Compile error if crd has more than N
// modes.
template <Algorithm algorithm, int N, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto marked_to(Crd const& crd) {
  if constexpr (!tuple_like<Crd>)
    return crd;
  else if constexpr (tuple_size_v<Crd> <= N)
    return tuple_cat(crd, tuple_repeat<N - tuple_size_v<Crd>>(Underscore{}));
  else
    return the_coordinate_has_more_modes_than_there_are_tiled_ones<algorithm, tuple_size_v<Crd>, N>(),
           repeat<N>(Underscore{});
}
}  // namespace detail

namespace detail {
/// Divides x by the tiler, and returns the tile that crd selects or, if part is CutPart::thread, the elements at
/// coordinate crd of all tiles.
template <Algorithm algorithm, CutPart part, class X, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto partitioned(X& x, T const& tiler, Crd const& crd) {
  if constexpr (tuple_like<T> && tuple_size_v < T >> X::rank) {
    the_tiler_has_more_modes_than_the_tensor<algorithm, tuple_size_v<T>, X::rank>();
    return view_of(x, iterator_of(x), x.layout());  // suppresses further errors
  } else {
    auto const zipped = zipped_divide(x.layout(), tiler);
    if constexpr (decltype(zipped)::rank != 2) {
      return view_of(x, iterator_of(x), zipped);  // the division was refused
    } else {
      auto const tiled = make_tensor(iterator_of(x), zipped);
      constexpr int inner = decltype(rank<0>(zipped))::value;
      constexpr int outer = decltype(rank<1>(zipped))::value;
      auto const picked = [&] {
        if constexpr (part == CutPart::tile)
          return tiled(repeat<inner>(Underscore{}), marked_to<algorithm, outer>(crd));
        else
          return tiled(marked_to<algorithm, inner>(crd), repeat<outer>(Underscore{}));
      }();
      if constexpr (can_overhang<X>)
        return view(picked.data(), picked.layout(), cut_layout<part>(known_of(x), x.layout(), zipped, tiler, crd));
      else
        return picked;
    }
  }
}
}  // namespace detail

/// Divides x by the tiler and returns the tile that crd selects. If crd has fewer modes than the tiler, all
/// tiles along the other modes are returned.
template <tensor_like X, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto inner_partition(X&& x, T const& tiler, Crd const& crd) {
  return detail::partitioned<Algorithm::local_tile, detail::CutPart::tile>(x, tiler, crd);
}
/// Divides x by the tiler and returns the elements at coordinate crd of all tiles.
template <tensor_like X, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto outer_partition(X&& x, T const& tiler, Crd const& crd) {
  return detail::partitioned<Algorithm::local_partition, detail::CutPart::thread>(x, tiler, crd);
}
/// Divides x by the tiler and returns the tile that crd selects; the same as inner_partition.
template <tensor_like X, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto local_tile(X&& x, T const& tiler, Crd const& crd) {
  return inner_partition(x, tiler, crd);
}
/// Divides x by the tiler and returns the tile that crd selects. Only those modes of tiler and crd are used
/// for which proj has a number: Step<_1, X, _1> drops the second one.
template <tensor_like X, class T, class Crd, class P>
ZELLIGE_HOST_DEVICE constexpr auto local_tile(X&& x, T const& tiler, Crd const& crd, P const& proj) {
  return inner_partition(x, dice(proj, tiler), dice(proj, crd));
}
/// Returns the elements of x that thread number `index` owns: x is divided into tiles of the thread layout's
/// shape, and the thread owns one element of each.
template <tensor_like X, class S, class D, class I>
ZELLIGE_HOST_DEVICE constexpr auto local_partition(X&& x, Layout<S, D> const& threads, I const& index) {
  static_assert(integral<I>, "local_partition(x, threads, index): the index of a thread is a number");
  return outer_partition(x, product_each(threads.shape()), threads.get_flat_coord(index));
}
/// Returns the elements of x that thread number `index` owns: one of every tile of the thread layout's shape.
/// Only those modes of the thread layout are used for which proj has a number.
template <tensor_like X, class S, class D, class I, class P>
ZELLIGE_HOST_DEVICE constexpr auto local_partition(X&& x, Layout<S, D> const& threads, I const& index, P const& proj) {
  return outer_partition(x, dice(proj, product_each(threads.shape())), dice(proj, threads.get_flat_coord(index)));
}

}  // namespace zellige
