// Tensors as values: an iterator (over integers, or over coordinates) and a layout. What partitioning does to
// them.
#pragma once
#include <zellige/layout/algebra/operation.hpp>

namespace zellige::algebra {

ZELLIGE_ALGEBRA constexpr Value tensor(View iterator, View layout) {
  return bundle(ValueKind::tensor, iterator, layout);
}
/// The iterator at zero in the codomain of the layout.
ZELLIGE_ALGEBRA constexpr Value coord_tensor(View layout) {
  Value zero = coprofile(layout);
  for (ValueNode& n : zero.nodes) n.kind = n.kids < 0 ? ValueKind::number : ValueKind::arithmetic;
  return tensor(bundle(ValueKind::coordinates, zero), layout);
}
ZELLIGE_ALGEBRA constexpr Value identity_tensor(View shape) {
  return coord_tensor(pair_up(shape, basis_like(shape)));
}
ZELLIGE_ALGEBRA constexpr Value advance(Tape& t, View iterator, View offset) {
  Value const at = add(t, iterator[0], offset);
  if (t.failed()) return nothing();
  return bundle(iterator.kind(), at);
}
/// The tensor's elements that crd keeps, or the one that it names.
ZELLIGE_ALGEBRA constexpr Value tensor_call(Tape& t, View x, View crd) {
  bool sliced = false;
  for (ValueNode const& n : crd) sliced = sliced || n.kind == ValueKind::underscore;
  Value const at = advance(t, x[0], offset_of(t, crd, x[1]));
  if (t.failed()) return nothing();
  if (!sliced) return at[0];
  Value const part = slice(t, crd, x[1]);
  if (t.failed()) return nothing();
  return tensor(at, part);
}
ZELLIGE_ALGEBRA constexpr Value repeat_mark(int n) {
  if (n == 1) return underscore();
  Value r = empty(ValueKind::tuple);
  for (int i = 0; i < n; ++i) r.add(underscore());
  return r;
}
ZELLIGE_ALGEBRA constexpr Value marked_to(View crd, int n) {
  Value r = crd;
  while (r.rank() < n) r.add(underscore());
  return r;
}
/// The tile that crd names among the tiles (inner), or what crd names in every tile (outer).
ZELLIGE_ALGEBRA constexpr Value partition(Tape& t, View x, View tiler, View crd, bool inner) {
  Value const zipped = zipped_divide(t, x[1], tiler);
  if (t.failed()) return nothing();
  Value const tiled = tensor(x[0], zipped);
  Value const named = zipped[inner ? 1 : 0];
  Value const whole = repeat_mark(zipped[inner ? 0 : 1].rank());
  Value chosen = crd;
  if (crd.is_tuple()) {
    if (crd.rank() > named.rank()) return t.refused(Rule::rank_mismatch, crd.rank(), named.rank());
    chosen = marked_to(crd, named.rank());
  }
  if (inner) return tensor_call(t, tiled, bundle(ValueKind::tuple, whole, chosen));
  return tensor_call(t, tiled, bundle(ValueKind::tuple, chosen, whole));
}
ZELLIGE_ALGEBRA constexpr Value local_tile(Tape& t, View x, View tiler, View crd) {
  return partition(t, x, tiler, crd, true);
}
ZELLIGE_ALGEBRA constexpr Value local_partition(Tape& t, View x, View tile, View index, View projection) {
  Value const crd = flat_coord(t, index, tile);
  Value const tiler = product_each(t, shape_of(tile));
  if (t.failed()) return nothing();
  return partition(t, x, dice(t, projection, tiler), dice(t, projection, crd), false);
}

}  // namespace zellige::algebra
