// Pieces of a graph that wait for each other's results: in which order they run, or which of them never can.
//
//   const Waits waits(pieces, operators);        // every operator is of one piece
//   waits.in_order(ranks);                       // {2, 0, 1}: 0 and 1 read what 2 makes
//   waits.circle();                              // {0, 1}: each reads what the other makes
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
    const Set* before;  // operators that must be done
  };
  Waits(const std::vector<Piece>&, std::size_t operators);

  /// By piece, those that wait for it.
  const std::vector<std::vector<std::size_t>>& after() const { return after_; }
  /// All, each behind those that it waits for; of those that may be next the one of the least rank. None where two wait for each other.
  std::optional<std::vector<std::size_t>> in_order(const std::vector<int>& ranks) const;
  /// Some that wait for each other; none where there is an order.
  std::vector<std::size_t> circle() const;

 private:
  std::vector<std::vector<std::size_t>> after_;
  std::vector<std::size_t> waits_for_;  // by piece: how many others
};

}  // namespace zellige::fuse
