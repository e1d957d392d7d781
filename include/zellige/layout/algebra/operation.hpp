// Every operation of the algebra by number and by name, on values: the one door through which the
// compile-time face, the run-time face and the command line come in.
#pragma once
#include <zellige/layout/algebra/int_tuple.hpp>
#include <zellige/layout/algebra/swizzle.hpp>

namespace zellige {

enum class Op : short {
  coalesce,
  coalesce_profile,
  coalesce_shape,
  composition,
  complement,
  complement1,
  right_inverse,
  left_inverse,
  nullspace,
  filter,
  filter_profile,
  filter_zeros,
  logical_divide,
  zipped_divide,
  tiled_divide,
  flat_divide,
  logical_product,
  zipped_product,
  tiled_product,
  flat_product,
  blocked_product,
  raked_product,
  tile_to_shape,
  make_layout_left,
  make_layout_right,
  make_layout,
  make_layout_concat,
  make_ordered_layout,
  make_layout_like,
  make_fragment_like,
  make_identity_layout,
  with_shape,
  max_common_layout,
  max_common_vector,
  max_alignment,
  domain_distribute,
  upcast,
  downcast,
  recast_layout,
  append,
  append_to,
  prepend,
  prepend_to,
  take,
  group,
  get,
  select,
  replace,
  insert,
  remove,
  reverse,
  flatten,
  flatten_to_tuple,
  unflatten,
  zip1,
  zip2,
  slice,
  dice,
  slice_and_offset,
  size,
  cosize,
  coshape,
  coprofile,
  rank,
  depth,
  shape,
  stride,
  crd2idx,
  idx2crd,
  crd2crd,
  layout_call,
  get_1d_coord,
  get_flat_coord,
  get_hier_coord,
  add,
  sub,
  neg,
  mul,
  div,
  mod,
  ceil_div,
  shape_div,
  round_up,
  elem_scale,
  product,
  product_each,
  product_like,
  sum,
  inner_product,
  gcd,
  max,
  min,
  iscan,
  escan,
  congruent,
  weakly_congruent,
  compatible,
  evenly_divides,
  lex_less,
  colex_less,
  elem_less,
  elem_leq,
  equal,
  filter_zeros_tuple,
  repeat_like,
  wrap,
  unwrap,
  safe_div,
  abs,
  as_arithmetic_tuple,
  make_basis_like,
  make_swizzle,
  swizzle_apply,
  identity,
  copy,
  gemm,
  axpby,
  transform,  // on tensors: named in their refusals
  count
};

using Values = List<Value>;

namespace algebra {

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
    case Op::tile_to_shape:
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
      return true;
    default:
      return false;
  }
}

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
      for (Value const& m : a) r.add(m);
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

/// What append and prepend pad with: the third argument, or a mode of one element.
ZELLIGE_ALGEBRA constexpr Value extra(Values const& a, Value const& padded) {
  if (a.size() > 2) return a[2];
  if (padded.is_layout()) return unit();
  return number(1);
}
ZELLIGE_ALGEBRA constexpr int small(Value const& v) { return int(v.root().s.v); }

