// What becomes of custom operators when a graph is fused: their grids, blocks and loops are where another search left off.
//
//   Optimized o = optimize(graph, target, Custom::cheaper);
//   o.apart      // were they taken apart (apart.hpp), and the whole graph fused anew?
//   o.notes      // both prices, or why they were kept
//
// Cheaper: both ways are fused, and tiled as `plan::tile` chooses, and apart is taken where its price is clearly less, or where it is one
// kernel and its price is not clearly more. A graph without custom operators has one way.
#pragma once
#include "fuse/fuse.hpp"
#include "plan/plan.hpp"

namespace zellige::fuse {

enum class Custom : std::uint8_t { kept, cheaper, apart };

/// Throws Error where they are to be taken apart and cannot be.
Optimized optimize(const graph::KernelGraph&, const target::Target&, Custom);
Optimized optimize(const graph::KernelGraph&, const target::Target&, Custom, Prices& known, const Watch& = {},
                   Reasons = Reasons::told);

/// What a user asks for: fused or as it is given; with tiles that are chosen, whatever is cheaper; with stated ones, the graph that they
/// are of. The wishes then say whether it was taken apart, and ask for no other tiles where the graph had no custom operators: those of
/// what was fused were chosen with the groups.
Optimized as_wished(const graph::KernelGraph&, const target::Target&, bool fuse, plan::Wishes&, Prices& known,
                    const Watch& = {}, Reasons = Reasons::told);
Optimized as_wished(const graph::KernelGraph&, const target::Target&, bool fuse, plan::Wishes&);

}  // namespace zellige::fuse
