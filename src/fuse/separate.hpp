// Makes a kernel of each operator of a graph: what `--as-given` runs, and what a plan of an unfused operator is made of.
//
//   const KernelGraph s = separate(graph, target);
//   s.ops      // each a custom operator, a view, or a copy (concat, split, gather, scatter, slice_scatter)
#pragma once
#include "fuse/choose.hpp"

namespace zellige::fuse {

/// Returns operator `op` as a group of its own: with its kernel of the least expected time that can be planned, or none if
/// the operator is a view, a copy or a custom operator. Throws as separate() does.
Group separated(const graph::KernelGraph&, int op, const target::Target&, candidate::CostCache& known);

/// Returns the graph in which each operator that computes something is a custom operator, with the tiling of the least
/// expected time that can be planned, or the one that is `declared` (declared.hpp). The graph must be validated. Throws
/// Error if an operator has no plan, and Rejected if the verifier rejects all of them. `known`: costs for this target, to
/// which new ones are added.
graph::KernelGraph separate(const graph::KernelGraph&, const target::Target&, candidate::CostCache& known,
                            const std::optional<retile::Tiling>& declared = {});
graph::KernelGraph separate(const graph::KernelGraph&, const target::Target&,
                            const std::optional<retile::Tiling>& declared = {});

}  // namespace zellige::fuse
