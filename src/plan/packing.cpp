#include "plan/packing.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "graph/error.hpp"

namespace zellige::plan {
namespace {

using i64 = std::int64_t;

i64 round_up(i64 x, i64 to) { return (x + to - 1) / to * to; }
bool overlap(const Lifetime& a, const Lifetime& b) { return a.begin < b.end && b.begin < a.end; }

// Throws Error if an object has a negative size, an alignment below 1, or ends before it begins.
void check(const std::vector<Lifetime>& objects) {
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const Lifetime& o = objects[i];
    if (o.size < 0) fail("packing: object {} has size {}; at least 0 is needed", i, o.size);
    if (o.alignment < 1) fail("packing: object {} has alignment {}; at least 1 is needed", i, o.alignment);
    if (o.begin > o.end)
      fail("packing: object {} begins at {} but ends at {}; it must not end before it begins", i, o.begin, o.end);
  }
}

// Returns the greatest common divisor of the alignments. All offsets are multiples of it.
i64 common_alignment(const std::vector<Lifetime>& objects) {
  i64 unit = 0;
  for (const Lifetime& o : objects) unit = std::gcd(unit, o.alignment);
  return unit;
}

// Returns a lower bound of the memory that any packing of the objects needs: the largest sum of the sizes of objects
// that are alive at the same time. Sizes are rounded up to the common alignment, because the next object begins at a
// multiple of it. The topmost object needs no such padding; it is assumed to be the one with the most padding.
i64 live_bound(const std::vector<Lifetime>& objects) {
  const i64 unit = common_alignment(objects);
  struct Edge {
    i64 time;
    bool begins;
    const Lifetime* object;
  };
  std::vector<Edge> edges;
  for (const Lifetime& o : objects) edges.push_back({o.begin, true, &o}), edges.push_back({o.end, false, &o});
  std::ranges::sort(
      edges, [](const Edge& a, const Edge& b) { return std::pair(a.time, a.begins) < std::pair(b.time, b.begins); });
  i64 bound = 0, sum = 0;  // the sum of live sizes is largest where some object begins
  std::multiset<i64> slack;
  for (const auto& [time, begins, object] : edges) {
    const i64 whole = round_up(object->size, unit);
    if (begins) {
      sum += whole, slack.insert(whole - object->size);
      bound = std::max(bound, sum - *slack.rbegin());
    } else {
      sum -= whole, slack.erase(slack.find(whole - object->size));
    }
  }
  return bound;
}

// With more objects than this, pack() uses place_in_time().
constexpr std::size_t many = 2000;
// Units in which PackingSearch::effort is counted per unit of pack()'s `effort`: about what one node of the search
// costs with 14 objects.
constexpr i64 node = 1024;

// Places the objects in the order in which they begin, each in the lowest gap between the objects alive at
// that time. Sets `offset` and returns the peak (the highest end of an object). Takes O(n log n) steps if
// there are few gaps. pack() uses it for more than 2000 (`many`) objects.
i64 place_in_time(const std::vector<Lifetime>& objects, std::vector<i64>& offset) {
  std::vector<int> order(objects.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) {
    return std::pair(objects[a].begin, -objects[a].size) < std::pair(objects[b].begin, -objects[b].size);
  });
  std::map<i64, i64> gaps{{0, std::numeric_limits<i64>::max()}};  // from, to
  std::multimap<i64, int> ends;
  const auto release = [&](i64 from, i64 to) {
    auto after = gaps.lower_bound(from);
    if (after != gaps.end() && after->first == to) to = after->second, after = gaps.erase(after);
    if (after != gaps.begin() && std::prev(after)->second == from)
      std::prev(after)->second = to;
    else
      gaps.emplace(from, to);
  };
  i64 peak = 0;
  for (int i : order) {
    const Lifetime& o = objects[i];
    for (; !ends.empty() && ends.begin()->first <= o.begin; ends.erase(ends.begin())) {
      const int gone = ends.begin()->second;
      release(offset[gone], offset[gone] + objects[gone].size);
    }
    auto gap = gaps.begin();
    while (gap->second - round_up(gap->first, o.alignment) < o.size) ++gap;
    const auto [from, to] = *gap;
    const i64 at = offset[i] = round_up(from, o.alignment);
    gaps.erase(gap);
    if (at > from) gaps.emplace(from, at);
    if (at + o.size < to) gaps.emplace(at + o.size, to);
    peak = std::max(peak, at + o.size);
    ends.emplace(o.end, i);
  }
  return peak;
}

enum class Fit { first, best };

