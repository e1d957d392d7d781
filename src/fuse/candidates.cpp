#include "fuse/candidates.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>
#include <set>

namespace zellige::fuse {

Waits::Waits(const std::vector<Candidate>& candidates, std::vector<std::size_t> nodes, std::size_t operators)
    : nodes_(std::move(nodes)), after_(nodes_.size()), waits_for_(nodes_.size()) {
  std::vector<std::size_t> node_of(operators);
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    for (int op : candidates[nodes_[n]].list) node_of[op] = n;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    std::set<std::size_t> earlier;
    for (int op : candidates[nodes_[n]].before.list()) earlier.insert(node_of[op]);
    for (std::size_t e : earlier) after_[e].push_back(n);
    waits_for_[n] = earlier.size();
  }
}

std::optional<std::vector<std::size_t>> Waits::in_order(const std::vector<int>& ranks) const {
  using Next = std::pair<int, std::size_t>;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> ready;
  std::vector<std::size_t> left = waits_for_, order;
  for (std::size_t n = 0; n < left.size(); ++n)
    if (left[n] == 0) ready.emplace(ranks[n], n);
  while (!ready.empty()) {
    const std::size_t n = ready.top().second;
    ready.pop();
    order.push_back(nodes_[n]);
    for (std::size_t next : after_[n])
      if (--left[next] == 0) ready.emplace(ranks[next], next);
  }
  return order.size() < left.size() ? std::nullopt : std::optional(order);
}

std::vector<std::size_t> Waits::circle() const {
  enum class Seen { no, under_way, done };
  std::vector<Seen> seen(after_.size(), Seen::no);
  std::vector<std::size_t> path, found;
  const std::function<bool(std::size_t)> follow = [&](std::size_t n) {
    seen[n] = Seen::under_way;
    path.push_back(nodes_[n]);
    for (std::size_t next : after_[n]) {
      if (seen[next] == Seen::under_way) {
        found.assign(std::ranges::find(path, nodes_[next]), path.end());
        return true;
      }
      if (seen[next] == Seen::no && follow(next)) return true;
    }
    path.pop_back();
    seen[n] = Seen::done;
    return false;
  };
  for (std::size_t n = 0; n < after_.size(); ++n)
    if (seen[n] == Seen::no && follow(n)) break;
  return found;
}

OperatorSet Candidates::before(const OperatorSet& s) const {
  OperatorSet all(g_.ops.size()), b(g_.ops.size());
  for (int i : s.list()) all.add(order_.direct[i]);
  for (int p : all.list())
    if (!s.has(p)) b.add(p);
  return b;
}

Waits Candidates::waiting(const Selected& way) const {
  std::vector<std::size_t> nodes = way;
  OperatorSet all(g_.ops.size());
  for (std::size_t c : way) all.add(candidates_[c].ops);
  for (std::size_t i = 0; i < g_.ops.size(); ++i)
    if (!all.has(static_cast<int>(i))) nodes.push_back(i);
  return {candidates_, std::move(nodes), g_.ops.size()};
}

std::optional<std::vector<std::size_t>> Candidates::in_order(const Selected& way) const {
  const Waits waits = waiting(way);
  std::vector<int> ranks;
  for (std::size_t c : waits.nodes()) {
    const int first = candidates_[c].list[0];
    ranks.push_back(never_grouped(first) ? first - static_cast<int>(g_.ops.size()) : first);
  }
  return waits.in_order(ranks);
}

std::vector<std::pair<std::size_t, std::size_t>> Candidates::readers(const Selected& way) const {
  Selected grouped;
  std::ranges::copy_if(way, std::back_inserter(grouped),
                       [&](std::size_t c) { return !never_grouped(candidates_[c].list[0]); });
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t i : grouped)
    for (std::size_t j : grouped)
      if (candidates_[j].before.intersects(candidates_[i].ops)) pairs.emplace_back(i, j);
  return pairs;
}

}  // namespace zellige::fuse
