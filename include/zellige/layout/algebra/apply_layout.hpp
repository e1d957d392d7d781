// The operations on layouts, by number: the algebra, and the making of layouts.
#pragma once
#include <zellige/layout/algebra/int_tuple.hpp>
#include <zellige/layout/algebra/op.hpp>
#include <zellige/layout/algebra/order.hpp>
#include <zellige/layout/algebra/recast.hpp>
#include <zellige/layout/algebra/vectors.hpp>

namespace zellige::algebra {

ZELLIGE_ALGEBRA constexpr Value apply_algebra(Op op, Tape& t, Values const& a) {
  switch (op) {
    case Op::coalesce:
      return coalesce(t, a[0]);
    case Op::coalesce_profile:
      return coalesce(t, a[0], a[1]);
    case Op::coalesce_shape:
      return coalesce_shape(t, a[0]);
    case Op::composition:
      return composition(t, a[0], a[1]);
    case Op::complement:
      return complement(t, a[0], shape_of(a[1]));
    case Op::complement1:
      return complement(t, a[0]);
    case Op::right_inverse:
      return right_inverse(t, a[0]);
    case Op::left_inverse:
      return left_inverse(t, a[0]);
    case Op::nullspace:
      return nullspace(t, a[0]);
    case Op::filter:
      return filter(t, a[0]);
    case Op::filter_profile:
      return filter(t, a[0], a[1]);
    case Op::filter_zeros:
      return filter_zeros(a[0]);
    case Op::filter_zeros_profile: {
      Value const shape = filter_zeros(t, a[1], shape_of(a[0]));
      if (t.failed()) return nothing();
      return pair_up(shape, stride_of(a[0]));
    }
    case Op::logical_divide:
      return logical_divide(t, a[0], a[1]);
    case Op::zipped_divide:
      return zipped_divide(t, a[0], a[1]);
    case Op::tiled_divide:
      return tiled_divide(t, a[0], a[1]);
    case Op::flat_divide:
      return flat_divide(t, a[0], a[1]);
    case Op::logical_product:
      return logical_product(t, a[0], a[1]);
    case Op::zipped_product:
      return zipped_product(t, a[0], a[1]);
    case Op::tiled_product:
      return tiled_product(t, a[0], a[1]);
    case Op::flat_product:
      return flat_product(t, a[0], a[1]);
    case Op::blocked_product:
      return blocked_product(t, a[0], a[1]);
    case Op::raked_product:
      return raked_product(t, a[0], a[1]);
    case Op::tile_to_shape: {
      if (a.size() > 2) return tile_to_shape(t, a[0], a[1], a[2]);
      Value order = empty(ValueKind::tuple);
      for (int i = 0; i < a[1].rank(); ++i) order.add(number(i));
      return tile_to_shape(t, a[0], a[1], order);
    }
    case Op::max_common_layout:
      return max_common_layout(t, a[0], a[1]);
    case Op::max_common_vector:
      return max_common_vector(t, a[0], a[1]);
    case Op::max_alignment:
      return max_alignment(t, a[0]);
    case Op::domain_distribute:
      return domain_distribute(t, a[0], a[1]);
    case Op::upcast:
      return upcast(t, a[0], a[1].root().s.v);
    case Op::downcast:
      return downcast(t, a[0], a[1].root().s.v);
    case Op::recast_layout:
      return recast(t, a[0], a[1].root().s.v, a[2].root().s.v);
    case Op::make_layout_left:
      return compact_left(t, a[0]);
    case Op::make_layout_right:
      return compact_right(t, a[0]);
    case Op::make_layout:
      if (!same_profile(a[0], a[1])) return t.refused(Rule::profile_mismatch, a[0].rank(), a[1].rank());
      return pair_up(a[0], a[1]);
    case Op::make_layout_concat: {
      Value r = empty(ValueKind::layout);
      for (View m : a) r.add(m);
      return r;
    }
    case Op::make_ordered_layout:
      return ordered_layout(t, a[0], a[1]);
    case Op::make_layout_like:
      return layout_like(t, a[0]);
    case Op::make_fragment_like:
      return fragment_like(t, a[0]);
    case Op::make_identity_layout:
      return pair_up(a[0], basis_like(a[0]));
    case Op::with_shape:
      return composition(t, a[0], compact_left(t, a[1]));
    default:
      return t.refused(Rule::not_a_layout, int(op), 0);
  }
}

}  // namespace zellige::algebra
