// Adapts the operands of an operation to the functions of the algebra, for rows of the table in op.hpp that
// need more than one call: optional operands, lists of mode indices, shapes for layouts.
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
/// Returns a small number, such as a mode index, as an int.
ZELLIGE_ALGEBRA constexpr int small(View v) { return int(v.root().s.v); }

// The flattened layout or tuple; a number stays a number.
ZELLIGE_ALGEBRA constexpr Value flat(View v) { return choose(v.is_number(), v, flatten_value(v)); }
ZELLIGE_ALGEBRA constexpr Value flat_tuple(View v) {
  return choose(v.is_leaf(), bundle(ValueKind::tuple, v), flatten_value(v));
}
/// Returns with_shape: l over another shape of the same size, composition(l, compact layout of the shape).
ZELLIGE_ALGEBRA constexpr Value under_shape(Tape& t, View l, View shape) {
  return composition(t, l, compact_left(t, shape));
}
/// Returns l with extent 1 in each mode where the profile has a 0.
ZELLIGE_ALGEBRA constexpr Value zeros_of_profile(Tape& t, View l, View profile) {
  Value const shape = filter_zeros(t, profile, shape_of(l));
  if (t.failed()) return nothing();
  return pair_up(shape, stride_of(l));
}
/// Repeats the block over a shape. The third operand is the order of the blocks; without it the first mode is
/// fastest.
ZELLIGE_ALGEBRA constexpr Value tile_in_order(Tape& t, Values const& a) {
  if (a.size() > 2) return tile_to_shape(t, a[0], a[1], a[2]);
  Value order = empty(ValueKind::tuple);
  for (int i = 0; i < a[1].rank(); ++i) order.add(number(i));
  return tile_to_shape(t, a[0], a[1], order);
}
/// Returns the layout shape:stride. Refused if the profiles differ.
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

/// The mode with which append and prepend pad: the third operand if there is one, else a mode of one element.
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
/// Returns (the slice of layout l at crd, the index where the slice starts).
ZELLIGE_ALGEBRA constexpr Value sliced_from(Tape& t, View crd, View l) {
  Value const part = slice(t, crd, l);
  Value const start = offset_of(t, crd, l);
  if (t.failed()) return nothing();
  return bundle(ValueKind::tuple, part, start);
}

// The index of a coordinate: a is (coordinate, shape) or (coordinate, shape, strides).
ZELLIGE_ALGEBRA constexpr Value index_at(Tape& t, Values const& a) {
  if (a.size() > 2) return crd2idx(t, a[0], a[1], a[2]);
  return crd2idx(t, a[0], a[1]);
}
/// The coordinate of an index: a is (index, shape) or (index, shape, strides).
ZELLIGE_ALGEBRA constexpr Value coordinate_at(Tape& t, Values const& a) {
  if (a.size() > 2) return idx2crd(t, a[0], a[1], a[2]);
  return idx2crd(t, a[0], a[1]);
}
/// Evaluates l at a coordinate, or slices l if the coordinate has a `_`.
ZELLIGE_ALGEBRA constexpr Value called(Tape& t, View l, View crd) {
  for (ValueNode const& n : crd) {
    if (n.kind == ValueKind::underscore) return slice(t, crd, l);
  }
  return index_of(t, crd, l);
}
/// Returns the coordinate of an index in the profile of l's shape.
ZELLIGE_ALGEBRA constexpr Value hier_coord(Tape& t, View index, View l) {
  return idx2crd(t, index, shape_of(l), stride_of(l));
}
/// Returns the coordinate of an index with one number per top-level mode of l.
ZELLIGE_ALGEBRA constexpr Value flat_coord(Tape& t, View index, View l) {
  Value const crd = hier_coord(t, index, l);
  Value flat = product_each(t, shape_of(l));
  if (l.rank() == 1) flat = number(1);  // the flat coordinate of one mode is a number
  return crd2crd(t, crd, shape_of(l), flat);
}

// The value as a tuple: a number becomes a tuple of one.
ZELLIGE_ALGEBRA constexpr Value wrapped(View v) {
  return choose(v.is_tuple(), v, bundle(ValueKind::tuple, v));
}
/// Removes tuples of one element around a value.
ZELLIGE_ALGEBRA constexpr Value unwrapped(Value v) {
  while (v.is_tuple() && v.rank() == 1) {
    Value const inner = v[0];
    v = inner;
  }
  return v;
}
/// Returns v with x in place of every leaf.
ZELLIGE_ALGEBRA constexpr Value repeat_like(View v, View x) {
  if (v.is_leaf()) return x;
  Value r = empty(v.kind());
  for (int i = 0; i < v.rank(); ++i) r.add(repeat_like(v[i], x));
  return r;
}
/// Returns the product of two numbers, of which one may be a basis element.
ZELLIGE_ALGEBRA constexpr Value scaled(Tape& t, View x, View y) {
  return number(t.mul(num(x), num(y)), x.root().e != 0 ? x.root().e : y.root().e);
}
/// Divides; two static numbers must divide without a remainder.
ZELLIGE_ALGEBRA constexpr Value divided_whole(Tape& t, View x, View y) {
  Num const p = num(x), q = num(y);
  if (p.is_static() && q.is_static()) t.require(t.eq(t.mod(p, q), fixed(0)), Rule::not_divisible, p, q);
  return number(t.div(p, q), x.root().e);
}
/// Divides and rounds up. By a layout: returns the shape of its complement in x.
ZELLIGE_ALGEBRA constexpr Value divided_up(Tape& t, View x, View y) {
  if (!y.is_layout()) return ceil_div(t, x, y);
  Value const rest = complement(t, y, x);
  if (t.failed()) return nothing();
  return shape_of(rest);
}

}  // namespace zellige::algebra
