// Overhang: tracks partial tiles, which reach beyond the end of a tensor.
//
// A division whose tile does not divide the tensor rounds up: for 10 elements in tiles of 4, tile 2 has the
// coordinates 8 to 11. Its layout is correct, but two of its elements are out of bounds: they are beyond the
// end or, worse, in the next row, where no memory checker detects them. So a view of memory records its
// out-of-bounds part, and the algorithms that access all elements without a predicate (copy, fill, axpby,
// ...) refuse it; copy_if handles partial tiles.
//
// The record is a value stored with the address, not a type: edge tiles and inner tiles have one type, as in
// CuTe. It is kept if run-time numbers are checked on both host and device: in units that no CUDA compiler
// compiles, and wherever ZELLIGE_CHECK is 1. It is omitted with ZELLIGE_CHECK 0, and by a CUDA compiler
// without ZELLIGE_CHECK, whose kernels check nothing.
//
// Only provably out-of-bounds views are refused. For tile 2 above, mode 0 is known to have `room` for 2, so
// the part with rows 0 and 1 can be copied; a division into all tiles only records that some are partial, and
// one of them, selected by a slice, is not refused.
//
// Comparing addresses in `copy` would not suffice: the out-of-bounds elements of a row-major matrix are
// inside the memory of the matrix. Tracking a coordinate per element would double the algebra of every
// partition.
#pragma once
#include <zellige/layout/algebra.hpp>
#include <zellige/tensor/check.hpp>

namespace zellige {

/// The out-of-bounds part of a view.
struct Overhang {
  static constexpr int anywhere = -1;
  static constexpr long long unknown = -1;

