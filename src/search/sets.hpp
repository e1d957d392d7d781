// Interned small sets of numbers: each set is stored once and identified by an index, so that equal sets have
// equal indices. Finite fields (field.hpp) store in such sets what a number depends on.
//
//   Sets sets;
//   sets.join(sets.single(5), sets.single(7)) == sets.join(sets.single(7), sets.single(5))
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace zellige::search {

/// Stores the sets, of at most `capacity` numbers each.
class Sets {
 public:
  using Index = std::uint32_t;
  static constexpr Index empty = 0, many = ~Index{0};  // many: stands for all larger sets
  static constexpr std::size_t capacity = 40;

  Sets() { kept_.emplace_back(); }

  /// Returns the set of one number.
  Index single(std::uint64_t element) { return keep({element}); }
  /// Returns the union of two sets; `many` if it is too large.
  Index join(Index a, Index b);
  /// Returns the numbers of a set, ascending; none for `many`.
  const std::vector<std::uint64_t>& elements(Index a) const { return kept_[a == many ? empty : a]; }

 private:
  /// Returns the index of a set, which it stores if it is new.
  Index keep(std::vector<std::uint64_t> elements);

  std::vector<std::vector<std::uint64_t>> kept_;
  std::map<std::vector<std::uint64_t>, Index> index_;  // by set: its index in kept_
  std::map<std::pair<Index, Index>, Index> joined_;    // by pair of sets: their union
};

}  // namespace zellige::search
