// Finds the cheapest cover of a graph by groups of operators, like cover.hpp, but covers branches separately,
// which keeps the number of search states small. A branch is a set of operators that is connected to the rest
// of the graph only through one operator.
//
// Operators are numbered: a place is an operator's number, and a piece is a candidate group, a set of places
// with a cost.
//
//   const Branch b{2, {3, 4}};               // operators 3 and 4 are connected to the rest only through 2
//   cheapest_cover(64, pieces, 16, {b});     // 64 operators, 16 search states per place; {b}: the branches
//
// The result costs the same as without branches. If a piece contains 3 or 4 and also a place outside of {2,
// 3, 4}, it must contain 2. Exactly one piece of a cover contains 2. If that piece leaves 3 or 4 uncovered,
// the cheapest cover of the uncovered places is found separately, and its cost is added to the piece's. The
// main cover then has no places 3 and 4. So its states do not record which of the 2^n subsets of a branch of
// n operators are uncovered. The result is exact if the main cover and the covers of the branches are exact.
#pragma once
#include <optional>
#include <vector>

#include "fuse/cover.hpp"
#include "fuse/groups.hpp"

namespace zellige::fuse {

/// A set of operators that only one other operator, `at`, connects to the rest of the graph. In cheapest_cover(), the
/// operators are given as places (numbers among the operators to be covered).
struct Branch {
  int at = -1;              // where it joins the others; not in `places`
  std::vector<int> places;  // ascending
};

/// Returns the branches of a graph. A branch is a set of operators that is connected to the rest of the graph
/// only through one operator, Branch::at, on which all of them depend. Only operators that read a tensor with
/// many readers (GroupNeighbours::of_many) are considered for Branch::at. No operator is in two branches. If
/// Branch::at has no neighbours outside of its branch, the branch is omitted.
std::vector<Branch> branches_of(const Dependences&, const GroupNeighbours&);

/// Recognises groups that are equal except for which of several equal branches they take operators from, so
/// that one of them represents all in a cover. Branches are equal if their excerpts are (excerpt.hpp),
/// without regard to tensors that several branches share, such as a weight.
class Patterns {
 public:
  /// The branches must be of operators, as branches_of returns them.
  Patterns(const graph::KernelGraph&, const std::vector<Branch>& of_operators);
  /// Returns a key of group `ops`. Groups that differ only in their choice among equal branches have equal
  /// keys. A branch is a set of operators that only one further operator, its joining operator, connects to
  /// the rest of the graph. Returns nullopt if the group has the joining operators of fewer than two
  /// branches, or if it has an operator of a branch but not the branch's joining operator.
  std::optional<std::vector<int>> of(const std::vector<int>& ops) const;

 private:
  std::vector<Branch> branches_;
  // By operator: the branch that contains it, and the branch that joins there; -1: none.
  std::vector<int> in_, at_;
  std::vector<int> kind_;  // by branch: an index that equal branches share
};

/// Returns the cheapest cover: pieces (candidate groups of operators) that contain each of the places (operators) 0 to
/// `places` - 1 exactly once. The cover costs as much as that of the overload without branches (cover.hpp), but fewer
/// search states are visited, because each branch (places that only the place Branch::at connects to the rest) is
/// covered separately. A branch is not covered separately if a piece has places inside and outside of it but lacks
/// Branch::at. `widest` is the maximum number of search states (partial covers) with the same first uncovered place.
Cover cheapest_cover(std::size_t places, const std::vector<Piece>&, std::size_t widest, const std::vector<Branch>&);

}  // namespace zellige::fuse
