// How a graph's custom operators and plain products are tiled: what of a block graph is a choice and not the meaning.
//
//   Tiling t = tiling_of(graph);          // as the graph has it
//   t[0].grid.x = 128;
//   KernelGraph h = retile(graph, t);     // retile.hpp: the same function, or a refusal
//
// A manifest records the tiling that was taken, as a list with one entry for each custom operator:
// {"operator": 0, "grid": [128, 1, 1], "block": [128, 1, 1], "loop": 32}; and one for each plain product,
// {"operator": 1, "tile": [64, 16, 64], "threads": 128, "turned": true}.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::retile {

/// What a block makes of a plain product: m x n of it, k an iteration.
struct ProductTile {
  std::int64_t m = 0, n = 0, k = 0;
  int threads = 0;
  bool turned = false;  // m counts the result's columns: the product is made as B^T A^T
  bool operator==(const ProductTile&) const = default;
};

/// Of one operator: a custom one's grid, threads and loop, or a plain product's tile.
struct OpTiling {
  int op = -1;  // index into KernelGraph::ops
  graph::Dim3 grid, block;
  std::int64_t loop = 1;
  std::optional<ProductTile> product = {};
  bool operator==(const OpTiling&) const = default;
};

/// One for each custom operator, in their order; of plain products those that are stated.
using Tiling = std::vector<OpTiling>;

/// Of its custom operators: plain products are tiled where they are lowered.
Tiling tiling_of(const graph::KernelGraph&);

/// A list in one line of JSON.
std::string to_json(const Tiling&);
/// From such a list, or from a manifest that records one; `source` names it in messages.
Tiling parse_tiling(std::string_view json, std::string_view source);
/// Does a manifest say that its tiling is of the graph with its custom operators taken apart (fuse/custom.hpp)? A list says nothing.
bool is_apart(std::string_view json, std::string_view source);

/// "operator 0: grid 128x1x1, loop 32, 128 threads; operator 2: ..."
std::string print(const Tiling&);

}  // namespace zellige::retile