  long long tile = 0;  // 0: all in bounds
  long long extent = 0;
  int mode = anywhere;       // the first `room` elements of this mode are in bounds; anywhere: not all are
  long long room = unknown;  // unknown: not all of the mode's are in bounds
};
/// The empty record of views that are not tracked.
struct NoOverhang {};

namespace detail {
/// The first of two records that refuses.
ZELLIGE_HOST_DEVICE constexpr Overhang either(Overhang const& a, Overhang const& b) {
  return a.tile != 0 ? a : b;
}
/// For a view that has all elements in other modes.
ZELLIGE_HOST_DEVICE constexpr Overhang rearranged(Overhang o) {
  o.mode = Overhang::anywhere;
  o.room = Overhang::unknown;
  return o;
}
ZELLIGE_HOST_DEVICE constexpr NoOverhang rearranged(NoOverhang) { return {}; }

/// For a view that keeps some whole modes, in order: keeps[i] is true if it keeps mode i.
template <bool... keeps>
ZELLIGE_HOST_DEVICE constexpr Overhang kept(Overhang o) {
  constexpr bool all[] = {keeps..., true};
  if (o.mode == Overhang::anywhere) return (keeps && ...) ? o : Overhang{};
  if (o.mode >= int(sizeof...(keeps)) || !all[o.mode]) return {};
  int before = 0;
  for (int i = 0; i < o.mode; ++i) before += all[i];
  o.mode = before;
  return o;
}
/// For the part selected by a coordinate. A mode of which it selects a part is kept, but not whole.
template <class Crd>
struct Picked {
  ZELLIGE_HOST_DEVICE static constexpr Overhang of(Overhang const& o) {
    return kept<is_underscore_v<Crd>>(o);
  }
};
template <class... C>
struct Picked<tuple<C...>> {
  ZELLIGE_HOST_DEVICE static constexpr Overhang of(Overhang o) {
    constexpr bool whole[] = {is_underscore_v<C>..., true}, some[] = {has_underscore_v<C>..., true};
    if (o.mode == Overhang::anywhere) return (is_underscore_v<C> && ...) ? o : Overhang{};
    if (o.mode >= int(sizeof...(C)) || !whole[o.mode]) return {};
    int before = 0;
    for (int i = 0; i < o.mode; ++i) before += some[i];
    o.mode = before;
    return o;
  }
};

/// The result of a tiler on a mode: every tile, the tile at a coordinate, or an element of every tile.
enum class Part : signed char { every, tile, thread };

/// Mode `mode` of `extent` elements, `room` of them in bounds, divided into tiles of `tile`.
template <Part part, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut(long long tile, long long extent, long long room, int mode,
                                           [[maybe_unused]] Crd const& crd) {
  if (tile <= 0) return {};
  if constexpr (part == Part::every || !integral<Crd>) {
    return (extent + tile - 1) / tile * tile > room ? Overhang{tile, extent} : Overhang{};
  } else {
    long long const c = crd, tiles = (extent + tile - 1) / tile;
    if constexpr (part == Part::tile) {
      long long const left = room > c * tile ? room - c * tile : 0;
      return left < tile ? Overhang{tile, extent, mode, left} : Overhang{};
    } else {
      long long const left = room > c ? (room - c + tile - 1) / tile : 0;
      return left < tiles ? Overhang{tile, extent, mode, left} : Overhang{};
    }
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
template <class T>
inline constexpr bool flat_numbers = false;
template <class... T>
inline constexpr bool flat_numbers<tuple<T...>> = (integral<T> && ...);

/// The number of in-bounds elements of mode `mode`, of `size`.
ZELLIGE_HOST_DEVICE constexpr long long room_of(Overhang const& had, int mode, long long size) {
  return had.tile != 0 && had.mode == mode && had.room >= 0 && had.room < size ? had.room : size;
}

template <Part part, class S, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_mode(Overhang const& had, S const& shape, T const& tiler,
                                                Crd const& crd, int mode);
template <Part part, class S, class T, class Crd, int... I>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_modes(Overhang const& had, S const& shape, T const& tiler,
                                                 Crd const& crd, seq<I...>);
/// The out-of-bounds part after a tiler of numbers divides a shape with record `had`; crd selects a tile, or
/// an element of every tile, mode by mode. `mode` is the position of the shape in the whole.
template <Part part, class S, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_shape(Overhang const& had, S const& shape, T const& tiler,
                                                 Crd const& crd, int mode = 0) {
  if constexpr (tuple_like<T>) {
    if constexpr (tuple_size_v<T> == 1 && integral<S>)
      return cut_mode<part>(had, shape, get<0>(tiler), part_of<0>(crd), mode);
    else if constexpr (tuple_size_v<T> == 0 || tuple_size_v < T >> rank_v<S> || !tuple_like<S>)
      return {};  // nothing to divide, or refused by the division itself
    else if constexpr (part == Part::tile && integral<Crd> && flat_numbers<T> && flat_numbers<S> &&
                       rank_v<T> == rank_v<S>)
      // A single number for the tile is its linear index, the first mode fastest.
      return cut_modes<part>(had, shape, tiler, idx2crd(crd, ceil_div(shape, tiler)),
                             make_seq<tuple_size_v<T>>{});
    else
      return cut_modes<part>(had, shape, tiler, crd, make_seq<tuple_size_v<T>>{});
  } else if constexpr (integral<T>) {
    long long const size = product(shape);
    return cut<part>(tiler, size, room_of(had, mode, size), mode, crd);
  } else if constexpr (layout_like<T>) {
    long long const size = product(shape);
    return cut<Part::every>(product(tiler.shape()), size, size, mode, crd);
  } else {
    return {};
  }
}
/// One of several modes; a tiler nested in a tiler refers to modes that no view has as modes of its own.
template <Part part, class S, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_mode(Overhang const& had, S const& shape, T const& tiler,
                                                Crd const& crd, int mode) {
  if constexpr (is_underscore_v<T>) {
    // Not divided: its record stays valid if the mode keeps its position.
    return part == Part::every && had.mode == mode ? rearranged(had) : Overhang{};
  } else if constexpr (tuple_like<T>) {
    Overhang inside = cut_shape<part>(Overhang{}, shape, tiler, crd);
    inside.mode = inside.mode == Overhang::anywhere ? inside.mode : mode;
    inside.room = Overhang::unknown;
    return inside;
  } else {
    return cut_shape<part>(had, shape, tiler, crd, mode);
  }
}
template <Part part, class S, class T, class Crd, int... I>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_modes(Overhang const& had, S const& shape, T const& tiler,
                                                 Crd const& crd, seq<I...>) {
  Overhang found, one;
  // A record of one mode survives more slices than one of all modes, so it is preferred.
  ((one = cut_mode<part>(had, get<I>(shape), get<I>(tiler), part_of<I>(crd), I),
    found = found.tile == 0 || (found.mode == Overhang::anywhere && one.tile != 0) ? one : found),
   ...);
  return found;
}

/// True if a tiler consists of numbers only.
template <class T>
inline constexpr bool tiles_of_numbers = integral<T> || is_underscore_v<T>;
template <class... T>
inline constexpr bool tiles_of_numbers<tuple<T...>> = (tiles_of_numbers<T> && ...);

/// The out-of-bounds part after a division into `divided`. A tile with its own layout (its elements may be
/// non-contiguous) does not divide evenly if tile and tiles together have more elements than before.
template <Part part, class L, class D, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_layout(Overhang const& had, L const& layout, D const& divided,
                                                  T const& tiler, Crd const& crd) {
  if constexpr (tiles_of_numbers<T>) {
    return cut_shape<part>(had, layout.shape(), tiler, crd);
  } else {
    long long const all = product(divided.shape()), whole = product(layout.shape());
    return part == Part::every && all > whole ? Overhang{all, whole} : Overhang{};
  }
}

/// The part of a composition beyond the end of a shape: one tile at its beginning.
template <class T>
ZELLIGE_HOST_DEVICE constexpr long long reach(T const& tiler) {
  if constexpr (layout_like<T>) {
    if constexpr (integral<decltype(cosize(tiler))>)
      return cosize(tiler);
    else
      return 0;  // strides that select modes are composed mode by mode and checked there
  } else if constexpr (integral<T>) {
    return tiler;
  } else {
    return 0;
  }
}
template <class S, class T>
ZELLIGE_HOST_DEVICE constexpr Overhang reach_shape(Overhang const& had, S const& shape, T const& tiler,
                                                   int mode) {
  long long const size = product(shape), room = room_of(had, mode, size), needed = reach(tiler);
  if constexpr (is_underscore_v<T>) return had.mode == mode ? had : Overhang{};
  if (needed <= room) return {};
  return {needed, size, mode, integral<T> ? room : Overhang::unknown};
}
template <class S, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr Overhang reach_modes(Overhang const& had, S const& shape, T const& tiler,
                                                   seq<I...>) {
  Overhang found;
  ((found = either(found, reach_shape(had, get<I>(shape), get<I>(tiler), I))), ...);
  return found;
}
template <class S, class T>
ZELLIGE_HOST_DEVICE constexpr Overhang reach_layout(Overhang const& had, S const& shape, T const& tiler) {
  if constexpr (tuple_like<T>) {
    if constexpr (tuple_size_v<T> == 1 && integral<S>)
      return reach_shape(had, shape, get<0>(tiler), 0);
    else if constexpr (tuple_size_v<T> == 0 || tuple_size_v < T >> rank_v<S> || !tuple_like<S>)
      return {};
    else
      return reach_modes(had, shape, tiler, make_seq<tuple_size_v<T>>{});
  } else {
    // Of all modes together, or of the only one.
    return rearranged(reach_shape(rank_v<S> == 1 ? had : Overhang{}, shape, tiler, 0));
  }
}

/// One thread's part of a shape divided into tiles, from every tile: tv maps (thread, value) to an element of
/// the tile. Exact, by a loop over the values: it is called only for partial tiles.
template <class S, class T, class TV, int... I>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_thread(Overhang const& had, S const& shape, T const& tile,
                                                  TV const& tv, int thread, seq<I...>) {
  Overhang found;
  auto const mode = [&](int place, long long size, long long taken, long long inner) {
    long long const room = room_of(had, place, size), last = (size + taken - 1) / taken * taken - taken;
    if (found.tile != 0 || last + taken <= room) return;
    for (int v = 0; v < int(product(get<1>(tv.shape()))); ++v)
      if (last + tv(thread, v) / inner % taken >= room) found = {taken, size};
  };
  long long inner = 1;
  ((mode(I, product(get<I>(shape)), get<I>(tile), inner), inner = inner * get<I>(tile)), ...);
  return found;
}
}  // namespace detail

}  // namespace zellige
