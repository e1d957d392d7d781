// Tiles that hang over the end of a tensor.
//
// A division whose tile does not divide the tensor rounds up: of 10 elements in tiles of 4, tile 2 has the
// coordinates 8 to 11. Its layout is right, and two of its elements are not the tensor's: they lie past the
// end, or, worse, in the next row, where no memory checker sees them. So a tensor remembers what hangs over:
//
//   Whole                  nothing: the tile divides, or the tensor was not cut. No state, the usual case
//   Overhang<tile, extent> all is static and the tile hangs over: `copy` is refused by the compiler
//   MayOverhang            an extent or the tile's number is of run time: `copy` checks where ZELLIGE_CHECK is on
//
// The record is made where a tensor of memory is divided or composed, kept by every view of the result, and
// read by the algorithms that touch all elements without a predicate (copy, fill, axpby, ...); copy_if is the
// way over the edge. Where a coordinate comes with the division (local_tile, local_partition and their like)
// the record is exact: the tile (or the thread's part) that it names lies inside or does not, and an inner
// tile is copied freely. The compiler refuses where it knows the coordinate too, or where all tiles are meant;
// with a run-time coordinate the record is one of run time. The parts of an overhanging tile all count as
// overhanging.
//
// Why a record beside the layout, and not a comparison of addresses in `copy`: the stray elements of a
// row-major matrix are inside the memory of the matrix. Why not a coordinate per element: it would double the
// algebra of every partition. Where nothing checks, nobody reads the record and it costs no instruction.
#pragma once
#include <zellige/layout/algebra.hpp>
#include <zellige/tensor/check.hpp>

