// Changes the tiles of a graph (grids, loops and threads of its custom operators) without changing its
// meaning.
//
//   Tiling t = tiling_of(graph);
//   t[0].grid.x = 128, t[0].loop = 32;
//   KernelGraph h = retile(graph, t);  // throws Error that names the operator whose meaning would change
//
// Grid axes and the loop change one at a time, each change proved by relation.hpp. A tensor between kernels
// that only holds partial results may change its shape, and is then f32: no additional partial sum is rounded,
// and those that were no longer are. All other roundings of the graph are preserved.
#pragma once
#include "retile/tiling.hpp"

namespace zellige::retile {

/// The graph must be validated; standalone matmuls do not change (plan/product_tiles.hpp). Throws Error if
/// sizes do not divide or the tiling is invalid, as `infer` does.
graph::KernelGraph retile(const graph::KernelGraph&, const Tiling&);

/// Returns nothing if the tiling is rejected.
std::optional<graph::KernelGraph> proved(const graph::KernelGraph&, const Tiling&);

}  // namespace zellige::retile
