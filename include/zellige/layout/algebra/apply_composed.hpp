// The operations that move the swizzle of a composed layout, by number: Composed::moves.
#pragma once
#include <zellige/layout/algebra/operands.hpp>

namespace zellige::algebra {

ZELLIGE_ALGEBRA constexpr Value apply_composed(Op op, Tape& t, Values const& a) {
  View c = a[op == Op::slice || op == Op::slice_and_offset ? 1 : 0];
  if (op == Op::slice_and_offset) return slice_composed(t, a[0], c);
  if (op == Op::slice) {
    Value const both = slice_composed(t, a[0], c);
    if (t.failed()) return nothing();
    return both[0];
  }
  bool const is_swizzle = c[0].is(ValueKind::swizzle);
  long long const run = is_swizzle ? 1LL << bits_of(c[0]).base : 1;
  switch (op) {
    case Op::right_inverse:
      return inverse_composed(t, c, true);
    case Op::left_inverse:
      return inverse_composed(t, c, false);
    case Op::max_alignment:
      return number(t.gcd(max_alignment(t, c[2]).root().s, fixed(run)));
    case Op::upcast:
    case Op::downcast: {
      long long const n = a[1].root().s.v;
      bool const up = op == Op::upcast;
      Value offset = c[1];
      if (offset.is_number())
        offset.nodes[0].s = up ? t.div(offset.root().s, fixed(n)) : t.mul(offset.root().s, fixed(n));
      Value inner = c[2];
      if (up)
        inner = upcast(t, inner, n);
      else
        inner = downcast(t, inner, n);
      Value const swizzle = recast_swizzle(t, c[0], n, up);
      if (t.failed()) return nothing();
      return composed(swizzle, offset, inner);
    }
    case Op::layout_call: {
      for (ValueNode const& n : a[1].nodes) {
        if (n.kind != ValueKind::underscore) continue;
        Value const both = slice_composed(t, a[1], c);
        if (t.failed()) return nothing();
        return both[0];
      }
      Num const index = t.add(c[1].root().s, index_of(t, a[1], c[2]).root().s);
      return number(swizzled(t, bits_of(c[0]), index));
    }
    default: {
      int which = 0;
      while (which + 1 < a.size() && !a[which].is(ValueKind::composed)) ++which;
      return t.refused(Rule::composed_operand, which + 1, a.size());
    }
  }
}
/// Common runs of a composed layout and another are runs within which no swizzle acts.
ZELLIGE_ALGEBRA constexpr Value apply_common(Op op, Tape& t, Values const& a) {
  long long run = 1LL << 40;
  Values plain;
  for (View v : a) {
    if (v.is(ValueKind::composed)) {
      long long const r = 1LL << bits_of(v[0]).base;
      run = r < run ? r : run;
      plain.push_back(v[2]);
    } else {
      plain.push_back(v);
    }
  }
  if (op == Op::max_common_vector) {
    Value const common = max_common_vector(t, plain[0], plain[1]);
    if (t.failed()) return nothing();  // g++ 12 loses the storage of a choice between two Values
    return number(t.min(common.root().s, fixed(run)));
  }
  Value const common = max_common_layout(t, plain[0], plain[1]);
  if (t.failed()) return nothing();
  Num const have = product_of(t, common);
  if (have.is_static() && have.v <= run) return common;
  return composition(t, common, number(run));
}

}  // namespace zellige::algebra
