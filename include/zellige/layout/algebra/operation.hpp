// Applies any operation of the layout algebra to operands given as values (algebra/value.hpp). The
// compile-time API, the run-time API and the command line all enter the algebra here.
#pragma once
#include <zellige/layout/algebra/apply_composed.hpp>
#include <zellige/layout/algebra/operands.hpp>

namespace zellige {

namespace algebra {
/// Returns the result of the function that the table of op.hpp has for the operation. No operand may be a
/// composed layout. Refused if the operation is unknown.
ZELLIGE_ALGEBRA constexpr Value apply_row(Op op, Tape& t, Values const& a) {
  switch (op) {
#define ZELLIGE_ROW(id, names, parameters, family, composed, ...) \
  case Op::id:                                                    \
    return __VA_ARGS__;
    ZELLIGE_LAYOUT_OPERATIONS(ZELLIGE_ROW)
#undef ZELLIGE_ROW
    default:
      return t.refused(Rule::not_a_layout, int(op), 0);
  }
}
}  // namespace algebra

/// Returns the result of an operation on values, which may be composed layouts and swizzles. If the operation
/// is refused, the tape t records why, and the result is meaningless.
ZELLIGE_ALGEBRA constexpr Value apply(Op op, Tape& t, Values const& a) {
  using namespace algebra;
  if (t.failed()) return nothing();
  if (a[0].is(ValueKind::swizzle)) {
    if (op == Op::upcast || op == Op::downcast) return recast_swizzle(t, a[0], a[1].root().s.v, op == Op::upcast);
    if (op == Op::layout_call) return apply_function(t, a[0], a[1]);
    if (op == Op::composition && a[1].is(ValueKind::swizzle)) return compose_swizzles(t, a[0], a[1]);
    if (op == Op::composition && bits_of(a[0]).bits == 0) return a[1];
    if (op == Op::composition) return composed(a[0], number(0), a[1]);
    if (op == Op::right_inverse || op == Op::left_inverse) return a[0];
  }
  if (op == Op::composition && a[0].is(ValueKind::layout) && a[1].is(ValueKind::swizzle))
    return swizzle_to_the_left(t, a[0], a[1]);
  bool any_composed = false;
  for (Value const& v : a) any_composed = any_composed || v.is(ValueKind::composed);
  if (!any_composed) return apply_row(op, t, a);
  if (op == Op::max_common_layout || op == Op::max_common_vector) return apply_common(op, t, a);
  Composed const how = composed_of(op);
  if (a[0].is(ValueKind::composed) && (how == Composed::inside || how == Composed::asks)) {
    Values inner = a;
    inner[0] = a[0][2];
    Value const r = apply(op, t, inner);
    if (t.failed() || how == Composed::asks) return r;
    if (family_of(op) == Family::product) require_injective(t, a[0][0], a[0][1], r);
    if (t.failed()) return nothing();
    return make_composed(a[0][0], a[0][1], r);
  }
  return apply_composed(op, t, a);
}

}  // namespace zellige
