// What sizes that are known at launch make of a program's manifest: extents and bytes of tensors, grids, descriptors of TMA,
// and where intermediate tensors lie in the workspace.
#pragma once
#include <vector>

#include "manifest/manifest.hpp"
#include "plan/plan.hpp"

namespace zellige::emit {

/// Sets the sizes of a plan's manifest, and the expressions of all numbers that they decide; index[t] is the index there of
/// tensor t of the plan, -1 if it has none. Throws Error if a launch of several tile programs depends on a size.
void add_sizes(manifest::Manifest&, const plan::Plan&, const std::vector<int>& index);

}  // namespace zellige::emit
