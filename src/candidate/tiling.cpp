#include "candidate/tiling.hpp"

namespace zellige::candidate {

std::array<int, 3> GroupTiling::map_of(const Axes& axes, int value) const {
  std::array<int, 3> map{-1, -1, -1};
  for (int g = 0; g < 3; ++g)
    if (grid[g].blocks > 1)
      for (int axis : grid[g].axes)
        if (const int d = axes.dim(value, axis); d >= 0) map[g] = d;
  return map;
}

graph::Shape GroupTiling::covered(const Axes& axes, int value, graph::Shape s) const {
  for (std::size_t d = 0; d < s.size(); ++d)
    if (const auto at = extents.find(axes.of[value][d]); at != extents.end() && s[d] > 1) s[d] = at->second;
  return s;
}

}  // namespace zellige::candidate
