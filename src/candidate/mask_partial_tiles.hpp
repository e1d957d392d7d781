// Masks partial tiles: if tiles do not divide an axis that is reduced over, elements beyond the axis's end
// must not change the sum or maximum.
//
//   softmax(q k) v over 77 keys in tiles of 48    ->    the scores are masked from key 77 on
//
// Loads return 0 beyond the end. No mask is needed if the elements beyond the end are the neutral element of
// the reduction where it reads them: 0 for a sum, −∞ for a maximum. Otherwise a mask by length is inserted
// before the reduction, or an existing mask is extended.
#pragma once
#include "candidate/axes.hpp"

namespace zellige::fuse {

/// Returns the steps with the masks that partial tiles need. The keys of `extents` are the axes with a partial
/// tile, as indices of axes_of(steps).axes. Its values, the padded extents of these axes (Tiles::extents), are
/// not used: a mask begins at the axis's own extent. An axis has the same index in axes_of() of the result.
/// Throws Error if a tensor that needs a mask has only one dimension, because a mask needs two.
Steps mask_partial_tiles(Steps, const std::map<int, std::int64_t>& extents);

}  // namespace zellige::fuse
