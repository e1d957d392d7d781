#include "lower/mask_ends.hpp"

#include <algorithm>

#include "graph/error.hpp"
#include "tile/open_folds.hpp"

namespace zellige::lower {
namespace {

using tile::Node;
using tile::NodeKind;

/// Returns the mask of a value from the class's end on.
Node mask(const Node& value, int of, int dim, tile::Cut cut, double scalar, std::int64_t high, int size) {
  Node n{.kind = NodeKind::map, .op = graph::OpKind::mask, .in = {of}, .shape = value.shape, .dtype = value.dtype};
  if (!graph::is_integer(n.dtype)) n.dtype = graph::DType::f32;
  n.scalar = scalar, n.kept.length = high, n.length_size = size;
  n.key = dim, n.dim = dim == 0 ? static_cast<int>(n.shape.size()) - 1 : dim - 1;
  for (const std::int64_t extent : n.shape) n.view.cuts.push_back({.tile = extent, .extent = extent});
  cut.overhang = false;
  n.view.cuts[dim] = cut;
  n.name = value.name;
  return n;
}

}  // namespace

void mask_ends(tile::TileProgram& p, int node, int dim, int size, std::int64_t high) {
  const tile::Cut cut = p.nodes[node].view.cuts[dim];
  while (true) {
    const tile::SizeClasses classes(p);
    const std::optional<tile::OpenFold> open = tile::open_fold(p, classes, classes.of_view(node, dim), high);
    if (!open) return;
    Node& value = p.nodes[open->value];
    if (p.nodes[open->fold].kind == NodeKind::matmul && open->reader == open->fold)
      fail("{}: rows that numbers name are multiplied along a dimension whose end is known at launch only: {}", p.name,
           value.name);
    if (value.kind == NodeKind::map && value.op == graph::OpKind::mask && value.scalar == open->neutral &&
        value.key == open->dim && value.length_size < 0 && value.kept.length.value_or(high) == high) {
      value.kept.length = high, value.length_size = size;
      continue;
    }
    const Node added = mask(value, open->value, open->dim, cut, open->neutral, high, size);
    int masked = -1;
    std::vector<int> now;  // by node before
    std::vector<Node> before = std::exchange(p.nodes, {});
    for (int i = 0; i < static_cast<int>(before.size()); ++i) {
      if (i == open->reader) masked = p.add(added);
      for (int& in : before[i].in) in = masked >= 0 && in == open->value ? masked : now[in];
      now.push_back(p.add(std::move(before[i])));
    }
    node = now[node];
  }
}

}  // namespace zellige::lower
