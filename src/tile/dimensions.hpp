// A View as a list of its dimensions, each with the layout that Interval::map() returns, and a View from such a list:
// how the textual form (src/ir) shows where the tiles of a load, store or mask lie.
#pragma once
#include <optional>

#include "tile/program.hpp"

namespace zellige::tile {

/// Where the tiles lie along one dimension of a tensor.
struct Dimension {
  int axis = -1;          // the grid axis that divides it; -1: none
  bool iterates = false;  // each iteration has another tile
  Value map;              // (block along the axis, iteration, coordinate in the tile) -> coordinate less `begin`
  std::int64_t begin = 0, end = 1;
  int size = -1;            // that decides `end`, which is the largest; -1: none
  bool predicated = false;  // a tile may reach beyond `end`
  bool of_part = false;     // `begin` and `end` contain the program's part_begin
};

/// Returns the dimensions of a view of the program.
std::vector<Dimension> dimensions(const TileView&, const TileProgram&);
/// Adds the dimension to the view, as its last one. Returns std::nullopt if its layout is that of the view now in it;
/// otherwise the layout that the nearest cut has, for a message.
std::optional<Value> add(TileView&, const Dimension&, const TileProgram&);

}  // namespace zellige::tile
