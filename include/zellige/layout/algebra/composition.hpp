// composition(A, B): the layout R with R(c) = A(B(c)) at every coordinate c of B.
//
//   (_6, _2):(_8, _2)  o  (_4, _3):(_3, _1)   =   ((_2, _2), _3):((_24, _2), _8)
//
// A mode of B, extent s and stride d, is laid through the modes of A in turn. That is possible when
//   d is a multiple of each extent that it steps over wholly           (stride divisibility)
//   s is a multiple of what each mode that it continues past offers    (shape divisibility)
//   d divides the extent of each mode that it continues past           (crossing; CuTe forgets it)
// and the modes of B together never carry from one mode of A into the next (overlap): then
// A(b0 + b1) = A(b0) + A(b1).
#pragma once
#include <zellige/layout/algebra/coalesce.hpp>

namespace zellige::algebra {

/// How far the modes of B placed so far reach into each mode of A, and which way they step.
struct Reach {
  List<Num> digits;
  Num least = fixed(0);
  Num most = fixed(0);
  int modes = 0;
  bool round_up = false;  // tiles may hang over the end of a mode: see logical_divide
};

/// One mode of B through the modes of A.
ZELLIGE_ALGEBRA constexpr Value compose_mode(Tape& t, List<ValueNode> const& a, Num extent, Num stride,
                                             Reach& reach) {
  if (stride.is(0)) return mode(extent, {stride});
  if (!extent.is(1)) {
    ++reach.modes;
    reach.least = t.min(reach.least, stride);
    reach.most = t.max(reach.most, stride);
  }
  List<ValueNode> result;
  for (int i = 0; i + 1 < a.size() && !t.failed(); ++i) {
    Num const step = t.abs(stride);
    Num const& s = a[i].s;
    bool const single = extent.is(1);
    if (!single) {
      t.require(t.lt(fixed(0), step), Rule::divide_by_zero, s, step);
      Num const steps_over = t.eq(t.mod(step, s), fixed(0));
      t.require(t.either(t.either(t.lt(step, s), steps_over), t.le(extent, fixed(1))),
                Rule::composition_stride, step, s);
      if (t.failed()) break;
    }
    Num const offered = t.ceil_div(s, step);
    Num const next = t.mul(t.ceil_div(step, s), t.sign(stride));
    if (!single && !offered.is(1)) {
      Num const placed = t.min(offered, extent);
      Num const within = t.le(extent, offered);
      t.require(t.either(within, t.eq(t.mod(extent, placed), fixed(0))), Rule::composition_extent, extent,
                placed);
      if (!reach.round_up) {
        t.require(t.either(t.either(within, t.le(s, step)), t.eq(t.mod(s, step), fixed(0))),
                  Rule::composition_crossing, step, s);
      }
      while (reach.digits.size() <= i) reach.digits.push_back(fixed(0));
      reach.digits[i] = t.add(reach.digits[i], t.mul(t.sub(placed, fixed(1)), step));
      ValueNode n = a[i];
      n.s = placed;
      n.d = t.mul(stride, a[i].d);
      result.push_back(n);
      extent = t.div(extent, placed);
    }
    stride = next;
  }
  if (result.empty() || !extent.is(1)) {
    ValueNode n = a.back();
    n.s = extent;
    n.d = t.mul(stride, n.d);
    result.push_back(n);
  }
  return layout_of(result);
}

/// The modes along which the strides of B choose: the profile of B's codomain, all of it that B shows.
ZELLIGE_ALGEBRA constexpr void widen(Value& profile, Path e, int depth) {
  if (depth == path_length(e)) return;
  int const i = path_index(e, depth);
  if (profile.is_leaf()) profile = empty(ValueKind::tuple);
  Value wide = empty(ValueKind::tuple);
  for (int m = 0; m < profile.rank() || m <= i; ++m) {
    Value p = number(0);
    if (m < profile.rank()) p = profile[m];
    if (m == i) widen(p, e, depth + 1);
    wide.add(p);
  }
  profile = wide;
}
ZELLIGE_ALGEBRA constexpr Value coprofile(Value const& l) {
  Value profile = number(0);
  for (ValueNode const& n : l.nodes) {
    if (n.kids < 0) widen(profile, n.e, 0);
  }
  return profile;
}

/// The modes of B one by one; `reaches` has one Reach for each part of A that basis elements choose.
struct Reached {
  Path e;
  Reach reach;
};
ZELLIGE_ALGEBRA constexpr Value compose_tree(Tape& t, Value const& a, Value const& b, List<Reached>& reaches,
                                             bool round_up) {
  if (t.failed()) return nothing();
  if (!b.is_leaf()) {
    Value r = empty(ValueKind::layout);
    for (int i = 0; i < b.rank(); ++i) r.add(compose_tree(t, a, b[i], reaches, round_up));
    return r;
  }
  ValueNode const n = b.root();
  Value chosen = a;
  for (int i = 0; i < path_length(n.e); ++i) {
    int const m = path_index(n.e, i);
    if (m >= chosen.rank()) return t.refused(Rule::mode_out_of_range, m, chosen.rank());
    Value const next = chosen[m];
    chosen = next;
  }
  List<ValueNode> flat = leaves_of(chosen);
  if (flat.empty()) flat.push_back(unit().root());
  int at = 0;
  while (at < reaches.size() && reaches[at].e != n.e) ++at;
  if (at == reaches.size()) reaches.push_back({n.e, {}});
  Reach& reach = reaches[at].reach;
  reach.round_up = round_up;
  Value const placed = compose_mode(t, flat, n.s, n.d, reach);
  if (reach.modes > 1 && flat.size() > 1 && !reach.round_up) {
    for (int i = 0; i < reach.digits.size(); ++i) {
      t.require(t.lt(reach.digits[i], flat[i].s), Rule::composition_overlap, reach.digits[i], flat[i].s);
    }
    t.require(t.le(fixed(0), t.mul(reach.least, reach.most)), Rule::composition_signs, reach.least,
              reach.most);
  }
  return placed;
}
ZELLIGE_ALGEBRA constexpr Value compose_layouts(Tape& t, Value const& a, Value const& b, bool round_up) {
  List<Reached> reaches;
  return compose_tree(t, coalesce_keeping_last(t, a, coprofile(b)), b, reaches, round_up);
}

ZELLIGE_ALGEBRA constexpr Value composition(Tape& t, Value const& a, Value const& b) {
  if (t.failed()) return nothing();
  switch (b.kind()) {
    case ValueKind::underscore:
      return a;
    case ValueKind::tuple:
      return by_mode(t, a, b, false, Rule::composition_rank,
                     [&](Value const& m, Value const& p) { return composition(t, m, p); });
    case ValueKind::number: {
      Num const n = b.root().s;
      return composition(t, a, mode(n, {fixed(1)}));
    }
    case ValueKind::layout:
      return compose_layouts(t, a, b, false);
    default:
      return t.refused(Rule::not_a_layout, int(a.kind()), int(b.kind()));
  }
}

/// The layout over another shape of the same function: with_shape(L, s) = composition(L, s compactly).
ZELLIGE_ALGEBRA constexpr Value compact(Tape& t, Value const& shape, Num& current) {
  if (shape.is_leaf()) {
    Num const s = shape.root().s;
    if (s.is(1)) return mode(s, {fixed(0)});
    Value const r = mode(s, {current});
    current = t.mul(current, s);
    return r;
  }
  Value r = empty(ValueKind::layout);
  for (int i = 0; i < shape.rank(); ++i) r.add(compact(t, shape[i], current));
  return r;
}
ZELLIGE_ALGEBRA constexpr Value compact_left(Tape& t, Value const& shape, Num first = fixed(1)) {
  return compact(t, shape, first);
}
ZELLIGE_ALGEBRA constexpr Value compact_right(Tape& t, Value const& shape, Num& current) {
  if (shape.is_leaf()) return compact(t, shape, current);
  List<Value> modes;
  for (int i = shape.rank() - 1; i >= 0; --i) modes.push_back(compact_right(t, shape[i], current));
  Value r = empty(ValueKind::layout);
  for (int i = modes.size() - 1; i >= 0; --i) r.add(modes[i]);
  return r;
}
ZELLIGE_ALGEBRA constexpr Value compact_right(Tape& t, Value const& shape) {
  Num first = fixed(1);
  return compact_right(t, shape, first);
}

}  // namespace zellige::algebra
