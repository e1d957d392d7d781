// Decides whether the custom operators (those with a block graph) of a graph are kept or decomposed when the
// graph is fused.
//
//   Optimized o = optimize(graph, target, Custom::cheaper);
//   o.decomposed   // true: custom operators were decomposed (decompose.cpp) before the graph was fused
//   o.notes        // both expected times, or why only one of the two variants is available
//
// With Custom::cheaper the graph is fused both with its custom operators kept and with them decomposed, and both
// results are tiled as `tiling::choose_tilings` says. The decomposed variant is taken if its expected time is clearly lower, or
// if it is one kernel and not clearly slower. A graph without custom operators is fused once.
#pragma once
#include "fuse/fuse.hpp"

namespace zellige::fuse {

/// How custom operators are treated: kept, decomposed into kernel-level operators, or whichever is cheaper. In parts: those that
/// cannot be decomposed are computed for all blocks and iterations at once, too, because no kernel can hold their tiles.
enum class Custom : std::uint8_t { kept, cheaper, decomposed, in_parts };

/// Returns the fused graph, with custom operators kept, decomposed, or whichever is cheaper. Throws Error if
/// Custom::decomposed or in_parts is asked for and no custom operator can be decomposed. What was decomposed in parts may be asked for as
/// decomposed, with the tilings that were declared for it. The other arguments are those of fuse.hpp.
Optimized optimize(const graph::KernelGraph&, const target::Target&, Custom);
Optimized optimize(const graph::KernelGraph&, const target::Target&, Custom, candidate::CostCache& known,
                   const rewrite::Watch& = {}, Reasons = Reasons::told,
                   const std::optional<retile::Tiling>& declared = {});

}  // namespace zellige::fuse
