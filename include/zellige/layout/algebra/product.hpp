// Products: a block repeated as a tiler says. blocked_product lays blocks side by side, raked_product
// interleaves them.
//
//   logical_product((2, 2):(4, 1), 6:1) = ((2, 2), (2, 3)):((4, 1), (2, 8))
#pragma once
#include <zellige/layout/algebra/divide.hpp>

namespace zellige::algebra {

ZELLIGE_ALGEBRA constexpr Value logical_product(Tape& t, Value const& block, Value const& tiler) {
  if (t.failed()) return nothing();
  switch (tiler.kind()) {
    case ValueKind::underscore:
      return block;
    case ValueKind::tuple:
      return by_mode(t, block, tiler, true, Rule::composition_rank,
                     [&](Value const& m, Value const& p) { return logical_product(t, m, p); });
    case ValueKind::number:
    case ValueKind::layout: {
      Value const times = as_layout(tiler);
      Value const room = number(t.mul(product_of(t, shape_of(block)), cosize_of(t, times)));
      Value const rest = complement(t, block, room);
      Value const repeated = composition(t, rest, times);
      if (t.failed()) return nothing();
      return bundle(ValueKind::layout, block, repeated);
    }
    default:
      return t.refused(Rule::not_a_layout, int(block.kind()), int(tiler.kind()));
  }
}
ZELLIGE_ALGEBRA constexpr Value zipped_product(Tape& t, Value const& block, Value const& tiler) {
  return unzip_by(t, logical_product(t, block, tiler), tiler);
}
ZELLIGE_ALGEBRA constexpr Value tiled_product(Tape& t, Value const& block, Value const& tiler) {
  Value const z = zipped_product(t, block, tiler);
  if (t.failed()) return nothing();
  return spread_rest(z);
}
ZELLIGE_ALGEBRA constexpr Value flat_product(Tape& t, Value const& block, Value const& tiler) {
  Value const z = zipped_product(t, block, tiler);
  if (t.failed()) return nothing();
  return spread_both(z);
}

/// x as a new last mode; n times until there are n modes. A leaf becomes the first of them.
ZELLIGE_ALGEBRA constexpr Value append(Value const& v, Value const& x) {
  if (v.is_leaf()) return bundle(v.kind(), v, x);
  Value r = v;
  r.add(x);
  return r;
}
ZELLIGE_ALGEBRA constexpr Value pad_to(Tape& t, Value const& v, int n, Value const& x) {
  if (n < v.rank()) return t.refused(Rule::rank_mismatch, n, v.rank());
  Value r = v;
  while (r.rank() < n) r = append(r, x);
  return r;
}

/// Mode i of both, as mode i.
ZELLIGE_ALGEBRA constexpr Value zip(Tape& t, Value const& a, Value const& b) {
  if (a.is_leaf()) return bundle(a.kind(), bundle(a.kind(), a, b));
  if (a.rank() != b.rank()) return t.refused(Rule::rank_mismatch, a.rank(), b.rank());
  Value r = empty(a.kind());
  for (int i = 0; i < a.rank(); ++i) r.add(bundle(a.kind(), a[i], b[i]));
  return r;
}

ZELLIGE_ALGEBRA constexpr Value blocked(Tape& t, Value const& block, Value const& tiler, bool raked) {
  int const rank = block.rank() > tiler.rank() ? block.rank() : tiler.rank();
  Value const product = logical_product(t, pad_to(t, block, rank, unit()), pad_to(t, tiler, rank, unit()));
  if (t.failed()) return nothing();
  if (raked) return zip(t, product[1], product[0]);
  return zip(t, product[0], product[1]);
}
ZELLIGE_ALGEBRA constexpr Value blocked_product(Tape& t, Value const& block, Value const& tiler) {
  return blocked(t, block, tiler, false);
}
ZELLIGE_ALGEBRA constexpr Value raked_product(Tape& t, Value const& block, Value const& tiler) {
  return blocked(t, block, tiler, true);
}

}  // namespace zellige::algebra
