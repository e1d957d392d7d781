// Finds the cheapest exact cover: pieces that contain each of the places 0 to n - 1 exactly once, at the
// least total cost. In fusion a place is an operator's number, and a piece is a candidate group of operators.
//
//   const std::vector<Piece> pieces{{{0}, 1}, {{1}, 1}, {{2}, 1}, {{0, 2}, 1.5}};   // each: its places, its cost
//   const Cover c = cheapest_cover(/*places=*/3, pieces, /*widest=*/64);
//   c.pieces      // {3, 1}: the pieces {0, 2} and {1}, 2.5 in total
//   c.with[0]     // 3: the cost of the cheapest cover that has piece 0
//
// The method is dynamic programming. A state is the first uncovered place and the set of covered places after
// it. From each state, every piece that contains the first uncovered place is tried. There are few states if
// the places of each piece are close to each other in the numbering.
//
// Each place gets a lower bound of its cost, such that the bounds of a piece's places sum to at most the
// piece's cost. The difference is the piece's excess. The cost of a cover is the sum of all bounds plus the
// excesses of its pieces. First a search with few states finds some cover. Covers that cost more than that
// cover plus its most expensive piece are pruned. The result is exact unless more than `widest` states have
// the same first uncovered place; then only those with the least excess are kept.
#pragma once
#include <cstddef>
#include <limits>
#include <vector>

namespace zellige::fuse {

/// Infinite cost, in microseconds: of a candidate group that is excluded, or of a cover that does not exist.
constexpr double never = std::numeric_limits<double>::infinity();

/// A candidate for a cover, with its cost: a set of places (in fusion: operator numbers), all or none of which it
/// covers.
struct Piece {
  std::vector<int> places;  // ascending
  double cost = 0;          // not negative; never: excluded
};

/// The cheapest cover, and what the search found of others.
struct Cover {
  std::vector<std::size_t> pieces;  // indices; sorted by first place; empty if there is no cover, or n is 0
  double cost = never;
  std::vector<double> with;  // by piece: cost of the cheapest cover found that contains it; never: none found
  std::size_t states = 0;    // number of states that were visited
  bool exact = true;         // no state was dropped, so that no cover is cheaper
};

/// Returns the cheapest cover: pieces (candidate groups) that contain each of the places (operators) 0 to `places` - 1
/// exactly once, at the least total cost. Returns a cover of cost `never` (infinity) if there is none. `widest` is the
/// maximum number of search states (partial covers) with the same first uncovered place (a beam width).
Cover cheapest_cover(std::size_t places, const std::vector<Piece>&, std::size_t widest);

}  // namespace zellige::fuse
