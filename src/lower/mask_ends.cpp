#include "lower/mask_ends.hpp"

#include <algorithm>

#include "graph/error.hpp"
#include "tile/open_folds.hpp"

namespace zellige::lower {
namespace {

using tile::Node;
using tile::NodeKind;

/// Returns where the tiles of a value lie along a dimension: as those of a load or store of its class, or in one place.
tile::Cut cut_of(const tile::TileProgram& p, const tile::SizeClasses& classes, int value, int dim) {
  const int which = classes.along(value, dim);
  for (int i = 0; which >= 0 && i < static_cast<int>(p.nodes.size()); ++i)
    for (int d = 0; tile::accesses(p.nodes[i]) && d < p.nodes[i].view.rank(); ++d)
      if (classes.of_view(i, d) == which && tile::number_of(p.nodes[i]) < 0) {
        tile::Cut cut = p.nodes[i].view.cuts[d];
        if (cut.tile == p.nodes[value].shape[dim]) return cut.overhang = false, cut;
      }
  const std::int64_t extent = p.nodes[value].shape[dim];
  return {.tile = extent, .extent = extent};
}

/// Returns the mask of a value from the end of its dimension `dim` on, whose tiles lie as `cut` says.
Node mask(const tile::TileProgram& p, const tile::SizeClasses& classes, int of, int dim, tile::Cut cut, double scalar,
          std::int64_t high, int size) {
  const Node& value = p.nodes[of];
  Node n{.kind = NodeKind::map, .op = graph::OpKind::mask, .in = {of}, .shape = value.shape, .dtype = value.dtype};
  if (!graph::is_integer(n.dtype)) n.dtype = graph::computed_in(n.dtype);
  n.scalar = scalar, n.kept.length = high, n.length_size = size;
  n.key = dim, n.dim = dim == 0 ? static_cast<int>(n.shape.size()) - 1 : dim - 1;
  for (int d = 0; d < static_cast<int>(n.shape.size()); ++d) {
    n.view.cuts.push_back(d == dim ? cut : cut_of(p, classes, of, d));
    tile::Cut& own = n.view.cuts[d];  // a mask counts from the first element of a part
    own.overhang = false, own.offset = 0, own.begin = -1, own.begin_unit = 1;
    if (d != dim && n.view.axis(d) >= 0 && !n.view.iterates(d))
      n.dim = d;  // by which blocks count iterations without the mask
  }
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
    if (open->dim < 0)
      fail("{}: %{} has two dimensions of one extent, {} at most, and a sum or maximum over one needs it as a constant",
           p.name, open->value, high);
    if (p.nodes[open->fold].kind == NodeKind::matmul && open->reader == open->fold)
      fail("{}: rows that numbers name are multiplied along a dimension whose end is known at launch only: {}", p.name,
           value.name);
    if (value.kind == NodeKind::map && value.op == graph::OpKind::mask && value.scalar == open->neutral &&
        value.key == open->dim && value.length_size < 0 && value.kept.length.value_or(high) == high) {
      value.kept.length = high, value.length_size = size;
      continue;
    }
    const Node added = mask(p, classes, open->value, open->dim, cut, open->neutral, high, size);
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
