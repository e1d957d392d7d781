// Masks partial tiles: out-of-bounds elements along a reduced axis must not change the sum or maximum.
//
//   softmax(q k) v over 77 keys in tiles of 48    ->    the scores are masked from key 77 on
//
// Loads return 0 out of bounds. If that, or the −∞ of a mask, reaches the reduction as its neutral element,
// nothing is added; otherwise a mask by length is inserted before the reduction.
#pragma once
#include "fuse/axes.hpp"

namespace zellige::fuse {

/// `extents`: by axis with a partial tile, the extent that its tiles cover. The result's axes keep their
/// numbers. Throws Error if no mask can express it.
Steps mask_partial_tiles(Steps, const std::map<int, std::int64_t>& extents);

}  // namespace zellige::fuse
