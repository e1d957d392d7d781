// Loops as dependence graphs: schedules keep every dependence, have the least interval, and wait where they must.
#include "schedule/modulo_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <map>
#include <random>
#include <utility>

#include "graph/error.hpp"
#include "schedule/peeled_loop.hpp"

namespace zellige::schedule {
namespace {

using Completion = Instruction::Completion;
constexpr Completion groups = Completion::commit_group, bytes = Completion::mbarrier_bytes;

/// Attention on wgmma: scores, softmax, the factors and fragments that the second product reads, that product.
LoopGraph attention(std::int64_t scores, std::int64_t softmax, std::int64_t fragments, std::int64_t product) {
  LoopGraph g;
  g.items = {{.name = "scores", .by = groups, .unit = 0, .cycles = scores},
             {.name = "product", .by = groups, .unit = 0, .cycles = product},
             {.name = "softmax", .cycles = softmax},
             {.name = "fragments", .cycles = fragments},
             {.name = "release", .cycles = 0}};
  g.dependences = {{0, 2}, {0, 3}, {2, 3}, {3, 1}, {1, 3, 1}, {2, 0, 1}, {3, 0, 1}, {1, 4}};
  return g;
}

/// A random loop of up to five items of two roles.
LoopGraph random_loop(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  LoopGraph g;
  const int n = 2 + below(4);
  for (int v = 0; v < n; ++v) {
    LoopItem item{.role = below(2), .cycles = 1 + below(4)};
    if (below(2)) item.by = below(2) ? groups : bytes, item.unit = below(2), item.latency = below(3);
    g.items.push_back(item);
  }
  for (int u = 0; u < n; ++u)
    for (int v = 0; v < n; ++v) {
      if (u < v && below(3) == 0) g.dependences.push_back({u, v});
      if (below(6) == 0) g.dependences.push_back({u, v, 1 + below(2)});
    }
  return g;
}

/// Returns whether these starts are a schedule of the interval: all dependences are kept, and nothing that excludes each other
/// is carried out at the same time. Looks at each cycle.
bool is_schedule(const LoopGraph& g, const std::vector<std::int64_t>& start, std::int64_t interval) {
  for (const LoopDependence& d : g.dependences)
    if (start[d.to] + d.distance * interval < start[d.from] + g.items[d.from].cycles + g.items[d.from].latency)
      return false;
  std::map<std::pair<bool, int>, std::vector<bool>> busy;
  for (std::size_t v = 0; v < g.items.size(); ++v) {
    const LoopItem& item = g.items[v];
    if (item.asynchronous() && item.unit < 0) continue;
    std::vector<bool>& of = busy[{item.asynchronous(), item.asynchronous() ? item.unit : item.role}];
    of.resize(interval);
    for (std::int64_t c = 0; c < item.cycles; ++c) {
      const std::size_t cycle = (start[v] + c) % interval;
      if (of[cycle]) return false;
      of[cycle] = true;
    }
  }
  return true;
}

/// Returns whether any starts are a schedule of the interval: tries all of a few intervals.
bool exists(const LoopGraph& g, std::int64_t interval) {
  const std::int64_t end = 3 * interval + 6;
  std::vector<std::int64_t> start(g.items.size());
  const std::function<bool(std::size_t)> from = [&](std::size_t v) {
    if (v == g.items.size()) return is_schedule(g, start, interval);
    for (start[v] = 0; start[v] < end; ++start[v]) {
      bool kept = true;
      for (const LoopDependence& d : g.dependences)
        if (std::max(d.from, d.to) == static_cast<int>(v))
          kept = kept && start[d.to] + d.distance * interval >=
                             start[d.from] + g.items[d.from].cycles + g.items[d.from].latency;
      if (kept && from(v + 1)) return true;
    }
    return false;
  };
  return from(0);
}

TEST(ModuloSchedule, OfRandomLoopsIsAScheduleOfTheLeastInterval) {
  std::mt19937 random(63);
  int compared = 0;
  for (int round = 0; round < 400; ++round) {
    LoopGraph g = random_loop(random);
    const LoopSchedule s = modulo_schedule(g);
    ASSERT_TRUE(is_schedule(g, s.start, s.interval)) << round;
    if (g.items.size() > 4 || s.interval < 2) continue;
    EXPECT_FALSE(exists(g, s.interval - 1)) << round << ": interval " << s.interval;
    ++compared;
  }
  EXPECT_GT(compared, 100);
}

/// Runs a role's peeled loop for n iterations, and calls visit(item, iteration, waits) in its order.
template <class V>
void execute(const PeeledLoop& loop, std::int64_t n, const V& visit) {
  const auto iteration = [&](const std::vector<LoopEntry>& entries, std::int64_t i) {
    for (const LoopEntry& e : entries) visit(e.placed.item, i + e.placed.ahead, e.waits);
  };
  const std::int64_t before = static_cast<std::int64_t>(loop.before.size());
  for (std::int64_t i = 0; i < before; ++i) iteration(loop.before[i], loop.from - before + i);
  for (std::int64_t i = loop.from; i < n - loop.fewer; ++i) iteration(loop.body, i);
  for (std::size_t i = 0; i < loop.after.size(); ++i)
    iteration(loop.after[i], n - loop.fewer + static_cast<std::int64_t>(i));
}

/// Checks that a role does each item once an iteration, that its order and waits keep its own dependences, and that each wait is
/// needed and lets as many groups be incomplete as it can.
void check_role(const LoopGraph& g, const PeeledLoop& loop, int role, std::int64_t n) {
  std::map<std::pair<int, std::int64_t>, int> done;  // (item, iteration) -> number of its group
  std::map<Completion, int> closed, complete;
  const bool near = loop.from + loop.fewer <= 1 &&
                    std::ranges::all_of(g.dependences, [](const LoopDependence& d) { return d.distance <= 1; });
  execute(loop, n, [&](int item, std::int64_t iteration, const std::vector<GroupWait>& waits) {
    ASSERT_TRUE(iteration >= 0 && iteration < n) << "item " << item << " of iteration " << iteration;
    ASSERT_FALSE(done.contains({item, iteration})) << "item " << item << " twice in iteration " << iteration;
    std::map<Completion, int> needed;
    for (const LoopDependence& d : g.dependences) {
      const LoopItem& from = g.items[d.from];
      if (d.to != item || from.role != role || iteration < d.distance) continue;
      ASSERT_TRUE(done.contains({d.from, iteration - d.distance}))
          << "item " << item << " of iteration " << iteration << " before item " << d.from;
      if (g.items[item].asynchronous() && from.unit >= 0 && from.unit == g.items[item].unit) continue;
      if (from.in_groups()) needed[from.by] = std::max(needed[from.by], done.at({d.from, iteration - d.distance}) + 1);
    }
    for (const GroupWait& w : waits) {
      const Completion by = g.items[w.item].by;
      const int before = std::exchange(complete[by], std::max(complete[by], closed[by] - w.pending));
      // The loop's first iterations have its waits, whether or not they have what is awaited.
      if (iteration < 6 || !near) continue;
      EXPECT_LT(before, complete[by]) << "a wait for what is complete, at item " << item;
      EXPECT_EQ(complete[by], needed[by]) << "a wait for more than item " << item << " needs";
    }
    for (const auto& [by, count] : needed) EXPECT_GE(complete[by], count) << "no wait before item " << item;
    done[{item, iteration}] = closed[g.items[item].by]++;
  });
  std::size_t own = 0;
  for (const LoopItem& item : g.items) own += item.role == role;
  EXPECT_EQ(done.size(), own * n);
}

TEST(PeeledLoop, OfRandomLoopsKeepsEachDependenceAndHasNoNeedlessWait) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const LoopGraph g = random_loop(random);
    const LoopSchedule s = modulo_schedule(g);
    for (const int role : {0, 1}) {
      int counter = 0;
      while (counter < static_cast<int>(g.items.size()) && g.items[counter].role != role) ++counter;
      if (counter == static_cast<int>(g.items.size())) continue;
      const PeeledLoop loop = peel(g, body_of(g, s, role, counter));
      for (std::int64_t n = loop.from + loop.fewer; n < loop.from + loop.fewer + 12; ++n) check_role(g, loop, role, n);
      if (HasFatalFailure() || HasFailure()) FAIL() << "round " << round << ", role " << role;
    }
  }
}

