// Queries of layouts, coordinates and arithmetic on tuples, by number.
#pragma once
#include <zellige/layout/algebra/coordinate.hpp>
#include <zellige/layout/algebra/int_tuple.hpp>
#include <zellige/layout/algebra/op.hpp>
#include <zellige/layout/algebra/order.hpp>

namespace zellige::algebra {

ZELLIGE_ALGEBRA constexpr Value apply_query(Op op, Tape& t, Values const& a) {
  switch (op) {
    case Op::size:
      return number(product_of(t, a[0]));
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
  View x = a[0];
  View y = a[a.size() > 1 ? 1 : 0];
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

}  // namespace zellige::algebra
