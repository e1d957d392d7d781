// Tiles that hang over the end of a tensor.
//
// A division whose tile does not divide the tensor rounds up: of 10 elements in tiles of 4, tile 2 has the
// coordinates 8 to 11. Its layout is right, and two of its elements are not the tensor's: they lie past the
// end, or, worse, in the next row, where no memory checker sees them. So a view of memory remembers what
// hangs over, and the algorithms that touch all elements without a predicate (copy, fill, axpby, ...) refuse
// it; copy_if is the way over the edge.
//
// The record is a value beside the address, not a type: the tile at the edge and the tile inside are of one
// type, as in CuTe. It is kept where run-time numbers are checked on host and device alike: in units that no
// CUDA compiler compiles, and wherever ZELLIGE_CHECK says 1. ZELLIGE_CHECK 0 leaves it out, and so does a CUDA
// compiler that is not told, whose kernels check nothing.
//
// Only what provably leaves the tensor is refused. Of tile 2 above it is known that mode 0 has `room` for 2, so
// that the part of it with rows 0 and 1 is copied freely; a division into all tiles says only that some hang
// over, and one of them, picked by a slice, is not refused.
//
// Why not a comparison of addresses in `copy`: the stray elements of a row-major matrix are inside the memory of
// the matrix. Why not a coordinate per element: it would double the algebra of every partition.
#pragma once
#include <zellige/layout/algebra.hpp>
#include <zellige/tensor/check.hpp>

namespace zellige {

/// What of a view is not its tensor's.
struct Overhang {
  static constexpr int anywhere = -1;
  static constexpr long long unknown = -1;

  long long tile = 0;  // 0: nothing hangs over
  long long extent = 0;
  int mode = anywhere;       // the first `room` elements of this mode are the tensor's; anywhere: not all are
  long long room = unknown;  // unknown: not all of the mode's are
};
/// The record of what keeps none.
struct NoOverhang {};

namespace detail {
/// A record of the first that refuses.
ZELLIGE_HOST_DEVICE constexpr Overhang either(Overhang const& a, Overhang const& b) {
  return a.tile != 0 ? a : b;
}
/// Of a view that has all elements in other modes.
ZELLIGE_HOST_DEVICE constexpr Overhang rearranged(Overhang o) {
  o.mode = Overhang::anywhere;
  o.room = Overhang::unknown;
  return o;
}
ZELLIGE_HOST_DEVICE constexpr NoOverhang rearranged(NoOverhang) { return {}; }

/// Of a view that keeps some modes whole, counted from 0 in their order: keeps[i] says whether mode i is one.
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
/// Of the part that a coordinate picks. A mode of which it picks some is kept, but not whole.
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

/// What a tiler cuts of a mode: every tile, the tile that a coordinate names, or an element of every tile.
enum class Part : signed char { every, tile, thread };

/// Mode `mode` of `extent` elements, of which `room` are the tensor's, cut in tiles of `tile`.
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

/// How many elements of mode `mode` are the tensor's, of `size`.
ZELLIGE_HOST_DEVICE constexpr long long room_of(Overhang const& had, int mode, long long size) {
  return had.tile != 0 && had.mode == mode && had.room >= 0 && had.room < size ? had.room : size;
}

template <Part part, class S, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_mode(Overhang const& had, S const& shape, T const& tiler,
                                                Crd const& crd, int mode);
template <Part part, class S, class T, class Crd, int... I>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_modes(Overhang const& had, S const& shape, T const& tiler,
                                                 Crd const& crd, seq<I...>);
/// What a tiler of numbers leaves hanging over a shape of which `had` was known; crd names a tile, or an element
/// of every tile, mode by mode. `mode` is the shape's place in the whole.
template <Part part, class S, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_shape(Overhang const& had, S const& shape, T const& tiler,
                                                 Crd const& crd, int mode = 0) {
  if constexpr (tuple_like<T>) {
    if constexpr (tuple_size_v<T> == 1 && integral<S>)
      return cut_mode<part>(had, shape, get<0>(tiler), part_of<0>(crd), mode);
    else if constexpr (tuple_size_v<T> == 0 || tuple_size_v < T >> rank_v<S> || !tuple_like<S>)
      return {};  // nothing to cut, or refused by the division itself
    else if constexpr (part == Part::tile && integral<Crd> && flat_numbers<T> && flat_numbers<S> &&
                       rank_v<T> == rank_v<S>)
      // One number for the tile: it counts them, the first mode fastest.
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
/// One mode of many; a tiler inside a tiler speaks of modes that no view has for itself.
template <Part part, class S, class T, class Crd>
ZELLIGE_HOST_DEVICE constexpr Overhang cut_mode(Overhang const& had, S const& shape, T const& tiler,
                                                Crd const& crd, int mode) {
  if constexpr (is_underscore_v<T>) {
    // Not cut: what was known of it stays known, where the mode stays in its place.
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
  // A record of one mode outlives more slices than one of all: it is preferred.
  ((one = cut_mode<part>(had, get<I>(shape), get<I>(tiler), part_of<I>(crd), I),
    found = found.tile == 0 || (found.mode == Overhang::anywhere && one.tile != 0) ? one : found),
   ...);
  return found;
}

/// Whether a tiler is made of numbers alone.
template <class T>
inline constexpr bool tiles_of_numbers = integral<T> || is_underscore_v<T>;
template <class... T>
inline constexpr bool tiles_of_numbers<tuple<T...>> = (tiles_of_numbers<T> && ...);

/// What a division into `divided` leaves hanging over. A tile with a layout of its own (its elements need not
/// be neighbours) does not divide where tile and tiles together have more elements than there were.
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

/// What a composition reaches past the end of a shape: one tile at its beginning.
template <class T>
ZELLIGE_HOST_DEVICE constexpr long long reach(T const& tiler) {
  if constexpr (layout_like<T>) {
    if constexpr (integral<decltype(cosize(tiler))>)
      return cosize(tiler);
    else
      return 0;  // strides that pick modes are composed mode by mode and checked there
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
    // Of all modes together, which are one where there is one.
    return rearranged(reach_shape(rank_v<S> == 1 ? had : Overhang{}, shape, tiler, 0));
  }
}

/// What one thread has of a shape cut in tiles, every tile's part: tv takes (thread, value) to an element of
/// the tile. Exact, which is worth a walk over the values: it is asked only where a tile hangs over.
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
