// Computes how a TiledCopy, a copy instruction repeated over threads and values, partitions a tensor. Layouts
// are objects of class `Value`, not C++ types, so that the same functions run at compile time and at run
// time.
//
//   tidfrg      (M, N, ...)  ->  ((ThrV, ThrX), FrgV, (RestM, RestN, ...))
//   retile      a fragment (V, M, N, ...) in another tiling's order  ->  in this copy's order of values
//   raked_tiling, cotiled_tiling, accumulator_tiling: the pair (layout_tv, tiler) that defines a TiledCopy
//
// ThrV are the threads of one instruction, ThrX its repetitions over threads, FrgV the values of a thread. A
// function that fails records the violated rule in its parameter `t`, a Tape (layout/algebra/tape.hpp).
#pragma once

#include <zellige/atom/algebra/tiled_mma.hpp>

namespace zellige::algebra {

/// A TiledCopy seen from its source or its destination.
struct CopyTiling {
  Value tv;         // (thread, value) -> element of the tile
  Value tiler;      // the tile
  Value reference;  // the instruction's (thread, value) -> element in the order of tv
  Value target;     // the instruction's (thread, value) -> element at the source or destination
};

/// Checks that the tiling has a multiple of the instruction's number of threads, and a multiple of its number of
/// values. Records Rule::copy_threads or Rule::copy_values in `t` if not.
ZELLIGE_ALGEBRA constexpr void check_tiling(Tape& t, CopyTiling const& c) {
  auto fits = [&](int mode, Rule rule) {
    Num const have = size_of(t, c.tv[mode]), atom = size_of(t, c.reference[mode]);
    t.require(t.eq(t.mod(have, atom), fixed(0)), rule, have, atom);
  };
  fits(0, Rule::copy_threads);
  fits(1, Rule::copy_values);
}

/// Returns the extents of the tile: `tiler` with each layout replaced by its shape.
ZELLIGE_ALGEBRA constexpr Value tile_extents(Value const& tiler) {
  if (!tiler.is_tuple()) return shape_of(tiler);
  Value r = empty(ValueKind::tuple);
  for (int i = 0; i < tiler.rank(); ++i) r.add(tile_extents(tiler[i]));
  return r;
}
/// Distributes `tiled`, a layout divided into tiles ((TileM, TileN, ...), (RestM, RestN, ...)), over the
/// copy's threads. Returns ((ThrV, ThrX), FrgV, (RestM, RestN, ...)): ThrV are the threads of one
/// instruction, ThrX its repetitions over threads, FrgV a thread's values.
ZELLIGE_ALGEBRA constexpr Value tile_to_threads(Tape& t, Value const& tiled, CopyTiling const& c) {
  check_tiling(t, c);
  if (t.failed()) return nothing();
  Value const to_target = call(Op::composition, t, right_inverse(t, c.reference), c.target);
  Value const atoms =
      call(Op::zipped_divide, t, c.tv, pair(number(size_of(t, c.reference[0])), number(size_of(t, c.reference[1]))));
  Value const target_tv = call(Op::composition, t, atoms, pair(to_target, underscore()));
  if (t.failed()) return nothing();
  Value const one = number(1);
  Value const to_tile = coalesce(t, transpose_modes(t, target_tv), pair(one, pair(one, one)));
  if (t.failed()) return nothing();
  if (same(size_of(t, to_tile[1]), product_of(t, tile_extents(c.tiler)))) {
    // A TMA copy: every "thread" is a CTA of a multicast. Each CTA has all values of the tile, and begins at
    // a different value.
    Value const inside = without_swizzle(tiled)[0], rest = without_swizzle(tiled)[1];
    Value const held =
        bundle(ValueKind::layout, composition(t, inside, to_tile[0]), composition(t, inside, to_tile[1]), rest);
    if (t.failed()) return nothing();
    return with_innermost(tiled, held);
  }
  Value const held = call(Op::composition, t, tiled, pair(to_tile, underscore()));
  return call(Op::slice, t, pair(pair(underscore(), underscore()), underscore()), held);
}
/// Divides `layout`, (M, N, ...), by the tile and distributes each tile over the copy's threads. Returns
/// ((ThrV, ThrX), FrgV, (RestM, RestN, ...)): ThrV are the threads of one instruction, ThrX its repetitions
/// over threads, FrgV a thread's values.
ZELLIGE_ALGEBRA constexpr Value tidfrg(Tape& t, Value const& layout, CopyTiling const& c) {
  int const rank = without_swizzle(layout).rank();
  if (rank < c.tiler.rank()) return t.refused(Rule::rank_mismatch, rank, c.tiler.rank());
  Value const tiled = call(Op::zipped_divide, t, layout, c.tiler);
  if (t.failed()) return nothing();
  return tile_to_threads(t, tiled, c);
}
/// Returns the partition of `layout` that belongs to thread `thread`, as a pair (layout, offset). The layout
/// has the modes (FrgV, RestM, RestN, ...), where FrgV are the thread's values within a tile.
ZELLIGE_ALGEBRA constexpr Value copy_partition(Tape& t, Value const& layout, CopyTiling const& c, Value const& thread) {
  Value const held = tidfrg(t, layout, c);
  if (t.failed()) return nothing();
  Value const marks = repeat_mark(without_swizzle(layout).rank());
  return call(Op::slice_and_offset, t, bundle(ValueKind::tuple, thread, underscore(), marks), held);
}

/// Returns the layout (thread, value) -> element of the tile that each thread reads (if `c` describes the
/// copy's source) or writes (if `c` describes its destination).
ZELLIGE_ALGEBRA constexpr Value copy_layout_tv(Tape& t, CopyTiling const& c) {
  Value const whole = compact_left(t, pair(tile_extents(c.tiler), number(1)));
  Value const held = tile_to_threads(t, whole, c);
  return call(Op::slice, t, bundle(ValueKind::tuple, underscore(), underscore(), number(0)), held);
}

/// Returns `layout`, a thread's fragment (V, M, N, ...) in the value order of another tiling, rearranged to
/// the value order of this copy. The mode V then has the values of one instruction.
ZELLIGE_ALGEBRA constexpr Value retile(Tape& t, Value const& layout, CopyTiling const& c) {
  check_tiling(t, c);
  if (t.failed()) return nothing();
  int const rank = without_swizzle(layout).rank();
  Num const values = size_of(t, without_swizzle(layout)[0]);
  Num const step = t.mul(size_of(t, c.tv[0]), values);
  if (!step.is_static()) return t.refused(Rule::not_static, step.v, 0);
  // of_tile maps an element of the tile to the index of its (thread, value) in the copy's layout_tv.
  Value const of_tile = composition(t, right_inverse(t, c.tv), compact_left(t, tile_extents(c.tiler)));
  if (t.failed()) return nothing();
  Value const to_values = upcast(t, of_tile, step.v);
  Value const product = call(Op::logical_product, t, run_of(values), right_inverse(t, to_values));
  Value const per_atom = call(Op::zipped_divide, t, product, run_of(size_of(t, c.reference[1])));
  if (t.failed()) return nothing();
  Value tile = bundle(ValueKind::tuple, number(values));
  Value const extents = product_each(t, shape_of(to_values));
  for (int i = 0; i < extents.rank(); ++i) tile.add(extents[i]);
  Value const tiled = call(Op::zipped_divide, t, layout, tile);
  Value const held = call(Op::composition, t, tiled, pair(per_atom, underscore()));
  Value rest = bundle(ValueKind::tuple, number(0));
  for (int i = 1; i < rank; ++i) rest.add(underscore());
  return call(Op::slice, t, pair(underscore(), rest), held);
}

/// Returns the pair (layout_tv, tiler) with which make_tiled_copy makes a TiledCopy. `threads` maps (m, n) to
/// the thread index, `values` maps (m, n) to the value index; the values of one thread are adjacent.
ZELLIGE_ALGEBRA constexpr Value raked_tiling(Tape& t, Value const& threads, Value const& values) {
  Value const whole = call(Op::raked_product, t, threads, values);
  if (t.failed()) return nothing();
  Value const counts = pair(number(size_of(t, threads)), number(size_of(t, values)));
  Value const tv = composition(t, right_inverse(t, whole), compact_left(t, counts));
  Value const tiler = product_each(t, shape_of(whole));
  if (t.failed()) return nothing();
  return pair(tv, tiler);
}

/// Returns the pair (layout_tv, tiler) of a TiledCopy whose tile consists of exactly the elements to which
/// `tv` maps. `tv` is a layout (thread, value) -> index in `shape`.
ZELLIGE_ALGEBRA constexpr Value active_tiling(Tape& t, Value const& shape, Value const& tv) {
  Value tiler = empty(ValueKind::tuple);
  for (int i = 0; i < shape.rank(); ++i) {
    Value onto = empty(ValueKind::layout);
    for (int j = 0; j < shape.rank(); ++j) onto.add(mode(shape[j].root().s, {fixed(i == j ? 1 : 0)}));
    tiler.add(filter(t, composition(t, onto, tv)));
    if (t.failed()) return nothing();
  }
  Value const of_tile = composition(t, compact_left(t, shape), tiler);
  Value const layout_tv = composition(t, left_inverse(t, of_tile), tv);
  if (t.failed()) return nothing();
  return pair(layout_tv, tiler);
}
/// Returns the pair (layout_tv, tiler) with which make_tiled_copy_C_atom makes a TiledCopy. Its tile is the
/// smallest tile of MMA accumulators in which each thread owns `values` values, the number that one copy
/// instruction moves. Records Rule::copy_values in `t` if a thread has fewer values.
ZELLIGE_ALGEBRA constexpr Value accumulator_tiling(Tape& t, MmaTiling const& m, Value const& values) {
  Value const whole = mma_layout_tv(t, m);
  if (t.failed()) return nothing();
  Num const have = size_of(t, whole[1]);
  t.require(t.le(values.root().s, have), Rule::copy_values, have, values.root().s);
  if (t.failed()) return nothing();
  Value const tv = composition(t, whole, compact_left(t, pair(number(size_of(t, whole[0])), values)));
  Value shape = empty(ValueKind::tuple);
  for (int i = 0; i < 2; ++i) shape.add(number(size_of(t, permutation_mnk(t, m, i))));
  return active_tiling(t, shape, tv);
}
/// Returns the pair (layout_tv, tiler) with which make_cotiled_copy makes a TiledCopy. `tv_address` maps
/// (thread, value) to an address, `data` maps coordinates to addresses. Records Rule::cotiled_address in `t`
/// if `data` does not have an element at each of the values' addresses.
ZELLIGE_ALGEBRA constexpr Value cotiled_tiling(Tape& t, Value const& tv_address, Value const& data) {
  Value const inverse = left_inverse(t, data);
  if (t.failed()) return nothing();
  Value const tv = composition(t, bundle(ValueKind::layout, inverse, unit()), tv_address);
  if (t.failed()) return nothing();
  Value const back = coalesce(t, composition(t, data, tv[1])), wanted = coalesce(t, tv_address[1]);
  if (t.failed()) return nothing();
  bool same_map = same_profile(back, wanted);
  for (int i = 0; same_map && i < back.nodes.size(); ++i) {
    same_map = same(back.nodes[i].s, wanted.nodes[i].s) && same(back.nodes[i].d, wanted.nodes[i].d);
  }
  if (!same_map) return t.refused(Rule::cotiled_address, cosize_of(t, wanted).v, cosize_of(t, data).v);
  return active_tiling(t, product_each(t, shape_of(data)), tv);
}

}  // namespace zellige::algebra
