// How many elements two layouts step through alike: what may be copied as one vector.
#pragma once
#include <zellige/layout/algebra/divide.hpp>
#include <zellige/layout/algebra/inverse.hpp>

namespace zellige::algebra {

/// The indices, from 0 on, at which a and b have the same run of consecutive results.
ZELLIGE_ALGEBRA constexpr Value max_common_layout(Tape& t, View a, View b) {
  Value const inverse = right_inverse(t, b);
  Value const common = coalesce(t, composition(t, a, inverse));
  if (t.failed()) return nothing();
  Value const first = common[0];
  if (!first.root().d.is(1) || first.root().e != 0) return unit();
  return composition(t, inverse, first);
}
ZELLIGE_ALGEBRA constexpr Value max_common_vector(Tape& t, View a, View b) {
  Value const common = coalesce(t, composition(t, a, right_inverse(t, b)));
  if (t.failed()) return nothing();
  Value const first = common[0];
  if (!first.root().d.is(1) || first.root().e != 0) return number(1);
  return number(first.root().s);
}
/// The largest n such that the layout is made of aligned runs of n, run-time strides and shapes being
/// multiples of it.
ZELLIGE_ALGEBRA constexpr Value max_alignment(Tape& t, View l) {
  Value known = coalesce(t, l);
  for (ValueNode& n : known.nodes) {
    if (n.kids < 0 && !n.s.is_static()) n.s = fixed(1);
    if (n.kids < 0 && !n.d.is_static()) n.d = fixed(0);
  }
  Value const split = logical_divide(t, known, right_inverse(t, known));
  if (t.failed()) return nothing();
  Num g = product_of(t, split[0]);
  for (ValueNode const& n : leaves_of(split[1])) g = t.gcd(g, n.d);
  return number(g);
}
/// n things over the modes of a shape, as far as they divide.
ZELLIGE_ALGEBRA constexpr Value domain_distribute(Tape& t, View shape, View count) {
  List<ValueNode> result;
  Num rest = product_of(t, count);
  Num step = fixed(1);
  for (ValueNode const& n : leaves_of(shape)) {
    Num const part = t.gcd(n.s, rest);
    result.push_back(mode_node(part, {n.s.is(1) ? fixed(0) : step}));
    rest = t.div(rest, part);
    step = t.mul(step, n.s);
  }
  merge_modes(t, result);
  return layout_of(result);
}

}  // namespace zellige::algebra
