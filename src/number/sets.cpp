#include "number/sets.hpp"

#include <algorithm>
#include <iterator>

namespace zellige::number {

Sets::Index Sets::keep(std::vector<std::uint64_t> elements) {
  if (elements.size() > capacity) return many;
  const auto [at, fresh] = index_.try_emplace(elements, static_cast<Index>(kept_.size()));
  if (fresh) kept_.push_back(std::move(elements));
  return at->second;
}

Sets::Index Sets::join(Index a, Index b) {
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

}  // namespace zellige::number
