// Defines Overhang, the out-of-bounds record of a view: which of the view's elements are beyond the end of its tensor.
// Algorithms without a predicate use it to refuse partial tiles.
//
// A division whose tile does not divide the tensor rounds up: 10 elements in tiles of 4 are three tiles, and the
// last one has the coordinates 8 to 11. Elements 10 and 11 are out of bounds: beyond the end or, worse, in the next
// row, where no memory checker detects them. Therefore a view of memory records which of its elements are out of
// bounds. Algorithms that access all elements without a predicate (copy, fill, axpby, ...) refuse a view with such
// elements; copy_if accepts it.
//
// The record is a value stored with the address, not a part of the type: edge tiles and inner tiles have the same type,
// as in CuTe. Views have a record wherever ZELLIGE_CHECK is 1, and by default in code that is not compiled by a CUDA
// compiler. They have none with ZELLIGE_CHECK 0, and by default in CUDA code.
//
// Only views that are provably out of bounds are refused. In the last tile of the example only the first 2 elements
// are in bounds, and its record says so. A view of these 2 elements may therefore be copied. A view of all tiles records
// only that some of them are partial; a single tile that is sliced from this view is not refused.
//
// Comparing addresses in `copy` would not suffice: the out-of-bounds elements of a row-major matrix are
// inside the matrix's memory. Tracking a coordinate per element would double the work of every partition.
#pragma once
#include <zellige/layout/algebra.hpp>
#include <zellige/tensor/check.hpp>

namespace zellige {

/// Which elements of a view are out of bounds. `tile` and `extent` are the numbers of the error message.
struct Overhang {
  static constexpr int anywhere = -1;
  static constexpr long long unknown = -1;

