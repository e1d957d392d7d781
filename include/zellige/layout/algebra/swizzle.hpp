// Constructs, composes, recasts and slices swizzles and composed layouts that are Values (trees of nodes, see
// value.hpp). A swizzle Sw<bits, base, shift> is a leaf with bits, base and shift in the fields s, d and e of its node.
// A composed layout is a node with three children: swizzle or layout, offset, layout.
#pragma once
#include <zellige/layout/algebra/coordinate.hpp>
#include <zellige/layout/algebra/inverse.hpp>
#include <zellige/layout/algebra/order.hpp>
#include <zellige/layout/algebra/recast.hpp>
#include <zellige/layout/algebra/vectors.hpp>

namespace zellige::algebra {

/// The parameters of a swizzle Sw<bits, base, shift>.
struct Bits {
  int bits;
  int base;
  int shift;
  /// Returns the mask of the source bits, which are xored into the bits z().
  ZELLIGE_ALGEBRA constexpr long long y() const { return ((1LL << bits) - 1) << (base + (shift > 0 ? shift : 0)); }
  /// Returns the mask of the target bits, into which the bits y() are xored.
  ZELLIGE_ALGEBRA constexpr long long z() const { return ((1LL << bits) - 1) << (base + (shift < 0 ? -shift : 0)); }
};
ZELLIGE_ALGEBRA constexpr Bits bits_of(View swizzle) {
  ValueNode const& n = swizzle.root();
  return {int(n.s.v), int(n.d.v), int(n.e)};
}
ZELLIGE_ALGEBRA constexpr Value swizzle_value(Bits b) {
  return leaf({-1, ValueKind::swizzle, fixed(b.bits), fixed(b.base), b.shift});
}
ZELLIGE_ALGEBRA constexpr Value composed(View a, View offset, View b) {
  return bundle(ValueKind::composed, a, offset, b);
}
/// Returns true if all strides of a layout are integers: none is a basis element.
ZELLIGE_ALGEBRA constexpr bool of_integers(View l) {
  for (ValueNode const& n : l) {
    if (n.kids < 0 && n.e != 0) return false;
  }
  return true;
}
/// Returns the innermost layout of the composed layout l, whose coordinates are those of l. An uncomposed
/// layout is returned unchanged.
ZELLIGE_ALGEBRA constexpr View innermost(View l) {
  while (l.is(ValueKind::composed)) l = l[2];
  return l;
}
/// Returns the composed layout c -> swizzle(offset + l(c)), or l itself if the swizzle has no bits and the
/// offset is the static 0.
ZELLIGE_ALGEBRA constexpr Value make_composed(View swizzle, View offset, View l) {
  bool const is_swizzle = swizzle.is(ValueKind::swizzle), none = is_swizzle && bits_of(swizzle).bits == 0;
  bool const at_0 = offset.is_number() && offset.root().s.is_static() && offset.root().s.is(0);
  if (none && at_0) return l;
  return composed(swizzle, offset, l);
}
/// Returns the composed layout c with its innermost layout replaced by l.
ZELLIGE_ALGEBRA constexpr Value with_innermost(View c, View l) {
  if (!c.is(ValueKind::composed)) return l;
  return make_composed(c[0], c[1], with_innermost(c[2], l));
}
/// Returns the swizzled index: `index` with its source bits xored into its target bits.
ZELLIGE_ALGEBRA constexpr Num swizzled(Tape& t, Bits b, Num index) {
  return t.bit_xor(index, t.shr(t.bit_and(index, fixed(b.y())), fixed(b.shift)));
}

ZELLIGE_ALGEBRA constexpr int lowest_bit(long long m) {
  int n = 0;
  for (; m != 0 && m % 2 == 0; m /= 2) ++n;
  return n;
}
ZELLIGE_ALGEBRA constexpr int count_bits(long long m) {
  int n = 0;
  for (; m > 0; m /= 2) n += int(m % 2);
  return n;
}
/// Returns the swizzle that xors the bits under mask y into those under mask z. Refused unless the bits of
/// each mask are adjacent, and the masks have equally many bits and none in common.
ZELLIGE_ALGEBRA constexpr Value make_swizzle(Tape& t, long long y, long long z) {
  if (count_bits(y) != count_bits(z)) return t.refused(Rule::swizzle_bits, count_bits(y), count_bits(z));
  if (y == 0) return swizzle_value({0, 0, 0});
  int const ty = lowest_bit(y), tz = lowest_bit(z);
  Bits const b{count_bits(y), ty < tz ? ty : tz, ty - tz};
  if (b.y() != y || b.z() != z || (y & z) != 0) return t.refused(Rule::swizzle_mask, y, z);
  return swizzle_value(b);
}
/// Returns the swizzle that maps i to a(b(i)). Refused if the shifts of a and b differ, or if no swizzle has
/// the combined bit masks of a and b.
ZELLIGE_ALGEBRA constexpr Value compose_swizzles(Tape& t, View a, View b) {
  Bits const p = bits_of(a), q = bits_of(b);
  if (p.shift != q.shift) return t.refused(Rule::swizzle_shift, p.shift, q.shift);
  return make_swizzle(t, p.y() ^ q.y(), p.z() ^ q.z());
}
/// Returns the swizzle of the same memory in elements n times as large (if `up`) or n times as small. n must
/// be a power of two.
ZELLIGE_ALGEBRA constexpr Value recast_swizzle(Tape& t, View s, long long n, bool up) {
  if (count_bits(n) != 1) return t.refused(Rule::not_divisible, n, 2);
  Bits b = bits_of(s);
  int const log = lowest_bit(n);
  b.base += up ? -log : log;
  if (b.base < 0) b.bits = b.bits + b.base < 0 ? 0 : b.bits + b.base, b.base = 0;
  return swizzle_value(b);
}
/// Returns a swizzle of byte addresses as a swizzle of indices of elements of `bits` bits. Refused unless a byte holds a
/// power of two of elements, or an element takes a power of two of bytes.
ZELLIGE_ALGEBRA constexpr Value swizzle_of_elements(Tape& t, View s, long long bits) {
  if (bits <= 0 || (bits % 8 != 0 && 8 % bits != 0)) return t.refused(Rule::not_divisible, bits, 8);
  return recast_swizzle(t, s, bits < 8 ? 8 / bits : bits / 8, bits >= 8);
}

/// Returns true if the layout maps each bit of its argument to a different bit of the index: extents and
/// strides are powers of two, and no two modes share a bit. Such a layout commutes with xor.
ZELLIGE_ALGEBRA constexpr bool moves_bits(View l) {
  long long seen = 0;
  for (ValueNode const& n : l) {
    if (n.kids >= 0 || n.s.is(1)) continue;
    if (!n.s.is_static() || !n.d.is_static() || n.e != 0 || n.d.v <= 0) return false;
    if (count_bits(n.s.v) != 1 || count_bits(n.d.v) != 1) return false;
    long long const hit = (n.s.v - 1) * n.d.v;
    if ((seen & hit) != 0) return false;
    seen |= hit;
  }
  return true;
}
/// Returns layout o swizzle in the form swizzle' o layout, with another swizzle. Refused unless the layout
/// maps bits to bits (moves_bits) and the swizzle changes only bits below the layout's size.
ZELLIGE_ALGEBRA constexpr Value swizzle_to_the_left(Tape& t, View l, View swizzle) {
  Bits const b = bits_of(swizzle);
  if (b.bits == 0) return l;
  bool const inside = l.is_leaf() || (b.y() | b.z()) < product_of(t, l).v;
  if (!moves_bits(l) || !inside) return t.refused(Rule::swizzle_mask, b.y(), b.z());
  Value const y = index_of(t, number(b.y()), l), z = index_of(t, number(b.z()), l);
  Value const moved = make_swizzle(t, y.root().s.v, z.root().s.v);
  if (t.failed()) return nothing();
  return composed(moved, number(0), l);
}
/// Returns the mask of all bits below the power of two `above` that are set in some index of the layout. Returns -1
/// if two modes may set the same of these bits, or if the mask is not known. Modes whose stride is a multiple of
/// `above` set none of them, whatever they carry.
ZELLIGE_ALGEBRA constexpr long long bits_used(View l, long long above) {
  long long used = 0;
  for (ValueNode const& n : l) {
    if (n.kids >= 0) continue;
    if (!n.d.is_static() || n.e != 0 || n.d.v < 0) return -1;
    if (n.d.v % above == 0) continue;
    if (!n.s.is_static()) return -1;
    long long hit = 0;
    for (long long i = 1; i < n.s.v && i <= 4096; ++i) hit |= i * n.d.v;
    hit &= above - 1;
    if (n.s.v > 4097 || (used & hit) != 0) return -1;
    used |= hit;
  }
  return used;
}
/// The bits of an index under `mask`: those with a known value (`known`), and those that depend on run-time
/// numbers (`moves`), whose values `bits` holds.
struct SomeBits {
  long long mask = 0;
  long long known = 0;
  long long moves = 0;
  Num bits = fixed(0);

