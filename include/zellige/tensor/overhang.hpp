// Overhang: a record of partial tiles, which reach beyond the end of a tensor, so that unpredicated
// algorithms can refuse them.
//
// A division whose tile does not divide the tensor rounds up: 10 elements in tiles of 4 are three tiles, and
// the last one has the coordinates 8 to 11. Two of them are out of bounds: beyond the end or, worse, in the
// next row, where no memory checker detects them. So a view of memory records its out-of-bounds part.
// Algorithms that access all elements without a predicate (copy, fill, axpby, ...) refuse such a view;
// copy_if handles partial tiles.
//
// The record is a value stored with the address, not a type: edge tiles and inner tiles have one type, as in
// CuTe. Views have a record if run-time numbers are checked on both host and device, which is the case in
// units that no CUDA compiler compiles, and wherever ZELLIGE_CHECK is 1. With ZELLIGE_CHECK 0, and in CUDA
// units without ZELLIGE_CHECK, there is none.
//
// Only provably out-of-bounds views are refused. In the last tile above, mode 0 has `room` for 2 elements, so
// the part with coordinates 0 and 1 may be copied. A division into all tiles records only that some are
// partial; a single tile that a slice selects from it is not refused.
//
// Comparing addresses in `copy` would not suffice: the out-of-bounds elements of a row-major matrix are
// inside the matrix's memory. Tracking a coordinate per element would double the work of every partition.
#pragma once
#include <zellige/layout/algebra.hpp>
#include <zellige/tensor/check.hpp>

namespace zellige {

/// The out-of-bounds part of a view. `tile` and `extent` are the numbers of the error message.
struct Overhang {
  static constexpr int anywhere = -1;
  static constexpr long long unknown = -1;

  long long tile = 0;  // 0: all elements are in bounds
  long long extent = 0;
  /// The mode of which only the first `room` elements are in bounds; anywhere: some of the view's are not.
  int mode = anywhere;
  long long room = unknown;  // unknown: some of the mode's elements are out of bounds
};
/// The record of views that are not tracked: empty.
struct NoOverhang {};

namespace detail {
/// Returns the first of two records that has an out-of-bounds part.
ZELLIGE_HOST_DEVICE constexpr Overhang either(Overhang const& a, Overhang const& b) {
  return a.tile != 0 ? a : b;
}
/// Returns the out-of-bounds record for a view of the same elements in other modes.
ZELLIGE_HOST_DEVICE constexpr Overhang rearranged(Overhang o) {
  o.mode = Overhang::anywhere;
  o.room = Overhang::unknown;
  return o;
}
ZELLIGE_HOST_DEVICE constexpr NoOverhang rearranged(NoOverhang) { return {}; }

/// Returns the out-of-bounds record for a view that keeps some of the modes completely, in order: keeps[i] is
/// true if it keeps mode i.
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
/// Picked<Crd>::of(o) returns the record for a slice at coordinates of type Crd. A mode that is sliced
/// partially loses its record.
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

/// What a division selects: every tile, the tile at a coordinate, or one element of every tile.
enum class Part : signed char { every, tile, thread };

/// Returns the out-of-bounds record for the division of mode `mode` into tiles. It has `extent` elements, of
/// which `room` are in bounds; crd selects a tile or an element.
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

/// Returns mode I of a coordinate; `_` if the coordinate is a number or has fewer modes.
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

/// Returns how many of the `size` elements of a mode are in bounds by the record `had`.
ZELLIGE_HOST_DEVICE constexpr long long room_of(Overhang const& had, int mode, long long size) {
  return had.tile != 0 && had.mode == mode && had.room >= 0 && had.room < size ? had.room : size;
}

template <Part part, class S, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_mode(Overhang const& had, S const& shape, T const& tiler,
                                                Crd const& crd, int mode);
template <Part part, class S, class T, class Crd, int... I>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_modes(Overhang const& had, S const& shape, T const& tiler,
                                                 Crd const& crd, seq<I...>);
/// Returns the out-of-bounds record after a tiler divides a shape that had the record `had`. crd selects a
/// tile, or an element of every tile, mode by mode; `mode` is the position of the shape among the view's
/// modes.
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
/// Returns the out-of-bounds record of one mode of several. A tiler nested in a tiler divides modes that are
/// not modes of the view, so only the outer mode is recorded.
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
  // A record of one mode survives more slices than a record without a mode, so it is preferred.
  ((one = cut_mode<part>(had, get<I>(shape), get<I>(tiler), part_of<I>(crd), I),
    found = found.tile == 0 || (found.mode == Overhang::anywhere && one.tile != 0) ? one : found),
   ...);
  return found;
}

/// True if a tiler consists of numbers and `_` only.
template <class T>
inline constexpr bool tiles_of_numbers = integral<T> || is_underscore_v<T>;
template <class... T>
inline constexpr bool tiles_of_numbers<tuple<T...>> = (tiles_of_numbers<T> && ...);

/// Returns the out-of-bounds record after the layout was divided into `divided`. A tile that is a layout (its
/// elements may not be adjacent) leaves a remainder if tile and rest together have more elements than the
/// layout.
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

/// Returns how far a composition with the tiler reaches into a mode: one tile at its beginning.
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
/// Returns the out-of-bounds record for one mode of a composition.
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
/// Returns the out-of-bounds record for the composition of a shape with a tiler.
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

/// Returns the out-of-bounds record for one thread's elements of all tiles of a shape; tv maps (thread,
/// value) to an element of the tile. Exact, by a loop over the values; called only if some tiles are partial.
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
