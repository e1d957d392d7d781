// Changes the tiling of a graph (grids, loops and threads of its custom operators), and proves that the graph's results
// stay the same. A custom operator is a kernel given as a block graph: what one thread block does with its tiles.
//
//   Tiling t = tiling_of(graph);
//   t[0].grid.x = 128, t[0].loop = 32;
//   KernelGraph h = retile(graph, t);  // throws Error, with the operator whose result would change
//
// Extents change one at a time, and relation.hpp proves each change. A tensor between kernels may come to hold
// partial results, which the next kernel adds up. Its shape may change, and its dtype becomes f32, so that no
// rounding is added; a rounding of the partial results may be omitted. All other roundings are preserved.
#pragma once
#include "retile/tiling.hpp"

namespace zellige::retile {

/// Returns the graph with the given tiling of all its custom operators; entries for standalone matmuls are ignored
/// (tiling/matmul_shapes.hpp uses them). Requires a validated graph. Throws Error if the result would change, if a tile
/// does not divide its tensor, or if the tiling's operators are not the graph's custom operators.
graph::KernelGraph retile(const graph::KernelGraph&, const Tiling&);

/// Returns the numbers of the operators that a tiling is of: "0, 2".
std::string numbers(const Tiling&);

/// Returns the retiled graph, or nullopt in the cases in which retile() throws Error.
std::optional<graph::KernelGraph> proved(const graph::KernelGraph&, const Tiling&);

}  // namespace zellige::retile
