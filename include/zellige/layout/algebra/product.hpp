// Repeats a layout (the block) at the positions that a second layout (the tiler) gives. blocked_product keeps the
// elements of a block adjacent in each mode; raked_product interleaves the blocks.
//
//   logical_product((2, 2):(4, 1), 6:1) = ((2, 2), (2, 3)):((4, 1), (2, 8))      // 6 blocks of 2 x 2
#pragma once
#include <zellige/layout/algebra/divide.hpp>

namespace zellige::algebra {

/// Appends logical_product(block, tiler), the pair (block, layout of its repetitions), to `out`. The tiler is
/// a layout, a number, `_` (the mode is not repeated), or a tuple of these, which repeats mode by mode.
ZELLIGE_ALGEBRA constexpr void append_logical_product(Tape& t, View block, View tiler, List<ValueNode>& out) {
  switch (tiler.kind()) {
    case ValueKind::underscore:
      return out.append(block.node, block.node_count());
    case ValueKind::tuple:
      if (tiler.rank() > block.rank()) return t.refuse(Rule::composition_rank, tiler.rank(), block.rank());
      out.push_back({block.rank(), ValueKind::layout, {}, {}, 0});
      for (int i = 0; i < block.rank() && !t.failed(); ++i) {
        if (i < tiler.rank())
          append_logical_product(t, block[i], tiler[i], out);
        else
          out.append(block[i].node, block[i].node_count());
      }
      return;
    case ValueKind::number:
    case ValueKind::layout: {
      Value const times = as_layout(tiler);
      ValueNode const room = number_node(t.mul(product_of(t, block), cosize_of(t, times)));
      List<ValueNode> modes, rest;
      append_leaves(modes, block);
      append_complement(t, modes, {&room}, rest);
      if (t.failed()) return;
      out.push_back({2, ValueKind::layout, {}, {}, 0});
      out.append(block.node, block.node_count());
      return append_composed(t, layout_of(rest), times, false, out);
    }
    default:
      return t.refuse(Rule::not_a_layout, int(block.kind()), int(tiler.kind()));
  }
}
ZELLIGE_ALGEBRA constexpr Value logical_product(Tape& t, View block, View tiler) {
  Value r;
  if (!t.failed()) append_logical_product(t, block, tiler, r.nodes);
  if (t.failed()) return nothing();
  return r;
}
ZELLIGE_ALGEBRA constexpr Value zipped_product(Tape& t, View block, View tiler) {
  return unzip_by(t, logical_product(t, block, tiler), tiler);
}
ZELLIGE_ALGEBRA constexpr Value tiled_product(Tape& t, View block, View tiler) {
  Value const z = zipped_product(t, block, tiler);
  if (t.failed()) return nothing();
  return spread_rest(z);
}
ZELLIGE_ALGEBRA constexpr Value flat_product(Tape& t, View block, View tiler) {
  Value const z = zipped_product(t, block, tiler);
  if (t.failed()) return nothing();
  return spread_both(z);
}

/// Returns v with x as a new last mode; a leaf v becomes the first mode of the result.
ZELLIGE_ALGEBRA constexpr Value append(View v, View x) {
  if (v.is_leaf()) return bundle(v.kind(), v, x);
  Value r = v;
  r.add(x);
  return r;
}
/// Returns v with copies of x appended until it has n modes. Refused if v has more than n modes.
ZELLIGE_ALGEBRA constexpr Value pad_to(Tape& t, View v, int n, View x) {
  if (n < v.rank()) return t.refused(Rule::rank_mismatch, n, v.rank());
  Value r = v;
  while (r.rank() < n) r = append(r, x);
  return r;
}

/// Returns the layout whose mode i is (a[i], b[i]). Refused if the ranks of a and b differ.
ZELLIGE_ALGEBRA constexpr Value zip(Tape& t, View a, View b) {
  if (!a.is_leaf() && a.rank() != b.rank()) return t.refused(Rule::rank_mismatch, a.rank(), b.rank());
  Value r({a.rank(), a.kind(), {}, {}, 0}, 16);
  for (int i = 0; i < a.rank(); ++i) {
    View const x = a[i], y = a.is_leaf() ? b : b[i];
    r.nodes.push_back({2, a.kind(), {}, {}, 0});
    r.nodes.append(x.node, x.node_count());
    r.nodes.append(y.node, y.node_count());
  }
  return r;
}

/// Returns the logical product with the modes of block and tiler paired: mode i of the result is (mode i of
/// the block, mode i of the tiler) or, if raked, (mode i of the tiler, mode i of the block).
ZELLIGE_ALGEBRA constexpr Value blocked(Tape& t, View block, View tiler, bool raked) {
  int const rank = block.rank() > tiler.rank() ? block.rank() : tiler.rank();
  Value product;
  if (block.rank() == tiler.rank() && rank > 1)
    product = logical_product(t, block, tiler);
  else
    product = logical_product(t, pad_to(t, block, rank, unit()), pad_to(t, tiler, rank, unit()));
  if (t.failed()) return nothing();
  View const both = product;
  if (raked) return zip(t, both[1], both[0]);
  return zip(t, both[0], both[1]);
}
ZELLIGE_ALGEBRA constexpr Value blocked_product(Tape& t, View block, View tiler) {
  return blocked(t, block, tiler, false);
}
ZELLIGE_ALGEBRA constexpr Value raked_product(Tape& t, View block, View tiler) {
  return blocked(t, block, tiler, true);
}

}  // namespace zellige::algebra
