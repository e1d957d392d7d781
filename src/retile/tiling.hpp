// How a graph's custom operators are tiled: what of a block graph is a choice and not the meaning.
//
//   Tiling t = tiling_of(graph);          // as the graph has it
//   t[0].grid.x = 128;
//   KernelGraph h = retile(graph, t);     // retile.hpp: the same function, or a refusal
//
// A manifest records the tiling that was taken, as a list with one entry for each custom operator:
// {"operator": 0, "grid": [128, 1, 1], "block": [128, 1, 1], "loop": 32}.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace zellige::retile {

/// Of one custom operator.
struct OpTiling {
  int op = -1;  // index into KernelGraph::ops
  graph::Dim3 grid, block;
  std::int64_t loop = 1;
  bool operator==(const OpTiling&) const = default;
};

/// One for each custom operator, in their order.
using Tiling = std::vector<OpTiling>;

Tiling tiling_of(const graph::KernelGraph&);

/// A list in one line of JSON.
std::string to_json(const Tiling&);
/// From such a list, or from a manifest that records one; `source` names it in messages.
Tiling parse_tiling(std::string_view json, std::string_view source);

/// "operator 0: grid 128x1x1, loop 32, 128 threads; operator 2: ..."
std::string print(const Tiling&);

}  // namespace zellige::retile
