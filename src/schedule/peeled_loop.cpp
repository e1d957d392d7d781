#include "schedule/peeled_loop.hpp"

#include <algorithm>
#include <array>

namespace zellige::schedule {
namespace {

/// Follows the groups that a role has closed, and those that it knows to be complete, from one item to the next.
class OpenGroups {
 public:
  OpenGroups(const LoopGraph& graph, int role) : graph_(graph), role_(role) {}

  /// Returns the waits before item `item` of iteration `iteration` begins.
  std::vector<GroupWait> before(int item, std::int64_t iteration) const {
    std::array<int, kinds> last{};  // by completion: the end of the groups that must be complete
    for (const LoopDependence& d : graph_.dependences) {
      const LoopItem& from = graph_.items[d.from];
      if (d.to != item || from.role != role_ || !from.in_groups() || iteration < d.distance) continue;
      // What one unit takes one after another needs no wait between.
      if (graph_.items[item].asynchronous() && from.unit >= 0 && from.unit == graph_.items[item].unit) continue;
      const std::vector<Closed>& closed = closed_[kind(d.from)];
      const auto group = std::ranges::find(closed, Closed{d.from, iteration - d.distance});
      const auto end = static_cast<int>(group - closed.begin()) + 1;
      if (group != closed.end() && end > complete_[kind(d.from)])
        last[kind(d.from)] = std::max(last[kind(d.from)], end);
    }
    std::vector<GroupWait> waits;
    for (std::size_t k = 0; k < kinds; ++k)
      if (last[k] > 0) waits.push_back({closed_[k][last[k] - 1].item, static_cast<int>(closed_[k].size()) - last[k]});
    return waits;
  }
  /// Carries out waits, and then starts the item.
  void run(int item, std::int64_t iteration, const std::vector<GroupWait>& waits) {
    for (const GroupWait& w : waits)
      complete_[kind(w.item)] = static_cast<int>(closed_[kind(w.item)].size()) - w.pending;
    if (graph_.items[item].in_groups()) closed_[kind(item)].push_back({item, iteration});
  }

 private:
  static constexpr std::size_t kinds = 5;  // of completions
  /// A group: the item of the iteration that it has.
  struct Closed {
    int item = 0;
    std::int64_t iteration = 0;
    bool operator==(const Closed&) const = default;
  };
  std::size_t kind(int item) const { return static_cast<std::size_t>(graph_.items[item].by); }

