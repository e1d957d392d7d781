// Partitions and slices tensors that are Values (value.hpp). Such a tensor consists of an iterator, over integers or
// over coordinates, and a layout.
#pragma once
#include <zellige/layout/algebra/operation.hpp>

namespace zellige::algebra {

ZELLIGE_ALGEBRA constexpr Value tensor(View iterator, View layout) {
  return bundle(ValueKind::tensor, iterator, layout);
}
/// Returns the tensor whose elements are the coordinates to which the layout maps; its iterator starts at
/// zero.
ZELLIGE_ALGEBRA constexpr Value coord_tensor(View layout) {
  Value zero = coprofile(layout);
  for (ValueNode& n : zero.nodes) n.kind = n.kids < 0 ? ValueKind::number : ValueKind::arithmetic;
  return tensor(bundle(ValueKind::coordinates, zero), layout);
}
ZELLIGE_ALGEBRA constexpr Value identity_tensor(View shape) { return coord_tensor(pair_up(shape, basis_like(shape))); }
/// Returns the iterator advanced by `offset`, an integer or a coordinate.
ZELLIGE_ALGEBRA constexpr Value advance(Tape& t, View iterator, View offset) {
  Value const at = add(t, iterator[0], offset);
  if (t.failed()) return nothing();
  return bundle(iterator.kind(), at);
}
/// Returns the result of the layout operation op on operands a and b, of which one may be a composed layout.
ZELLIGE_ALGEBRA constexpr Value on_layout(Op op, Tape& t, View a, View b) {
  Values both;
  both.push_back(a);
  both.push_back(b);
  return apply(op, t, both);
}
/// Returns the element of tensor x at crd or, if crd has a `_`, the slice of x at crd, which is a tensor.
ZELLIGE_ALGEBRA constexpr Value tensor_call(Tape& t, View x, View crd) {
  bool sliced = false;
  for (ValueNode const& n : crd) sliced = sliced || n.kind == ValueKind::underscore;
  if (!sliced) {
    Value const at = advance(t, x[0], apply_function(t, x[1], crd));
    if (t.failed()) return nothing();
    return at[0];
  }
  Value const both = on_layout(Op::slice_and_offset, t, crd, x[1]);
  if (t.failed()) return nothing();
  Value const at = advance(t, x[0], both[1]);
  if (t.failed()) return nothing();
  return tensor(at, both[0]);
}
/// Returns the composed layout l with its origin moved to the coordinate crd: r(c) = l(crd + c).
ZELLIGE_ALGEBRA constexpr Value started_at(Tape& t, View l, View crd) {
  if (l[2].is(ValueKind::composed)) {
    Value const within = started_at(t, l[2], crd);
    if (t.failed()) return nothing();
    return composed(l[0], l[1], within);
  }
  Value const start = add(t, start_of(l[1]), index_of(t, crd, l[2]));
  if (t.failed()) return nothing();
  return composed(l[0], start, l[2]);
}
/// Returns the tensor x with its origin moved to the coordinate crd: r(c) = x(crd + c).
ZELLIGE_ALGEBRA constexpr Value seen_from(Tape& t, View x, View crd) {
  View const l = x[1];
  if (l.is(ValueKind::composed)) {
    Value const from = started_at(t, l, crd);
    if (t.failed()) return nothing();
    return tensor(x[0], from);
  }
  Value const at = advance(t, x[0], index_of(t, crd, l));
  if (t.failed()) return nothing();
  return tensor(at, l);
}
/// Returns the coordinate (_, ..., _) of n modes, or `_` if n is 1.
ZELLIGE_ALGEBRA constexpr Value repeat_mark(int n) {
  if (n == 1) return underscore();
  Value r = empty(ValueKind::tuple);
  for (int i = 0; i < n; ++i) r.add(underscore());
  return r;
}
/// Returns the coordinate crd extended by `_` at its end to n modes.
ZELLIGE_ALGEBRA constexpr Value marked_to(View crd, int n) {
  Value r = crd;
  while (r.rank() < n) r.add(underscore());
  return r;
}
/// Divides tensor x by a tiler. Returns the tile that crd selects (if `inner`), or the tensor of the elements
/// at coordinate crd of every tile.
ZELLIGE_ALGEBRA constexpr Value partition(Tape& t, View x, View tiler, View crd, bool inner) {
  Value const zipped = on_layout(Op::zipped_divide, t, x[1], tiler);
  if (t.failed()) return nothing();
  Value const tiled = tensor(x[0], zipped);
  View const modes = innermost(zipped);
  Value const named = modes[inner ? 1 : 0];
  Value const whole = repeat_mark(modes[inner ? 0 : 1].rank());
  Value selected = crd;
  if (crd.is_tuple()) {
    if (crd.rank() > named.rank()) return t.refused(Rule::rank_mismatch, crd.rank(), named.rank());
    selected = marked_to(crd, named.rank());
  }
  if (inner) return tensor_call(t, tiled, bundle(ValueKind::tuple, whole, selected));
  return tensor_call(t, tiled, bundle(ValueKind::tuple, selected, whole));
}
/// Divides tensor x into tiles of the tiler's shape and returns the tile that crd selects.
ZELLIGE_ALGEBRA constexpr Value local_tile(Tape& t, View x, View tiler, View crd) {
  return partition(t, x, tiler, crd, true);
}
/// Returns the elements of x that thread number `index` of the thread layout `tile` owns: one element of
/// every tile of the thread layout's shape. Modes of `tile` for which the projection has a `_` are dropped.
ZELLIGE_ALGEBRA constexpr Value local_partition(Tape& t, View x, View tile, View index, View projection) {
  Value const crd = flat_coord(t, index, tile);
  Value const tiler = product_each(t, shape_of(tile));
  if (t.failed()) return nothing();
  return partition(t, x, dice(t, projection, tiler), dice(t, projection, crd), false);
}

}  // namespace zellige::algebra
