// Divides a layout into a tile (the layout of the elements of one tile) and a rest (the layout over the tiles). With
// tile modes t0, t1 and rest modes r0, r1 for modes 0 and 1 of the layout:
//
//   logical_divide((8, 6):(1, 8), (4, 3)) = ((4, 2), (3, 2)):((1, 4), (8, 24))      ((t0, r0), (t1, r1))
//   zipped_divide((8, 6):(1, 8), (4, 3)) = ((4, 3), (2, 2)):((1, 8), (4, 24))       ((t0, t1), (r0, r1))
//   tiled_divide                                                                    ((t0, t1), r0, r1)
//   flat_divide                                                                     (t0, t1, r0, r1)
#pragma once
#include <zellige/layout/algebra/complement.hpp>

namespace zellige::algebra {

/// Converts a number n to the compact layout n:1; other values are returned unchanged.
ZELLIGE_ALGEBRA constexpr Value as_layout(View v) {
  if (!v.is_number()) return v;
  return mode(v.root().s, {fixed(v.root().s.is(1) ? 0 : 1)});
}

/// Appends to `out` the layout (composition(l, tile), composition(l, rest)), where rest is the complement of
/// the tile below the size of l.
ZELLIGE_ALGEBRA constexpr void append_divided(Tape& t, View l, View tile, List<ValueNode>& out) {
  List<ValueNode> extents, modes, rest;
  Value shape({0, ValueKind::tuple, {}, {}, 0}, 8);
  append_merged(t, extents, l);
  for (ValueNode const& n : extents) shape.add({-1, ValueKind::number, n.s, {}, 0});
  if (extents.count == 0) shape.add({-1, ValueKind::number, {1, 0}, {}, 0});
  append_leaves(modes, tile);
  View const target = shape;
  append_complement(t, modes, target.rank() == 1 ? target[0] : target, rest);
  if (t.failed()) return;
  Value const remaining = layout_of(rest);
  // Tiles of consecutive elements are rounded up, mode by mode: the last tile of a mode may be partial.
  modes.count = 0;
  append_merged(t, modes, tile);
  if (modes.count != 1 || !modes.data[0].d.is(1))
    return append_composed(t, l, bundle(ValueKind::layout, tile, remaining), false, out);
  out.push_back({2, ValueKind::layout, {}, {}, 0});
  if (tile.is_leaf() && tile.root().s.is(0))
    out.push_back({-1, ValueKind::layout, fixed(0), fixed(0), 0});  // an empty tile
  else
    append_composed(t, l, tile, false, out);
  append_composed(t, l, remaining, true, out);
}
/// Appends logical_divide(l, tiler) to `out`. The tiler is a layout, a number, `_` (the mode is not divided),
/// or a tuple of these, which divides mode by mode.
ZELLIGE_ALGEBRA constexpr void append_logical_divide(Tape& t, View l, View tiler, List<ValueNode>& out) {
  switch (tiler.kind()) {
    case ValueKind::underscore:
      return out.append(l.node, l.node_count());
    case ValueKind::tuple:
      if (tiler.rank() > l.rank()) return t.refuse(Rule::composition_rank, tiler.rank(), l.rank());
      out.push_back({l.rank(), ValueKind::layout, {}, {}, 0});
      for (int i = 0; i < l.rank() && !t.failed(); ++i) {
        if (i < tiler.rank())
          append_logical_divide(t, l[i], tiler[i], out);
        else
          out.append(l[i].node, l[i].node_count());
      }
      return;
    case ValueKind::number:
    case ValueKind::layout:
      return append_divided(t, l, as_layout(tiler), out);
    default:
      return t.refuse(Rule::not_a_layout, int(l.kind()), int(tiler.kind()));
  }
}
ZELLIGE_ALGEBRA constexpr Value logical_divide(Tape& t, View l, View tiler) {
  Value r;
  if (!t.failed()) append_logical_divide(t, l, tiler, r.nodes);
  if (t.failed()) return nothing();
  return r;
}

/// Splits a layout of pairs: appends the layout of the first elements of the pairs to `first`, and that of
/// the second elements to `second`. The guide, a tiler, has a leaf where l has a pair; modes of l beyond the
/// guide go to `second`. With a guide of two leaves, ((a, A), (b, B), c) gives (a, b) and (A, B, c).
ZELLIGE_ALGEBRA constexpr void append_unzipped(Tape& t, View l, View guide, List<ValueNode>& first,
                                               List<ValueNode>& second) {
  if (!guide.is(ValueKind::tuple)) {
    if (l.is_leaf() || l.rank() != 2) return t.refuse(Rule::rank_mismatch, l.rank(), 2);
    View const a = l[0], b = l[1];
    first.append(a.node, int(b.node - a.node));
    second.append(b.node, b.node_count());
    return;
  }
  if (guide.rank() > l.rank()) return t.refuse(Rule::rank_mismatch, l.rank(), guide.rank());
  first.push_back({guide.rank(), l.kind(), {}, {}, 0});
  second.push_back({l.rank(), l.kind(), {}, {}, 0});
  for (int i = 0; i < l.rank() && !t.failed(); ++i) {
    View const m = l[i];
    if (i < guide.rank())
      append_unzipped(t, m, guide[i], first, second);
    else
      second.append(m.node, m.node_count());
  }
}
/// Returns the pair (layout of the first elements, layout of the second elements) of a layout l of pairs; see
/// append_unzipped for the guide.
ZELLIGE_ALGEBRA constexpr Value unzip_by(Tape& t, View l, View guide) {
  if (t.failed()) return nothing();
  List<ValueNode> second;
  Value r({2, l.kind(), {}, {}, 0}, 16);
  append_unzipped(t, l, guide, r.nodes, second);
  if (t.failed()) return nothing();
  r.nodes.append(second);
  return r;
}
/// Appends each mode of m to r as a mode of r, or m itself if m has only one mode.
ZELLIGE_ALGEBRA constexpr void spread_into(Value& r, View m) {
  if (m.rank() == 1) return r.add(m);
  for (int i = 0; i < m.rank(); ++i) r.add(m[i]);
}
/// Returns (a, r0, r1, ...) for zipped = (a, (r0, r1, ...)).
ZELLIGE_ALGEBRA constexpr Value spread_rest(View zipped) {
  Value r = empty(zipped.kind());
  r.add(zipped[0]);
  spread_into(r, zipped[1]);
  return r;
}
/// Returns (a0, a1, ..., r0, r1, ...) for zipped = ((a0, a1, ...), (r0, r1, ...)).
ZELLIGE_ALGEBRA constexpr Value spread_both(View zipped) {
  Value r = empty(zipped.kind());
  spread_into(r, zipped[0]);
  spread_into(r, zipped[1]);
  return r;
}

ZELLIGE_ALGEBRA constexpr Value zipped_divide(Tape& t, View l, View tiler) {
  return unzip_by(t, logical_divide(t, l, tiler), tiler);
}
ZELLIGE_ALGEBRA constexpr Value tiled_divide(Tape& t, View l, View tiler) {
  Value const z = zipped_divide(t, l, tiler);
  if (t.failed()) return nothing();
  return spread_rest(z);
}
ZELLIGE_ALGEBRA constexpr Value flat_divide(Tape& t, View l, View tiler) {
  Value const z = zipped_divide(t, l, tiler);
  if (t.failed()) return nothing();
  return spread_both(z);
}

}  // namespace zellige::algebra
