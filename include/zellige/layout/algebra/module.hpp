// Adds and subtracts the indices to which layouts map, and computes the codomain of layouts. An index is an integer, or
// a coordinate: an arithmetic tuple, written with basis elements. 2@0 + 3@1 is the coordinate (2, 3).
#pragma once
#include <zellige/layout/algebra/modes.hpp>

namespace zellige::algebra {

/// Returns the coordinate n times the basis element e, as a tuple with n in the mode that e selects and zeros
/// before it. The first `depth` mode indices of e are ignored.
ZELLIGE_ALGEBRA constexpr Value to_coordinate(Num n, Path e, int depth) {
  if (depth == path_length(e)) return number(n);
  Value r = empty(ValueKind::arithmetic);
  for (int i = path_index(e, depth); i > 0; --i) r.add(number(0));
  r.add(to_coordinate(n, e, depth + 1));
  return r;
}
/// Returns v as an arithmetic tuple, if v is a basis element or a tuple. Returns an integer v unchanged.
ZELLIGE_ALGEBRA constexpr Value as_arithmetic_tuple(View v) {
  if (v.is_number()) return to_coordinate(v.root().s, v.root().e, 0);
  if (v.is(ValueKind::tuple)) return retag(v, ValueKind::arithmetic);
  return v;
}

/// Returns x + y for two indices. Tuples are added element by element, and the shorter one is continued by
/// zeros. Refused if one is a tuple and the other a nonzero integer.
ZELLIGE_ALGEBRA constexpr Value add(Tape& t, View x, View y) {
  if (t.failed()) return nothing();
  Value const a = as_arithmetic_tuple(x);
  Value const b = as_arithmetic_tuple(y);
  if (a.is_number() && b.is_number()) {
    Num const sum = t.add(a.root().s, b.root().s);
    return number(sum);
  }
  if (a.is_number() && a.root().s.is(0)) return b;
  if (b.is_number() && b.root().s.is(0)) return a;
  if (a.is_number() || b.is_number()) return t.refused(Rule::basis_sum, a.rank(), b.rank());
  Value r = empty(ValueKind::arithmetic);
  for (int i = 0; i < a.rank() || i < b.rank(); ++i) {
    if (i >= b.rank())
      r.add(a[i]);
    else if (i >= a.rank())
      r.add(b[i]);
    else
      r.add(add(t, a[i], b[i]));
  }
  return r;
}
ZELLIGE_ALGEBRA constexpr Value negate(Tape& t, Value v) {
  for (ValueNode& n : v.nodes) {
    if (n.kids < 0) n.s = t.sub(fixed(0), n.s);
  }
  return v;
}
ZELLIGE_ALGEBRA constexpr Value subtract(Tape& t, View a, View b) { return add(t, a, negate(t, b)); }

/// Returns the largest index of a layout, as an integer or a coordinate. Strides count by their absolute
/// value.
ZELLIGE_ALGEBRA constexpr Value last_of(Tape& t, View l) {
  if (l.is_leaf()) {
    Num const last = t.mul(t.sub(l.root().s, fixed(1)), t.abs(l.root().d));
    return number(last, l.root().e);
  }
  Value sum = number(0);
  for (int i = 0; i < l.rank(); ++i) {
    Value const m = last_of(t, l[i]);
    if (i == 0)
      sum = m;
    else
      sum = add(t, sum, m);
  }
  return sum;
}
/// Returns the extents of the codomain of l: the largest index plus one or, for a layout of coordinates, the
/// largest index plus one in each mode.
ZELLIGE_ALGEBRA constexpr Value coshape(Tape& t, View l) {
  Value v = as_arithmetic_tuple(last_of(t, l));
  for (ValueNode& n : v.nodes) {
    if (n.kids < 0) n.s = t.add(n.s, fixed(1));
  }
  return v;
}
/// Returns the product of the extents of the codomain of l.
ZELLIGE_ALGEBRA constexpr Value cosize(Tape& t, View l) {
  Value const extent = coshape(t, l);
  if (t.failed()) return nothing();
  return number(product_of(t, extent));
}
/// Returns the depth of nesting of v; 0 for a leaf.
ZELLIGE_ALGEBRA constexpr int depth_of(View v) {
  int maximum = 0;
  for (int i = 0; !v.is_leaf() && i < v.rank(); ++i) {
    int const d = depth_of(v[i]);
    maximum = d > maximum ? d : maximum;
  }
  return v.is_leaf() ? 0 : maximum + 1;
}
/// Returns the strides of the identity layout of a shape: the basis elements (_1@0, _1@1, ...). If e is
/// given, the mode indices of e precede those of each basis element.
ZELLIGE_ALGEBRA constexpr Value basis_like(View shape, Path e = 0) {
  if (shape.is_leaf()) return number(fixed(1), e);
  Value r = empty(ValueKind::tuple);
  for (int i = 0; i < shape.rank(); ++i) r.add(basis_like(shape[i], extend(e, i)));
  return r;
}

}  // namespace zellige::algebra
