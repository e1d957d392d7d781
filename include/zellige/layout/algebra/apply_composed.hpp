// Applies layout operations to composed layouts c -> f(offset + g(c)). This file has the operations for which composed
// layouts need a rule of their own (Composed::moves in op.hpp): inverses, complement, slices, vector widths, recasts,
// cosize. Most rules work on the normal form swizzle(start + layout(c)), which settle.hpp computes. If there is no
// normal form, max_alignment and max_common_vector return 1, which is always correct; most other operations are
// refused.
#pragma once
#include <zellige/layout/algebra/operands.hpp>
#include <zellige/layout/algebra/settle.hpp>

namespace zellige::algebra {

/// Returns the right inverse (if `right`) or the left inverse of the composed layout c. Refused unless c is
/// equal to x -> swizzle(l(x)) for a layout l. If k is the inverse of l, the inverse of c is
/// i -> k(swizzle(i)). The result has the swizzle last: i -> swizzle'(k(i)), with another swizzle. Refused if no
/// such swizzle exists.
ZELLIGE_ALGEBRA constexpr Value inverse_composed(Tape& t, View c, bool right) {
  Settled const s = settle(t, c, Asks::composition);
  if (t.failed()) return nothing();
  if (!s.is || s.waits) return t.refused(Rule::composed_operand, 1, 1);
  if (!s.start.is(0)) return t.refused(Rule::composed_offset, t.known(s.start), 0);
  Value inverse;
  if (right)
    inverse = right_inverse(t, s.layout);
  else
    inverse = left_inverse(t, s.layout);
  if (t.failed() || !s.swizzles()) return inverse;
  // The inverse of c is i -> k(swizzle(i)), where k is the inverse of the layout. Both i and swizzle(i) must
  // be in the domain of k.
  Bits const b = bits_of(s.swizzle);
  if (right && inverse.is_leaf() && b.shift < 0) {
    Num const size = product_of(t, inverse);
    if (!size.is_static() || (b.z() >= size.v && (1LL << lowest_bit(b.y())) < size.v))
      return t.refused(Rule::swizzle_mask, b.y(), b.z());
  }
  return swizzle_to_the_left(t, inverse, s.swizzle);
}

/// Returns a number n such that the swizzle in s, which is swizzle(start + layout(c)), keeps n indices
/// consecutive if they begin at a multiple of n in the layout. n is the greatest common divisor of `start`
/// and 2^base, because the swizzle moves blocks of 2^base indices as a whole; it is 2^40 if s has no swizzle.
/// If `start` is known only at run time, n is 2^base, and a run-time check is recorded: `start` must be a
/// multiple of 2^base or, if `wanted` is static and less, of `wanted` rounded up to a power of two.
ZELLIGE_ALGEBRA constexpr Num unswizzled_run(Tape& t, Settled const& s, Num wanted) {
  long long const run = s.swizzles() ? 1LL << bits_of(s.swizzle).base : 1LL << 40;
  if (!s.swizzles() || s.start.is(0)) return fixed(run);
  if (s.start.is_static()) return t.gcd(fixed(run), s.start);
  long long step = 1;
  while (step < run && (step < wanted.v || !wanted.is_static())) step *= 2;
  t.require(t.eq(t.mod(s.start, fixed(step)), fixed(0)), Rule::not_divisible, s.start, fixed(step));
  return fixed(run);
}
/// Returns the alignment of the composed layout c: the largest number n found such that c consists of vectors
/// of n consecutive indices, and every vector starts at a multiple of n. Returns 1 if c cannot be written as
/// swizzle(start + layout(x)).
ZELLIGE_ALGEBRA constexpr Value max_alignment_composed(Tape& t, View c) {
  Settled const s = settle(t, c, Asks::nothing);
  if (t.failed()) return nothing();
  if (!s.is || !of_integers(s.layout)) return number(1);
  Num const run = max_alignment(t, s.layout).root().s;
  if (run.is(1)) return number(1);
  Num const whole = t.gcd(run, unswizzled_run(t, s, run));
  if (s.start.is_static()) return number(t.gcd(whole, s.start));
  t.require(t.eq(t.mod(s.start, whole), fixed(0)), Rule::not_divisible, s.start, whole);
  return number(whole);
}
/// Returns the layout of the longest vector whose elements are consecutive in both a and b, also after the
/// swizzles of a and b; _1:_0 (one element) if there is none.
ZELLIGE_ALGEBRA constexpr Value max_common_composed(Tape& t, View a, View b) {
  Settled const x = settle(t, a, Asks::nothing), y = settle(t, b, Asks::nothing);
  if (t.failed()) return nothing();
  if (!x.is || !y.is || !of_integers(x.layout) || !of_integers(y.layout)) return unit();
  Value const common = max_common_layout(t, x.layout, y.layout);
  if (t.failed()) return nothing();
  Num const have = product_of(t, common);
  if (have.is(1)) return common;
  Num const one = unswizzled_run(t, x, have), other = unswizzled_run(t, y, have);
  long long run = one.v < other.v ? one.v : other.v;
  if (t.failed() || (have.is_static() && have.v <= run)) return common;
  for (; run > 1; run /= 2) {
    Tape trial = t;
    Value const part = composition(trial, common, number(run));
    if (trial.failed()) continue;
    t = trial;
    return part;
  }
  return unit();
}
/// Returns the longest layout of elements that are consecutive in both layouts, a[0] and a[1]; if op is
/// max_common_vector, returns only its number of elements.
ZELLIGE_ALGEBRA constexpr Value apply_common(Op op, Tape& t, Values const& a) {
  Value const common = max_common_composed(t, a[0], a[1]);
  if (t.failed() || op == Op::max_common_layout) return common;
  return number(product_of(t, common));
}

/// Refuses the operation unless l can be recast to elements n times as large. Modes of static strides less
/// than n must together stay within one large element. Run-time strides must be multiples of n, which is
/// checked at run time.
ZELLIGE_ALGEBRA constexpr void require_elements(Tape& t, View l, long long n) {
  long long reached = 0;
  for (ValueNode const& m : l) {
    if (m.kids >= 0) continue;
    if (!m.d.is_static()) {
      Num const whole = t.eq(t.mod(m.d, fixed(n)), fixed(0));
      t.require(t.either(t.le(m.s, fixed(1)), whole), Rule::not_divisible, m.d, fixed(n));
      continue;
    }
    long long const step = m.d.v < 0 ? -m.d.v : m.d.v, limit = n - step;
    if (step >= n) continue;
    reached += m.s.is_static() && (m.s.v - 1) * step < limit ? (m.s.v - 1) * step : step == 0 ? 0 : limit;
    if (reached >= n) return t.refuse(Rule::recast_adjacent, m.d.v, n);
  }
}
/// Returns the layout c, possibly composed, recast to elements n times as large (if `up`) or n times as
/// small.
ZELLIGE_ALGEBRA constexpr Value cast_composed(Tape& t, View c, long long n, bool up) {
  if (t.failed()) return nothing();
  if (!c.is(ValueKind::composed)) {
    if (up) require_elements(t, c, n);
    if (up) return upcast(t, c, n);
    return downcast(t, c, n);
  }
  View const f = c[0];
  if (f.is(ValueKind::composed)) return cast_composed(t, composed(f[0], f[1], composed(f[2], c[1], c[2])), n, up);
  Value first, offset = c[1], layout = c[2];
  if (!f.is(ValueKind::swizzle)) {
    Settled const s = settle(t, c, Asks::composition);
    if (t.failed()) return nothing();
    if (!s.is || s.waits) return t.refused(Rule::composed_operand, 1, 2);
    first = s.swizzle, offset = number(s.start), layout = s.layout;
  } else {
    first = f;
  }
  if (offset.is(ValueKind::flag)) {
    // The offset is a smem_ptr_flag (the placeholder for a shared-memory address): the swizzle applies to
    // byte addresses, not to element indices, so a recast does not change the swizzle.
    long long const bits = offset.root().s.v;
    if (!up && bits % n != 0) return t.refused(Rule::not_divisible, bits, n);
    offset.nodes[0].s = fixed(up ? bits * n : bits / n);
  } else if (!offset.is_number() || offset.root().e != 0) {
    return t.refused(Rule::integer_index, offset.rank(), 1);
  } else {
    Num const start = offset.root().s;
    if (up) t.require(t.eq(t.mod(start, fixed(n)), fixed(0)), Rule::not_divisible, start, fixed(n));
    offset = number(up ? t.div(start, fixed(n)) : t.mul(start, fixed(n)));
    Bits const b = bits_of(first);
    // A source bit of the swizzle must not be within the larger element.
    if (up && b.bits > 0 && b.shift < 0 && lowest_bit(n) > b.base) return t.refused(Rule::swizzle_mask, b.y(), b.z());
    if (b.bits > 0) first = recast_swizzle(t, first, n, up);
  }
  Value const inner = cast_composed(t, layout, n, up);
  if (t.failed()) return nothing();
  if (f.is(ValueKind::swizzle)) return composed(first, offset, inner);
  return make_composed(first, offset, inner);
}
/// Returns the composed layout c recast from elements of old_bits bits to elements of new_bits bits.
ZELLIGE_ALGEBRA constexpr Value recast_composed(Tape& t, View c, long long old_bits, long long new_bits) {
  long long const g = t.gcd(fixed(old_bits), fixed(new_bits)).v;
  Value r = c;
  if (old_bits != g) r = cast_composed(t, r, old_bits / g, false);
  if (new_bits != g && !t.failed()) r = cast_composed(t, r, new_bits / g, true);
  if (t.failed()) return nothing();
  return r;
}

/// Returns the cosize of the composed layout c: one more than its greatest index. The result may be an upper
/// bound if c has a swizzle, and has unknown numbers or more than 4096 elements.
ZELLIGE_ALGEBRA constexpr Value cosize_composed(Tape& t, View c) {
  constexpr long long limit = 4096;
  Settled s = settle(t, c, Asks::nothing);
  bool const known = !t.symbolic() || all_static(c);
  Num const size = product_of(t, innermost(c));
  if (!s.is && (!known || size.v > limit)) s = settle(t, c, Asks::composition);
  if (t.failed()) return nothing();
  if (s.is && !s.swizzles() && (s.start.is(0) || !known || size.v > limit)) {
    Value const extent = cosize(t, s.layout);
    if (t.failed()) return nothing();
    return number(t.add(s.start, extent.root().s));
  }
  if (s.is && s.swizzles()) {
    Num const reach = t.add(s.start, cosize_of(t, s.layout));
    Bits const b = bits_of(s.swizzle);
    long long block = 1;  // multiples of this block are not moved
    while (block <= (b.y() | b.z())) block *= 2;
    if (reach.is_static() && reach.v % block == 0 && s.start.is(0) &&
        same(product_of(t, right_inverse(t, s.layout)), reach))
      return number(reach);
    if (!known || size.v > limit) return number(t.mul(t.ceil_div(reach, fixed(block)), fixed(block)));
  }
  Function const f(c);
  if (!f.integers() || !known || size.v > limit) return t.refused(Rule::composed_operand, 1, 1);
  long long last = -1;
  for (long long i = 0; i < size.v; ++i) last = f(i) > last ? f(i) : last;
  return number(all_static(c) ? fixed(last + 1) : dynamic(last + 1));
}

/// For layout products (logical_product, blocked_product, ...) of a composed layout f(offset + l(c)): refuses
/// the operation unless f is known to be injective on the indices offset + l(c). Otherwise the product would
/// repeat elements. Swizzles are always injective.
ZELLIGE_ALGEBRA constexpr void require_injective(Tape& t, View f, View offset, View l) {
  if (t.failed()) return;
  bool swizzles = true;
  for (ValueNode const& n : f) swizzles = swizzles && n.kind != ValueKind::layout;
  if (swizzles) return;
  bool injective = f.is_layout() && l.is_layout() && all_static(f) && all_static(l) && of_integers(f) &&
                   of_integers(l) && offset.is_number() && offset.root().s.is_static();
  Num reach = fixed(0), size = fixed(0);
  if (injective) {
    reach = t.add(offset.root().s, cosize_of(t, l)), size = product_of(t, f);
    List<ValueNode> modes = leaves_of(f);
    merge_modes(t, modes, true);
    // Each mode counts as far as the indices reach, the last one beyond its extent. Sorted by stride, a mode
    // must step beyond what all modes of smaller stride cover.
    long long rest = reach.v;
    for (int i = 0; i < modes.count; ++i) {
      bool const last = i + 1 == modes.count;
      long long const extent = last || modes[i].s.v > rest ? rest : modes[i].s.v;
      rest = (rest + extent - 1) / (extent > 0 ? extent : 1);
      modes[i].s = fixed(extent);
    }
    long long covered = 1;
    for (int left = modes.count; left > 0; --left) {
      int smallest = 0;
      for (int i = 1; i < left; ++i) {
        if (t.abs(modes[i].d).v < t.abs(modes[smallest].d).v) smallest = i;
      }
      ValueNode const n = modes[smallest];
      modes.erase(smallest);
      if (n.s.v <= 1) continue;
      long long const stride = t.abs(n.d).v;
      injective = injective && stride >= covered;
      covered += (n.s.v - 1) * stride;
    }
  }
  if (!injective) t.refuse(Rule::composed_overlap, reach.v, size.v);
}

/// Returns the composition of layout a with the composed layout c. The result is x -> swizzle(start +
/// layout(x)) or an uncomposed layout if the composition is known to have this form; else it is the composed
/// layout x -> a(c(x)).
ZELLIGE_ALGEBRA constexpr Value compose_with(Tape& t, View a, View c) {
  Value const both = composed(a, number(0), c);
  Settled const s = settle(t, both, Asks::nothing);
  if (s.is && !s.waits && (s.swizzles() || s.start.is(0))) return s.value();
  return both;
}

/// Returns the result of the operation op on the operands a, of which at least one is a composed layout. Only
/// for operations with Composed::moves in the table of op.hpp: those with a rule of their own for composed
/// layouts. Refused if the operation does not accept a composed layout at this position.
ZELLIGE_ALGEBRA constexpr Value apply_composed(Op op, Tape& t, Values const& a) {
  int which = 0;
  while (which + 1 < a.size() && !a[which].is(ValueKind::composed)) ++which;
  View const c = a[which];
  switch (op) {
    case Op::slice_and_offset:
      if (which == 1) return slice_composed(t, a[0], c);
      break;
    case Op::slice:
      if (which == 1) {
        Value const both = slice_composed(t, a[0], c);
        if (t.failed()) return nothing();
        return both[0];
      }
      break;
    case Op::dice:
      if (which == 1) {
        Value const kept = dice(t, a[0], innermost(c));
        if (t.failed()) return nothing();
        return with_innermost(c, kept);
      }
      break;
    case Op::composition:
      if (a[0].is_layout()) return compose_with(t, a[0], c);
      break;
    case Op::complement1:
    case Op::complement:
    case Op::nullspace: {
      if (which != 0) break;
      if (op == Op::nullspace) {
        // A swizzle maps only 0 to 0.
        Settled const s = settle(t, c, Asks::composition);
        if (t.failed()) return nothing();
        if (s.is && s.start.is(0)) return nullspace(t, s.layout);
      }
      Value const unswizzled = inner_layout_of(t, c);
      if (t.failed()) return nothing();
      if (op == Op::nullspace) return nullspace(t, unswizzled);
      if (op == Op::complement1) return complement(t, unswizzled);
      return complement(t, unswizzled, shape_of(a[1]));
    }
    case Op::right_inverse:
      return inverse_composed(t, c, true);
    case Op::left_inverse:
      return inverse_composed(t, c, false);
    case Op::max_alignment:
      return max_alignment_composed(t, c);
    case Op::upcast:
    case Op::downcast:
      return cast_composed(t, c, a[1].root().s.v, op == Op::upcast);
    case Op::recast_layout:
      return recast_composed(t, c, a[1].root().s.v, a[2].root().s.v);
    case Op::cosize: {
      Value mode = c;
      for (int i = 1; i < a.size() && !t.failed(); ++i) {
        Value const part = get(t, innermost(mode), small(a[i]));
        if (!t.failed()) mode = with_innermost(mode, part);
      }
      if (t.failed()) return nothing();
      return cosize_composed(t, mode);
    }
    case Op::layout_call:
      for (ValueNode const& n : a[1].nodes) {
        if (n.kind != ValueKind::underscore) continue;
        Value const both = slice_composed(t, a[1], c);
        if (t.failed()) return nothing();
        return both[0];
      }
      return apply_function(t, c, a[1]);
    default:
      break;
  }
  return t.refused(Rule::composed_operand, which + 1, a.size());
}

}  // namespace zellige::algebra
