// Coalesces layouts: merges modes of a layout without changing its function of the linear index. Only static numbers
// are compared, so modes with run-time extents stay separate.
//
//   coalesce((_2, _4):(_1, _2)) = _8:_1
//   coalesce((_2, n):(_1, _2)) = (_2, n):(_1, _2)      if n is a run-time number
#pragma once
#include <zellige/layout/algebra/tape.hpp>

namespace zellige::algebra {

/// Returns the product of the leaves of a tuple, or of the extents of a layout; 1 if there are no leaves.
ZELLIGE_ALGEBRA constexpr Num product_of(Tape& t, View v) {
  Num p = fixed(1);
  bool first = true;
  ValueNode const* n = v.node;
  for (int open = 1; open > 0; ++n) {
    open += (n->kids > 0 ? n->kids : 0) - 1;
    if (n->kids >= 0) continue;
    p = first ? n->s : t.mul(p, n->s);
    first = false;
  }
  return p;
}

/// Returns the layout whose mode i is f(l[i], tiler[i]), for each mode i of the tiler. Modes of l beyond the
/// tiler are kept if keep_rest, else dropped. Refused with `rule` if the tiler has more modes than l.
template <class F>
ZELLIGE_ALGEBRA constexpr Value by_mode(Tape& t, View l, View tiler, bool keep_rest, Rule rule, F f) {
  if (tiler.rank() > l.rank()) return t.refused(rule, tiler.rank(), l.rank());
  Value r = empty(ValueKind::layout);
  for (int i = 0; i < l.rank() && !t.failed(); ++i) {
    if (i < tiler.rank())
      r.add(f(l[i], tiler[i]));
    else if (keep_rest)
      r.add(l[i]);
  }
  return r;
}

/// Merges adjacent modes of `flat` in place: modes s0:d0 and s1:d1 become s0*s1:d0 if d1 = s0*d0. Drops modes
/// of extent 1. keep_last: the last mode is kept even if its extent is 1, because indices beyond the layout's
/// size continue along its last mode.
ZELLIGE_ALGEBRA constexpr void merge_modes(Tape& t, List<ValueNode>& flat, bool keep_last = false) {
  ValueNode* const n = flat.data;
  int const end = flat.count;
  if (end == 0) return;
  int top = end - 1;  // the modes merged so far are n[top], n[top + 1], ...
  // Beyond its size a layout continues in its last mode, which composition must therefore not lose.
  if (keep_last && n[top].s.v == 1 && n[top].s.id == 0) n[top].s.v = 2;
  for (int i = top - 1; i >= 0; --i) {
    if (n[i].s.v == 1 && n[i].s.id == 0) continue;
    ValueNode& last = n[top];
    if (last.s.v == 1 && last.s.id == 0) {
      last = n[i];
    } else if (last.s.id == 0 && n[i].e == last.e && same(t.mul(n[i].s, n[i].d), last.d)) {
      last.s = t.mul(n[i].s, last.s);
      last.d = n[i].d;
    } else {
      n[--top] = n[i];
    }
  }
  if (top + 1 == end && n[top].s.v == 1 && n[top].s.id == 0) ++top;
  flat.count = end - top;
  for (int i = 0; top > 0 && i < flat.count; ++i) n[i] = n[i + top];
}
/// Appends the leaves of l to `flat`, with adjacent modes merged.
ZELLIGE_ALGEBRA constexpr void append_merged(Tape& t, List<ValueNode>& flat, View l) {
  append_leaves(flat, l);
  merge_modes(t, flat);
}

/// Returns l with adjacent modes merged, as a flat layout: the same function of the linear index.
ZELLIGE_ALGEBRA constexpr Value coalesce(Tape& t, View l) {
  List<ValueNode> flat;
  append_merged(t, flat, l);
  Value r;
  append_layout(r.nodes, flat);
  return r;
}
/// Returns l with its modes coalesced separately. A mode for which the profile has a number is coalesced
/// completely; a mode for which it has a tuple is again coalesced mode by mode. Modes of l beyond the profile
/// are unchanged.
ZELLIGE_ALGEBRA constexpr Value coalesce(Tape& t, View l, View profile) {
  if (!profile.is_tuple()) return coalesce(t, l);
  return by_mode(t, l, profile, true, Rule::rank_mismatch, [&](View m, View p) { return coalesce(t, m, p); });
}
/// Returns l with its modes coalesced separately, as coalesce(t, l, profile) does, but keeps the last leaf of
/// each mode even if its extent is 1. The function composition uses this leaf for indices beyond the layout's
/// size.
ZELLIGE_ALGEBRA constexpr Value coalesce_keeping_last(Tape& t, View l, View profile) {
  if (!profile.is_tuple()) {
    List<ValueNode> flat = leaves_of(l);
    merge_modes(t, flat, true);
    return layout_of(flat);
  }
  return by_mode(t, l, profile, true, Rule::rank_mismatch,
                 [&](View m, View p) { return coalesce_keeping_last(t, m, p); });
}
/// Returns the shape with adjacent extents multiplied if both are static or both are run-time numbers.
ZELLIGE_ALGEBRA constexpr Value coalesce_shape(Tape& t, View shape) {
  if (shape.is_leaf()) return shape;
  Value r = empty(ValueKind::tuple);
  for (ValueNode const& n : shape) {
    if (n.kids >= 0) continue;
    if (r.nodes.count > 1 && r.nodes.back().s.is_static() == n.s.is_static())
      r.nodes.back().s = t.mul(r.nodes.back().s, n.s);
    else
      r.add(n);
  }
  if (r.nodes.count == 2) return r[0];
  return r;
}

/// Returns l with each mode of stride 0 reduced to extent 1, which removes repeated elements.
ZELLIGE_ALGEBRA constexpr Value filter_zeros(Value l) {
  for (ValueNode& n : l.nodes) {
    if (n.kids < 0 && n.d.is(0)) n.s = fixed(1);
  }
  return l;
}
ZELLIGE_ALGEBRA constexpr Value filter(Tape& t, View l) { return coalesce(t, filter_zeros(l)); }
ZELLIGE_ALGEBRA constexpr Value filter(Tape& t, View l, View profile) { return coalesce(t, filter_zeros(l), profile); }

}  // namespace zellige::algebra
