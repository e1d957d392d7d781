// Every operation of the algebra by number, on values: the one door through which the compile-time face, the
// run-time face and the command line come in.
#pragma once
#include <zellige/layout/algebra/apply_composed.hpp>
#include <zellige/layout/algebra/apply_modes.hpp>
#include <zellige/layout/algebra/apply_number.hpp>

namespace zellige {

/// The result of an operation on values. When the tape has a refusal afterwards there is none.
ZELLIGE_ALGEBRA constexpr Value apply(Op op, Tape& t, Values const& a) {
  using namespace algebra;
  if (t.failed()) return nothing();
  if (op == Op::identity) return a[0];
  if (op == Op::make_swizzle) return make_swizzle(t, a[0].root().s.v, a[1].root().s.v);
  if (op == Op::swizzle_apply) return number(swizzled(t, bits_of(a[0]), a[1].root().s));
  if (a[0].is(ValueKind::swizzle)) {
    if (op == Op::upcast || op == Op::downcast)
      return recast_swizzle(t, a[0], a[1].root().s.v, op == Op::upcast);
    if (op == Op::layout_call) return number(swizzled(t, bits_of(a[0]), a[1].root().s));
    if (op == Op::composition && a[1].is(ValueKind::swizzle)) return compose_swizzles(t, a[0], a[1]);
    if (op == Op::composition && bits_of(a[0]).bits == 0) return a[1];
    if (op == Op::composition) return composed(a[0], number(0), a[1]);
    if (op == Op::right_inverse || op == Op::left_inverse) return a[0];
  }
  if (op == Op::composition && a[0].is(ValueKind::layout) && a[1].is(ValueKind::swizzle))
    return swizzle_to_the_left(t, a[0], a[1]);
  bool any_composed = false;
  for (Value const& v : a) any_composed = any_composed || v.is(ValueKind::composed);
  if (any_composed) {
    if (op == Op::max_common_layout || op == Op::max_common_vector) return apply_common(op, t, a);
    if (a[0].is(ValueKind::composed) && (acts_on_inner(op) || queries_inner(op))) {
      Values inner = a;
      inner[0] = a[0][2];
      Value const r = apply(op, t, inner);
      if (t.failed() || queries_inner(op)) return r;
      return behind(a[0][0], a[0][1], r);
    }
    return apply_composed(op, t, a);
  }
  if (op <= Op::recast_layout) return apply_algebra(op, t, a);
  if (op <= Op::slice_and_offset || op == Op::wrap || op == Op::unwrap || op == Op::repeat_like) {
    return apply_modes(op, t, a);
  }
  if (op <= Op::get_hier_coord || op == Op::as_arithmetic_tuple || op == Op::make_basis_like) {
    return apply_query(op, t, a);
  }
  return apply_arithmetic(op, t, a);
}

}  // namespace zellige
