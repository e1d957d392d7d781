// Covers a graph by groups of operators branch by branch. A branch is a set of operators that is connected to
// the rest of the graph at one operator only. Covering it separately keeps the number of search states small.
//
//   const Branch b{2, {3, 4}};      // a piece with 3 or 4 and a place outside of {2, 3, 4} has 2
//   cheapest_cover(64, pieces, widest, {b});      // costs what cheapest_cover(64, pieces, widest) does
//
// Place 2 is where the branch of places 3 and 4 joins. Exactly one piece of a cover contains place 2. If that
// piece leaves places of the branch uncovered, their cheapest cover is found separately, and its cost is
// added to the piece's. The main cover then has no places 3 and 4. So it does not track which of the 2^n
// parts of a branch of n operators are uncovered. The result is exact if all these covers are.
#pragma once
#include <optional>
#include <vector>

#include "fuse/cover.hpp"
#include "fuse/groups.hpp"

namespace zellige::fuse {

/// A set of operators (or places of a cover) that is connected to the others only at `at`.
struct Branch {
  int at = -1;              // where it joins the others; not in `places`
  std::vector<int> places;  // ascending
};

/// Returns the branches of a graph. Each branch joins at one of the many readers of a tensor, and all its
/// operators depend on that reader. No operator is in two branches. A reader to which nothing but its branch
/// is connected has no entry.
std::vector<Branch> branches_of(const Order&, const Neighbours&);

/// Recognises groups that are equal except for which of several equal branches they take operators from, so
/// that one of them represents all in a cover. Branches are equal if their excerpts are (excerpt.hpp),
/// without regard to tensors that several branches share, such as a weight.
class Patterns {
 public:
  /// The branches must be of operators, as branches_of returns them.
  Patterns(const graph::KernelGraph&, const std::vector<Branch>& of_operators);
  /// Returns a key that is the same for all such groups. Returns nullopt if the group has no equals of this
  /// sort, because it joins fewer than two branches.
  std::optional<std::vector<int>> of(const std::vector<int>& ops) const;

 private:
  std::vector<Branch> branches_;
  // By operator: the branch that contains it, and the branch that joins there; -1: none.
  std::vector<int> in_, at_;
  std::vector<int> kind_;  // by branch: an index that equal branches share
};

/// Returns what cheapest_cover(places, pieces, widest) does, with fewer search states. A branch is ignored if
/// some piece has places of it and of the rest without the place where it joins.
Cover cheapest_cover(std::size_t places, const std::vector<Piece>&, std::size_t widest,
                     const std::vector<Branch>&);

}  // namespace zellige::fuse
