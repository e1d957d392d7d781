// Simplifies a tile program by rules that hold exactly in float32: the results are the same bits, with less work.
//
//   round(cast(x))        a cast to the dtype of the round is removed; so is a cast before a store
//   max(c x) = c max(x)   if c > 0: rounding is monotone, and only one number per row is multiplied
//   mask(c x) = c mask(x) if masked elements are minus infinity, so that the previous rule applies
//
// Runs after the pass `lower` and before `share`. Renumbers the nodes.
#pragma once
#include "tile/program.hpp"

namespace zellige::plan {

void simplify(TileProgram&);

}  // namespace zellige::plan