  long long tile = 0;  // 0: all elements are in bounds
  long long extent = 0;
  /// The mode of which only the first `room` elements are in bounds; `anywhere` if the mode is not known.
  int mode = anywhere;
  long long room = unknown;  // `unknown` if the number of elements in bounds is not known
};
/// The out-of-bounds record of views that do not track out-of-bounds elements: empty.
struct NoOverhang {};

namespace detail {
/// Returns the out-of-bounds record a, or the record b if a is empty (all elements are in bounds).
ZELLIGE_HOST_DEVICE constexpr Overhang either(Overhang const& a, Overhang const& b) { return a.tile != 0 ? a : b; }
/// Returns the out-of-bounds record of a view that has the same elements as a view with record o, but other
/// modes: it does not say in which mode the out-of-bounds elements are.
ZELLIGE_HOST_DEVICE constexpr Overhang rearranged(Overhang o) {
  o.mode = Overhang::anywhere;
  o.room = Overhang::unknown;
  return o;
}
ZELLIGE_HOST_DEVICE constexpr NoOverhang rearranged(NoOverhang) { return {}; }

/// Returns the out-of-bounds record for a view that keeps some modes, in order and completely, of a view with
/// record o. keeps[i] is true if mode i is kept.
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
/// Picked<Crd>::of(o) returns the out-of-bounds record for a slice, at coordinates of type Crd, of a view
/// with record o. A mode that is sliced partially loses its record.
template <class Crd>
struct Picked {
  ZELLIGE_HOST_DEVICE static constexpr Overhang of(Overhang const& o) { return kept<is_underscore_v<Crd>>(o); }
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

/// What is selected from a divided tensor: every tile, the tile at a coordinate, or the element at a
/// coordinate of every tile (a thread's elements).
enum class CutPart : signed char { every, tile, thread };

/// Divides mode number `mode` of a view into tiles of `tile` elements, and returns the out-of-bounds record of
/// what `part` selects: all tiles, the tile number crd, or element number crd of every tile. The mode has
/// `extent` elements, of which the first `room` are in bounds.
template <CutPart part, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut(long long tile, long long extent, long long room, int mode,
                                           [[maybe_unused]] Crd const& crd) {
  if (tile <= 0) return {};
  if constexpr (part == CutPart::every || !integral<Crd>) {
    return (extent + tile - 1) / tile * tile > room ? Overhang{tile, extent} : Overhang{};
  } else {
    long long const c = crd, tiles = (extent + tile - 1) / tile;
    if constexpr (part == CutPart::tile) {
      long long const left = room > c * tile ? room - c * tile : 0;
      return left < tile ? Overhang{tile, extent, mode, left} : Overhang{};
    } else {
      long long const left = room > c ? (room - c + tile - 1) / tile : 0;
      return left < tiles ? Overhang{tile, extent, mode, left} : Overhang{};
    }
  }
}

/// Returns mode I of the coordinate crd; `_` if crd is a number or has no mode I.
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

/// Returns how many of the `size` elements of mode number `mode` are in bounds according to the view's
/// out-of-bounds record `had`.
ZELLIGE_HOST_DEVICE constexpr long long room_of(Overhang const& had, int mode, long long size) {
  return had.tile != 0 && had.mode == mode && had.room >= 0 && had.room < size ? had.room : size;
}

template <CutPart part, class S, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_mode(Overhang const& had, S const& shape, T const& tiler, Crd const& crd,
                                                int mode);
template <CutPart part, class S, class T, class Crd, int... I>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_modes(Overhang const& had, S const& shape, T const& tiler, Crd const& crd,
                                                 seq<I...>);
/// Divides a view by a tiler and returns the out-of-bounds record of what `part` selects: all tiles, the tile
/// at crd, or the element at crd of every tile. `had` is the record of the view before the division. `shape`
/// is the shape of the view or, in a call for a single mode, the shape of mode number `mode`.
template <CutPart part, class S, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_shape(Overhang const& had, S const& shape, T const& tiler, Crd const& crd,
                                                 int mode = 0) {
  if constexpr (tuple_like<T>) {
    if constexpr (tuple_size_v<T> == 1 && integral<S>)
      return cut_mode<part>(had, shape, get<0>(tiler), part_of<0>(crd), mode);
    else if constexpr (tuple_size_v<T> == 0 || tuple_size_v < T >> rank_v<S> || !tuple_like<S>)
      return {};  // nothing to divide, or refused by the division itself
    else if constexpr (part == CutPart::tile && integral<Crd> && flat_numbers<T> && flat_numbers<S> &&
                       rank_v<T> == rank_v<S>)
      // A single number for the tile is its linear index, the first mode fastest.
      return cut_modes<part>(had, shape, tiler, idx2crd(crd, ceil_div(shape, tiler)), make_seq<tuple_size_v<T>>{});
    else
      return cut_modes<part>(had, shape, tiler, crd, make_seq<tuple_size_v<T>>{});
  } else if constexpr (integral<T>) {
    long long const size = product(shape);
    return cut<part>(tiler, size, room_of(had, mode, size), mode, crd);
  } else if constexpr (layout_like<T>) {
    long long const size = product(shape);
    return cut<CutPart::every>(product(tiler.shape()), size, size, mode, crd);
  } else {
    return {};
  }
}
/// Divides mode number `mode` of a view by a tiler, and returns the out-of-bounds record of what `part` selects:
/// all tiles, the tile at crd, or the element at crd of every tile. `had` is the view's record before the
/// division, `shape` the mode's shape. If the tiler is a tuple, it divides the mode's sub-modes.
template <CutPart part, class S, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_mode(Overhang const& had, S const& shape, T const& tiler, Crd const& crd,
                                                int mode) {
  if constexpr (is_underscore_v<T>) {
    // Not divided: its record stays valid if the mode keeps its position.
    return part == CutPart::every && had.mode == mode ? rearranged(had) : Overhang{};
  } else if constexpr (tuple_like<T>) {
    Overhang inside = cut_shape<part>(Overhang{}, shape, tiler, crd);
    inside.mode = inside.mode == Overhang::anywhere ? inside.mode : mode;
    inside.room = Overhang::unknown;
    return inside;
  } else {
    return cut_shape<part>(had, shape, tiler, crd, mode);
  }
}
template <CutPart part, class S, class T, class Crd, int... I>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_modes(Overhang const& had, S const& shape, T const& tiler, Crd const& crd,
                                                 seq<I...>) {
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

/// Divides a view by a tiler and returns the out-of-bounds record of what `part` selects: all tiles, the tile
/// at crd, or the element at crd of every tile. `layout` is the view's layout, `divided` the divided layout,
/// `had` the record before the division. If the tiler contains a layout, only the record of all tiles is
/// computed, from the number of elements that the division adds; other records are empty.
template <CutPart part, class L, class D, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_layout(Overhang const& had, L const& layout, D const& divided,
                                                  T const& tiler, Crd const& crd) {
  if constexpr (tiles_of_numbers<T>) {
    return cut_shape<part>(had, layout.shape(), tiler, crd);
  } else {
    long long const all = product(divided.shape()), whole = product(layout.shape());
    return part == CutPart::every && all > whole ? Overhang{all, whole} : Overhang{};
  }
}

/// Returns how many elements a mode must have so that its composition with the tiler is in bounds: the cosize
/// if the tiler is a layout, the tiler itself if it is a number, and 0 for any other tiler.
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
/// Returns the out-of-bounds record of a view whose mode number `mode`, of the given shape, is composed with
/// a tiler. `had` is the record before the composition.
template <class S, class T>
ZELLIGE_HOST_DEVICE constexpr Overhang reach_shape(Overhang const& had, S const& shape, T const& tiler, int mode) {
  long long const size = product(shape), room = room_of(had, mode, size), needed = reach(tiler);
  if constexpr (is_underscore_v<T>) return had.mode == mode ? had : Overhang{};
  if (needed <= room) return {};
  return {needed, size, mode, integral<T> ? room : Overhang::unknown};
}
template <class S, class T, int... I>
ZELLIGE_HOST_DEVICE constexpr Overhang reach_modes(Overhang const& had, S const& shape, T const& tiler, seq<I...>) {
  Overhang found;
  ((found = either(found, reach_shape(had, get<I>(shape), get<I>(tiler), I))), ...);
  return found;
}
/// Returns the out-of-bounds record of the composition of a view with a tiler. `shape` and `had` are the
/// view's shape and record before the composition.
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

/// Divides a view into tiles, and returns the out-of-bounds record of the elements that thread number `thread`
/// owns in all tiles. `shape` and `had` are the view's shape and record before the division; tv maps (thread,
/// value) to an element of a tile. The record is exact: a loop goes over all values of the thread.
template <class S, class T, class TV, int... I>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_thread(Overhang const& had, S const& shape, T const& tile, TV const& tv,
                                                  int thread, seq<I...>) {
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
