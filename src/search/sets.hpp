// Interned small sets of numbers: each set is stored once and identified by an index, so that equal sets have
// equal indices.
//
//   Sets sets;
//   sets.join(sets.single(5), sets.single(7)) == sets.join(sets.single(7), sets.single(5))
#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace zellige::search {

class Sets {
 public:
  using Index = std::uint32_t;
  static constexpr Index empty = 0, many = ~Index{0};  // many: larger than the limit
  static constexpr std::size_t capacity = 40;

  Sets() { kept_.emplace_back(); }

  Index single(std::uint64_t element) { return keep({element}); }
  Index join(Index a, Index b);
  /// Empty for `many`.
  const std::vector<std::uint64_t>& elements(Index a) const { return kept_[a == many ? empty : a]; }

 private:
  Index keep(std::vector<std::uint64_t> elements);

  std::vector<std::vector<std::uint64_t>> kept_;
  std::map<std::vector<std::uint64_t>, Index> index_;
  std::map<std::pair<Index, Index>, Index> joined_;
};

}  // namespace zellige::search
