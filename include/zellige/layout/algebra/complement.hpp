// complement(L, m): what L misses of the integers below m: a layout whose elements, added to those of L, are
// all different and fill the codomain in order.
//
//   complement(4:2, 24) = (2, 3):(1, 8)
#pragma once
#include <zellige/layout/algebra/composition.hpp>

namespace zellige::algebra {

/// Rounds up. A tuple over a number uses the number up mode by mode; a number over a tuple is over its
/// product.
ZELLIGE_ALGEBRA constexpr Value ceil_div(Tape& t, Value const& a, Value const& b) {
  if (t.failed()) return nothing();
  if (!a.is_tuple()) {
    if (b.is_tuple()) return number(t.ceil_div(a.root().s, product_of(t, b)));
    Num const q = t.ceil_div(a.root().s, b.root().s);
    return number(q, a.root().e);
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

ZELLIGE_ALGEBRA constexpr Num cosize_of(Tape& t, Value const& l) {
  Num last = fixed(0);
  for (ValueNode const& n : l.nodes) {
    if (n.kids < 0) last = t.add(last, t.mul(t.sub(n.s, fixed(1)), t.abs(n.d)));
  }
  return t.add(last, fixed(1));
}

ZELLIGE_ALGEBRA constexpr Value complement(Tape& t, Value const& l, Value const& cotarget) {
  List<ValueNode> modes = leaves_of(filter(t, l));
  if (modes.empty() || modes[0].d.is(0)) {
    Value const rest = coalesce_shape(t, cotarget);
    return compact_left(t, rest);
  }
  if (modes.size() > 1) {
    for (ValueNode const& n : modes) {
      if (!n.d.is_static()) return t.refused(Rule::complement_dynamic, modes.size(), 1);
    }
  }
  List<ValueNode> result;
  Num covered = fixed(1);
  while (modes.size() > 0 && !t.failed()) {
    int least = 0;
    for (int i = 1; i < modes.size(); ++i) {
      if (modes[i].d.v < modes[least].d.v) least = i;
    }
    ValueNode const n = modes[least];
    Num const gap = t.div(n.d, covered);
    t.require(t.lt(fixed(0), gap), Rule::complement_injective, n.d, covered);
    result.push_back(mode(gap, {covered}).root());
    covered = t.mul(n.d, n.s);
    modes.erase(least);
  }
  if (t.failed()) return nothing();
  Value const beyond = coalesce_shape(t, ceil_div(t, cotarget, number(covered)));
  for (ValueNode const& n : leaves_of(compact_left(t, beyond, covered))) result.push_back(n);
  return layout_of(merge_modes(t, result, false));
}
ZELLIGE_ALGEBRA constexpr Value complement(Tape& t, Value const& l) {
  Value const size = number(cosize_of(t, filter(t, l)));
  return complement(t, l, size);
}

}  // namespace zellige::algebra
