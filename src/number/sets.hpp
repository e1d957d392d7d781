// Stores small sets of numbers only once (interning). A set is identified by an index, so that equal sets
// have equal indices. Each number of a finite field (FieldNumber, field.hpp) has the indices of two sets: the
// comparisons and input integers on which it depends, and the conditions under which it is not NaN.
//
//   Sets sets;
//   sets.join(sets.single(5), sets.single(7)) == sets.join(sets.single(7), sets.single(5))   // both are {5, 7}
#pragma once
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <vector>

namespace zellige::number {

/// Stores the sets, of at most `capacity` numbers each.
class Sets {
 public:
  using Index = std::uint32_t;
  static constexpr Index empty = 0, many = ~Index{0};  // many: denotes all larger sets
  static constexpr std::size_t capacity = 40;

  Sets() { kept_.emplace_back(); }

  Index single(std::uint64_t element) { return keep({element}); }
  /// Returns the index of the union of two sets, or `many` if the union has more than `capacity` numbers.
  Index join(Index a, Index b) {
    if (a == b || b == empty) return a;
    if (a == empty) return b;
    if (a == many || b == many) return many;
    if (a > b) std::swap(a, b);
    const auto at = joined_.find({a, b});
    if (at != joined_.end()) return at->second;
    std::vector<std::uint64_t> all;
    std::ranges::set_union(kept_[a], kept_[b], std::back_inserter(all));
    return joined_[{a, b}] = keep(std::move(all));
  }
  /// Returns the numbers of a set, ascending. Returns no numbers for `many`, which denotes all sets above the capacity.
  const std::vector<std::uint64_t>& elements(Index a) const { return kept_[a == many ? empty : a]; }

 private:
  /// Returns the index of a set of numbers. Stores the set if it is new.
  Index keep(std::vector<std::uint64_t> elements) {
    if (elements.size() > capacity) return many;
    const auto [at, fresh] = index_.try_emplace(elements, static_cast<Index>(kept_.size()));
    if (fresh) kept_.push_back(std::move(elements));
    return at->second;
  }

  std::vector<std::vector<std::uint64_t>> kept_;
  std::map<std::vector<std::uint64_t>, Index> index_;  // by set: its index in kept_
  std::map<std::pair<Index, Index>, Index> joined_;    // by pair of sets: their union
};

}  // namespace zellige::number
