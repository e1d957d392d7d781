// Applies the tiling of a file to groups of operators. A file may number the operators of the graph in which matmuls are
// left as they are, and give their tiles; or those of the assembled graph, in which each group is a custom operator.
//
//   Declared d = declare(graph, groups, left, tiling, target, known);
//   retile::retile(assemble(graph, d.groups).graph, d.tiling)
#pragma once
#include "fuse/choose.hpp"

namespace zellige::fuse {

/// Groups, and the tiling of the custom operators that they become.
struct Declared {
  std::vector<Group> groups;
  retile::Tiling tiling;
};

/// Returns the groups, of which those whose tile `tiling` gives have a kernel with that tile. `left` says which groups are
/// operators of the graph that the file numbers, not custom operators. Throws Error if the tiling is of other operators, or
/// a matmul has no kernel with its tile.
Declared declare(const graph::KernelGraph&, std::vector<Group>, const std::vector<bool>& left, const retile::Tiling&,
                 const target::Target&, candidate::CostCache& known);

}  // namespace zellige::fuse
