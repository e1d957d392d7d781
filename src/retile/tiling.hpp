// The tiling of a graph: grids, loops and threads of its custom operators (kernels given as block graphs),
// and tiles of its standalone matmuls. It does not affect what the graph computes. This file reads and
// writes tilings; retile.hpp applies them.
//
//   Tiling t = tiling_of(graph);          // the tiling that the graph has
//   t[0].grid.x = 128;
//   KernelGraph h = retile(graph, t);     // retile.hpp: a graph that computes the same; otherwise throws Error
//
// A manifest (the JSON description of a compiled program) records the tiling as a JSON list with one entry per
// custom operator and per standalone matmul. "turned": A and B of the matmul are swapped.
//
//   {"operator": 0, "grid": [128, 1, 1], "block": [128, 1, 1], "loop": 32}
//   {"operator": 1, "tile": [64, 16, 64], "threads": 128, "turned": true}
#pragma once
#include "graph/graph.hpp"

namespace zellige::retile {

/// The tile of a block in a standalone matmul: m x n elements of the result, and k of K per iteration.
struct MatmulTile {
  std::int64_t m = 0, n = 0, k = 0;
  int threads = 0;
  // A and B are swapped: the kernel computes C^T = B^T A^T, and m counts the columns of C.
  bool swap_ab = false;
  bool operator==(const MatmulTile&) const = default;
};

/// The tiling of one operator: grid, threads and loop of a custom operator, or `product`, the tile of a
/// standalone matmul.
struct OpTiling {
  int op = -1;  // index into KernelGraph::ops
  graph::Dim3 grid, block;
  std::int64_t loop = 1;
  std::optional<MatmulTile> product = {};
  bool operator==(const OpTiling&) const = default;
};

/// The tilings of a graph's custom operators, in order, then those of standalone matmuls with an explicit tile.
using Tiling = std::vector<OpTiling>;

/// Returns the tilings of the graph's custom operators. It has no entries for standalone matmuls, whose tiles
/// are selected when they are lowered.
Tiling tiling_of(const graph::KernelGraph&);

/// Returns the tiling as a JSON list on one line.
std::string to_json(const Tiling&);
/// Returns the tiling that `json` contains: a JSON list of tilings, or a manifest. `source` names the text in
/// messages. Throws Error if a field is missing or invalid.
Tiling parse_tiling(std::string_view json, std::string_view source);
/// Returns whether `json` is a manifest whose tiling applies to the graph after its custom operators have
/// been written as kernel-level operators (fuse/custom.hpp). Returns false if `json` is a list of tilings.
/// `source` names it in messages.
bool is_decomposed(std::string_view json, std::string_view source);

/// Returns the tiling as a string: "operator 0: grid 128x1x1, loop 32, 128 threads; operator 2: ...".
std::string print(const Tiling&);

}  // namespace zellige::retile
