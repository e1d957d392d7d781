// Converts composed layouts to the normal form c -> swizzle(start + layout(c)), on which most operations on composed
// layouts are defined. In the notation f o offset o g for c -> f(offset + g(c)):
//
//   _32:_4 o _0 o _8:_1                            is  _8:_4
//   (_4,_8):(_8,_1) o _5 o _2:_8                   is  9 + _2:_2
//   Sw<1,0,1> o _0 o (_4,_8):(_8,_1) o _0 o _4:_1  is  Sw<1,0,1> o _4:_8
#pragma once
#include <zellige/layout/algebra/function.hpp>

namespace zellige::algebra {

/// The normal form of a composed layout, if `is` is true; else the composed layout has none.
struct Settled {
  bool is = false;     // true: the composed layout is swizzle(start + layout(c)) at each coordinate c
  bool waits = false;  // true: the swizzle applies to the address of a pointer that is not known yet
  Value swizzle = swizzle_value({0, 4, 3});
  Num start = fixed(0);
  Value layout;

  /// Returns true if the swizzle changes any index, that is, if it has any bits.
  ZELLIGE_ALGEBRA constexpr bool swizzles() const { return bits_of(swizzle).bits > 0; }
  /// Returns true if the normal form swizzle(start + layout(c)) is just layout(c): no swizzle, and start 0.
  ZELLIGE_ALGEBRA constexpr bool is_simple() const { return is && !waits && !swizzles() && start.is(0); }
  /// Returns the normal form c -> swizzle(start + layout(c)) as a composed layout, or as an uncomposed layout
  /// if it has no swizzle and start 0.
  ZELLIGE_ALGEBRA constexpr Value value() const { return make_composed(swizzle, number(start), layout); }
};
/// Which checks of run-time numbers a function may record on its Tape, to be made at run time: none, or the
/// conditions of a composition.
enum class Asks : signed char { nothing, composition };

/// For layouts f and l, writes the function c -> f(start + l(c)) as c -> f(start) + r(c) with a layout r.
/// Returns the pair (start f(start), layout r) as a Settled. Its member `is` is false if no layout r is
/// known: adding start to an index l(c) may carry from one mode of f into the next.
ZELLIGE_ALGEBRA constexpr Settled after_start(Tape& t, View f, Num start, View l) {
  Settled s;
  List<ValueNode> flat = leaves_of(f);
  merge_modes(t, flat, true);
  if (flat.count == 1) {
    s.start = t.mul(start, flat[0].d);
    s.layout = composition(t, f, l);
    s.is = !t.failed() && flat[0].e == 0;
    return s;
  }
  if (!start.is_static() || start.v < 0 || !all_static(f)) return s;
  for (ValueNode const& n : flat) {
    if (n.s.v < 1) return s;
  }
  // Converts the start to a coordinate of f. Each nonzero number n of this coordinate is added to l as a mode
  // of two elements, which are n apart. The composition below then checks that start + l(c) never carries
  // from one mode of f into the next.
  Value both = bundle(ValueKind::layout, l);
  long long rest = start.v, before = 1;
  for (int i = 0; i < flat.count && rest > 0; ++i) {
    long long const extent = flat[i].s.v, digit = i + 1 == flat.count ? rest : rest % extent;
    if (digit != 0) both.add(mode(fixed(2), {fixed(digit * before)}));
    rest = i + 1 == flat.count ? 0 : rest / extent;
    before *= extent;
  }
  Value const parts = composition(t, f, both);
  if (t.failed()) return s;
  s.start = index_of(t, number(start), f).root().s;
  s.layout = parts[0];
  s.is = of_integers(f);
  return s;
}
/// Returns the normal form swizzle(start + layout(c)) of c -> f(offset + inner(c)), for a layout f and an
/// `inner` in normal form. The member `is` of the result is false if no normal form is found. `asks` says
/// which checks of run-time numbers may be recorded on the tape.
ZELLIGE_ALGEBRA constexpr Settled settle_layout(Tape& t, View f, Num offset, Settled const& inner, Asks asks) {
  Settled s;
  bool const known = all_static(f) && all_static(inner.layout);
  if (asks == Asks::nothing && !known) return s;
  if (inner.swizzles()) {
    // A swizzle before f equals another swizzle after f if the indices are within f's size and f only moves
    // bits.
    if (!offset.is(0) || !inner.start.is_static() || inner.start.v < 0 || !known) return s;
    Num const reach = t.add(inner.start, cosize_of(t, inner.layout)), size = product_of(t, f);
    for (ValueNode const& n : leaves_of(inner.layout)) {
      if (n.e != 0 || n.d.v < 0) return s;
    }
    if (!reach.is_static() || !size.is_static() || reach.v > size.v) return s;
    Tape trial = t;
    Value const moved = swizzle_to_the_left(trial, f, inner.swizzle);
    if (trial.failed() || !moved.is(ValueKind::composed)) return s;
    Settled is_simple = inner;
    is_simple.swizzle = swizzle_value({0, 4, 3});
    s = settle_layout(t, f, offset, is_simple, asks);
    s.swizzle = moved[0];
    return s;
  }
  Num const start = t.add(offset, inner.start);
  Tape trial = t;
  if (start.is(0)) {
    s.layout = composition(trial, f, inner.layout);
    s.is = !trial.failed();
  } else if (of_integers(inner.layout)) {
    s = after_start(trial, f, start, inner.layout);
  }
  /// Keeps the checks that `trial` recorded, or its refusal.
  if (s.is || (asks == Asks::composition && start.is(0))) t = trial;
  return s;
}
/// Returns the normal form x -> swizzle(start + layout(x)) of the layout c; the member `is` of the result is
/// false if none is found. An uncomposed layout is its own normal form. `asks` says which checks of run-time
/// numbers may be recorded on the tape.
ZELLIGE_ALGEBRA constexpr Settled settle(Tape& t, View c, Asks asks) {
  Settled s;
  if (t.failed()) return s;
  if (!c.is(ValueKind::composed)) {
    s.is = c.is_layout();
    s.layout = c;
    return s;
  }
  View const f = c[0], offset = c[1];
  if (f.is(ValueKind::composed)) return settle(t, composed(f[0], f[1], composed(f[2], offset, c[2])), asks);
  Settled const inner = settle(t, c[2], asks);
  if (!inner.is || inner.waits || t.failed()) return s;
  bool const waits = offset.is(ValueKind::flag);
  if (!waits && (!offset.is_number() || offset.root().e != 0)) return s;
  Num const begin = waits ? fixed(0) : offset.root().s;
  if (f.is_layout()) {
    if (waits) return s;
    return settle_layout(t, f, begin, inner, asks);
  }
  if (!f.is(ValueKind::swizzle) || !of_integers(inner.layout)) return s;
  s = inner;
  s.waits = waits;
  s.start = t.add(begin, inner.start);
  if (!inner.swizzles()) {
    s.swizzle = f;
    // If the address is not known yet (`waits`), the swizzle applies to byte addresses. Converts it to a
    // swizzle of indices of elements of `bytes` bytes.
    long long const bytes = waits ? offset.root().s.v / 8 : 1;
    if (waits && bytes > 1 && count_bits(bytes) == 1) s.swizzle = recast_swizzle(t, f, bytes, true);
  } else if (begin.is(0)) {
    s.start = inner.start;
    Tape trial = t;
    if (bits_of(f).bits > 0) s.swizzle = compose_swizzles(trial, f, inner.swizzle);
    s.is = !trial.failed();
  } else {
    s.is = false;
  }
  return s;
}
/// Returns the uncomposed layout that is equal to the composed layout c. Refused if there is none.
ZELLIGE_ALGEBRA constexpr Value inner_layout_of(Tape& t, View c) {
  Settled const s = settle(t, c, Asks::composition);
  if (t.failed()) return nothing();
  if (s.is && !s.waits && !s.swizzles() && !s.start.is(0)) return t.refused(Rule::composed_offset, t.known(s.start), 0);
  if (!s.is_simple()) return t.refused(Rule::composed_operand, 1, 1);
  return s.layout;
}

}  // namespace zellige::algebra
