// The operations on composed layouts, by number: those of the layout within, and those that move its swizzle.
#pragma once
#include <zellige/layout/algebra/apply_layout.hpp>
#include <zellige/layout/algebra/swizzle.hpp>

namespace zellige::algebra {

/// Operations of a composed layout are those of its layout, behind the swizzle.
ZELLIGE_ALGEBRA constexpr bool acts_on_inner(Op op) {
  switch (op) {
    case Op::coalesce:
    case Op::coalesce_profile:
    case Op::flatten:
    case Op::composition:
    case Op::logical_divide:
    case Op::zipped_divide:
    case Op::tiled_divide:
    case Op::flat_divide:
    case Op::logical_product:
    case Op::zipped_product:
    case Op::tiled_product:
    case Op::flat_product:
    case Op::blocked_product:
    case Op::raked_product:
    case Op::tile_to_shape:
    case Op::zip1:
    case Op::take:
    case Op::group:
    case Op::get:
    case Op::select:
    case Op::filter:
    case Op::filter_zeros:
    case Op::append_to:
      return true;
    default:
      return false;
  }
}
ZELLIGE_ALGEBRA constexpr bool queries_inner(Op op) {
  switch (op) {
    case Op::size:
    case Op::cosize:
    case Op::rank:
    case Op::depth:
    case Op::shape:
    case Op::make_layout_like:
    case Op::make_fragment_like:
      return true;
    default:
      return false;
  }
}

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
  Value const common = apply_algebra(op, t, plain);
  if (t.failed()) return nothing();
  if (op == Op::max_common_vector) return number(t.min(common.root().s, fixed(run)));
  Num const have = product_of(t, common);
  if (have.is_static() && have.v <= run) return common;
  return composition(t, common, number(run));
}

}  // namespace zellige::algebra
