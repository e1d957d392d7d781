// Computes complement(L, m), the layout R that fills the gaps of L below m: the sums L(i) + R(j) are all different and
// cover the integers below m. R(j) increases with j.
//
//   complement(4:2, 24) = (2, 3):(1, 8)      // {0, 2, 4, 6} + {0, 1, 8, 9, 16, 17} are 0, 1, ..., 23
#pragma once
#include <zellige/layout/algebra/composition.hpp>

namespace zellige::algebra {

/// Returns a / b, rounded up. A tuple is divided by a tuple mode by mode, and modes of a beyond b are kept. A
/// tuple is divided by a number from its first mode on, until no factor of the number remains: (4, 6) / 8 is
/// (1, 3). A number is divided by a tuple's product.
ZELLIGE_ALGEBRA constexpr Value ceil_div(Tape& t, View a, View b) {
  if (t.failed()) return nothing();
  if (!a.is_tuple()) {
    if (b.is_tuple()) return number(t.ceil_div(a.root().s, product_of(t, b)));
    return number(t.ceil_div(a.root().s, b.root().s), a.root().e);
  }
  Value r = empty(ValueKind::tuple);
  if (b.is_tuple()) {
    if (b.rank() > a.rank()) return t.refused(Rule::rank_mismatch, a.rank(), b.rank());
    for (int i = 0; i < a.rank(); ++i) {
      if (i < b.rank())
        r.add(ceil_div(t, a[i], b[i]));
      else
        r.add(a[i]);
    }
    return r;
  }
  Value rest = b;
  for (int i = 0; i < a.rank() && !t.failed(); ++i) {
    r.add(ceil_div(t, a[i], rest));
    rest = ceil_div(t, rest, a[i]);
  }
  return r;
}

/// Returns the cosize of a layout of integer strides: one more than its greatest index.
ZELLIGE_ALGEBRA constexpr Num cosize_of(Tape& t, View l) {
  Num last = fixed(0);
  for (ValueNode const& n : l) {
    if (n.kids < 0) last = t.add(last, t.mul(t.sub(n.s, fixed(1)), t.abs(n.d)));
  }
  return t.add(last, fixed(1));
}

/// Appends to `result` the modes of the complement of a layout below `cotarget`. `modes` are the layout's
/// leaves; the call modifies them. Refused if the layout is not injective, or has a run-time stride and more
/// than one mode.
ZELLIGE_ALGEBRA constexpr void append_complement(Tape& t, List<ValueNode>& modes, View cotarget,
                                                 List<ValueNode>& result) {
  for (ValueNode& n : modes) {
    if (n.d.v == 0 && n.d.id == 0) n.s = {1, 0};
  }
  merge_modes(t, modes);
  bool const nothing_covered = modes.count == 0 || modes.data[0].d.is(0);
  if (!nothing_covered && modes.count > 1) {
    for (ValueNode const& n : modes) {
      if (n.d.id != 0) return t.refuse(Rule::complement_dynamic, modes.count, 1);
    }
  }
  Num covered = {1, 0};
  while (!nothing_covered && modes.count > 0) {
    int smallest = 0;
    for (int i = 1; i < modes.count; ++i) {
      if (modes.data[i].d.v < modes.data[smallest].d.v) smallest = i;
    }
    ValueNode const n = modes.data[smallest];
    Num const gap = t.div(n.d, covered);
    t.require(t.lt({0, 0}, gap), Rule::complement_injective, n.d, covered);
    if (t.failed()) return;
    result.push_back({-1, ValueKind::layout, gap, covered, 0});
    covered = t.mul(n.d, n.s);
    modes.erase(smallest);
  }
  // An empty layout has no copies below 0: 0 / 0 is 0 here.
  if (covered.is(0) && product_of(t, cotarget).is(0)) {
    result.count = 0;
    return result.push_back({-1, ValueKind::layout, fixed(0), fixed(0), 0});
  }
  Value beyond;
  if (nothing_covered)
    beyond = coalesce_shape(t, cotarget);
  else
    beyond = coalesce_shape(t, ceil_div(t, cotarget, number(covered)));
  if (t.failed()) return;
  for (ValueNode const& n : beyond.nodes) {
    if (n.kids >= 0) continue;
    bool const one = n.s.is(1);
    result.push_back({-1, ValueKind::layout, n.s, one ? fixed(0) : covered, 0});
    if (!one) covered = t.mul(covered, n.s);
  }
  if (!nothing_covered) merge_modes(t, result);
}
ZELLIGE_ALGEBRA constexpr Value complement(Tape& t, View l, View cotarget) {
  List<ValueNode> modes, result;
  append_leaves(modes, l);
  append_complement(t, modes, cotarget, result);
  if (t.failed()) return nothing();
  return layout_of(result);
}
ZELLIGE_ALGEBRA constexpr Value complement(Tape& t, View l) {
  return complement(t, l, number(cosize_of(t, filter(t, l))));
}

}  // namespace zellige::algebra
