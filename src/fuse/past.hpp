// Where tiles pass the end of an axis: what is summed along it must be 0 there, and no maximum.
//
//   softmax(q k) v over 77 keys in tiles of 48    ->    the scores are masked from key 77 on
//
// What is loaded is 0 past its end. Where that, or −∞ of a mask, comes through to a sum or a maximum as what leaves it alone, nothing
// is added; else a mask by length stands in front of it.
#pragma once
#include "fuse/axes.hpp"

namespace zellige::fuse {

/// `extents`: of each such axis what its tiles come to. The axes of what comes out are numbered as they were.
/// Throws Error where no mask could say so.
Steps masked_past(Steps, const std::map<int, std::int64_t>& extents);

}  // namespace zellige::fuse