namespace zellige {

struct Whole {};
template <long long tile, long long extent>
struct Overhang {};
struct MayOverhang {
  long long tile = 0;  // 0: nothing hangs over
  long long extent = 0;
};

namespace detail {
template <class T>
inline constexpr bool always_overhangs = false;
template <long long tile, long long extent>
inline constexpr bool always_overhangs<Overhang<tile, extent>> = true;

/// Of two records, the one that refuses.
template <class A, class B>
ZELLIGE_HOST_DEVICE constexpr auto either(A const& a, B const& b) {
  if constexpr (is_same_v<B, Whole> || always_overhangs<A>)
    return a;
  else if constexpr (is_same_v<A, Whole> || always_overhangs<B>)
    return b;
  else
    return a.tile != 0 ? a : b;
}

enum class Part : signed char { every, tile, thread };

/// The tile divides the extent, and the compiler knows it.
template <class T, class N>
inline constexpr bool is_static_tile = false;
template <auto t, auto n>
inline constexpr bool is_static_tile<C<t>, C<n>> = t != 0 && n % t == 0;

/// Tiles of `tile` elements over `extent`: all of them, tile number c, or element number c of each.
template <Part part, class T, class N, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto cut(T const& tile, N const& extent, Crd const& c) {
  constexpr bool named = part != Part::every && integral<Crd>;
  constexpr bool known = is_static_integer_v<T> && is_static_integer_v<N>;
  if constexpr (known && is_static_tile<T, N>) {
    return Whole{};
  } else if constexpr (known && (!named || is_static_integer_v<Crd>)) {
    constexpr long long t = T::value, n = N::value;
    if constexpr (named && is_static_integer_v<Crd>) {
      constexpr long long last =
          part == Part::tile ? (Crd::value + 1) * t - 1 : Crd::value + (n + t - 1) / t * t - t;
      return conditional_t<(last < n), Whole, Overhang<t, n>>{};
    } else {
      return Overhang<t, n>{};
    }
  } else if constexpr (is_constant<1, T>::value) {
    return Whole{};
  } else {
#if ZELLIGE_CHECK
    long long const t = tile, n = extent;
    bool over = n % t != 0;
    if constexpr (named && part == Part::tile) over = (c + 1LL) * t > n;
    if constexpr (named && part == Part::thread) over = over && c >= n % t;
    if (over) return MayOverhang{t, n};
#endif
    return MayOverhang{};
  }
}

template <int I, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto part_of(Crd const& crd) {
  if constexpr (!tuple_like<Crd>)
    return Underscore{};
  else if constexpr (I < tuple_size_v<Crd>)
    return get<I>(crd);
  else
    return Underscore{};
}
template <Part part, class S, class T, class Crd, int I, int... R>
ZELLIGE_HOST_DEVICE constexpr auto cut_modes(S const& shape, T const& tiler, Crd const& crd, seq<I, R...>);
template <class T>
inline constexpr bool flat_numbers = false;
template <class... T>
inline constexpr bool flat_numbers<tuple<T...>> = (integral<T> && ...);

/// What a tiler leaves hanging over a shape; crd names a tile, or an element of every tile, mode by mode.
template <Part part, class S, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto cut_shape(S const& shape, T const& tiler, Crd const& crd) {
  if constexpr (is_underscore_v<T>) {
    return Whole{};
  } else if constexpr (tuple_like<T>) {
    if constexpr (tuple_size_v<T> == 0 || tuple_size_v < T >> rank_v<S> || !tuple_like<S>)
      return Whole{};  // nothing to cut, or refused by the division itself
    else if constexpr (part == Part::tile && integral<Crd> && flat_numbers<T> && flat_numbers<S> &&
                       rank_v<T> == rank_v<S>)
      // One number for the tile: it counts them, the first mode fastest.
      return cut_modes<part>(shape, tiler, idx2crd(crd, ceil_div(shape, tiler)), make_seq<tuple_size_v<T>>{});
    else
      return cut_modes<part>(shape, tiler, crd, make_seq<tuple_size_v<T>>{});
  } else if constexpr (integral<T>) {
    return cut<part>(tiler, product(shape), crd);
  } else if constexpr (layout_like<T>) {
    return cut<Part::every>(product(tiler.shape()), product(shape), crd);
  } else {
    return Whole{};
  }
}
template <Part part, class S, class T, class Crd, int I, int... R>
ZELLIGE_HOST_DEVICE constexpr auto cut_modes(S const& shape, T const& tiler, Crd const& crd, seq<I, R...>) {
  auto const first = cut_shape<part>(get<I>(shape), get<I>(tiler), part_of<I>(crd));
  if constexpr (sizeof...(R) == 0)
    return first;
  else
    return either(first, cut_modes<part>(shape, tiler, crd, seq<R...>{}));
}

/// Whether a tiler is made of numbers alone.
template <class T>
inline constexpr bool tiles_of_numbers = integral<T> || is_underscore_v<T>;
template <class... T>
inline constexpr bool tiles_of_numbers<tuple<T...>> = (tiles_of_numbers<T> && ...);

/// What a division into `divided` leaves hanging over. A tile with a layout of its own (its elements need not
/// be neighbours) does not divide where tile and tiles together have more elements than there were.
template <Part part, class L, class D, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr auto cut_layout(L const& layout, D const& divided, T const& tiler,
                                              Crd const& crd) {
  if constexpr (tiles_of_numbers<T>)
    return cut_shape<part>(layout.shape(), tiler, crd);
  else
    return cut<Part::tile>(product(divided.shape()), product(layout.shape()), Int<0>{});
}

/// What a composition reaches past the end of a shape: one tile at its beginning.
template <class S, class T>
ZELLIGE_HOST_DEVICE constexpr auto reach(S const& shape, T const& tiler);
template <class S, class T, int I, int... R>
ZELLIGE_HOST_DEVICE constexpr auto reach_modes(S const& shape, T const& tiler, seq<I, R...>) {
  auto const first = reach(get<I>(shape), get<I>(tiler));
  if constexpr (sizeof...(R) == 0)
    return first;
  else
    return either(first, reach_modes(shape, tiler, seq<R...>{}));
}
template <class S, class T>
ZELLIGE_HOST_DEVICE constexpr auto reach(S const& shape, T const& tiler) {
  if constexpr (tuple_like<T>) {
    if constexpr (tuple_size_v<T> == 0 || tuple_size_v < T >> rank_v<S> || !tuple_like<S>)
      return Whole{};
    else
      return reach_modes(shape, tiler, make_seq<tuple_size_v<T>>{});
  } else if constexpr (layout_like<T>) {
    if constexpr (integral<decltype(cosize(tiler))>)
      return cut<Part::tile>(cosize(tiler), product(shape), Int<0>{});
    else
      return Whole{};  // strides that pick modes are composed mode by mode and checked there
  } else if constexpr (integral<T>) {
    return cut<Part::tile>(tiler, product(shape), Int<0>{});
  } else {
    return Whole{};
  }
}
}  // namespace detail

}  // namespace zellige
