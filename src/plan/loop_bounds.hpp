// Finds the loop iterations that a block can skip because a mask removes all of their elements, such as key tiles
// after the last query of a causal attention tile.
//
//   if (std::optional<MaskedLoopBounds> t = masked_loop_bounds(plan))
//     t->of(3, loop);   // the number of iterations of block 3, counted along the grid axis that splits the rows
//
// Skipping is proved to be exact. The loop's body is evaluated abstractly (minus infinity, 0, 1, or anything) with
// minus infinity for every masked element; the result must leave every loop state unchanged.
#pragma once
#include <optional>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Returns the loop bounds that the kernel's first suitable mask gives its blocks. Returns nullopt if no mask lets
/// blocks skip iterations, if a fully masked iteration would change a loop state, or if some block would run none.
std::optional<MaskedLoopBounds> masked_loop_bounds(const KernelPlan&);

}  // namespace zellige::plan