TEST(EveryIteration, OfRandomLoopsWaitsForWhatEachItemDependsOn) {
  std::mt19937 random(17);
  int exact = 0;
  for (int round = 0; round < 300; ++round) {
    const LoopGraph g = random_loop(random);
    const LoopSchedule s = modulo_schedule(g);
    const std::vector<PlacedItem> body = body_of(g, s, g.items[0].role, 0);
    std::map<std::pair<int, std::int64_t>, int> closed;  // by item and iteration: the number of its group, of its kind
    std::map<Completion, int> count;
    for (std::int64_t i = -20; i < 20; ++i)
      for (const LoopEntry& e : every_iteration(g, body)) {
        for (const LoopDependence& d : g.dependences) {
          const LoopItem& from = g.items[d.from];
          const auto group = closed.find({d.from, i + e.placed.ahead - d.distance});
          if (i < 0 || d.to != e.placed.item || from.role != g.items[0].role || !from.in_groups()) continue;
          if (g.items[d.to].asynchronous() && from.unit == g.items[d.to].unit) continue;
          ASSERT_NE(group, closed.end());
          const auto wait =
              std::ranges::find_if(e.waits, [&](const GroupWait& w) { return g.items[w.item].by == from.by; });
          ASSERT_NE(wait, e.waits.end());
          EXPECT_LE(wait->pending, count[from.by] - group->second - 1) << round;
          if (wait->item == d.from) exact += wait->pending == count[from.by] - group->second - 1;
        }
        closed[{e.placed.item, i + e.placed.ahead}] = count[g.items[e.placed.item].by]++;
      }
  }
  EXPECT_GT(exact, 1000);
}

