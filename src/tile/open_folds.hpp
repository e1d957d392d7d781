// Sums and maxima over a dimension whose end lies in a tile: of what is beyond it they must see what leaves them unchanged. Loads
// return 0 there, which a sum of products takes; a maximum takes minus infinity.
#pragma once
#include <optional>

#include "tile/size_classes.hpp"

namespace zellige::tile {

/// A value that a fold reads, directly or rounded, and that is not `neutral` beyond the end of dimension `dim`; -1: of several.
struct OpenFold {
  int fold = -1, reader = -1, value = -1, dim = -1;  // `reader` is the node that has `value` as an operand
  double neutral = 0;
};

/// Returns the first fold of class `which` that sees anything else beyond the class's end, which is `high` at most; none: there is none.
std::optional<OpenFold> open_fold(const TileProgram&, const SizeClasses&, int which, std::int64_t high);

}  // namespace zellige::tile
