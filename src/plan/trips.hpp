// Trips: how many iterations of its loop a block makes where a mask leaves nothing of the last ones, as of keys behind the last query
// of a causal tile.
//
//   if (std::optional<Trips> t = masked_trips(plan)) t->of(3, loop);   // of the block 3 along the rows' axis
//
// Decided, not guessed: with minus infinity in place of the masked values the loop's body is evaluated on what that leaves of it
// (minus infinity, 0, 1, or anything), and every state of the loop must come out as it went in.
#pragma once
#include <optional>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

std::optional<Trips> masked_trips(const KernelPlan&);

}  // namespace zellige::plan