TEST(PeeledLoop, OfAttentionStartsTheSecondProductWithTheNextScores) {
  for (const std::int64_t product : {100, 900}) {  // shorter and longer than the softmax
    const LoopGraph g = attention(300, 500, 200, product);
    const LoopSchedule s = modulo_schedule(g);
    EXPECT_EQ(s.interval, 300 + std::max<std::int64_t>(500, product) + 200);
    const PeeledLoop loop = peel(g, body_of(g, s, 0, 2));
    EXPECT_EQ(loop.from, 1);
    EXPECT_EQ(loop.fewer, 0);
    const std::vector<LoopEntry> body{{{0, 0}}, {{1, -1}}, {{2, 0}, {{0, 1}}}, {{4, -1}, {{1, 0}}}, {{3, 0}}};
    EXPECT_EQ(loop.body, body) << product;
    ASSERT_EQ(loop.after.size(), 1u);
    EXPECT_EQ(loop.after[0], (std::vector<LoopEntry>{{{1, -1}}, {{4, -1}, {{1, 0}}}}));
  }
}

TEST(ModuloSchedule, OfTwoSetsOfAccumulatorsOverlapsTheEpilogueWithTheNextTile) {
  // tcgen05: one thread starts products into tensor memory, and other warps store it. Sets of columns are stages.
  for (const int sets : {1, 2}) {
    LoopGraph g;
    g.items = {{.name = "load", .role = 0, .by = bytes, .unit = 0, .cycles = 200, .latency = 600},
               {.name = "product", .role = 1, .by = bytes, .unit = 1, .cycles = 1000, .latency = 50},
               {.name = "epilogue", .role = 2, .cycles = 700}};
    g.dependences = {{0, 1}, {1, 2}, {2, 1, sets}};
    const LoopSchedule s = modulo_schedule(g);
    EXPECT_EQ(s.interval, sets == 1 ? 1750 : 1000);
    for (const int role : {0, 1, 2}) EXPECT_EQ(peel(g, body_of(g, s, role, role)).body.size(), 1u);
  }
}

TEST(ModuloSchedule, ACopyStartsAsEarlyAsItsStagesAllow) {
  for (const int stages : {2, 3, 5}) {
    LoopGraph g;
    g.items = {{.name = "copy", .by = Completion::copy_group, .early = true},
               {.name = "wait", .cycles = 1},
               {.name = "product", .cycles = 40}};
    g.dependences = {{0, 1}, {1, 2}, {2, 1, 1}, {1, 0, stages - 1}};
    const std::vector<PlacedItem> body = body_of(g, modulo_schedule(g), 0, 2);
    EXPECT_EQ(body, (std::vector<PlacedItem>{{1, 0}, {0, stages - 1}, {2, 0}}));
    EXPECT_EQ(every_iteration(g, body)[0].waits, (std::vector<GroupWait>{{0, stages - 2}}));
  }
}

TEST(BarriersBetween, RandomPairsAreTheFewestThatSeparateAll) {
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    const int n = 1 + static_cast<int>(random() % 6);
    std::vector<ThreadCrossing> pairs(random() % 5);
    for (ThreadCrossing& c : pairs) c = {static_cast<int>(random() % n), static_cast<int>(random() % n)};
    const auto separated = [&](unsigned set) {
      return std::ranges::all_of(pairs, [&](const ThreadCrossing& c) {
        for (int p = (c.from + 1) % n;; p = (p + 1) % n) {
          if (set >> p & 1) return true;
          if (p == c.to) return false;
        }
      });
    };
    std::size_t least = n;
    for (unsigned set = 0; set < 1u << n; ++set)
      if (separated(set)) least = std::min<std::size_t>(least, std::popcount(set));
    const std::vector<int> found = barriers_between(n, pairs);
    unsigned set = 0;
    for (int p : found) set |= 1u << p;
    EXPECT_TRUE(separated(set)) << round;
    EXPECT_EQ(found.size(), least) << round;
  }
}

TEST(ModuloSchedule, ACycleWithinAnIterationIsRefused) {
  LoopGraph g;
  g.items = {{.name = "a"}, {.name = "b"}};
  g.dependences = {{0, 1}, {1, 0}};
  try {
    modulo_schedule(g);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "loop: the dependences of an iteration have a cycle; items of an iteration follow each other");
  }
  g.items[0].cycles = -1;
  try {
    modulo_schedule(g);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "loop: item 'a' takes -1 cycles and 0 of latency; at least 0 and 0 are needed");
  }
}

}  // namespace
}  // namespace zellige::schedule