ZELLIGE_ALGEBRA constexpr Value apply_modes(Op op, Tape& t, Values const& a) {
  switch (op) {
    case Op::append:
      return append(a[0], a[1]);
    case Op::append_to:
      return pad_to(t, a[0], small(a[1]), extra(a, a[0]));
    case Op::prepend:
      return prepend(a[0], a[1]);
    case Op::prepend_to:
      return pad_front(t, a[0], small(a[1]), extra(a, a[0]));
    case Op::take:
      return take(t, a[0], small(a[1]), small(a[2]));
    case Op::group:
      return group(t, a[0], small(a[1]), small(a[2]));
    case Op::get: {
      Value v = a[0];
      for (int i = 1; i < a.size() && !t.failed(); ++i) v = get(t, v, small(a[i]));
      return v;
    }
    case Op::select: {
      Value r = empty(a[0].kind());
      for (int i = 1; i < a.size() && !t.failed(); ++i) r.add(get(t, a[0], small(a[i])));
      return r;
    }
    case Op::replace:
      return replace(t, a[0], small(a[1]), a[2]);
    case Op::insert:
      return insert(t, a[0], small(a[1]), a[2]);
    case Op::remove:
      return remove(t, a[0], small(a[1]));
    case Op::reverse:
      return reverse(a[0]);
    case Op::flatten:
      return flatten_value(a[0]);
    case Op::flatten_to_tuple:
      return choose(a[0].is_leaf(), bundle(ValueKind::tuple, a[0]), flatten_value(a[0]));
    case Op::unflatten:
      return unflatten(t, a[0], a[1]);
    case Op::zip1:
      return transpose_modes(t, a[0]);
    case Op::zip2:
      return zip(t, a[0], a[1]);
    case Op::slice:
      return slice(t, a[0], a[1]);
    case Op::dice:
      return dice(t, a[0], a[1]);
    case Op::slice_and_offset: {
      Value const part = slice(t, a[0], a[1]);
      Value const start = offset_of(t, a[0], a[1]);
      if (t.failed()) return nothing();
      return bundle(ValueKind::tuple, part, start);
    }
    case Op::wrap:
      return choose(a[0].is_tuple(), a[0], bundle(ValueKind::tuple, a[0]));
    case Op::unwrap: {
      Value v = a[0];
      while (v.is_tuple() && v.rank() == 1) {
        Value const inner = v[0];
        v = inner;
      }
      return v;
    }
    case Op::repeat_like: {
      Value r = a[0];
      for (ValueNode& n : r.nodes) {
        if (n.kids < 0) n = a[1].root();
      }
      return r;
    }
    default:
      return t.refused(Rule::not_a_layout, int(op), 0);
  }
}

ZELLIGE_ALGEBRA constexpr Value apply_query(Op op, Tape& t, Values const& a) {
  switch (op) {
    case Op::size:
      return number(product_of(t, shape_of(a[0])));
    case Op::cosize:
      return cosize(t, a[0]);
    case Op::coshape:
      return coshape(t, a[0]);
    case Op::coprofile: {
      coshape(t, a[0]);
      if (t.failed()) return nothing();
      return coprofile(a[0]);
    }
    case Op::rank:
      return number(a[0].rank());
    case Op::depth:
      return number(depth_of(a[0]));
    case Op::shape:
      return shape_of(a[0]);
    case Op::stride:
      return stride_of(a[0]);
    case Op::crd2idx:
      if (a.size() > 2) return crd2idx(t, a[0], a[1], a[2]);
      return crd2idx(t, a[0], a[1]);
    case Op::idx2crd:
      if (a.size() > 2) return idx2crd(t, a[0], a[1], a[2]);
      return idx2crd(t, a[0], a[1]);
    case Op::crd2crd:
      return crd2crd(t, a[0], a[1], a[2]);
    case Op::layout_call: {
      for (ValueNode const& n : a[1].nodes) {
        if (n.kind == ValueKind::underscore) return slice(t, a[1], a[0]);
      }
      return index_of(t, a[1], a[0]);
    }
    case Op::get_hier_coord:
      return idx2crd(t, a[1], shape_of(a[0]), stride_of(a[0]));
    case Op::get_1d_coord:
      return crd2idx(t, idx2crd(t, a[1], shape_of(a[0]), stride_of(a[0])), shape_of(a[0]));
    case Op::get_flat_coord: {
      Value const crd = idx2crd(t, a[1], shape_of(a[0]), stride_of(a[0]));
      Value flat = product_each(t, shape_of(a[0]));
      if (a[0].rank() == 1) flat = number(1);  // one mode's flat coordinate is a number
      return crd2crd(t, crd, shape_of(a[0]), flat);
    }
    case Op::as_arithmetic_tuple:
      return as_arithmetic_tuple(a[0]);
    case Op::make_basis_like:
      return basis_like(a[0]);
    default:
      return t.refused(Rule::not_a_layout, int(op), 0);
  }
}