// Places the objects in the given order, each in a gap between those already placed that overlap it in time: the lowest
// gap (Fit::first) or the tightest one (Fit::best). Sets `offset` and returns the peak (the highest end of an object).
i64 place(const std::vector<Lifetime>& objects, const std::vector<int>& order, Fit fit, std::vector<i64>& offset) {
  i64 peak = 0;
  std::vector<std::pair<i64, i64>> taken;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Lifetime& o = objects[order[i]];
    taken.clear();
    for (std::size_t j = 0; j < i; ++j)
      if (overlap(o, objects[order[j]]))
        taken.emplace_back(offset[order[j]], offset[order[j]] + objects[order[j]].size);
    std::ranges::sort(taken);
    i64 at = -1, tightest = -1, low = 0;
    for (const auto& [from, to] : taken) {
      const i64 start = round_up(low, o.alignment);
      if (from - start >= o.size && (at < 0 || from - low < tightest)) {
        at = start, tightest = from - low;
        if (fit == Fit::first) break;
      }
      low = std::max(low, to);
    }
    offset[order[i]] = at < 0 ? round_up(low, o.alignment) : at;
    peak = std::max(peak, offset[order[i]] + o.size);
  }
  return peak;
}

// Branch and bound for the packing with the smallest peak (the highest end of an object).
//
// Pushing every object of an optimal packing down until nothing moves gives another optimal packing. With its objects
// sorted by (offset, index), each is directly on top of the highest earlier object that overlaps it in time. So the
// search appends objects in that order only. Of objects with equal size, lifetime and alignment that could be placed
// next at the same offset, it tries only the first: exchanging them changes no peak.
struct PackingSearch {
  const std::vector<Lifetime>& objects;
  i64 unit;    // all offsets are multiples of it
  i64 effort;  // remaining number of objects that may be examined
  Packing& best;
  std::vector<std::vector<int>> met;      // met[i]: the objects whose lifetimes overlap i's
  std::vector<std::vector<int>> live_at;  // live_at[i]: the objects alive when object i begins
  std::vector<i64> offset;
  std::vector<char> placed;
  std::vector<i64> rounded;  // sizes, rounded up to `unit`

  using Next = std::tuple<i64, i64, int>;  // offset, negative size, object

  // Returns whether an earlier choice in the sorted list places an object with the same size, lifetime and
  // alignment at the same offset as choice c does.
  bool is_tried(const std::vector<Next>& sorted, std::size_t c) const {
    const auto& [at, size, i] = sorted[c];
    const Lifetime& o = objects[i];
    for (std::size_t d = c; d-- > 0;) {
      const auto& [other_at, other_size, j] = sorted[d];
      if (other_at != at || other_size != size) return false;
      const Lifetime& other = objects[j];
      if (other.begin == o.begin && other.end == o.end && other.alignment == o.alignment) return true;
    }
    return false;
  }

  // Returns a lower bound of the final peak (the highest end of an object), given the objects placed so far. At each
  // time, the unplaced live objects must go on top of the placed ones and not below `floor`, the offset of the object
  // placed last. Each size except that of the topmost object is rounded up to `unit`.
  i64 bound(i64 floor) {
    i64 b = 0;
    for (const auto& live : live_at) {
      effort -= std::ssize(live);
      i64 top = 0, rest = 0, slack = 0;
      for (int i : live)
        if (placed[i]) {
          top = std::max(top, offset[i] + objects[i].size);
        } else {
          rest += rounded[i], slack = std::max(slack, rounded[i] - objects[i].size);
        }
      b = std::max(b, rest ? round_up(std::max(top, floor), unit) + rest - slack : top);
    }
    return b;
  }

