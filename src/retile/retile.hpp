// A graph with other tiles that means the same: grids, loops and threads of its custom operators are where a search left off.
//
//   Tiling t = tiling_of(graph);
//   t[0].grid.x = 128, t[0].loop = 32;
//   KernelGraph h = retile(graph, t);       // throws Error that names the operator whose meaning would change
//
// Grid axes and the loop change one at a time, each proved by relation.hpp. A tensor between kernels that only carries the parts of
// a sum may change its shape, and is then f32: no partial sum is rounded that was not, and those that were no longer are.
// Everything else that the graph rounds is rounded at the same place.
#pragma once
#include "retile/tiling.hpp"

namespace zellige::retile {

/// Of a validated graph; plain products stay as they are (plan/product_tiles.hpp). Without sizes that divide, and without sense, a tiling is refused as `infer` refuses a graph.
graph::KernelGraph retile(const graph::KernelGraph&, const Tiling&);

/// None where it is refused.
std::optional<graph::KernelGraph> proved(const graph::KernelGraph&, const Tiling&);

}  // namespace zellige::retile
