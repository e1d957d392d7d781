// Divides: a layout cut into a tile and the tiles. logical_divide keeps them mode by mode, zipped_divide
// gathers (tile, rest), tiled_divide spreads the rest, flat_divide spreads both.
//
//   zipped_divide((8, 6):(1, 8), (4, 3)) = ((4, 3), (2, 2)):((1, 8), (4, 24))
#pragma once
#include <zellige/layout/algebra/complement.hpp>

namespace zellige::algebra {

/// n, of extent n, compactly.
ZELLIGE_ALGEBRA constexpr Value as_layout(Value const& v) {
  if (!v.is_number()) return v;
  return mode(v.root().s, {fixed(v.root().s.is(1) ? 0 : 1)});
}

ZELLIGE_ALGEBRA constexpr Value logical_divide(Tape& t, Value const& l, Value const& tiler) {
  if (t.failed()) return nothing();
  switch (tiler.kind()) {
    case ValueKind::underscore:
      return l;
    case ValueKind::tuple:
      return by_mode(t, l, tiler, true, Rule::composition_rank,
                     [&](Value const& m, Value const& p) { return logical_divide(t, m, p); });
    case ValueKind::number:
    case ValueKind::layout: {
      Value const tile = as_layout(tiler);
      Value const rest = complement(t, tile, shape_of(coalesce(t, l)));
      if (t.failed()) return nothing();
      // Tiles of consecutive elements round up, mode by mode: the last tile of a mode may hang over its end.
      Value const run = coalesce(t, tile);
      if (!run.is_leaf() || !run.root().d.is(1))
        return composition(t, l, bundle(ValueKind::layout, tile, rest));
      Value const tile_of = composition(t, l, tile);
      Value const rest_of = compose_layouts(t, l, rest, true);
      if (t.failed()) return nothing();
      return bundle(ValueKind::layout, tile_of, rest_of);
    }
    default:
      return t.refused(Rule::not_a_layout, int(l.kind()), int(tiler.kind()));
  }
}

/// ((a, A), (b, B), c) guided by two leaves: ((a, b), (A, B, c)).
ZELLIGE_ALGEBRA constexpr Value unzip_by(Tape& t, Value const& l, Value const& guide) {
  if (t.failed()) return nothing();
  if (!guide.is(ValueKind::tuple)) {
    if (l.is_leaf() || l.rank() != 2) return t.refused(Rule::rank_mismatch, l.rank(), 2);
    return l;
  }
  if (guide.rank() > l.rank()) return t.refused(Rule::rank_mismatch, l.rank(), guide.rank());
  Value first = empty(l.kind());
  Value second = empty(l.kind());
  for (int i = 0; i < l.rank(); ++i) {
    if (i < guide.rank()) {
      Value const pair = unzip_by(t, l[i], guide[i]);
      if (t.failed()) return nothing();
      first.add(pair[0]);
      second.add(pair[1]);
    } else {
      second.add(l[i]);
    }
  }
  return bundle(l.kind(), first, second);
}

/// Adds the modes of m, or m itself when it has but one.
ZELLIGE_ALGEBRA constexpr void spread_into(Value& r, Value const& m) {
  if (m.rank() == 1) return r.add(m);
  for (int i = 0; i < m.rank(); ++i) r.add(m[i]);
}
ZELLIGE_ALGEBRA constexpr Value spread_rest(Value const& zipped) {
  Value r = empty(zipped.kind());
  r.add(zipped[0]);
  spread_into(r, zipped[1]);
  return r;
}
ZELLIGE_ALGEBRA constexpr Value spread_both(Value const& zipped) {
  Value r = empty(zipped.kind());
  spread_into(r, zipped[0]);
  spread_into(r, zipped[1]);
  return r;
}

ZELLIGE_ALGEBRA constexpr Value zipped_divide(Tape& t, Value const& l, Value const& tiler) {
  return unzip_by(t, logical_divide(t, l, tiler), tiler);
}
ZELLIGE_ALGEBRA constexpr Value tiled_divide(Tape& t, Value const& l, Value const& tiler) {
  Value const z = zipped_divide(t, l, tiler);
  if (t.failed()) return nothing();
  return spread_rest(z);
}
ZELLIGE_ALGEBRA constexpr Value flat_divide(Tape& t, Value const& l, Value const& tiler) {
  Value const z = zipped_divide(t, l, tiler);
  if (t.failed()) return nothing();
  return spread_both(z);
}

}  // namespace zellige::algebra