  // Places the remaining objects in every order that may improve on `best`, and stores improvements in `best`. `count`
  // objects are placed so far; the last of them is object `last` at offset `floor`, and `peak` is the highest end of
  // all of them. Returns false if the effort is exhausted before the search is complete.
  bool descend(std::size_t count, i64 floor, int last, i64 peak) {
    if (effort < 0) return false;
    if (count == objects.size()) {
      best.peak = peak, best.offset = offset;
      return true;
    }
    std::vector<Next> choices;
    for (int i = 0; i < static_cast<int>(objects.size()); ++i) {
      effort -= 1 + std::ssize(met[i]);
      if (placed[i]) continue;
      i64 at = 0;
      for (int j : met[i])
        if (placed[j]) at = std::max(at, offset[j] + objects[j].size);
      at = round_up(at, objects[i].alignment);
      if (at < floor || (at == floor && i < last)) {
        // The object can be placed only higher, on top of an object that overlaps it in time. If all of
        // these are placed already, this branch has no solution.
        if (std::ranges::none_of(met[i], [&](int j) { return !placed[j]; })) return true;
        continue;
      }
      choices.emplace_back(at, -objects[i].size, i);
    }
    std::ranges::sort(choices);
    for (std::size_t c = 0; c < choices.size(); ++c) {
      if (is_tried(choices, c)) continue;
      const i64 at = std::get<0>(choices[c]);
      const int i = std::get<2>(choices[c]);
      const i64 top = std::max(peak, at + objects[i].size);
      if (top >= best.peak) continue;
      placed[i] = 1, offset[i] = at;
      const bool goes_on = bound(at) >= best.peak || descend(count + 1, at, i, top);
      placed[i] = 0;
      if (!goes_on) return false;
      if (best.peak == best.lower_bound) return true;
    }
    return true;
  }
};

// Returns the packing of objects that have nonzero sizes and nonempty lifetimes. Runs the heuristics first,
// and then the branch and bound (Search), which `effort` limits.
Packing pack_proper(const std::vector<Lifetime>& objects, i64 effort) {
  const int n = static_cast<int>(objects.size());
  Packing best;
  best.offset.assign(n, 0);
  best.lower_bound = live_bound(objects);
  best.peak = -1;
  if (objects.size() > many) {
    best.peak = place_in_time(objects, best.offset);
    best.optimal = best.peak == best.lower_bound;
    return best;
  }
  auto duration = [](const Lifetime& o) { return o.end - o.begin; };
  using Key = std::function<std::tuple<i64, i64, i64>(const Lifetime&)>;
  const Key keys[] = {
      [&](const Lifetime& o) { return std::tuple(-o.size, -duration(o), o.begin); },
      [&](const Lifetime& o) { return std::tuple(-duration(o), -o.size, o.begin); },
      [&](const Lifetime& o) { return std::tuple(-duration(o) * o.size, -o.size, o.begin); },
      [&](const Lifetime& o) { return std::tuple(o.begin, -o.size, -duration(o)); },
      [&](const Lifetime& o) { return std::tuple(o.begin, -duration(o), -o.size); },
      [&](const Lifetime& o) { return std::tuple(-o.end, -o.size, -duration(o)); },
      [&](const Lifetime& o) { return std::tuple(-o.alignment, -o.size, -duration(o)); },
  };
  std::vector<int> order(n);
  std::vector<i64> offset(n);
  for (const Key& key : keys)
    for (Fit fit : {Fit::first, Fit::best}) {
      if (best.peak == best.lower_bound) break;
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, [&](int a, int b) { return key(objects[a]) < key(objects[b]); });
      const i64 peak = place(objects, order, fit, offset);
      if (best.peak < 0 || peak < best.peak) best.peak = peak, best.offset = offset;
    }
  best.optimal = best.peak == best.lower_bound;
  if (best.optimal || effort <= 0) return best;

  PackingSearch search{objects, common_alignment(objects), effort * node,        best, std::vector<std::vector<int>>(n),
                       {},      std::vector<i64>(n),       std::vector<char>(n), {}};
  for (const Lifetime& o : objects) search.rounded.push_back(round_up(o.size, search.unit));
  for (int i = 0; i < n; ++i) {
    std::vector<int> live;
    for (int j = 0; j < n; ++j) {
      if (i != j && overlap(objects[i], objects[j])) search.met[i].push_back(j);
      if (objects[j].begin <= objects[i].begin && objects[i].begin < objects[j].end) live.push_back(j);
    }
    search.live_at.push_back(live);
  }
  best.optimal = search.descend(0, 0, -1, 0) || best.peak == best.lower_bound;
  return best;
}

}  // namespace

Packing pack(const std::vector<Lifetime>& objects, std::int64_t effort) {
  check(objects);
  std::vector<int> proper;  // objects of nonzero size and lifetime
  std::vector<Lifetime> some;
  for (std::size_t i = 0; i < objects.size(); ++i)
    if (objects[i].size > 0 && objects[i].begin < objects[i].end) {
      proper.push_back(static_cast<int>(i));
      some.push_back(objects[i]);
    }
  Packing result;
  if (!some.empty()) result = pack_proper(some, effort);
  std::vector<i64> offset(objects.size(), 0);
  for (std::size_t i = 0; i < proper.size(); ++i) offset[proper[i]] = result.offset[i];
  result.offset = std::move(offset);
  return result;
}

}  // namespace zellige::plan
