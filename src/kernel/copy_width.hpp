// How many neighbours of a tile in global memory one access may take.
#pragma once
#include "tile/program.hpp"

namespace zellige::plan {

/// Returns whether each access to `vector` neighbours along dimension `inner` of the tiles of a load or store begins at a multiple of
/// `vector` elements, by the strides of its tensor and the places of its tiles.
bool is_aligned(const Program&, const Node&, int inner, std::int64_t vector);

}  // namespace zellige::plan
