// Branches of a cover: places that join the others in one place alone are covered separately, once for each part that is left of them.
//
//   const Branch b{2, {3, 4}};      // what has 3 or 4, and a place but 2, 3 and 4, has 2
//   cheapest_cover(64, pieces, widest, {b});      // costs what cheapest_cover(64, pieces, widest) does
//
// A piece with place 2 leaves some of 3 and 4, and no other piece of the cover has to do with these: so it costs what it does and what
// covers them. Then 3 and 4 are places no more, and pieces that differ in them alone are one. Of branches of one input, each of n
// operators, the cover no longer follows which of 2^n parts of each branch is left. It is as exact as the covers that it is made of.
#pragma once
#include <optional>
#include <vector>

#include "fuse/cover.hpp"
#include "fuse/groups.hpp"

namespace zellige::fuse {

struct Branch {
  int at = -1;              // where it joins the others
  std::vector<int> places;  // ascending
};

/// Of the operators of a graph: what follows one of the many readers of a tensor and joins others in that reader alone. No operator
/// is in two. Where no operator joins the branch, there is nothing to separate it from, and it is omitted.
std::vector<Branch> branches_of(const Order&, const Neighbours&);

/// Groups that differ in nothing but which of equal branches they take which part of: one of them represents all in a cover.
/// Branches are equal by what each is alone: that two of them read the same weight is not seen.
class Patterns {
 public:
  Patterns(const graph::KernelGraph&, const std::vector<Branch>& of_operators);
  /// Equal for such groups; none where no other group is like this one.
  std::optional<std::vector<int>> of(const std::vector<int>& ops) const;

 private:
  std::vector<Branch> branches_;
  std::vector<int> in_, at_;  // by operator: its branch, the branch that joins others there; -1: none
  std::vector<int> kind_;     // by branch: equal for equal ones
};

/// Branches that the pieces do not keep to are not used.
Cover cheapest_cover(std::size_t places, const std::vector<Piece>&, std::size_t widest,
                     const std::vector<Branch>&);

}  // namespace zellige::fuse
