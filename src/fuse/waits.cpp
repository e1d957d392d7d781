#include "fuse/waits.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <utility>

namespace zellige::fuse {

Waits::Waits(const std::vector<Piece>& pieces, std::size_t operators)
    : after_(pieces.size()), waits_for_(pieces.size()) {
  std::vector<std::size_t> piece_of(operators);
  for (std::size_t p = 0; p < pieces.size(); ++p)
    for (int op : *pieces[p].ops) piece_of[op] = p;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    std::set<std::size_t> earlier;
    for (int op : pieces[p].before->list()) earlier.insert(piece_of[op]);
    for (std::size_t e : earlier) after_[e].push_back(p);
    waits_for_[p] = earlier.size();
  }
}

std::optional<std::vector<std::size_t>> Waits::in_order(const std::vector<int>& ranks) const {
  using Next = std::pair<int, std::size_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
  std::vector<std::size_t> left = waits_for_, order;
  for (std::size_t p = 0; p < left.size(); ++p)
    if (left[p] == 0) ready.emplace(ranks[p], p);
  while (!ready.empty()) {
    const std::size_t p = ready.top().second;
    ready.pop();
    order.push_back(p);
    for (std::size_t next : after_[p])
      if (--left[next] == 0) ready.emplace(ranks[next], next);
  }
  return order.size() < left.size() ? std::nullopt : std::optional(order);
}

std::vector<std::size_t> Waits::circle() const {
  enum class Seen { no, under_way, done };
  std::vector<Seen> seen(after_.size(), Seen::no);
  std::vector<std::size_t> path, found;
  const std::function<bool(std::size_t)> follow = [&](std::size_t p) {
    seen[p] = Seen::under_way;
    path.push_back(p);
    for (std::size_t next : after_[p]) {
      if (seen[next] == Seen::under_way) {
        found.assign(std::ranges::find(path, next), path.end());
        return true;
      }
      if (seen[next] == Seen::no && follow(next)) return true;
    }
    path.pop_back();
    seen[p] = Seen::done;
    return false;
  };
  for (std::size_t p = 0; p < after_.size(); ++p)
    if (seen[p] == Seen::no && follow(p)) break;
  return found;
}

}  // namespace zellige::fuse
