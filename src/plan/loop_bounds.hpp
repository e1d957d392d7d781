// Masked loop bounds: how many iterations a block runs if a mask leaves nothing of the last ones, such as
// keys after the last query of a causal tile.
//
//   if (std::optional<MaskedLoopBounds> t = masked_loop_bounds(plan)) t->of(3, loop);   // for block 3 along the rows' axis
//
// Proved, not pattern-matched: with minus infinity in place of the masked values, the loop's body is
// evaluated abstractly (minus infinity, 0, 1, or anything), and every state of the loop must be unchanged.
#pragma once
#include <optional>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

std::optional<MaskedLoopBounds> masked_loop_bounds(const KernelPlan&);

}  // namespace zellige::plan
