// Computes with integer tuples that are Values (trees of numbers, see value.hpp): arithmetic, comparisons and orders. A
// predicate returns the number 1 for true or 0 for false, which may be known only at run time.
#pragma once
#include <zellige/layout/algebra/module.hpp>

namespace zellige::algebra {

/// Returns all leaves of v combined, from the first on, with the binary operation `op` of the tape, for
/// example &Tape::add; 0 if there are no leaves.
ZELLIGE_ALGEBRA constexpr Num fold_leaves(Tape& t, View v, Num (Tape::*op)(Num, Num)) {
  Num r = fixed(0);
  bool first = true;
  for (ValueNode const& n : v) {
    if (n.kids < 0) r = first ? n.s : (t.*op)(r, n.s), first = false;
  }
  return r;
}
ZELLIGE_ALGEBRA constexpr Value product_like(Tape& t, View v, View guide) {
  if (!guide.is_tuple()) return number(product_of(t, v));
  if (v.rank() != guide.rank()) return t.refused(Rule::rank_mismatch, v.rank(), guide.rank());
  Value r = empty(ValueKind::tuple);
  for (int i = 0; i < v.rank(); ++i) r.add(product_like(t, v[i], guide[i]));
  return r;
}
ZELLIGE_ALGEBRA constexpr Value inner_product(Tape& t, View a, View b) {
  if (!same_profile(a, b)) return t.refused(Rule::profile_mismatch, a.rank(), b.rank());
  Num sum = fixed(0);
  ValueNode const* y = b.begin();
  for (ValueNode const& x : a) {
    if (x.kids < 0) sum = t.add(sum, t.mul(x.s, y->s));
    ++y;
  }
  return number(sum);
}

/// Returns a/b if b divides a. If a divides b, returns 1, or -1 if the signs of a and b differ. Refused if
/// neither divides the other.
ZELLIGE_ALGEBRA constexpr Num shape_div(Tape& t, Num a, Num b) {
  t.require(t.lt(fixed(0), t.abs(b)), Rule::divide_by_zero, a, b);
  t.require(t.lt(fixed(0), t.abs(a)), Rule::divide_by_zero, b, a);
  if (t.failed()) return fixed(1);
  t.require(t.either(t.eq(t.mod(a, b), fixed(0)), t.eq(t.mod(b, a), fixed(0))), Rule::not_divisible, a, b);
  // The larger of the quotient and 1, in absolute value.
  return t.mul(t.max(t.abs(t.div(a, b)), fixed(1)), t.mul(t.sign(a), t.sign(b)));
}
ZELLIGE_ALGEBRA constexpr Value shape_div(Tape& t, View a, View b) {
  if (t.failed()) return nothing();
  if (!a.is_tuple()) return number(shape_div(t, a.root().s, product_of(t, b)));
  Value r = empty(ValueKind::tuple);
  if (b.is_tuple()) {
    if (b.rank() > a.rank()) return t.refused(Rule::rank_mismatch, a.rank(), b.rank());
    for (int i = 0; i < a.rank(); ++i) {
      if (i < b.rank())
        r.add(shape_div(t, a[i], b[i]));
      else
        r.add(a[i]);
    }
    return r;
  }
  Value rest = b;
  for (int i = 0; i < a.rank() && !t.failed(); ++i) {
    r.add(shape_div(t, a[i], rest));
    rest = shape_div(t, rest, a[i]);
  }
  return r;
}
ZELLIGE_ALGEBRA constexpr Value round_up(Tape& t, View a, View b) {
  if (t.failed()) return nothing();
  if (!a.is_tuple() && !b.is_tuple()) {
    Num const n = b.root().s;
    return number(t.mul(t.ceil_div(a.root().s, n), n));
  }
  if (!a.is_tuple() || !b.is_tuple() || b.rank() > a.rank()) return t.refused(Rule::rank_mismatch, a.rank(), b.rank());
  Value r = empty(ValueKind::tuple);
  for (int i = 0; i < a.rank(); ++i) {
    if (i < b.rank())
      r.add(round_up(t, a[i], b[i]));
    else
      r.add(a[i]);
  }
  return r;
}
ZELLIGE_ALGEBRA constexpr Value elem_scale(Tape& t, View a, View b) {
  if (!a.is_tuple()) return number(t.mul(a.root().s, product_of(t, b)));
  if (a.rank() != b.rank()) return t.refused(Rule::rank_mismatch, a.rank(), b.rank());
  Value r = empty(ValueKind::tuple);
  for (int i = 0; i < a.rank(); ++i) r.add(elem_scale(t, a[i], b[i]));
  return r;
}
/// Returns the prefix products of a flat tuple v = (x0, x1, ...), with s = start: (s*x0, s*x0*x1, ...) if
/// inclusive, else (s, s*x0, ...). The result has the rank of v.
ZELLIGE_ALGEBRA constexpr Value scan(Tape& t, View v, Num start, bool inclusive) {
  Value r = empty(ValueKind::tuple);
  for (int i = 0; i < v.rank(); ++i) {
    Num const next = t.mul(start, v[i].root().s);
    r.add(number(inclusive ? next : start));
    start = next;
  }
  return r;
}

/// Returns 1 if a is 0, else 0.
ZELLIGE_ALGEBRA constexpr Num negation(Tape& t, Num a) { return t.eq(a, fixed(0)); }
/// Returns 1 if the tuples a and b have the same profile and equal leaves, else 0.
ZELLIGE_ALGEBRA constexpr Num equal(Tape& t, View a, View b) {
  if (a.is_tuple() != b.is_tuple() || a.rank() != b.rank()) return fixed(0);
  if (!a.is_tuple()) return a.root().e == b.root().e ? t.eq(a.root().s, b.root().s) : fixed(0);
  Num all = fixed(1);
  for (int i = 0; i < a.rank(); ++i) all = i == 0 ? equal(t, a[0], b[0]) : t.both(all, equal(t, a[i], b[i]));
  return all;
}
/// Returns 1 if a is less than b, else 0. The order is lexicographic, with the first mode most significant,
/// or colexicographic, with the last mode most significant, if from_last. Refused if a tuple is compared with
/// a number.
ZELLIGE_ALGEBRA constexpr Num lex_less(Tape& t, View a, View b, bool from_last) {
  if (!a.is_tuple() && !b.is_tuple()) return t.lt(a.root().s, b.root().s);
  if (a.is_tuple() != b.is_tuple()) return t.refuse(Rule::rank_mismatch, a.rank(), b.rank()), fixed(0);
  Num less = fixed(a.rank() < b.rank());
  // The loop goes from the least significant element to the most significant one.
  int const both = a.rank() < b.rank() ? a.rank() : b.rank();
  for (int i = both - 1; i >= 0; --i) {
    View const x = a[from_last ? a.rank() - 1 - i : i];
    View const y = b[from_last ? b.rank() - 1 - i : i];
    Num const here = lex_less(t, x, y, from_last);
    less = t.either(here, t.both(equal(t, x, y), less));
  }
  return less;
}
ZELLIGE_ALGEBRA constexpr Num elem_less(Tape& t, View a, View b) {
  if (!a.is_tuple() && !b.is_tuple()) return t.lt(a.root().s, b.root().s);
  if (a.is_tuple() != b.is_tuple()) return t.refuse(Rule::rank_mismatch, a.rank(), b.rank()), fixed(0);
  Num all = fixed(a.rank() <= b.rank());
  int const both = a.rank() < b.rank() ? a.rank() : b.rank();
  for (int i = both - 1; i >= 0; --i) all = t.both(elem_less(t, a[i], b[i]), all);
  return all;
}

ZELLIGE_ALGEBRA constexpr bool congruent(View a, View b) { return same_profile(a, b); }
/// True if a and b have the same nesting, except that b may have a tuple where a has a leaf.
ZELLIGE_ALGEBRA constexpr bool weakly_congruent(View a, View b) {
  if (a.is_leaf()) return true;
  if (b.is_leaf() || a.rank() != b.rank()) return false;
  for (int i = 0; i < a.rank(); ++i) {
    if (!weakly_congruent(a[i], b[i])) return false;
  }
  return true;
}
/// Returns 1 if every coordinate of shape a is also a coordinate of shape b, else 0: the nesting of b refines
/// that of a, and each leaf of a equals the size of the corresponding mode of b.
ZELLIGE_ALGEBRA constexpr Num compatible(Tape& t, View a, View b) {
  if (a.is_leaf()) return t.eq(a.root().s, product_of(t, b));
  if (b.is_leaf() || a.rank() != b.rank()) return fixed(0);
  Num all = fixed(1);
  for (int i = 0; i < a.rank(); ++i) all = i == 0 ? compatible(t, a[0], b[0]) : t.both(all, compatible(t, a[i], b[i]));
  return all;
}
/// Returns 1 if the size of each mode of b divides the size of the corresponding mode of a, else 0. Returns 0
/// if b has more modes than a.
ZELLIGE_ALGEBRA constexpr Num evenly_divides(Tape& t, View a, View b) {
  if (!b.is_tuple()) return t.eq(t.mod(product_of(t, a), product_of(t, b)), fixed(0));
  if (b.rank() > a.rank()) return fixed(0);
  Num all = fixed(1);
  for (int i = 0; i < b.rank(); ++i) {
    Num const here = evenly_divides(t, a[i], b[i]);
    all = i == 0 ? here : t.both(all, here);
  }
  return all;
}
/// Returns v with 1 in place of each leaf for which the corresponding leaf of `zeros` is 0. Refused if the
/// ranks differ.
ZELLIGE_ALGEBRA constexpr Value filter_zeros(Tape& t, View zeros, View v) {
  if (zeros.is_leaf()) {
    Value r = v;
    for (ValueNode& n : r.nodes) {
      if (n.kids < 0 && !zeros.is(ValueKind::underscore) && zeros.root().s.is(0)) n.s = fixed(1);
    }
    return r;
  }
  if (zeros.rank() != v.rank()) return t.refused(Rule::rank_mismatch, zeros.rank(), v.rank());
  Value r = empty(ValueKind::tuple);
  for (int i = 0; i < v.rank(); ++i) r.add(filter_zeros(t, zeros[i], v[i]));
  return r;
}

}  // namespace zellige::algebra
