// Computes the parameters of TMA copies from the layouts of the global tensor and of the tile in shared memory: the
// box of global memory that one instruction moves, and the layout of TMA coordinates, by which kernels address boxes.
// Layouts are objects of class `Value`, not C++ types.
//
//   tma_basis      the box, (extent, ...):(mode of the global tensor, ...). It consists of the innermost modes of the
//                  shared-memory tile, up to the first mode along which global coordinates do not increase by one
//   tma_stride     the layout from coordinates of the global tensor to TMA coordinates
//   tma_im2col     the box of an im2col instruction, (channels, pixels):(modes of the global tensor)
//   tma_tiling     the pair (layout_tv, tiler) of a TiledCopy that moves a tile by such boxes
//
// A function that fails records the violated rule in its parameter `t`, a Tape (layout/algebra/tape.hpp).
#pragma once

#include <zellige/atom/algebra/tiled_copy.hpp>

namespace zellige::algebra {

/// Returns the mode of tuple or layout v at path e, a sequence of nested mode indices. Records
/// Rule::mode_out_of_range in `t` if there is none.
ZELLIGE_ALGEBRA constexpr Value at_path(Tape& t, Value const& v, Path e) {
  Value r = v;
  for (int i = 0; i < path_length(e); ++i) {
    int const m = path_index(e, i);
    if (m >= r.rank()) return t.refused(Rule::mode_out_of_range, m, r.rank());
    Value const next = r[m];
    r = next;
  }
  return r;
}
/// Returns the layout that maps each coordinate of `shape` to itself: its strides are basis elements.
ZELLIGE_ALGEBRA constexpr Value identity_layout(Value const& shape) { return pair_up(shape, basis_like(shape)); }
/// Returns the layout that maps an element of the tile `tiler` to a coordinate of the tensor with layout `global`.
ZELLIGE_ALGEBRA constexpr Value tile_modes(Tape& t, Value const& global, Value const& tiler) {
  return composition(t, identity_layout(shape_of(global)), tiler);
}

/// Returns layout `l` without modes of extent 1, and with adjacent modes merged if they are contiguous, have
/// static extents and together have at most 256 elements, the limit of a box extent.
ZELLIGE_ALGEBRA constexpr Value coalesce_256(Value const& l) {
  List<ValueNode> r;
  for (ValueNode const& n : leaves_of(l)) {
    if (n.s.is(1)) continue;
    if (!r.empty()) {
      ValueNode& last = r.back();
      bool const known = last.s.is_static() && last.d.is_static() && n.s.is_static() && n.d.is_static();
      if (known && last.e == 0 && last.s.v * last.d.v == n.d.v && last.s.v * n.s.v <= 256) {
        last.s = fixed(last.s.v * n.s.v);
        continue;
      }
    }
    r.push_back(n);
  }
  return layout_of(r);
}

/// The layouts from which a TMA copy is made. Layouts count elements of `bits` bits; the box counts elements of
/// `box_bits` bits.
struct TmaRequest {
  Value global;  // of the tensor in global memory
  Value shared;  // of the tile in shared memory, without its swizzle
  Value modes;   // element of the tile -> coordinate of the global tensor
  long long bits;
  long long box_bits;
};

/// Returns the box of one instruction, (extent, ...):(mode of the global tensor, ...), with at most five dimensions.
/// Records the violated rule in `t` if the tile's sizes in global and shared memory differ, or if the tile's first
/// elements in shared memory are not consecutive along a mode of the global tensor.
ZELLIGE_ALGEBRA constexpr Value tma_basis(Tape& t, TmaRequest const& r) {
  Num const tile = size_of(t, r.modes), held = size_of(t, r.shared);
  t.require(t.eq(tile, held), Rule::sizes_differ, held, tile);
  Value const in_order = coalesce(t, composition(t, r.modes, right_inverse(t, r.shared)));
  if (t.failed()) return nothing();
  // Only modes that step by one through a global mode can be dimensions of a box.
  List<ValueNode> run;
  for (ValueNode const& n : leaves_of(in_order)) {
    if (!n.d.is(1)) break;
    run.push_back(n);
  }
  if (run.empty()) return t.refused(Rule::tma_no_run, leaves_of(in_order)[0].d.v, 1);
  Value const modes = layout_of(run);
  Value const identity = identity_layout(shape_of(r.global));
  Value const strides = recast(t, composition(t, r.global, modes), r.bits, r.box_bits);
  Value const names = composition(t, identity, modes);
  if (t.failed()) return nothing();
  Value extents = shape_of(coalesce_256(strides));
  if (extents.is_leaf()) extents = bundle(ValueKind::tuple, extents);
  Value box = composition(t, pair_up(shape_of(strides), stride_of(names)), compact_left(t, extents));
  if (t.failed()) return nothing();
  for (ValueNode const& n : leaves_of(box)) {  // fails for tiles over nested modes of run-time extents
    if (!n.s.is_static()) return t.refused(Rule::not_static, n.s.v, 0);
  }
  // The box gets a dimension of extent 1 for every global mode that it does not cover.
  List<ValueNode> const reached = leaves_of(box), named = leaves_of(identity), global = leaves_of(r.global);
  for (int i = 0; i < named.size(); ++i) {
    if (global[i].s.is(1) || global[i].d.is(0)) continue;
    bool found = false;
    for (ValueNode const& n : reached) found = found || (n.d.is(1) && n.e == named[i].e);
    if (!found) box.add(mode(fixed(1), {fixed(1), named[i].e}));
  }
  if (box.rank() < 5) return box;
  return group(t, box, 4, -1);  // a descriptor has five dimensions
}

/// Returns the box of an im2col copy, (channels, pixels):(modes of the global tensor): the two innermost modes of the
/// tile in shared memory. Records Rule::tma_no_run in `t` if coordinates of the global tensor do not increase by one
/// along these two modes.
ZELLIGE_ALGEBRA constexpr Value tma_im2col(Tape& t, TmaRequest const& r) {
  Num const tile = size_of(t, r.modes), held = size_of(t, r.shared);
  t.require(t.eq(tile, held), Rule::sizes_differ, held, tile);
  Value const in_order = coalesce(t, composition(t, r.modes, right_inverse(t, r.shared)));
  if (t.failed()) return nothing();
  List<ValueNode> const runs = leaves_of(in_order);
  int n = 0;
  while (n < runs.size() && n < 2 && runs[n].d.is(1)) ++n;
  if (n < 2) return t.refused(Rule::tma_no_run, n < runs.size() ? runs[n].d.v : 0, 1);
  return bundle(ValueKind::layout, leaf(runs[0]), leaf(runs[1]));
}

/// One dimension of a TMA descriptor: extent and stride of the global tensor, counted in box elements.
struct TmaDimension {
  Num extent = fixed(1);
  Num stride = fixed(0);
};
/// Returns the extent and stride of the descriptor dimension that corresponds to `box_mode`, a mode of the box. The
/// strides of `box_mode` are basis elements, one for each mode of the layout `global` that it covers.
ZELLIGE_ALGEBRA constexpr TmaDimension tma_dimension(Tape& t, Value const& global, Value const& box_mode) {
  TmaDimension r;
  List<ValueNode> const names = leaves_of(box_mode);
  for (ValueNode const& n : names) {
    Value const m = at_path(t, global, n.e);
    if (t.failed()) return r;
    Num const s = size_of(t, m), d = m.is_leaf() ? m.root().d : fixed(0);
    if (names.size() == 1) return {s, d};
    // Several modes in one dimension: its stride is the greatest common divisor of theirs.
    Num const before = r.stride;
    r.stride = t.gcd(r.stride, d);
    if (before.is(0) && d.is(0)) {
      r.extent = s;
      continue;
    }
    Num const one = fixed(1);
    r.extent = t.add(
        t.add(t.mul(t.sub(r.extent, one), t.div(before, r.stride)), t.mul(t.sub(s, one), t.div(d, r.stride))), one);
  }
  return r;
}

/// Returns the strides of the tensor of TMA coordinates, nested like the global tensor. The stride of a
/// global mode is a multiple of the basis element of the box dimension that covers the mode, or 0 if the mode
/// has extent 1 or stride 0.
ZELLIGE_ALGEBRA constexpr Value tma_stride(Tape& t, TmaRequest const& r, Value const& box) {
  Value strides = basis_like(shape_of(r.global));
  Value const counted = recast(t, r.global, r.bits, r.box_bits);
  if (t.failed()) return nothing();
  List<ValueNode> const recast_leaves = leaves_of(counted), leaves = leaves_of(r.global);
  int leaf_at = -1;
  for (ValueNode& n : strides.nodes) {
    if (n.kids >= 0) continue;
    ++leaf_at;
    ValueNode const& g = recast_leaves[leaf_at];
    Path const e = n.e;
    n = number(0).root();
    if (g.s.is(1) || g.d.is(0)) continue;
    int j = 0;
    auto has = [&](Value const& box_mode) {
      for (ValueNode const& b : leaves_of(box_mode)) {
        if (b.d.is(1) && b.e == e) return true;
      }
      return false;
    };
    while (j < box.rank() && !has(box[j])) ++j;
    if (j == box.rank()) continue;
    n.e = extend(0, j);
    n.s = fixed(1);
    if (j == 0) {
      // In elements of the box; in elements of the tensor if a box element holds several of them, because a
      // stride is no fraction.
      n.s = leaves[leaf_at].d;
      if (r.bits > r.box_bits) n.s = t.div(t.mul(n.s, fixed(r.bits)), fixed(r.box_bits));
    } else if (leaves_of(box[j]).size() > 1) {
      TmaDimension const d = tma_dimension(t, counted, box[j]);
      Num const bytes = t.max(t.div(t.mul(d.stride, fixed(r.box_bits)), fixed(8)), fixed(16));
      n.s = t.ceil_div(t.div(t.mul(g.d, fixed(r.box_bits)), bytes), fixed(8));
      if (n.s.is_static() && !t.symbolic()) n.s = dynamic(n.s.v);
    }
  }
  return strides;
}

/// Returns the number of tile elements that one instruction moves.
ZELLIGE_ALGEBRA constexpr Num tma_elements(Tape& t, TmaRequest const& r, Value const& box) {
  return t.div(t.mul(size_of(t, box), fixed(r.box_bits)), fixed(r.bits));
}

/// Returns the pair (layout_tv, tiler) of a TMA copy. layout_tv maps (CTA, value) to an element of the tile;
/// the CTAs of a multicast load equal shares of each box. tiler contains the tile's extents. Records
/// Rule::tma_multicast in `t` if the number of CTAs does not divide the size of a box.
ZELLIGE_ALGEBRA constexpr Value tma_tiling(Tape& t, TmaRequest const& r, Value const& box, Value const& ctas) {
  Num const elements = tma_elements(t, r, box), count = cosize_of(t, ctas);
  Value const inverse = right_inverse(t, r.shared);
  Value const one = composition(t, inverse, run_of(elements));
  if (t.failed()) return nothing();
  Value const all = call(Op::tile_to_shape, t, bundle(ValueKind::layout, one), number(size_of(t, r.modes)));
  t.require(t.eq(t.mod(elements, count), fixed(0)), Rule::tma_multicast, elements, count);
  if (t.failed()) return nothing();
  Value const share = mode(count, {t.div(elements, count)});
  Value const first = composition(t, inverse, composition(t, share, ctas));
  Value const tiler = product_each(t, shape_of(r.modes));
  if (t.failed()) return nothing();
  return pair(bundle(ValueKind::layout, first, all), tiler);
}

/// Partitions `layout`, a tensor (tile, Rest...), by TMA instructions that move `elements` elements each.
/// Returns a pair: the layout ((values of one instruction, instructions), Rest...), and the offset at which
/// CTA `cta` of the layout `ctas` starts. `shared` is the layout of the tile in shared memory.
ZELLIGE_ALGEBRA constexpr Value tma_partition(Tape& t, Value const& layout, Value const& shared, Num elements,
                                              Value const& cta, Value const& ctas) {
  Value const tile = shared[0];  // a leaf is its own first mode
  Value const inverse = right_inverse(t, tile);
  if (t.failed()) return nothing();
  Value const order = call(Op::tile_to_shape, t, bundle(ValueKind::layout, inverse), number(size_of(t, tile)));
  Value const split = call(Op::logical_divide, t, order, run_of(elements));
  if (t.failed()) return nothing();
  Value const plain = without_swizzle(layout);
  Value tiler = bundle(ValueKind::tuple, split);
  for (int i = 1; i < plain.rank(); ++i) tiler.add(underscore());
  Value const ordered = call(Op::composition, t, layout, tiler);
  if (t.failed()) return nothing();
  Value const flat = call(Op::coalesce_profile, t, ordered, bundle(ValueKind::tuple, pair(number(1), number(1))));
  Value const place = index_of(t, cta, ctas);
  if (t.failed()) return nothing();
  Num const first = t.mul(place.root().s, t.div(elements, cosize_of(t, ctas)));
  Value at = bundle(ValueKind::tuple, pair(number(first), number(0)));
  for (int i = 1; i < plain.rank(); ++i) at.add(number(0));
  Value const offset = index_of(t, at, without_swizzle(flat));
  if (t.failed()) return nothing();
  // The caller adds the offset to the pointer, unless the layout is composed with a swizzle or with im2col
  // coordinates: then the layout contains the offset.
  if (!flat.is(ValueKind::composed) || flat[1].is(ValueKind::flag)) return pair(flat, offset);
  Value const from = add(t, flat[1], offset);
  if (t.failed()) return nothing();
  return pair(composed(flat[0], from, flat[2]), number(0));
}

}  // namespace zellige::algebra