ZELLIGE_ALGEBRA constexpr Value apply_arithmetic(Op op, Tape& t, Values const& a) {
  Value const& x = a[0];
  Value const& y = a[a.size() > 1 ? 1 : 0];
  Num const p = x.root().s, q = y.root().s;
  switch (op) {
    case Op::add:
      return add(t, x, y);
    case Op::sub:
      return subtract(t, x, y);
    case Op::neg:
      return negate(t, x);
    case Op::mul:
      return number(t.mul(p, q), x.root().e != 0 ? x.root().e : y.root().e);
    case Op::div:
      return number(t.div(p, q), x.root().e);
    case Op::mod:
      return number(t.mod(p, q), x.root().e);
    case Op::safe_div:
      if (p.is_static() && q.is_static()) t.require(t.eq(t.mod(p, q), fixed(0)), Rule::not_divisible, p, q);
      return number(t.div(p, q), x.root().e);
    case Op::abs:
      return number(t.abs(p), x.root().e);
    case Op::ceil_div: {
      if (!y.is_layout()) return ceil_div(t, x, y);
      Value const rest = complement(t, y, x);
      if (t.failed()) return nothing();
      return shape_of(rest);
    }
    case Op::shape_div:
      return shape_div(t, x, y);
    case Op::round_up:
      return round_up(t, x, y);
    case Op::elem_scale:
      return elem_scale(t, x, y);
    case Op::product:
      return number(product_of(t, x));
    case Op::product_each:
      return product_each(t, x);
    case Op::product_like:
      return product_like(t, x, y);
    case Op::sum:
      return number(fold_leaves(t, x, &Tape::add));
    case Op::inner_product:
      return inner_product(t, x, y);
    case Op::gcd:
      return number(fold_leaves(t, x, &Tape::gcd));
    case Op::max:
      return number(fold_leaves(t, x, &Tape::max));
    case Op::min:
      return number(fold_leaves(t, x, &Tape::min));
    case Op::iscan:
      return scan(t, x, q, true);
    case Op::escan:
      return scan(t, x, q, false);
    case Op::filter_zeros_tuple:
      return filter_zeros(t, x, y);
    case Op::congruent:
      return boolean(fixed(congruent(x, y)));
    case Op::weakly_congruent:
      return boolean(fixed(weakly_congruent(x, y)));
    case Op::compatible:
      return boolean(compatible(t, x, y));
    case Op::evenly_divides:
      return boolean(evenly_divides(t, x, y));
    case Op::lex_less:
      return boolean(lex_less(t, x, y, false));
    case Op::colex_less:
      return boolean(lex_less(t, x, y, true));
    case Op::elem_less:
      return boolean(elem_less(t, x, y));
    case Op::elem_leq:
      return boolean(negation(t, elem_less(t, y, x)));
    case Op::equal:
      return boolean(equal(t, x, y));
    default:
      return t.refused(Rule::not_a_layout, int(op), 0);
  }
}

ZELLIGE_ALGEBRA constexpr Value apply_composed(Op op, Tape& t, Values const& a) {
  Value const& c = a[op == Op::slice || op == Op::slice_and_offset ? 1 : 0];
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
    default:
      return t.refused(Rule::not_a_layout, int(op), int(ValueKind::composed));
  }
}
/// Common runs of a composed layout and another are runs within which no swizzle acts.
ZELLIGE_ALGEBRA constexpr Value apply_common(Op op, Tape& t, Values const& a) {
  long long run = 1LL << 40;
  Values plain;
  for (Value const& v : a) {
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
  Num const have = product_of(t, shape_of(common));
  if (have.is_static() && have.v <= run) return common;
  return composition(t, common, number(run));
}

}  // namespace algebra

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
      return composed(a[0][0], a[0][1], r);
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
