// Decides whether the custom operators of a graph are kept or decomposed when it is fused.
//
//   Optimized o = optimize(graph, target, Custom::cheaper);
//   o.decomposed      // were they decomposed (decompose.hpp), and the whole graph fused again?
//   o.notes      // both estimated costs, or why they were kept
//
// With Custom::cheaper both variants are fused, and tiled as `plan::tile` chooses. The decomposed one is
// taken if its estimated cost is clearly lower, or if it is one kernel and not clearly slower. A graph
// without custom operators has one variant.
#pragma once
#include "fuse/fuse.hpp"
#include "plan/plan.hpp"

namespace zellige::fuse {

enum class Custom : std::uint8_t { kept, cheaper, decomposed };

/// Throws Error if `custom` is Custom::decomposed and they cannot be decomposed.
Optimized optimize(const graph::KernelGraph&, const target::Target&, Custom);
Optimized optimize(const graph::KernelGraph&, const target::Target&, Custom, CostCache& known,
                   const Watch& = {}, Reasons = Reasons::told);

/// Applies the options `fuse` and `plan_options`. Without `fuse` the graph is returned unfused; with automatic
/// tiles, the cheaper variant; with explicit tiles, the variant that they belong to. Sets options.decomposed,
/// and disables automatic tiling if the fused graph had no custom operators, because their tiles were
/// selected together with the groups.
Optimized optimize_with_options(const graph::KernelGraph&, const target::Target&, bool fuse,
                                plan::PlanOptions&, CostCache& known, const Watch& = {},
                                Reasons = Reasons::told);
Optimized optimize_with_options(const graph::KernelGraph&, const target::Target&, bool fuse,
                                plan::PlanOptions&);

}  // namespace zellige::fuse
