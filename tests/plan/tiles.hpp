// The positions of the blocks' tiles in their tensors, by the definition of
// Cut.
#pragma once
#include "tile/program.hpp"

namespace zellige::plan {

/// The tile's first element along `dim` for one block.
inline std::int64_t start(const tile::Cut& s, const graph::Shape& block, std::int64_t loop, std::int64_t iteration) {
  std::int64_t index = s.axis >= 0 ? block[s.axis] / s.div : 0;
  if (s.mod > 0) index %= s.mod;
  if (s.loop) index = index * loop + iteration;
  return index * s.tile;  // from s.offset
}

template <class F>
void for_each_block(const tile::TileProgram& p, F visit) {
  for (std::int64_t z = 0; z < p.grid.z; ++z)
    for (std::int64_t y = 0; y < p.grid.y; ++y)
      for (std::int64_t x = 0; x < p.grid.x; ++x) visit(graph::Shape{x, y, z});
}

}  // namespace zellige::plan
