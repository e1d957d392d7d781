// Recasts a layout to elements of another size in the same memory: n times as large (upcast), n times as small
// (downcast), or from one size in bits to another (recast).
#pragma once
#include <zellige/layout/algebra/module.hpp>

namespace zellige::algebra {

/// Returns the layout of the same memory in elements n times as large. Refused if a static stride neither
/// divides n nor is a multiple of n; a run-time stride is assumed to be a multiple.
ZELLIGE_ALGEBRA constexpr Value upcast(Tape& t, Value l, long long n) {
  for (ValueNode& m : l.nodes) {
    if (m.kids >= 0 || m.d.is(0)) continue;
    if (!m.d.is_static()) {
      m.d = t.div(m.d, fixed(n));
      continue;
    }
    long long const step = m.d.v < 0 ? -m.d.v : m.d.v;
    if (n % step != 0 && step % n != 0) return t.refused(Rule::not_divisible, step, n);
    Num const lanes = t.ceil_div(fixed(n), fixed(step));
    m.s = t.ceil_div(m.s, lanes);
    m.d = t.mul(t.sign(m.d), t.ceil_div(fixed(step), fixed(n)));
  }
  if (t.failed()) return nothing();
  return l;
}
/// Returns the layout of the same memory in elements n times as small. Refused if no mode has stride 1,
/// unless n is 1.
ZELLIGE_ALGEBRA constexpr Value downcast(Tape& t, Value l, long long n) {
  // One mode, of stride 1, enumerates the parts of an element: the first one with more than one element, if
  // there is one.
  int split = -1;
  for (int i = 0; i < l.nodes.size(); ++i) {
    ValueNode const& m = l.nodes[i];
    if (m.kids < 0 && m.d.is(1) && (split < 0 || l.nodes[split].s.is(1))) split = i;
  }
  if (split < 0 && n != 1) return t.refused(Rule::recast_adjacent, t.known(leaves_of(l)[0].d), n);
  for (int i = 0; i < l.nodes.size(); ++i) {
    ValueNode& m = l.nodes[i];
    if (m.kids >= 0) continue;
    if (i == split)
      m.s = t.mul(m.s, fixed(n));
    else
      m.d = t.mul(m.d, fixed(n));
  }
  return l;
}
/// Returns the layout of the same memory in elements of new_bits bits in place of old_bits: a downcast by
/// old_bits / g, then an upcast by new_bits / g, where g is the greatest common divisor of old_bits and
/// new_bits.
ZELLIGE_ALGEBRA constexpr Value recast(Tape& t, View l, long long old_bits, long long new_bits) {
  long long const g = t.gcd(fixed(old_bits), fixed(new_bits)).v;
  long long const up = new_bits / g, down = old_bits / g;
  if (up == 1 && down == 1) return l;
  if (up == 1) return downcast(t, l, down);
  if (down == 1) return upcast(t, l, up);
  return upcast(t, downcast(t, l, down), up);
}

}  // namespace zellige::algebra
