// The tiling of a graph's custom operators and standalone matmuls: the part of a block graph that does not
// affect its meaning.
//
//   Tiling t = tiling_of(graph);          // as the graph has it
//   t[0].grid.x = 128;
//   KernelGraph h = retile(graph, t);     // retile.hpp: the same function, or an Error
//
// A manifest records the tiling used as a list with one entry per custom operator: {"operator": 0, "grid":
// [128, 1, 1], "block": [128, 1, 1], "loop": 32}; and one per standalone matmul: {"operator": 1, "tile": [64,
// 16, 64], "threads": 128, "turned": true}.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::retile {

/// One block's tile of a standalone matmul: m x n of the result, k per iteration.
struct ProductTile {
  std::int64_t m = 0, n = 0, k = 0;
  int threads = 0;
  bool swap_ab = false;  // operands swapped: m counts the result's columns, computed as B^T A^T
  bool operator==(const ProductTile&) const = default;
};

/// The tiling of one operator: a custom operator's grid, threads and loop, or a standalone matmul's tile.
struct OpTiling {
  int op = -1;  // index into KernelGraph::ops
  graph::Dim3 grid, block;
  std::int64_t loop = 1;
  std::optional<ProductTile> product = {};
  bool operator==(const OpTiling&) const = default;
};

/// One entry per custom operator, in order, and one per standalone matmul with an explicit tile.
using Tiling = std::vector<OpTiling>;

/// The tiling of its custom operators; standalone matmuls are tiled when they are lowered.
Tiling tiling_of(const graph::KernelGraph&);

/// A list in one line of JSON.
std::string to_json(const Tiling&);
/// Parses such a list, or a manifest that records one; `source` names it in messages.
Tiling parse_tiling(std::string_view json, std::string_view source);
/// Returns whether a manifest records that its tiling is of the graph with its custom operators decomposed
/// (fuse/custom.hpp); false for a list.
bool is_decomposed(std::string_view json, std::string_view source);

/// "operator 0: grid 128x1x1, loop 32, 128 threads; operator 2: ..."
std::string print(const Tiling&);

}  // namespace zellige::retile
