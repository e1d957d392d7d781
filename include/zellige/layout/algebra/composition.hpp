// Computes composition(A, B), the layout R with R(c) = A(B(c)) at every coordinate c of B.
//
//   (_6, _2):(_8, _2)  o  (_4, _3):(_3, _1)   =   ((_2, _2), _3):((_24, _2), _8)
//
// Each mode s:d of B (extent s, stride d) steps through the modes of A, beginning with the first. Let e be the extent
// of a mode of A. If d >= e, this mode of A is skipped, and the next mode of A is stepped through with stride d / e.
// If d < e, this mode of A has e / d elements for the mode of B; if s is greater, the mode of B crosses into the next
// mode of A. The composition exists if
//   d is a multiple of e where a mode is skipped       (stride divisibility)
//   s is a multiple of e / d where a mode is crossed   (shape divisibility)
//   e is a multiple of d where a mode is crossed       (crossing; not checked by CuTe)
// If B has several modes, each contributes an index b0, b1, ... (its coordinate times its stride). Their sum must never
// carry from one mode of A into the next (overlap), so that A(b0 + b1) = A(b0) + A(b1).
#pragma once
#include <zellige/layout/algebra/coalesce.hpp>

namespace zellige::algebra {

/// `digit` is the largest number of elements that the modes of B processed so far step, together, into mode
/// `place` of A. If these modes have strides that are multiples of a basis element, e is its path, and `place`
/// counts the modes within the mode of A that the path selects; otherwise e is 0.
struct Reach {
  Path e;
  int place;
  Num digit;
};
/// The smallest and largest stride, and the number, of those modes of B that step through the mode of A that
/// the path e of a basis element selects or, if e is 0 (integer strides), through all of A.
struct Steps {
  Path e;
  Num min;
  Num max;
  int modes;
};
/// For the overlap check: how far the modes of B processed so far step into the modes of A, and with which
/// strides.
struct Reached {
  List<Reach> digits;
  List<Steps> steps;
};
/// Records in r the stride of one more mode of B, for require_disjoint, which checks modes of B that step
/// through the same mode of A. If the stride is a multiple of a basis element, e is its path, and the mode of B
/// steps through the mode of A that the path selects. If the stride is an integer, e is 0, and the mode of B
/// steps through all of A.
ZELLIGE_ALGEBRA constexpr void note_step(Tape& t, Reached& r, Path e, Num stride) {
  for (Steps& s : r.steps) {
    if (s.e != e) continue;
    ++s.modes;
    s.min = t.min(s.min, stride);
    s.max = t.max(s.max, stride);
    return;
  }
  r.steps.push_back({e, t.min(fixed(0), stride), t.max(fixed(0), stride), 1});
}
/// Records in r that one more mode of B steps up to `more` elements into mode number `place` of A, for
/// require_disjoint, which checks the sum of such steps. If the stride of the mode of B is a multiple of a
/// basis element, e is its path, and `place` counts the modes within the mode of A that the path selects. If
/// the stride is an integer, e is 0.
ZELLIGE_ALGEBRA constexpr void note_digit(Tape& t, Reached& r, Path e, int place, Num more) {
  for (Reach& d : r.digits) {
    if (d.e != e || d.place != place) continue;
    d.digit = t.add(d.digit, more);
    return;
  }
  r.digits.push_back({e, place, more});
}
/// Returns the number of elements that the modes of B step, together, into mode `place` of A; 0 if none steps there.
ZELLIGE_ALGEBRA constexpr Num digit_of(Reached const& r, Path e, int place) {
  for (Reach const& d : r.digits) {
    if (d.e == e && d.place == place) return d.digit;
  }
  return fixed(0);
}
/// Makes the overlap check of composition(A, B). Each mode of B contributes coordinate * stride to an index
/// into A. Refuses the operation if the contributions of all modes can add up to the extent of a mode of A,
/// and so carry into the next one, or if the strides of B's modes differ in sign. Where the next mode of A continues
/// this one (it would be merged with it if the numbers were known), a carry changes nothing; it adds to what the modes
/// of B step into the next one. Checks those modes of B
/// whose strides are multiples of the basis element with path e or, if e is 0, integers; r has their steps
/// (note_step, note_digit). `a` lists the modes of A or, if e is not 0, those within the mode that e selects.
ZELLIGE_ALGEBRA constexpr void require_disjoint(Tape& t, List<ValueNode> const& a, Reached const& r, Path e) {
  for (Steps const& s : r.steps) {
    if (s.e != e || s.modes < 2) continue;
    Num carry = fixed(0), one_mode = fixed(1);
    for (int place = 0; place + 1 < a.count; ++place) {
      ValueNode const &mode = a.data[place], &next = a.data[place + 1];
      Num const continues = mode.e == next.e ? t.eq(t.mul(mode.s, mode.d), next.d) : fixed(0);
      one_mode = t.both(one_mode, continues);
      Num const reach = t.add(digit_of(r, e, place), carry), fits = t.lt(reach, mode.s);
      t.require(t.either(fits, continues), Rule::composition_overlap, reach, mode.s);
      carry = fits.is(1) || continues.is(0) ? fixed(0) : t.div(reach, t.max(mode.s, fixed(1)));
    }
    t.require(t.either(t.le(fixed(0), t.mul(s.min, s.max)), one_mode), Rule::composition_signs, s.min, s.max);
  }
}

/// Appends to `out` the composition of a layout A with one mode n of a layout B. `a` lists the merged modes
/// of A. If round_up, a stride of n that does not divide an extent of A is accepted, and the quotient is
/// rounded up. Records in `reached`, unless it is null, how far the mode n steps into each mode of A.
ZELLIGE_ALGEBRA constexpr void compose_mode(Tape& t, List<ValueNode> const& a, ValueNode const& n, bool round_up,
                                            Reached* reached, List<ValueNode>& out) {
  Num extent = n.s;
  Num stride = n.d;
  if (stride.v == 0 && stride.id == 0) return out.push_back({-1, ValueKind::layout, extent, stride, 0});
  if (reached != nullptr && !extent.is(1)) note_step(t, *reached, n.e, stride);
  int const head = out.count;
  out.push_back({0, ValueKind::layout, {}, {}, 0});
  for (int i = 0; i + 1 < a.count; ++i) {
    Num const s = a.data[i].s;
    Num const step = t.abs(stride);
    bool const single = extent.is(1);
    if (!single) {
      t.require(t.lt(fixed(0), step), Rule::divide_by_zero, s, step);
      Num const steps_over = t.eq(t.mod(step, s), fixed(0));
      t.require(t.either(t.either(t.lt(step, s), steps_over), t.le(extent, fixed(1))), Rule::composition_stride, step,
                s);
      if (t.failed()) return;
    }
    Num const offered = t.ceil_div(s, step);
    if (!single && !offered.is(1)) {
      Num const placed = t.min(offered, extent);
      Num const within = t.le(extent, offered);
      t.require(t.either(within, t.eq(t.mod(extent, placed), fixed(0))), Rule::composition_extent, extent, placed);
      if (!round_up) {
        t.require(t.either(t.either(within, t.le(s, step)), t.eq(t.mod(s, step), fixed(0))), Rule::composition_crossing,
                  step, s);
      }
      if (reached != nullptr) note_digit(t, *reached, n.e, i, t.mul(t.sub(placed, fixed(1)), step));
      out.push_back({-1, ValueKind::layout, placed, t.mul(stride, a.data[i].d), a.data[i].e});
      extent = t.div(extent, placed);
    }
    stride = t.mul(t.ceil_div(step, s), t.sign(stride));
  }
  if (out.count == head + 1 || !extent.is(1)) {
    ValueNode const& last = a.data[a.count - 1];
    out.push_back({-1, ValueKind::layout, extent, t.mul(stride, last.d), last.e});
  }
  if (out.count == head + 2) {
    out.data[head] = out.data[head + 1];
    out.count = head + 1;
  } else {
    out.data[head].kids = out.count - head - 1;
  }
}

/// Extends a profile (nesting of tuples) with zeros until it has the mode that the basis element e selects.
/// The first `depth` mode indices of e are ignored: they selected this profile within a larger one.
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
/// Returns the profile (nesting) of the indices to which a layout maps: a number if all strides are integers,
/// a tuple if some strides are basis elements.
ZELLIGE_ALGEBRA constexpr Value coprofile(View l) {
  Value profile = number(0);
  for (ValueNode const& n : l) {
    if (n.kids < 0 && n.e != 0) widen(profile, n.e, 0);
  }
  return profile;
}

/// Returns the mode of `a` that the basis element e selects. Refused if `a` has no such mode.
ZELLIGE_ALGEBRA constexpr View selected_by(Tape& t, View a, Path e) {
  for (int i = 0; e != 0 && i < path_length(e); ++i) {
    int const m = path_index(e, i);
    if (m >= a.rank()) {
      t.refuse(Rule::mode_out_of_range, m, a.rank());
      return a;
    }
    a = a[m];
  }
  return a;
}
/// Appends composition(a, b) for a layout b to `out`. The result has the profile of b, with a sub-layout in
/// place of each leaf. If round_up, strides of b that do not divide the extents of a are accepted.
ZELLIGE_ALGEBRA constexpr void append_composed(Tape& t, View a, View b, bool round_up, List<ValueNode>& out) {
  bool is_simple = true;
  bool const alone = b.is_leaf();
  for (ValueNode const& n : b) is_simple = is_simple && (n.kids >= 0 || n.e == 0);
  List<ValueNode> flat;
  Reached reached;
  Reached* const noted = alone || round_up ? nullptr : &reached;
  if (is_simple) {
    append_leaves(flat, a);
    merge_modes(t, flat, true);
    if (flat.count == 0) flat.push_back({-1, ValueKind::layout, {1, 0}, {}, 0});
    for (ValueNode const& n : b) {
      if (t.failed()) return;
      if (n.kids >= 0)
        out.push_back(n);
      else
        compose_mode(t, flat, n, round_up, flat.count > 1 ? noted : nullptr, out);
    }
    if (noted != nullptr && flat.count > 1) require_disjoint(t, flat, reached, 0);
    return;
  }
  Value const kept = coalesce_keeping_last(t, a, coprofile(b));
  for (ValueNode const& n : b) {
    if (t.failed()) return;
    if (n.kids >= 0) {
      out.push_back(n);
      continue;
    }
    flat = leaves_of(selected_by(t, kept, n.e));
    if (flat.count == 0) flat.push_back({-1, ValueKind::layout, {1, 0}, {}, 0});
    compose_mode(t, flat, n, round_up, flat.count > 1 ? noted : nullptr, out);
    if (noted != nullptr && flat.count > 1) require_disjoint(t, flat, reached, n.e);
  }
}
/// Appends composition(a, b) to `out`. b is a layout, a number n (which means n:1), `_` (the complete mode),
/// or a tuple of these, which is composed mode by mode.
ZELLIGE_ALGEBRA constexpr void append_composition(Tape& t, View a, View b, List<ValueNode>& out) {
  switch (b.kind()) {
    case ValueKind::underscore:
      return out.append(a.node, a.node_count());
    case ValueKind::tuple:
      if (b.rank() > a.rank()) return t.refuse(Rule::composition_rank, b.rank(), a.rank());
      out.push_back({b.rank(), ValueKind::layout, {}, {}, 0});
      for (int i = 0; i < b.rank() && !t.failed(); ++i) append_composition(t, a[i], b[i], out);
      return;
    case ValueKind::number: {
      ValueNode const tile = mode_node(b.root().s, {fixed(1)});
      return append_composed(t, a, {&tile}, false, out);
    }
    case ValueKind::layout:
      return append_composed(t, a, b, false, out);
    default:
      return t.refuse(Rule::not_a_layout, int(a.kind()), int(b.kind()));
  }
}
ZELLIGE_ALGEBRA constexpr Value composition(Tape& t, View a, View b) {
  Value r;
  if (!t.failed()) append_composition(t, a, b, r.nodes);
  if (t.failed()) return nothing();
  return r;
}

/// Returns the compact layout of a shape, first mode fastest; its smallest stride is `current`. Sets
/// `current` to the stride that a following mode would have.
ZELLIGE_ALGEBRA constexpr Value compact(Tape& t, View shape, Num& current) {
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
ZELLIGE_ALGEBRA constexpr Value compact_left(Tape& t, View shape, Num first = fixed(1)) {
  return compact(t, shape, first);
}
/// Returns the compact layout of a shape, last mode fastest; its smallest stride is `current`. Sets `current`
/// to the stride that a following mode would have.
ZELLIGE_ALGEBRA constexpr Value compact_right(Tape& t, View shape, Num& current) {
  if (shape.is_leaf()) return compact(t, shape, current);
  List<Value> modes;
  for (int i = shape.rank() - 1; i >= 0; --i) modes.push_back(compact_right(t, shape[i], current));
  Value r = empty(ValueKind::layout);
  for (int i = modes.size() - 1; i >= 0; --i) r.add(modes[i]);
  return r;
}
ZELLIGE_ALGEBRA constexpr Value compact_right(Tape& t, View shape) {
  Num first = fixed(1);
  return compact_right(t, shape, first);
}

}  // namespace zellige::algebra
