// Converts between coordinates and indices that are Values (trees of numbers, see value.hpp): crd2idx, idx2crd and
// crd2crd, with the meaning that they have in zellige/layout/coordinate.hpp.
#pragma once
#include <zellige/layout/algebra/module.hpp>

namespace zellige::algebra {

/// Returns the index that the layout l gives coordinate crd. Where crd has a number and l a tuple of modes,
/// the number is a colexicographic index. Refused if the ranks differ.
ZELLIGE_ALGEBRA constexpr Value index_of(Tape& t, View crd, View l) {
  if (t.failed()) return nothing();
  if (crd.is_tuple()) {
    if (l.is_leaf() || crd.rank() != l.rank()) return t.refused(Rule::rank_mismatch, crd.rank(), l.rank());
    Value sum = number(0);
    for (int i = 0; i < l.rank(); ++i) {
      Value const m = index_of(t, crd[i], l[i]);
      if (i == 0)
        sum = m;
      else
        sum = add(t, sum, m);
    }
    return sum;
  }
  if (!crd.is_number()) return t.refused(Rule::not_a_layout, int(crd.kind()), int(l.kind()));
  Num c = crd.root().s;
  if (l.is_leaf()) return number(t.mul(c, l.root().d), l.root().e);
  // The quotient by an extent is recorded before the remainder, and the terms are added from the last one on, because
  // nvcc groups and hoists sums by the order in which they are written. In this order it compiles the coordinates of a
  // thread to the machine code that it makes of CuTe's.
  Value terms = empty(ValueKind::tuple);
  for (int i = 0; i < l.rank() && !t.failed(); ++i) {
    Num here = c;
    if (i + 1 < l.rank() && !c.is(0)) {
      Num const extent = product_of(t, l[i]), quotient = t.div(c, extent);
      here = t.mod(c, extent);
      c = quotient;
    }
    terms.add(index_of(t, number(here), l[i]));
  }
  if (t.failed()) return nothing();
  Value sum = number(0);
  for (int i = l.rank() - 1; i >= 0; --i) {
    if (i + 1 == l.rank())
      sum = terms[i];
    else
      sum = add(t, sum, terms[i]);
  }
  return sum;
}
ZELLIGE_ALGEBRA constexpr Value crd2idx(Tape& t, View crd, View shape, View stride) {
  if (!same_profile(shape, stride)) return t.refused(Rule::profile_mismatch, shape.rank(), stride.rank());
  return index_of(t, crd, pair_up(shape, stride));
}
ZELLIGE_ALGEBRA constexpr Value crd2idx(Tape& t, View crd, View shape) {
  if (!crd.is_tuple()) return crd;
  return index_of(t, crd, compact_left(t, shape));
}

ZELLIGE_ALGEBRA constexpr Value idx2crd(Tape& t, View idx, View shape, View stride) {
  if (t.failed()) return nothing();
  if (shape.is_leaf() != stride.is_leaf() || shape.rank() != stride.rank())
    return t.refused(Rule::profile_mismatch, shape.rank(), stride.rank());
  if (shape.is_leaf()) {
    if (idx.is_tuple()) return t.refused(Rule::rank_mismatch, idx.rank(), 1);
    if (shape.root().s.is(1)) return number(0);
    return number(t.mod(t.div(idx.root().s, stride.root().s), shape.root().s));
  }
  if (idx.is_tuple() && idx.rank() != shape.rank()) return t.refused(Rule::rank_mismatch, idx.rank(), shape.rank());
  Value r = empty(ValueKind::tuple);
  for (int i = 0; i < shape.rank(); ++i) {
    if (idx.is_tuple())
      r.add(idx2crd(t, idx[i], shape[i], stride[i]));
    else
      r.add(idx2crd(t, idx, shape[i], stride[i]));
  }
  return r;
}
ZELLIGE_ALGEBRA constexpr Value idx2crd(Tape& t, View idx, View shape) {
  if (t.failed()) return nothing();
  if (shape.is_leaf() && !idx.is_tuple()) return idx;
  Value r = empty(ValueKind::tuple);
  if (idx.is_tuple()) {
    if (idx.rank() != shape.rank() || shape.is_leaf()) return t.refused(Rule::rank_mismatch, idx.rank(), shape.rank());
    for (int i = 0; i < shape.rank(); ++i) r.add(idx2crd(t, idx[i], shape[i]));
    return r;
  }
  Num rest = idx.root().s;
  for (int i = 0; i < shape.rank() && !t.failed(); ++i) {
    Num here = rest;
    if (i + 1 < shape.rank()) {
      Num const extent = product_of(t, shape[i]), quotient = t.div(rest, extent);
      here = t.mod(rest, extent);
      rest = quotient;
    }
    r.add(idx2crd(t, number(here), shape[i]));
  }
  return r;
}
ZELLIGE_ALGEBRA constexpr Value crd2crd(Tape& t, View crd, View from, View to) {
  if (t.failed()) return nothing();
  if (crd.is_tuple() && !from.is_leaf() && !to.is_leaf()) {
    if (crd.rank() != from.rank() || from.rank() != to.rank())
      return t.refused(Rule::rank_mismatch, from.rank(), to.rank());
    Value r = empty(ValueKind::tuple);
    for (int i = 0; i < crd.rank(); ++i) r.add(crd2crd(t, crd[i], from[i], to[i]));
    return r;
  }
  return idx2crd(t, crd2idx(t, crd, from), to);
}
/// Returns the index at which the slice of l at crd starts: the index of crd with each `_` replaced by 0.
ZELLIGE_ALGEBRA constexpr Value offset_of(Tape& t, Value crd, View l) {
  for (ValueNode& n : crd.nodes) {
    if (n.kind == ValueKind::underscore) n.kind = ValueKind::number, n.s = fixed(0);
  }
  return index_of(t, crd, l);
}

}  // namespace zellige::algebra
