// Finds the loop iterations that a block can skip because a mask removes all of their elements, such as key tiles
// after the last query of a causal attention tile.
//
//   if (std::optional<MaskedLoopBounds> t = masked_loop_bounds(plan))
//     t->of(3, loop);   // number of iterations, of `loop`, that the block with index 3 along the rows' grid axis runs
//
// Skipping is proved to be exact. An iteration is evaluated abstractly: every masked element is minus infinity, and
// every other value is minus infinity, 0, 1, or anything. The iteration must leave every loop state unchanged.
#pragma once
#include <optional>

#include "kernel/kernel.hpp"

namespace zellige::selection {

/// Returns the loop bounds of the blocks under the first mask that lets blocks skip iterations. Returns nullopt if
/// the kernel has no such mask. A mask is not used if a fully masked iteration would change a loop state, or if some
/// block would run no iteration.
std::optional<kernel::MaskedLoopBounds> masked_loop_bounds(const kernel::Kernel&);

}  // namespace zellige::selection