  /// Returns bit i of the index, not shifted: 2^i if the bit is set, else 0.
  ZELLIGE_ALGEBRA constexpr Num bit(Tape& t, int i) const {
    long long const b = 1LL << i;
    return (moves & b) != 0 ? t.bit_and(bits, fixed(b)) : fixed(known & b);
  }
  /// Returns the collected bits together: the index with all bits outside of `mask` cleared.
  ZELLIGE_ALGEBRA constexpr Num all(Tape& t) const { return t.add(bits, fixed(known)); }
};
/// The start index of a slice, split into the swizzle's source bits (`reads`), its target bits (`flips`) and
/// all other bits (`rest`). Valid if no two terms of the index share a bit below `above`, which is above all bits of
/// the swizzle (`disjoint`). The split shows the compiler which bits of which coordinate determine a stride.
struct SplitStart {
  SomeBits reads;
  SomeBits flips;
  long long above = 1;
  Num rest = fixed(0);
  long long taken = 0;  // bits that the terms added so far may set
  bool disjoint = true;
};
/// Adds the term `index` to a sum of which `to` collects only the bits under the mask to.mask. `hit` is the
/// mask of the bits that may be set in `index`.
ZELLIGE_ALGEBRA constexpr void add_bits(Tape& t, SomeBits& to, Num index, long long hit) {
  long long const here = hit & to.mask;
  if (here == 0) return;
  if (index.is_static())
    to.known |= index.v & here;
  else
    to.moves |= here, to.bits = t.add(to.bits, t.bit_and(index, fixed(here)));
}
/// Adds the term c * stride of one mode (`leaf`, with coordinate c) to the start index of a slice, `to`.
/// Clears to.disjoint if the term may share a bit below to.above with the terms added before.
ZELLIGE_ALGEBRA constexpr void add_term(Tape& t, SplitStart& to, Num c, ValueNode const& leaf) {
  if (c.is(0) || leaf.s.is(1) || leaf.d.is(0)) return;
  if (leaf.d.is_static() && leaf.e == 0 && leaf.d.v > 0 && leaf.d.v % to.above == 0) {
    to.rest = t.add(to.rest, t.mul(c, leaf.d));
    return;
  }
  bool const numbers = leaf.s.is_static() && leaf.d.is_static() && leaf.e == 0 && leaf.d.v > 0;
  if (!numbers || count_bits(leaf.s.v) != 1 || count_bits(leaf.d.v) != 1 || (c.is_static() && c.v >= leaf.s.v)) {
    to.disjoint = false;
    return;
  }
  long long const hit = (leaf.s.v - 1) * leaf.d.v, decide = hit & (to.reads.mask | to.flips.mask);
  to.disjoint = to.disjoint && (to.taken & hit & (to.above - 1)) == 0;
  to.taken |= hit;
  Num const index = t.mul(c, leaf.d);
  add_bits(t, to.reads, index, hit);
  add_bits(t, to.flips, index, hit);
  if (decide != hit) to.rest = t.add(to.rest, decide == 0 ? index : t.bit_and(index, fixed(~decide)));
}
/// Adds the index that layout l gives crd to the start index of a slice, `to`, term by term (coordinate times
/// stride of each mode); `_` counts as 0.
ZELLIGE_ALGEBRA constexpr void add_terms(Tape& t, SplitStart& to, View crd, View l) {
  if (!to.disjoint || t.failed() || crd.is(ValueKind::underscore)) return;
  if (crd.is_tuple()) {
    for (int i = 0; i < l.rank(); ++i) add_terms(t, to, crd[i], l[i]);
  } else if (l.is_leaf()) {
    add_term(t, to, crd.root().s, l.root());
  } else {
    Num c = crd.root().s;
    for (int i = 0; i < l.rank() && !t.failed(); ++i) {
      Num const extent = product_of(t, l[i]);
      Num here = c;
      if (i + 1 < l.rank() && !c.is(0)) here = t.mod(c, extent), c = t.div(c, extent);
      add_terms(t, to, number(here), l[i]);
    }
  }
}
/// Returns the pair (slice of the composed layout c at crd, offset to add to the slice's indices). The
/// slice is an uncomposed layout where possible: no source bit of the swizzle may vary within the slice
/// together with the target bit that it is xored into. Otherwise the slice is a composed layout.
ZELLIGE_ALGEBRA constexpr Value slice_composed(Tape& t, View crd, View c) {
  View const swizzle = c[0], layout = c[2];
  if (layout.is(ValueKind::composed)) {
    // Adds the start of the inner layout's slice to the offset, to which the left layout (or swizzle) is then
    // applied.
    Value const within = slice_composed(t, crd, layout);
    if (t.failed()) return nothing();
    Value from = c[1];
    if (!within[1].is_number() || !within[1].root().s.is(0)) from = add(t, c[1], within[1]);
    if (t.failed()) return nothing();
    return bundle(ValueKind::tuple, make_composed(swizzle, from, within[0]), number(0));
  }
  bool all = true;
  for (ValueNode const& n : crd) all = all && (n.kids >= 0 || n.kind == ValueKind::underscore);
  Value const part = slice(t, crd, layout);
  if (t.failed()) return nothing();
  if (all) return bundle(ValueKind::tuple, make_composed(swizzle, c[1], part), number(0));
  if (!swizzle.is(ValueKind::swizzle)) {
    // In the form layout o offset o layout, the start of the slice is added to the offset, to which the left
    // layout is then applied.
    Value const from = add(t, c[1], offset_of(t, crd, layout));
    if (t.failed()) return nothing();
    return bundle(ValueKind::tuple, composed(swizzle, from, part), number(0));
  }
  if (!of_integers(layout)) return t.refused(Rule::integer_index, layout.rank(), 1);
  bool const at_0 = c[1].is_number() && c[1].root().s.is_static() && c[1].root().s.is(0);
  auto start = [&] {
    Num const n = offset_of(t, crd, layout).root().s;
    return c[1].is_number() ? t.add(c[1].root().s, n) : n;
  };
  if (!c[1].is_number()) return bundle(ValueKind::tuple, composed(swizzle, c[1], part), number(start()));
  Bits const b = bits_of(swizzle);
  Value const skipped = dice(t, crd, layout);
  if (t.failed()) return nothing();
  // Carries out of the swizzle's highest bit change neither what it reads nor what it flips.
  long long const above = 1LL << (b.base + b.bits + (b.shift < 0 ? -b.shift : b.shift));
  long long const used = bits_used(part, above), moved = bits_used(skipped, above);
  // `from_bits` are the bits that the start may have below `above`. If they are unknown, a run-time check ensures that
  // start and slice do not carry.
  Tape probe = t;
  Num from = offset_of(probe, crd, layout).root().s;
  from = probe.add(c[1].root().s, from);
  long long from_bits = at_0 ? moved : -1;
  if (from.is_static() || (from_bits < 0 && !t.symbolic())) from_bits = from.v;
  if (!from.is_static() && !t.symbolic()) from_bits |= from.v;
  bool const asks = from_bits < 0 && t.symbolic() && !from.is_static();
  bool const carries = !asks && (from_bits < 0 || (from_bits & used) != 0);
  int const y0 = lowest_bit(b.y()), z0 = lowest_bit(b.z());
  bool unswizzled_left = used >= 0 && !carries;
  for (int i = 0; i < b.bits; ++i)
    unswizzled_left = unswizzled_left && !((used >> (y0 + i) & 1) && (used >> (z0 + i) & 1));
  if (unswizzled_left) {
    // The slice becomes an uncomposed layout with one mode per index bit that the swizzle reads or changes.
    // The strides of these modes depend on the bits that the slice's start has at these positions.
    SplitStart split{{b.y()}, {b.z()}, above};
    split.disjoint = at_0;
    Tape terms = t;
    add_terms(terms, split, crd, layout);
    Num whole = fixed(0);
    if (split.disjoint) {
      t = terms;
    } else {
      whole = start();
      split.reads = split.flips = {-1, 0, -1, whole};
    }
    int const gap = (b.shift < 0 ? -b.shift : b.shift) - b.bits;
    Value bits = bundle(ValueKind::layout, mode(fixed(1LL << b.base), {fixed(1)}));
    auto add_bits = [&](bool y) {
      for (int i = 0; i < b.bits; ++i) {
        long long const own = 1LL << ((y ? y0 : z0) + i), flipped = 1LL << (z0 + i);
        bool const other_moves = used >> ((y ? z0 : y0) + i) & 1;
        Num stride = fixed(own);
        if (!y && !other_moves) stride = t.flip(split.reads.bit(t, y0 + i), fixed(own));
        if (y && !other_moves) stride = t.add(fixed(own), t.flip(split.flips.bit(t, z0 + i), fixed(flipped)));
        bits.add(mode(fixed(2), {stride}));
      }
    };
    add_bits(b.shift < 0);
    bits.add(mode(fixed(1LL << gap), {fixed(1LL << (b.base + b.bits))}));
    add_bits(b.shift >= 0);
    bits.add(mode(fixed(1), {fixed(1LL << (b.base + 2 * b.bits + gap))}));
    Tape trial = t;
    Value const unswizzled = composition(trial, bits, part);
    if (!trial.failed()) {
      t = trial;
      if (asks) {
        Num const at = start();
        t.require(t.eq(t.bit_and(at, fixed(used)), fixed(0)), Rule::swizzle_carry, at, fixed(used));
      }
      Num at = fixed(0);
      if (split.disjoint) {
        Num const reads = split.reads.all(t), flipped = t.shr(reads, fixed(b.shift));
        at = t.add(t.add(reads, t.bit_xor(split.flips.all(t), flipped)), split.rest);
      } else {
        at = swizzled(t, b, whole);
      }
      return bundle(ValueKind::tuple, unswizzled, number(at));
    }
  }
  // If the start shares no bit with the slice or the swizzle, it may be added after the swizzle.
  if (at_0 && used >= 0 && moved >= 0 && !carries && (moved & (used | b.y() | b.z())) == 0)
    return bundle(ValueKind::tuple, make_composed(swizzle, c[1], part), number(start()));
  return bundle(ValueKind::tuple, make_composed(swizzle, number(start()), part), number(0));
}

}  // namespace zellige::algebra
