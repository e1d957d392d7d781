// Small sets of numbers, each kept once and called by an index, so that two are the same if their indices are.
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
  static constexpr Index empty = 0, many = ~Index{0};  // many: more than are told apart
  static constexpr std::size_t most = 40;

  Sets() { kept_.emplace_back(); }

  Index single(std::uint64_t element) { return keep({element}); }
  Index join(Index a, Index b);
  /// Of `many`, none.
  const std::vector<std::uint64_t>& elements(Index a) const { return kept_[a == many ? empty : a]; }

 private:
  Index keep(std::vector<std::uint64_t> elements);

  std::vector<std::vector<std::uint64_t>> kept_;
  std::map<std::vector<std::uint64_t>, Index> index_;
  std::map<std::pair<Index, Index>, Index> joined_;
};

}  // namespace zellige::search
