#include "fuse/candidates.hpp"

#include <ranges>

namespace zellige::fuse {

OperatorSet Candidates::before(const OperatorSet& s) const {
  OperatorSet all(g_.ops.size()), b(g_.ops.size());
  for (int i : s.list()) all.add(order_.direct[i]);
  for (int p : all.list())
    if (!s.has(p)) b.add(p);
  return b;
}

Candidates::Waiting Candidates::waiting(const Selected& way) const {
  std::vector<std::size_t> nodes = way;
  OperatorSet all(g_.ops.size());
  for (std::size_t c : way) all.add(candidates_[c].ops);
  for (std::size_t i = 0; i < g_.ops.size(); ++i)
    if (!all.has(static_cast<int>(i))) nodes.push_back(i);
  std::vector<Waits::Piece> pieces;
  for (std::size_t c : nodes) pieces.push_back({&candidates_[c].list, &candidates_[c].before});
  return {std::move(nodes), Waits(pieces, g_.ops.size())};
}

std::optional<std::vector<std::size_t>> Candidates::in_order(const Selected& way) const {
  const Waiting w = waiting(way);
  std::vector<int> ranks;
  for (std::size_t c : w.nodes) {
    const int first = candidates_[c].list[0];
    ranks.push_back(never_grouped(first) ? first - static_cast<int>(g_.ops.size()) : first);
  }
  std::optional<std::vector<std::size_t>> order = w.waits.in_order(ranks);
  if (order)
    for (std::size_t& n : *order) n = w.nodes[n];
  return order;
}

std::vector<std::pair<std::size_t, std::size_t>> Candidates::readers(const Selected& way) const {
  const auto grouped = std::views::filter([&](std::size_t c) { return !never_grouped(candidates_[c].list[0]); });
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i : way | grouped)
    for (std::size_t j : way | grouped)
      if (candidates_[j].before.intersects(candidates_[i].ops)) pairs.emplace_back(i, j);
  return pairs;
}

}  // namespace zellige::fuse
