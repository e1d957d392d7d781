// Orders groups of operators by their dependences, or finds groups that depend on each other in a cycle.
//
//   const Waits waits(pieces, operators);   // pieces: the groups; operators: number of operators of the graph
//   waits.in_order(ranks);      // {2, 0, 1}, if groups 0 and 1 read what group 2 computes, and ranks[0] < ranks[1]
//   waits.circle();             // {0, 1}, if groups 0 and 1 read each other's results; {} if there is no cycle
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "fuse/groups.hpp"

namespace zellige::fuse {

/// The dependences between pieces (groups of operators), of which one may read the results of another.
class Waits {
 public:
  /// A group of operators.
  struct Piece {
    const std::vector<int>* ops;
    const OperatorSet* before;  // operators outside of the piece whose results it reads
  };
  /// `operators`: the number of operators of the graph. Each must be in exactly one piece.
  Waits(const std::vector<Piece>&, std::size_t operators);

  /// Returns the indices of all pieces (groups of operators) in topological order. Among the pieces that may come next,
  /// the one with the lowest rank comes first; ranks[p] is the rank of piece p. Returns nullopt if there is a cycle.
  std::optional<std::vector<std::size_t>> in_order(const std::vector<int>& ranks) const;
  /// Returns the indices of pieces (groups of operators) that form a cycle, in which each piece is read by the next
  /// one. Returns an empty list if there is no cycle.
  std::vector<std::size_t> circle() const;

 private:
  std::vector<std::vector<std::size_t>> after_;  // by piece: the pieces that read its results
  std::vector<std::size_t> waits_for_;           // by piece: number of pieces that it depends on directly
};

}  // namespace zellige::fuse
