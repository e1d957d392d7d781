// Edits the list of modes of a layout or tuple: take, group, replace, insert, slice and others. Extents and strides
// stay the same.
#pragma once
#include <zellige/layout/algebra/product.hpp>

namespace zellige::algebra {

/// Returns v with x as a new first mode.
ZELLIGE_ALGEBRA constexpr Value prepend(View v, View x) {
  if (v.is_leaf()) return bundle(v.kind(), x, v);
  Value r = bundle(v.kind(), x);
  for (int i = 0; i < v.rank(); ++i) r.add(v[i]);
  return r;
}
/// Returns v with copies of x added before its first mode until it has n modes. Refused if v has more than n
/// modes.
ZELLIGE_ALGEBRA constexpr Value pad_front(Tape& t, View v, int n, View x) {
  if (n < v.rank()) return t.refused(Rule::rank_mismatch, n, v.rank());
  Value r = v;
  while (r.rank() < n) r = prepend(r, x);
  return r;
}
/// Returns modes begin to end - 1 of v; end = -1 means the rank of v. Refused if v has no such modes.
ZELLIGE_ALGEBRA constexpr Value take(Tape& t, View v, int begin, int end) {
  if (end == -1) end = v.rank();
  if (begin < 0 || begin > end) return t.refused(Rule::mode_out_of_range, begin, v.rank());
  if (end > v.rank()) return t.refused(Rule::mode_out_of_range, end - 1, v.rank());
  Value r = empty(v.kind());
  for (int i = begin; i < end; ++i) r.add(v[i]);
  return r;
}
/// Returns v with modes begin to end - 1 grouped into one mode; end = -1 means the rank of v. Refused if
/// v has no such modes.
ZELLIGE_ALGEBRA constexpr Value group(Tape& t, View v, int begin, int end) {
  if (end == -1) end = v.rank();
  Value const inner = take(t, v, begin, end);
  if (t.failed()) return nothing();
  Value r = take(t, v, 0, begin);
  r.add(inner);
  for (int i = end; i < v.rank(); ++i) r.add(v[i]);
  return r;
}
ZELLIGE_ALGEBRA constexpr Value get(Tape& t, View v, int i) {
  if (i < 0 || i >= v.rank()) return t.refused(Rule::mode_out_of_range, i, v.rank());
  return v[i];
}
ZELLIGE_ALGEBRA constexpr Value replace(Tape& t, View v, int at, View x) {
  if (at < 0 || at >= v.rank()) return t.refused(Rule::mode_out_of_range, at, v.rank());
  if (v.is_leaf()) return x;
  Value r = empty(v.kind());
  for (int i = 0; i < v.rank(); ++i) {
    if (i == at)
      r.add(x);
    else
      r.add(v[i]);
  }
  return r;
}
ZELLIGE_ALGEBRA constexpr Value insert(Tape& t, View v, int at, View x) {
  if (at < 0 || at > v.rank()) return t.refused(Rule::mode_out_of_range, at, v.rank());
  Value r = take(t, v, 0, at);
  r.add(x);
  for (int i = at; i < v.rank(); ++i) r.add(v[i]);
  return r;
}
ZELLIGE_ALGEBRA constexpr Value remove(Tape& t, View v, int at) {
  if (at < 0 || at >= v.rank()) return t.refused(Rule::mode_out_of_range, at, v.rank());
  Value r = empty(v.kind());
  for (int i = 0; i < v.rank(); ++i) {
    if (i != at) r.add(v[i]);
  }
  return r;
}
ZELLIGE_ALGEBRA constexpr Value reverse(View v) {
  Value r = empty(v.kind());
  for (int i = v.rank() - 1; i >= 0; --i) r.add(v[i]);
  return r;
}
/// Returns the modes of the flat v, in order, in the nesting of `profile`. Refused unless v has one mode
/// per leaf of the profile.
ZELLIGE_ALGEBRA constexpr Value unflatten(Tape& t, View v, View profile) {
  Value r = profile;
  int next = 0;
  for (ValueNode& n : r.nodes) {
    if (n.kids >= 0) {
      n.kind = v.kind();
    } else if (next < v.rank() && v[next].is_leaf()) {
      n = v[next++].root();
    } else {
      return t.refused(Rule::profile_mismatch, v.rank(), next + 1);
    }
  }
  if (next != v.rank()) return t.refused(Rule::profile_mismatch, v.rank(), next);
  return r;
}
/// Returns v with its two levels of modes transposed: ((a, b), (c, d)) becomes ((a, c), (b, d)). Refused if
/// the modes of v differ in rank.
ZELLIGE_ALGEBRA constexpr Value transpose_modes(Tape& t, View v) {
  if (v.is_leaf()) return v;
  // A flat layout is one row.
  if (v[0].is_leaf()) return bundle(v.kind(), v);
  int const rank = v[0].rank();
  for (int i = 1; i < v.rank(); ++i) {
    if (v[i].rank() != rank) return t.refused(Rule::rank_mismatch, rank, v[i].rank());
  }
  Value r = empty(v.kind());
  for (int m = 0; m < rank; ++m) {
    Value row = empty(v.kind());
    for (int i = 0; i < v.rank(); ++i) row.add(v[i][m]);
    r.add(row);
  }
  return r;
}

/// Appends to `kept` those modes of v for which the coordinate has a `_` (if `marked`) or a number (if not
/// `marked`).
ZELLIGE_ALGEBRA constexpr void keep_marked(Tape& t, View crd, View v, bool marked, Value& kept) {
  if (!crd.is_tuple()) {
    if (crd.is(ValueKind::underscore) == marked) kept.add(v);
    return;
  }
  if (v.is_leaf() || crd.rank() != v.rank()) return t.refuse(Rule::rank_mismatch, crd.rank(), v.rank());
  for (int i = 0; i < crd.rank(); ++i) keep_marked(t, crd[i], v[i], marked, kept);
}
/// Returns those modes of v for which the coordinate has a `_`. The index at which the slice starts is not
/// included: see slice_composed and offset_of.
ZELLIGE_ALGEBRA constexpr Value slice(Tape& t, View crd, View v) {
  if (crd.is(ValueKind::underscore)) return v;
  Value kept = empty(v.kind() == ValueKind::number ? ValueKind::tuple : v.kind());
  keep_marked(t, crd, v, true, kept);
  if (t.failed()) return nothing();
  return kept;
}
/// Returns those modes of v for which the coordinate has a number: the modes that slice drops.
ZELLIGE_ALGEBRA constexpr Value dice(Tape& t, View crd, View v) {
  if (crd.is_number()) return v;
  Value kept = empty(v.kind() == ValueKind::number ? ValueKind::tuple : v.kind());
  keep_marked(t, crd, v, false, kept);
  if (t.failed()) return nothing();
  return kept;
}

}  // namespace zellige::algebra
