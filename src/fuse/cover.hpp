// Finds the cheapest exact cover of the places 0 to n - 1 by pieces.
//
//   const Cover c = cheapest_cover(3, {{{0}, 1}, {{1}, 1}, {{2}, 1}, {{0, 2}, 1.5}});
//   c.pieces      // {3, 1}: 2.5 in total
//   c.with[0]     // 3: the cheapest of all covers that have piece 0
//
// Dynamic programming: each piece of the first uncovered place is tried. A state is that place and the set of
// covered places after it; independent places multiply the states only where they are interleaved, so the
// number of states grows with n times the places that pieces span. Each place has a lower bound on its share
// of its pieces' costs, so that the cost of a cover is the sum of these bounds plus the excess of its pieces.
// Covers that cost more than the result of a narrow search plus its most expensive piece are pruned; costs up
// to there are exact. The result is exact unless more than `widest` states have the same first place; then
// only those with the least excess are kept.
#pragma once
#include <cstddef>
#include <limits>
#include <vector>

namespace zellige::fuse {

constexpr double never = std::numeric_limits<double>::infinity();

struct Piece {
  std::vector<int> places;  // ascending
  double cost = 0;          // not negative; never: excluded
};

struct Cover {
  std::vector<std::size_t> pieces;  // sorted by first place; empty if there is no cover, or n is 0
  double cost = never;
  std::vector<double> with;  // by piece: cost of the cheapest cover found that contains it; never: none found
  std::size_t states = 0;    // visited
  bool exact = true;
};

Cover cheapest_cover(std::size_t places, const std::vector<Piece>&, std::size_t widest);

}  // namespace zellige::fuse