  const LoopGraph& graph_;
  int role_;
  std::array<std::vector<Closed>, kinds> closed_;  // by completion, in order
  std::array<int, kinds> complete_{};              // by completion: so many groups are known to be complete
};

/// Adds the waits of entries of another run of the same iteration: each with the least number of pending groups.
void merge(const LoopGraph& graph, std::vector<LoopEntry>& into, std::vector<LoopEntry> entries) {
  if (into.empty()) return into.swap(entries);
  for (std::size_t e = 0; e < into.size(); ++e)
    for (const GroupWait& wait : entries[e].waits) {
      const auto same = std::ranges::find(into[e].waits, graph.items[wait.item].by,
                                          [&](const GroupWait& w) { return graph.items[w.item].by; });
      if (same == into[e].waits.end())
        into[e].waits.push_back(wait);
      else if (wait.pending < same->pending)
        *same = wait;
    }
}

/// Follows a loop of n iterations, and adds what it waits for to the parts of `loop`.
void follow(const LoopGraph& graph, const std::vector<PlacedItem>& body, std::int64_t n, PeeledLoop& loop) {
  OpenGroups groups(graph, graph.items[body.front().item].role);
  loop.before.resize(loop.from + loop.fewer), loop.after.resize(loop.from + loop.fewer);
  for (std::int64_t i = -loop.fewer; i < n + loop.from; ++i) {
    std::vector<LoopEntry> entries;
    entries.reserve(body.size());
    for (const PlacedItem& p : body) {
      const std::int64_t iteration = i + p.ahead;
      if (iteration < 0 || iteration >= n) continue;
      LoopEntry entry{p, groups.before(p.item, iteration)};
      groups.run(p.item, iteration, entry.waits);
      entries.push_back(std::move(entry));
    }
    merge(graph,
          i < loop.from         ? loop.before[i + loop.fewer]
          : i >= n - loop.fewer ? loop.after[i - (n - loop.fewer)]
                                : loop.body,
          std::move(entries));
  }
}

}  // namespace

PeeledLoop peel(const LoopGraph& graph, const std::vector<PlacedItem>& body) {
  PeeledLoop loop;
  if (body.empty()) return loop;
  for (const PlacedItem& p : body)
    loop.from = std::max(loop.from, -p.ahead), loop.fewer = std::max(loop.fewer, p.ahead);
  int distance = 0;
  for (const LoopDependence& d : graph.dependences) distance = std::max(distance, d.distance);
  // In the first iterations and in short loops fewer groups follow the one that is awaited: the least number is right for
  // all. From some number of iterations on, nothing changes.
  const std::int64_t shortest = std::max<std::int64_t>(1, loop.from + loop.fewer);
  for (std::int64_t n = shortest; n <= 2 * shortest + distance; ++n) follow(graph, body, n, loop);
  return loop;
}

std::vector<LoopEntry> every_iteration(const LoopGraph& graph, const std::vector<PlacedItem>& body) {
  std::vector<LoopEntry> result;
  for (int to = 0; to < static_cast<int>(body.size()); ++to) {
    result.push_back({body[to]});
    for (const LoopDependence& d : graph.dependences) {
      const LoopItem& item = graph.items[d.from];
      const int from = static_cast<int>(std::ranges::find(body, d.from, &PlacedItem::item) - body.begin());
      if (d.to != body[to].item || from == static_cast<int>(body.size()) || !item.in_groups()) continue;
      if (graph.items[d.to].asynchronous() && item.unit >= 0 && item.unit == graph.items[d.to].unit) continue;
      // So many iterations of the body lie between the two. In each of them every item closes a group.
      const std::int64_t apart = body[from].ahead - body[to].ahead + d.distance;
      std::int64_t pending = 0;
      for (int p = 0; p < static_cast<int>(body.size()); ++p)
        if (graph.items[body[p].item].by == item.by) pending += apart + (p < to ? 1 : 0) - (p <= from ? 1 : 0);
      std::vector<LoopEntry> one{{body[to], {{d.from, static_cast<int>(pending)}}}}, so_far{result.back()};
      merge(graph, so_far, std::move(one));
      result.back() = so_far.front();
    }
  }
  return result;
}

std::vector<int> barriers_between(int items, const std::vector<ThreadCrossing>& crossings) {
  // A barrier before place p separates the pair if p follows `from` and does not follow `to`, around the loop.
  const auto steps = [&](int from, int to) { return (to - from + items - 1) % items + 1; };
  const auto separates = [&](int p, const ThreadCrossing& c) { return steps(c.from, p) <= steps(c.from, c.to); };
  std::vector<int> best;
  bool found = crossings.empty();
  // The first barrier may be at any place; each further one is as late as the next pair permits.
  for (int first = 0; first < items && !crossings.empty(); ++first) {
    std::vector<int> chosen{first};
    for (;;) {
      const ThreadCrossing* next = nullptr;
      const auto end = [&](const ThreadCrossing& c) { return (c.to - first + items) % items; };
      for (const ThreadCrossing& c : crossings) {
        if (std::ranges::any_of(chosen, [&](int p) { return separates(p, c); })) continue;
        if (!next || end(c) < end(*next)) next = &c;
      }
      if (!next) break;
      chosen.push_back(next->to);
    }
    std::ranges::sort(chosen);
    if (!found || chosen.size() < best.size()) best = std::move(chosen), found = true;
  }
  return best;
}

}  // namespace zellige::schedule
