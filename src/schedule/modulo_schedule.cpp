#include "schedule/modulo_schedule.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>

#include "graph/error.hpp"

namespace zellige::schedule {
namespace {

using Cycles = std::int64_t;
constexpr int max_items = 16;
constexpr Cycles none = std::numeric_limits<Cycles>::min() / 4;  // no lower bound

/// Returns the quotient, rounded down.
Cycles floor_div(Cycles a, Cycles b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// Returns the cycles from an item's start until items that depend on it can start.
Cycles delay(const LoopItem& item) { return item.cycles + item.latency; }

/// Returns whether two items cannot be carried out at the same time.
bool exclude(const LoopItem& a, const LoopItem& b) {
  if (a.asynchronous() != b.asynchronous() || a.cycles == 0 || b.cycles == 0) return false;
  return a.asynchronous() ? a.unit >= 0 && a.unit == b.unit : a.role == b.role;
}

/// The least differences between the starts of items in schedules of one interval, while the order of those that exclude
/// each other is decided pair by pair.
class StartBounds {
 public:
  StartBounds(const LoopGraph& graph, Cycles interval)
      : graph_(graph), interval_(interval), n_(static_cast<int>(graph.items.size())) {
    least_.fill(none);
    for (int v = 0; v < n_; ++v) {
      at(v, v) = 0;
      const LoopItem& item = graph.items[v];
      if ((!item.asynchronous() || item.unit >= 0) && item.cycles > interval) feasible_ = false;
    }
    for (const LoopDependence& d : graph.dependences)
      if (!graph.items[d.to].early || d.distance == 0)  // what starts early is placed last
        bound(d.from, d.to, delay(graph.items[d.from]) - d.distance * interval);
  }

  /// Decides all pairs from number `pair` on. Returns whether that is possible; the bounds are then those of a schedule.
  bool decide(int pair = 0) {
    for (; feasible_ && pair < n_ * n_; ++pair) {
      const int u = pair / n_, v = pair % n_;
      if (u >= v || !exclude(graph_.items[u], graph_.items[v])) continue;
      // Between the starts of u and v lie `turns` intervals, and the rest has room for u before v, and v before the next u.
      const Cycles cu = graph_.items[u].cycles, cv = graph_.items[v].cycles;
      const bool low = at(u, v) > none, high = at(v, u) > none;
      Cycles from = low ? floor_div(at(u, v) + cv - 1, interval_) : -1;
      Cycles to = high ? floor_div(-at(v, u) - cu, interval_) : from + n_;
      if (!low && !high) from = to = 0;  // neither depends on the other: intervals between them change nothing
      const bool down = !low && high;    // the fewest intervals first
      if (down) from = to - n_;
      for (Cycles i = 0; i <= to - from; ++i) {
        const Cycles turns = down ? to - i : from + i;
        StartBounds tried = *this;
        tried.bound(u, v, cu + turns * interval_);
        tried.bound(v, u, cv - (turns + 1) * interval_);
        if (!tried.decide(pair + 1)) continue;
        least_ = tried.least_;
        return true;
      }
      return false;
    }
    return feasible_;
  }

  /// Returns the earliest start of each item, none before 0.
  std::vector<Cycles> starts() const {
    std::vector<Cycles> result(n_, 0);
    for (int u = 0; u < n_; ++u)
      for (int v = 0; v < n_; ++v) result[v] = std::max(result[v], at(u, v));
    return result;
  }

 private:
  Cycles& at(int u, int v) { return least_[u * n_ + v]; }
  Cycles at(int u, int v) const { return least_[u * n_ + v]; }

  /// Adds the bound start(v) - start(u) >= cycles, and all that follow from it.
  void bound(int u, int v, Cycles cycles) {
    if (!feasible_ || cycles <= at(u, v)) return;
    if (u == v || (at(v, u) > none && cycles + at(v, u) > 0)) {
      feasible_ = feasible_ && u == v && cycles <= 0;
      return;
    }
    for (int a = 0; a < n_; ++a)
      for (int b = 0; b < n_; ++b)
        if (at(a, u) > none && at(v, b) > none) at(a, b) = std::max(at(a, b), at(a, u) + cycles + at(v, b));
  }

  const LoopGraph& graph_;
  Cycles interval_;
  int n_;
  std::array<Cycles, max_items * max_items> least_;
  bool feasible_ = true;
};

/// Throws Error if the graph is no graph of a loop.
void check(const LoopGraph& graph) {
  const int n = static_cast<int>(graph.items.size());
  if (n > max_items) fail("loop: {} items; at most {} are scheduled", n, max_items);
  for (const LoopItem& item : graph.items)
    if (const int least = item.asynchronous() ? 1 : 0; item.cycles < least || item.latency < 0)
      fail("loop: item '{}' takes {} cycles and {} of latency; at least {} and 0 are needed", item.name, item.cycles,
           item.latency, least);
  for (const LoopDependence& d : graph.dependences)
    if (d.from < 0 || d.from >= n || d.to < 0 || d.to >= n || d.distance < 0)
      fail("loop: a dependence from item {} to {} over {} iterations; there are {} items, and iterations go forward",
           d.from, d.to, d.distance, n);
}

}  // namespace

std::optional<std::vector<std::int64_t>> start_times(const LoopGraph& graph, std::int64_t interval) {
  StartBounds bounds(graph, interval);
  if (!bounds.decide()) return std::nullopt;
  return bounds.starts();
}

LoopSchedule modulo_schedule(const LoopGraph& graph) {
  check(graph);
  // If an interval has a schedule, so has every longer one: each iteration idles at its end.
  Cycles low = 1, high = 1;
  for (const LoopItem& item : graph.items) high += delay(item);
  if (!StartBounds(graph, high).decide())
    fail("loop: the dependences of an iteration have a cycle; items of an iteration follow each other");
  while (low < high) {
    const Cycles middle = low + (high - low) / 2;
    if (StartBounds(graph, middle).decide())
      high = middle;
    else
      low = middle + 1;
  }
  LoopSchedule schedule{high, *start_times(graph, high)};
  for (std::size_t v = 0; v < graph.items.size(); ++v) {
    Cycles start = none;
    for (const LoopDependence& d : graph.dependences)
      if (d.to == static_cast<int>(v))
        start = std::max(start, schedule.start[d.from] + delay(graph.items[d.from]) - d.distance * high);
    if (graph.items[v].early && start > none) schedule.start[v] = start;
  }
  return schedule;
}

std::vector<PlacedItem> body_of(const LoopGraph& graph, const LoopSchedule& schedule, int role, int counter) {
  Cycles origin = std::numeric_limits<Cycles>::max();
  for (std::size_t v = 0; v < graph.items.size(); ++v)
    if (graph.items[v].role == role && !graph.items[v].early) origin = std::min(origin, schedule.start[v]);
  const auto iteration = [&](int v) { return floor_div(schedule.start[v] - origin, schedule.interval); };
  std::vector<PlacedItem> body;
  for (int v = 0; v < static_cast<int>(graph.items.size()); ++v)
    if (graph.items[v].role == role) body.push_back({v, iteration(counter) - iteration(v)});
  const auto place = [&](const PlacedItem& p) {
    const Cycles start = schedule.start[p.item] - origin;
    return std::tuple(start - iteration(p.item) * schedule.interval, !graph.items[p.item].asynchronous(),
                      graph.items[p.item].cycles > 0, p.item);
  };
  std::ranges::sort(body, {}, place);
  // What an iteration begins with, of one before, ends that one: the sequence is the same, and fewer iterations are in flight.
  const auto first = std::ranges::find_if(body, [](const PlacedItem& p) { return p.ahead >= 0; });
  for (auto p = body.begin(); p != first && first != body.end(); ++p) ++p->ahead;
  if (first != body.end()) std::rotate(body.begin(), first, body.end());
  return body;
}

}  // namespace zellige::schedule
