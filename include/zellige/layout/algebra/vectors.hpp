// Computes how many elements can be accessed as one vector: by a copy between two layouts (max_common_vector), and by
// an access to a single layout (max_alignment).
#pragma once
#include <zellige/layout/algebra/divide.hpp>
#include <zellige/layout/algebra/inverse.hpp>

namespace zellige::algebra {

/// Returns true if all extents and strides of a layout are static.
ZELLIGE_ALGEBRA constexpr bool all_static(View l) {
  for (ValueNode const& n : l) {
    if (n.kids < 0 && !(n.s.is_static() && n.d.is_static())) return false;
  }
  return true;
}
/// Given the right inverse of a layout b, returns the layout n:1 for the greatest n such that a maps the
/// linear coordinates inverse(0), ..., inverse(n - 1) to 0, ..., n - 1, as b does: a copy can move these n
/// elements as a vector. Returns _1:_0 if no static n is found. Conditions on run-time numbers are recorded
/// on the tape t, as checks for run time, only if the result depends on them.
ZELLIGE_ALGEBRA constexpr Value common_run(Tape& t, View a, View inverse) {
  Tape trial = t;
  Value const common = coalesce(trial, composition(trial, a, inverse));
  if (trial.failed()) {
    if (!all_static(a) || !all_static(inverse)) return unit();
    t = trial;
    return nothing();
  }
  ValueNode const first = common[0].root();
  if (!first.d.is(1) || first.e != 0 || !first.s.is_static()) return unit();
  t = trial;
  return common[0];
}
/// Returns the longest layout r of linear coordinates for which a(r(i)) = b(r(i)) = i can be proved for all i
/// < size(r); _1:_0 if there is none.
ZELLIGE_ALGEBRA constexpr Value max_common_layout(Tape& t, View a, View b) {
  Value const inverse = right_inverse(t, b);
  if (t.failed()) return nothing();
  Value const run = common_run(t, a, inverse);
  if (t.failed() || run.root().d.is(0)) return run;
  return composition(t, inverse, run);
}
/// Returns the number of elements of max_common_layout(a, b), which a copy between a and b can move as one
/// vector.
ZELLIGE_ALGEBRA constexpr Value max_common_vector(Tape& t, View a, View b) {
  Value const inverse = right_inverse(t, b);
  if (t.failed()) return nothing();
  Value const run = common_run(t, a, inverse);
  if (t.failed()) return nothing();
  return number(run.root().s);
}
/// Returns the largest n such that the layout consists of vectors of n consecutive indices, and every vector
/// starts at a multiple of n. Run-time strides are assumed to be multiples of n.
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
/// Returns a layout that spreads n = `count` elements over the modes of a shape. Mode by mode, g = gcd(extent,
/// n) elements are placed in the mode, and n is divided by g.
ZELLIGE_ALGEBRA constexpr Value domain_distribute(Tape& t, View shape, View count) {
  if (!count.is_leaf()) return t.refused(Rule::rank_mismatch, count.rank(), 1);
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
