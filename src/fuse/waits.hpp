// Dependences between pieces of a graph: a topological order, or the pieces that form a cycle.
//
//   const Waits waits(pieces, operators);        // every operator is in one piece
//   waits.in_order(ranks);                       // {2, 0, 1}: 0 and 1 read what 2 computes
//   waits.circle();                              // {0, 1}: each reads what the other computes
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

#include "fuse/groups.hpp"

namespace zellige::fuse {

class Waits {
 public:
  struct Piece {
    const std::vector<int>* ops;
    const Set* before;  // operators that must run first
  };
  Waits(const std::vector<Piece>&, std::size_t operators);

  /// By piece, the pieces that depend on it.
  const std::vector<std::vector<std::size_t>>& after() const { return after_; }
  /// All pieces in topological order; among those that are ready, the one with the lowest rank first. Returns
  /// nullopt if there is a cycle.
  std::optional<std::vector<std::size_t>> in_order(const std::vector<int>& ranks) const;
  /// Pieces that form a cycle; empty if there is an order.
  std::vector<std::size_t> circle() const;

 private:
  std::vector<std::vector<std::size_t>> after_;
  std::vector<std::size_t> waits_for_;  // by piece: number of pieces it depends on
};

}  // namespace zellige::fuse
