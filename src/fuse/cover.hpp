// The cheapest way to cover places 0 to n - 1 by pieces, each place by one piece.
//
//   const Cover c = cheapest_cover(3, {{{0}, 1}, {{1}, 1}, {{2}, 1}, {{0, 2}, 1.5}});
//   c.pieces      // {3, 1}: together 2.5
//   c.with[0]     // 3: the cheapest of all covers that have piece 0
//
// The first place that is not covered yet gets each of its pieces in turn. So a state is that place and what is covered behind it, and
// what is independent multiplies no states as long as it does not lie mixed: their number grows with the places times what pieces reach
// across one of them. Each place costs at least some share of its pieces, so that a cover costs the sum of these and what its pieces
// cost beyond it. Covers are not followed once they cost more than one that a narrow search found and its most expensive piece, and what they cost is
// exact up to there. Exact unless more than `widest` states have the same first place; then those go on whose pieces cost least beyond their shares.
#pragma once
#include <cstddef>
#include <limits>
#include <vector>

namespace zellige::fuse {

constexpr double never = std::numeric_limits<double>::infinity();

struct Piece {
  std::vector<int> places;  // ascending
  double cost = 0;          // not negative; never: is left out
};

struct Cover {
  std::vector<std::size_t> pieces;  // by their first places; empty where there is none, or nothing to cover
  double cost = never;
  std::vector<double>
      with;                // by piece: of the cheapest cover with it, among those looked at; never: none was
  std::size_t states = 0;  // looked at
  bool exact = true;
};

Cover cheapest_cover(std::size_t places, const std::vector<Piece>&, std::size_t widest);

}  // namespace zellige::fuse
