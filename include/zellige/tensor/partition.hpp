// Tensors cut by tilers: the algebra on a tensor's layout, and the tiles and the parts of tiles that
// coordinates name.
//
//   Tensor tiles = zipped_divide(a, Shape<_128, _64>{});                       // ((128, 64), (m, n))
//   Tensor mine  = local_tile(a, Shape<_128, _64>{}, make_coord(bx, by));      // tile (bx, by)
//   Tensor part  = local_partition(mine, Layout<Shape<_32, _8>>{}, tid);       // of each 32x8, the one of
//   thread tid
#pragma once
#include <zellige/tensor/tensor.hpp>

namespace zellige {

#define ZELLIGE_ON_THE_LAYOUT(name)                                     \
  template <tensor_like X, class... T>                                  \
  ZELLIGE_HOST_DEVICE constexpr auto name(X&& x, T const&... t) {       \
    return make_tensor(detail::iterator_of(x), name(x.layout(), t...)); \
  }
ZELLIGE_ON_THE_LAYOUT(coalesce)
ZELLIGE_ON_THE_LAYOUT(flatten)
ZELLIGE_ON_THE_LAYOUT(filter)
ZELLIGE_ON_THE_LAYOUT(filter_zeros)
ZELLIGE_ON_THE_LAYOUT(composition)
ZELLIGE_ON_THE_LAYOUT(logical_divide)
ZELLIGE_ON_THE_LAYOUT(zipped_divide)
ZELLIGE_ON_THE_LAYOUT(tiled_divide)
ZELLIGE_ON_THE_LAYOUT(flat_divide)
#undef ZELLIGE_ON_THE_LAYOUT

template <int B, int N, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto group_modes(X&& x) {
  return make_tensor(detail::iterator_of(x), group<B, N>(x.layout()));
}
template <int B, int N, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto take(X&& x) {
  return make_tensor(detail::iterator_of(x), take<B, N>(x.layout()));
}
/// The tensor seen from a coordinate.
template <class Crd, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto domain_offset(Crd const& crd, X&& x) {
  return make_tensor(x.data() + x.layout()(crd), x.layout());
}
/// The same memory in elements of type U.
template <class U, tensor_like X>
ZELLIGE_HOST_DEVICE constexpr auto recast(X&& x) {
  using T = typename remove_cvref_t<X>::value_type;
  return make_tensor(recast_ptr<U>(x.data()), recast_layout<T, U>(x.layout()));
}

namespace detail {
// crd with `_` for the modes that it leaves out.
template <int N, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto marked_to(Crd const& crd) {
  if constexpr (tuple_like<Crd>) {
    static_assert(tuple_size_v<Crd> <= N, "a tile's coordinate has more modes than there are tiled modes");
    return tuple_cat(crd, tuple_repeat<N - tuple_size_v<Crd>>(Underscore{}));
  } else {
    return crd;
  }
}
}  // namespace detail

/// The tile that crd names: of (tile, tiles) all of the first, crd of the second.
template <tensor_like X, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto inner_partition(X&& x, T const& tiler, Crd const& crd) {
  auto const tiled = zipped_divide(x, tiler);
  constexpr int inner = decltype(rank<0>(tiled.layout()))::value;
  constexpr int outer = decltype(rank<1>(tiled.layout()))::value;
  return tiled(repeat<inner>(Underscore{}), detail::marked_to<outer>(crd));
}
/// What crd names in every tile: of (tile, tiles) crd of the first, all of the second.
template <tensor_like X, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto outer_partition(X&& x, T const& tiler, Crd const& crd) {
  auto const tiled = zipped_divide(x, tiler);
  constexpr int inner = decltype(rank<0>(tiled.layout()))::value;
  constexpr int outer = decltype(rank<1>(tiled.layout()))::value;
  return tiled(detail::marked_to<inner>(crd), repeat<outer>(Underscore{}));
}
template <tensor_like X, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto local_tile(X&& x, T const& tiler, Crd const& crd) {
  return inner_partition(x, tiler, crd);
}
/// Only the modes of tiler and crd that proj does not mark with `_`.
template <tensor_like X, class T, class Crd, class P>
ZELLIGE_HOST_DEVICE constexpr auto local_tile(X&& x, T const& tiler, Crd const& crd, P const& proj) {
  return local_tile(x, dice(proj, tiler), dice(proj, crd));
}
/// What thread `index` of the thread layout gets of every tile of that shape.
template <tensor_like X, class S, class D, class I>
ZELLIGE_HOST_DEVICE constexpr auto local_partition(X&& x, Layout<S, D> const& threads, I const& index) {
  return outer_partition(x, product_each(threads.shape()), threads.get_flat_coord(index));
}
template <tensor_like X, class S, class D, class I, class P>
ZELLIGE_HOST_DEVICE constexpr auto local_partition(X&& x, Layout<S, D> const& threads, I const& index,
                                                   P const& proj) {
  return outer_partition(x, dice(proj, product_each(threads.shape())),
                         dice(proj, threads.get_flat_coord(index)));
}

}  // namespace zellige
