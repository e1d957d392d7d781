#include "kernel/carry.hpp"

#include "graph/reductions.hpp"
#include "tile/sections.hpp"

namespace zellige::kernel {
namespace {

/// Returns the matmul whose result is node `x`, either directly or through casts from float32 to float32. Returns -1
/// if there is none, or if one of these nodes has several readers.
int product_of(const tile::TileProgram& p, int x) {
  while (p.consumers(x).size() == 1) {
    const tile::Node& n = p.nodes[x];
    if (n.kind == tile::NodeKind::matmul) return x;
    const bool same = n.kind == tile::NodeKind::map && n.op == graph::OpKind::cast && !n.saturate &&
                      n.to_dtype == graph::DType::f32 && p.nodes[n.in[0]].dtype == graph::DType::f32 &&
                      n.dtype == graph::DType::f32;
    if (!same) return -1;
    x = n.in[0];
  }
  return -1;
}

}  // namespace

void carry_rescaled(tile::TileProgram& p, const std::map<int, MatmulChoice>& matmuls) {
  const tile::Sections sections(p);
  for (std::size_t i = 0; i < p.nodes.size(); ++i) {
    tile::Node& sum = p.nodes[i];
    if (sum.kind != tile::NodeKind::accumulate || !graph::rescales(sum.op) || sum.in.size() != 2) continue;
    const int product = product_of(p, sum.in[0]), factor = sum.in[1];
    if (product < 0 || !matmuls.at(product).row) continue;
    tile::Node& matmul = p.nodes[product];
    graph::Shape rows = matmul.shape;
    rows.back() = 1;
    const bool each_row = p.nodes[factor].kind == tile::NodeKind::map && p.nodes[factor].shape == rows;
    // Nodes are in topological order: the factor must come before the matmul that reads it.
    if (!each_row || factor > product || matmul.carried || !sections.inside(product)) continue;
    matmul.carried = true;
    matmul.in.push_back(factor);
    for (tile::Node& n : p.nodes)
      for (int& in : n.in)
        if (in == static_cast<int>(i)) in = product;
    sum.in.clear();  // dead
  }
}

}  // namespace zellige::kernel
