// Makes compact layouts whose modes, from the fastest to the slowest, are in a given order or in the order of another
// layout's strides.
//
//   make_ordered_layout((2, 3, 4), (2, 0, 1)) = (2, 3, 4):(12, 1, 3)      // mode 1 is the fastest, mode 0 the slowest
#pragma once
#include <zellige/layout/algebra/module.hpp>

namespace zellige::algebra {

/// A mode's extent and its place in the order; the mode of smallest place is the fastest.
struct Ranked {
  Num extent;
  Num place;
};
/// Appends one entry to `all` per leaf of `order`: the size of the corresponding mode of the shape, and the
/// leaf's number, which is the place of this mode in the order. Refused if shape and order differ in rank.
ZELLIGE_ALGEBRA constexpr void collect_ranked(Tape& t, View shape, View order, List<Ranked>& all) {
  if (order.is_leaf()) return all.push_back({product_of(t, shape), order.root().s});
  if (shape.rank() != order.rank()) return t.refuse(Rule::rank_mismatch, shape.rank(), order.rank());
  for (int i = 0; i < order.rank(); ++i) collect_ranked(t, shape[i], order[i], all);
}
/// Returns the compact layout of the shape in the given order: the stride of each mode is the product of the
/// extents of all modes that come earlier in the order. `all` is the list of modes from collect_ranked.
/// `next` is the index in `all` of the first mode of this shape; the call advances it beyond the last one.
ZELLIGE_ALGEBRA constexpr Value place_modes(Tape& t, View shape, View order, List<Ranked> const& all, int& next) {
  if (order.is_leaf()) {
    long long const place = all[next++].place.v;
    Num start = fixed(1);
    bool first = true;
    for (Ranked const& r : all) {
      if (r.place.v < place) start = first ? r.extent : t.mul(start, r.extent), first = false;
    }
    return compact_left(t, shape, start);
  }
  Value r = empty(ValueKind::layout);
  for (int i = 0; i < order.rank(); ++i) r.add(place_modes(t, shape[i], order[i], all, next));
  return r;
}
/// Returns the compact layout of the shape, whose modes are ordered by their numbers in `order`: the mode
/// with the smallest number is the fastest. Modes whose number is known only at run time are slower than all
/// other modes, and are ordered as in the shape.
ZELLIGE_ALGEBRA constexpr Value ordered_layout(Tape& t, View shape, View order) {
  List<Ranked> all;
  collect_ranked(t, shape, order, all);
  if (t.failed()) return nothing();
  long long maximum = 0;
  for (Ranked const& r : all) {
    if (r.place.is_static() && r.place.v > maximum) maximum = r.place.v;
  }
  int i = 0;
  for (Ranked& r : all) {
    ++i;
    if (!r.place.is_static()) r.place = fixed(maximum + i);
  }
  int next = 0;
  return place_modes(t, shape, order, all, next);
}
/// Returns the compact layout of l's shape whose modes, from the fastest to the slowest, are in the order of
/// l's strides. Modes of stride 0 keep stride 0.
ZELLIGE_ALGEBRA constexpr Value layout_like(Tape& t, View l) {
  Value r = ordered_layout(t, shape_of(filter_zeros(l)), stride_of(l));
  if (t.failed()) return nothing();
  for (int i = 0; i < r.nodes.size(); ++i) r.nodes[i].s = l.begin()[i].s;
  return r;
}
/// Returns a layout for a register copy of l's elements: mode 0 is compact and fastest, and the other modes
/// follow in the order of their strides in l. If l has rank 1 or run-time extents, returns the compact layout
/// of its shape.
ZELLIGE_ALGEBRA constexpr Value fragment_like(Tape& t, View l) {
  bool all_static = true;
  for (ValueNode const& n : l) all_static = all_static && (n.kids >= 0 || n.s.is_static());
  if (l.rank() <= 1 || !all_static) return compact_left(t, shape_of(l));
  Value first = compact_left(t, shape_of(filter_zeros(l[0])));
  ValueNode const* const modes = l[0].begin();
  for (int i = 0; i < first.nodes.size(); ++i) first.nodes[i].s = modes[i].s;
  Value const rest = take(t, l, 1, l.rank());
  return tiled_product(t, first, ordered_layout(t, shape_of(rest), stride_of(rest)));
}

ZELLIGE_ALGEBRA constexpr Value product_each(Tape& t, View shape) {
  Value r = empty(ValueKind::tuple);
  for (int i = 0; i < shape.rank(); ++i) r.add(number(product_of(t, shape[i])));
  return r;
}
/// Returns the layout of a block that is repeated until it covers the target shape. The repetitions are
/// ordered by the numbers in `order`, as in ordered_layout. Refused if a static extent of the target is not a
/// multiple of the block's extent; a run-time extent may end in a partial block.
ZELLIGE_ALGEBRA constexpr Value tile_to_shape(Tape& t, View block, View target, View order) {
  int const rank = target.rank();
  if (block.rank() > rank) return t.refused(Rule::tile_rank, block.rank(), rank);
  Value const padded = pad_to(t, block, rank, unit());
  Value const have = product_each(t, shape_of(padded));
  Value const want = product_each(t, target);
  for (int i = 0; i < rank && !t.failed(); ++i) {
    Num const w = want[i].root().s, h = have[i].root().s;
    if (w.is_static() && h.is_static()) t.require(t.eq(t.mod(w, h), fixed(0)), Rule::tile_extent, w, h);
  }
  Value const times = ceil_div(t, want, have);
  if (t.failed()) return nothing();
  return blocked_product(t, padded, ordered_layout(t, times, order));
}

}  // namespace zellige::algebra
