// Adapts operands to the functions of the layout algebra, for operations (rows of the table in op.hpp) that have
// optional operands, lists of mode indices, or a shape in place of a layout.
#pragma once
#include <zellige/layout/algebra/coordinate.hpp>
#include <zellige/layout/algebra/int_tuple.hpp>
#include <zellige/layout/algebra/op.hpp>
#include <zellige/layout/algebra/order.hpp>
#include <zellige/layout/algebra/recast.hpp>
#include <zellige/layout/algebra/swizzle.hpp>
#include <zellige/layout/algebra/vectors.hpp>

namespace zellige::algebra {

ZELLIGE_ALGEBRA constexpr Num num(View v) { return v.root().s; }
/// Returns the number v, which must be small (such as a mode index), as an int.
ZELLIGE_ALGEBRA constexpr int small(View v) { return int(v.root().s.v); }

/// Returns the flattened layout or tuple v; a number v is returned unchanged.
ZELLIGE_ALGEBRA constexpr Value flat(View v) { return choose(v.is_number(), v, flatten_value(v)); }
/// Returns the flattened tuple v; a number v becomes a tuple of one element.
ZELLIGE_ALGEBRA constexpr Value flat_tuple(View v) {
  return choose(v.is_leaf(), bundle(ValueKind::tuple, v), flatten_value(v));
}
/// Returns l over another shape of the same size: composition(l, compact layout of the shape).
ZELLIGE_ALGEBRA constexpr Value under_shape(Tape& t, View l, View shape) {
  return composition(t, l, compact_left(t, shape));
}
/// Returns l with extent 1 in each mode for which the profile has a 0.
ZELLIGE_ALGEBRA constexpr Value zeros_of_profile(Tape& t, View l, View profile) {
  Value const shape = filter_zeros(t, profile, shape_of(l));
  if (t.failed()) return nothing();
  return pair_up(shape, stride_of(l));
}
/// Returns tile_to_shape(block a[0], shape a[1], order a[2]). Without a third operand, the blocks along the
/// first mode are the fastest.
ZELLIGE_ALGEBRA constexpr Value tile_in_order(Tape& t, Values const& a) {
  if (a.size() > 2) return tile_to_shape(t, a[0], a[1], a[2]);
  Value order = empty(ValueKind::tuple);
  for (int i = 0; i < a[1].rank(); ++i) order.add(number(i));
  return tile_to_shape(t, a[0], a[1], order);
}
/// Returns the layout shape:stride. Refused if the profiles of shape and stride differ.
ZELLIGE_ALGEBRA constexpr Value paired(Tape& t, View shape, View stride) {
  if (!same_profile(shape, stride)) return t.refused(Rule::profile_mismatch, shape.rank(), stride.rank());
  return pair_up(shape, stride);
}
ZELLIGE_ALGEBRA constexpr Value concatenated(Values const& modes) {
  Value r = empty(ValueKind::layout);
  for (View m : modes) r.add(m);
  return r;
}
ZELLIGE_ALGEBRA constexpr Value coprofile_of(Tape& t, View l) {
  coshape(t, l);  // refuses strides of different modules
  if (t.failed()) return nothing();
  return coprofile(l);
}

/// Returns the mode with which append and prepend pad `padded`: the third operand if there is one, else a
/// mode of one element.
ZELLIGE_ALGEBRA constexpr Value extra(Values const& a, View padded) {
  if (a.size() > 2) return a[2];
  if (padded.is_layout()) return unit();
  return number(1);
}
/// Returns the nested mode of a[0] that the mode indices a[1], a[2], ... select, the outermost first.
ZELLIGE_ALGEBRA constexpr Value mode_at(Tape& t, Values const& a) {
  Value v = a[0];
  for (int i = 1; i < a.size() && !t.failed(); ++i) v = get(t, v, small(a[i]));
  return v;
}
/// Returns the modes of a[0] that the mode indices a[1], a[2], ... list.
ZELLIGE_ALGEBRA constexpr Value selected(Tape& t, Values const& a) {
  Value r = empty(a[0].kind());
  for (int i = 1; i < a.size() && !t.failed(); ++i) r.add(get(t, a[0], small(a[i])));
  return r;
}
/// Returns the pair (slice of the layout l at crd, index at which the slice starts).
ZELLIGE_ALGEBRA constexpr Value sliced_from(Tape& t, View crd, View l) {
  Value const part = slice(t, crd, l);
  Value const start = offset_of(t, crd, l);
  if (t.failed()) return nothing();
  return bundle(ValueKind::tuple, part, start);
}

// Returns the index of a coordinate; the operands a are (coordinate, shape) or (coordinate, shape, strides).
ZELLIGE_ALGEBRA constexpr Value index_at(Tape& t, Values const& a) {
  if (a.size() > 2) return crd2idx(t, a[0], a[1], a[2]);
  return crd2idx(t, a[0], a[1]);
}
/// Returns the coordinate of an index; the operands a are (index, shape) or (index, shape, strides).
ZELLIGE_ALGEBRA constexpr Value coordinate_at(Tape& t, Values const& a) {
  if (a.size() > 2) return idx2crd(t, a[0], a[1], a[2]);
  return idx2crd(t, a[0], a[1]);
}
/// Returns the index that l gives the coordinate crd or, if crd has a `_`, the slice of l at crd.
ZELLIGE_ALGEBRA constexpr Value called(Tape& t, View l, View crd) {
  for (ValueNode const& n : crd) {
    if (n.kind == ValueKind::underscore) return slice(t, crd, l);
  }
  return index_of(t, crd, l);
}
/// Returns the coordinate at which the compact layout l has the given index, nested as the shape of l.
ZELLIGE_ALGEBRA constexpr Value hier_coord(Tape& t, View index, View l) {
  return idx2crd(t, index, shape_of(l), stride_of(l));
}
/// Returns the coordinate at which the compact layout l has the given index, with one number per top-level
/// mode of l.
ZELLIGE_ALGEBRA constexpr Value flat_coord(Tape& t, View index, View l) {
  Value const crd = hier_coord(t, index, l);
  Value flat = product_each(t, shape_of(l));
  if (l.rank() == 1) flat = number(1);  // the flat coordinate of one mode is a number
  return crd2crd(t, crd, shape_of(l), flat);
}

// Returns v if it is a tuple, else the tuple of one element v.
ZELLIGE_ALGEBRA constexpr Value wrapped(View v) { return choose(v.is_tuple(), v, bundle(ValueKind::tuple, v)); }
/// Returns v without enclosing tuples of one element: ((3)) becomes 3. Other values are returned unchanged.
ZELLIGE_ALGEBRA constexpr Value unwrapped(Value v) {
  while (v.is_tuple() && v.rank() == 1) {
    Value const inner = v[0];
    v = inner;
  }
  return v;
}
/// Returns a tuple with the nesting of v and x as every leaf.
ZELLIGE_ALGEBRA constexpr Value repeat_like(View v, View x) {
  if (v.is_leaf()) return x;
  Value r = empty(v.kind());
  for (int i = 0; i < v.rank(); ++i) r.add(repeat_like(v[i], x));
  return r;
}
/// Returns x * y for two numbers, of which one may be a multiple of a basis element.
ZELLIGE_ALGEBRA constexpr Value scaled(Tape& t, View x, View y) {
  return number(t.mul(num(x), num(y)), x.root().e != 0 ? x.root().e : y.root().e);
}
/// Returns x / y. Refused if x and y are static and y does not divide x.
ZELLIGE_ALGEBRA constexpr Value divided_whole(Tape& t, View x, View y) {
  Num const p = num(x), q = num(y);
  if (p.is_static() && q.is_static()) t.require(t.eq(t.mod(p, q), fixed(0)), Rule::not_divisible, p, q);
  return number(t.div(p, q), x.root().e);
}
/// Returns x / y, rounded up. If y is a layout, returns the shape of the complement of y below the size of x.
ZELLIGE_ALGEBRA constexpr Value divided_up(Tape& t, View x, View y) {
  if (!y.is_layout()) return ceil_div(t, x, y);
  Value const rest = complement(t, y, x);
  if (t.failed()) return nothing();
  return shape_of(rest);
}

}  // namespace zellige::algebra
