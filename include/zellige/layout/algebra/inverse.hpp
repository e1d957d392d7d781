// Inverts a layout L as a function of the linear coordinate. The results R and N map to linear coordinates of L:
//
//   R = right_inverse(L):  L(R(i)) = i          for i < size(R); the longest such R that static numbers prove
//   R = left_inverse(L):   L(R(L(i))) = L(i)    for every i
//   N = nullspace(L):      L(N(i)) = 0          for every i
//
// The inverses need static integer strides. right_inverse ignores modes with other strides; left_inverse refuses them.
#pragma once
#include <zellige/layout/algebra/composition.hpp>

namespace zellige::algebra {

/// A mode of a layout with the product of the extents before it (`before`), which is the linear coordinate at
/// which this mode has coordinate 1 and all others have coordinate 0.
struct Counted {
  ValueNode n;
  Num before;
};
/// Returns a list of the modes of l, with adjacent modes merged where possible. A list entry has a mode and
/// the product of the extents of all modes before it.
ZELLIGE_ALGEBRA constexpr List<Counted> counted_modes(Tape& t, View l) {
  List<Counted> modes;
  Num before = fixed(1);
  List<ValueNode> flat = leaves_of(l);
  merge_modes(t, flat);
  if (flat.empty()) flat.push_back(mode_node({1, 0}, {}));
  for (ValueNode const& n : flat) {
    modes.push_back({n, before});
    before = t.mul(n.s, before);
  }
  return modes;
}
/// Returns those of `modes` that have static integer strides, sorted by the absolute value of the stride.
ZELLIGE_ALGEBRA constexpr List<Counted> by_stride(List<Counted> const& modes) {
  List<Counted> sorted;
  for (Counted const& c : modes) {
    if (!c.n.d.is_static() || c.n.e != 0) continue;
    sorted.push_back(c);
    long long const d = c.n.d.v < 0 ? -c.n.d.v : c.n.d.v;
    int at = sorted.size() - 1;
    for (; at > 0; --at) {
      long long const p = sorted[at - 1].n.d.v;
      if ((p < 0 ? -p : p) <= d) break;
      sorted[at] = sorted[at - 1];
    }
    sorted[at] = c;
  }
  return sorted;
}

ZELLIGE_ALGEBRA constexpr Value right_inverse(Tape& t, View l) {
  List<ValueNode> result;
  Num reached = fixed(1);
  for (Counted const& c : by_stride(counted_modes(t, l))) {
    // A mode of negative stride has only its first index at or above 0, so it cannot continue the inverse.
    if (!same(c.n.d, reached)) continue;
    result.push_back(mode_node(c.n.s, {c.before}));
    reached = t.mul(c.n.s, c.n.d);
  }
  merge_modes(t, result);
  return layout_of(result);
}

ZELLIGE_ALGEBRA constexpr Value left_inverse(Tape& t, View l) {
  List<Counted> modes;
  for (Counted const& c : counted_modes(t, l)) {
    if (!c.n.d.is(0)) modes.push_back(c);
  }
  // A single mode of negative stride: its indices are 0 and below, and the inverse is defined there.
  if (modes.size() == 1 && modes[0].n.e == 0 && modes[0].n.d.is_static() && modes[0].n.d.v < 0) {
    List<ValueNode> down;
    down.push_back(mode_node(fixed(-modes[0].n.d.v), {fixed(0)}));
    down.push_back(mode_node(modes[0].n.s, {t.mul(fixed(-1), modes[0].before)}));
    merge_modes(t, down);
    return layout_of(down);
  }
  for (Counted const& c : modes) {
    if (c.n.e != 0 || !c.n.d.is_static()) return t.refused(Rule::not_static, c.n.d.v, 0);
    if (c.n.d.v < 0) return t.refused(Rule::negative_stride, c.n.d.v, 0);
  }
  List<Counted> const sorted = by_stride(modes);
  List<ValueNode> result;
  Num below = fixed(1);  // the stride of the mode below
  Num last = fixed(0);   // the largest index that the modes below reach
  Num extent = fixed(1);
  Num before = fixed(0);
  for (Counted const& c : sorted) {
    t.require(t.eq(t.mod(c.n.d, below), fixed(0)), Rule::left_inverse_stride, c.n.d, below);
    if (t.failed()) return nothing();
    Num const gap = t.div(c.n.d, below);
    // `below` and `extent` are the stride and the extent of the previous mode; `gap` is this mode's stride
    // divided by `below`. The inverse computes the coordinate along the previous mode as (index / below) %
    // gap, which must be less than `extent`. It is if gap <= extent, or if the largest index of the modes so
    // far, `last`, is less than extent * below.
    Num const full = t.mul(extent, below);
    t.require(t.either(t.le(gap, extent), t.lt(last, full)), Rule::left_inverse_overlap, last, full);
    result.push_back(mode_node(gap, {before}));
    below = c.n.d;
    extent = c.n.s;
    before = c.before;
    last = t.add(last, t.mul(t.sub(c.n.s, fixed(1)), c.n.d));
  }
  if (sorted.empty()) return mode(product_of(t, shape_of(coalesce(t, l))), {fixed(0)});
  // The inverse returns index / below as the coordinate along the mode of largest stride. This coordinate
  // must be less than the extent of that mode.
  Num const full = t.mul(extent, below);
  t.require(t.lt(last, full), Rule::left_inverse_overlap, last, full);
  result.push_back(mode_node(extent, {before}));
  merge_modes(t, result);
  return layout_of(result);
}

ZELLIGE_ALGEBRA constexpr Value nullspace(Tape& t, View l) {
  List<ValueNode> result;
  for (Counted const& c : counted_modes(t, l)) {
    if (c.n.d.is(0)) result.push_back(mode_node(c.n.s, {c.before}));
  }
  merge_modes(t, result);
  return layout_of(result);
}

}  // namespace zellige::algebra
