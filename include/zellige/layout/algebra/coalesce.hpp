// coalesce: the same function of the index with as few modes as its types can prove.
//
//   (_2, _4):(_1, _2)  ->  _8:_1        (_2, n):(_1, _2)  ->  (_2, n):(_1, _2), for n may be known too late
#pragma once
#include <zellige/layout/algebra/tape.hpp>

namespace zellige::algebra {

/// The product of the leaves of a tuple; 1 of none.
ZELLIGE_ALGEBRA constexpr Num product_of(Tape& t, Value const& v) {
  Num p = fixed(1);
  bool first = true;
  for (ValueNode const& n : v.nodes) {
    if (n.kids < 0) p = first ? n.s : t.mul(p, n.s), first = false;
  }
  return p;
}

/// Applies f to mode i of the layout and of the tiler, for each mode of the tiler; the other modes stay, or
/// go.
template <class F>
ZELLIGE_ALGEBRA constexpr Value by_mode(Tape& t, Value const& l, Value const& tiler, bool keep_rest,
                                        Rule rule, F f) {
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

/// Merges neighbours from the last mode to the first: a mode joins the one after it when together they step
/// evenly.
ZELLIGE_ALGEBRA constexpr List<ValueNode> merge_modes(Tape& t, List<ValueNode> const& flat, bool keep_last) {
  List<ValueNode> reversed;
  if (flat.empty()) return reversed;
  ValueNode last = flat.back();
  // Past its end a layout goes on in its last mode, which composition must therefore not lose.
  if (keep_last && last.s.is(1)) last.s = fixed(2);
  for (int i = flat.size() - 2; i >= 0; --i) {
    ValueNode const& n = flat[i];
    if (n.s.is(1)) continue;
    if (last.s.is(1)) {
      last = n;
    } else if (last.s.is_static() && n.e == last.e && same(t.mul(n.s, n.d), last.d)) {
      last.s = t.mul(n.s, last.s);
      last.d = n.d;
    } else {
      reversed.push_back(last);
      last = n;
    }
  }
  if (!(last.s.is(1) && reversed.empty())) reversed.push_back(last);
  List<ValueNode> merged;
  for (int i = reversed.size() - 1; i >= 0; --i) merged.push_back(reversed[i]);
  return merged;
}

ZELLIGE_ALGEBRA constexpr Value coalesce(Tape& t, Value const& l) {
  return layout_of(merge_modes(t, leaves_of(l), false));
}
/// Keeps the modes of the profile apart.
ZELLIGE_ALGEBRA constexpr Value coalesce(Tape& t, Value const& l, Value const& profile) {
  if (!profile.is_tuple()) return coalesce(t, l);
  return by_mode(t, l, profile, true, Rule::rank_mismatch,
                 [&](Value const& m, Value const& p) { return coalesce(t, m, p); });
}
/// Keeps the modes of the profile apart, and each one's last mode.
ZELLIGE_ALGEBRA constexpr Value coalesce_keeping_last(Tape& t, Value const& l, Value const& profile) {
  if (!profile.is_tuple()) return layout_of(merge_modes(t, leaves_of(l), true));
  return by_mode(t, l, profile, true, Rule::rank_mismatch,
                 [&](Value const& m, Value const& p) { return coalesce_keeping_last(t, m, p); });
}
/// Of a shape: products of neighbours that are both static or both dynamic.
ZELLIGE_ALGEBRA constexpr Value coalesce_shape(Tape& t, Value const& shape) {
  if (shape.is_leaf()) return shape;
  List<ValueNode> merged;
  for (ValueNode const& n : leaves_of(shape)) {
    if (!merged.empty() && merged.back().s.is_static() == n.s.is_static()) {
      merged.back().s = t.mul(merged.back().s, n.s);
    } else {
      merged.push_back(n);
    }
  }
  if (merged.size() == 1) return leaf(merged[0]);
  Value r = empty(ValueKind::tuple);
  r.nodes[0].kids = merged.size();
  r.nodes.append(merged);
  return r;
}

/// Modes of stride 0 become modes of size 1.
ZELLIGE_ALGEBRA constexpr Value filter_zeros(Value l) {
  for (ValueNode& n : l.nodes) {
    if (n.kids < 0 && n.d.is(0)) n.s = fixed(1);
  }
  return l;
}
ZELLIGE_ALGEBRA constexpr Value filter(Tape& t, Value const& l) { return coalesce(t, filter_zeros(l)); }
ZELLIGE_ALGEBRA constexpr Value filter(Tape& t, Value const& l, Value const& profile) {
  return coalesce(t, filter_zeros(l), profile);
}

}  // namespace zellige::algebra
