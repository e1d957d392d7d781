// Tuning, with a fake clock.
#include "run/tune.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "graph/builder.hpp"

namespace zellige::run {
namespace {

graph::KernelGraph product() {
  graph::Builder b("g");
  const graph::TensorHandle x = b.input("X", {16, 1024}), w = b.input("W", {1024, 4096});
  b.output(b.custom({{32}, {128}, 16},
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(x, {.loop = 1}), t.load(w, {.x = 1, .loop = 0}))), {.x = 1});
                    })
               .at(0),
           "Y");
  return b.build();
}

std::string text(const emit::EmittedProgram& p) { return retile::to_json(p.manifest.tiling); }

TEST(Tune, TakesTheFastestAndRemembersIt) {
  const graph::KernelGraph g = product();
  const target::Target& target = target::find("sm_90a");
  const toolchain::Cache cache = toolchain::Cache::temporary();
  std::vector<std::string> order;
  std::map<std::string, int> seen;
  const MeasureProgram third = [&](const emit::EmittedProgram& p) {
    order.push_back(text(p));
    const int number = seen.try_emplace(text(p), static_cast<int>(seen.size())).first->second;
    return std::vector<double>{number == 2 ? 5.0 : 10.0 + number, 1000, number == 2 ? 5.0 : 10.0 + number};
  };
  const retile::Tiling best = tune(g, target, {}, 4, third, "a GPU", cache).tiling;
  ASSERT_EQ(seen.size(), 5u);  // four, and the graph's own
  EXPECT_TRUE(seen.count(retile::to_json(retile::tiling_of(g))));
  EXPECT_EQ(retile::to_json(best), order[2]);
  // Back and forth.
  ASSERT_EQ(order.size(), 5u * tuning_rounds);
  EXPECT_TRUE(std::equal(order.begin(), order.begin() + 5, order.rend() - 10));

  const MeasureProgram never = [](const emit::EmittedProgram&) -> std::vector<double> {
    throw std::runtime_error("measured again");
  };
  EXPECT_EQ(tune(g, target, {}, 4, never, "a GPU", cache).tiling, best);
  EXPECT_THROW(tune(g, target, {}, 4, never, "another GPU", cache), std::runtime_error);
  EXPECT_THROW(tune(g, target::find("sm_80"), {}, 4, never, "a GPU", cache), std::runtime_error);
}

// Work shared by several candidates is done first, once for each.
TEST(Tune, PreparesEachCandidateOnceBeforeItMeasures) {
  std::mutex guard;
  std::map<std::string, int> prepared;
  const Prepare prepare = [&](const emit::EmittedProgram& p) {
    const std::lock_guard lock(guard);
    ++prepared[text(p)];
  };
  const MeasureProgram measure = [&](const emit::EmittedProgram& p) {
    EXPECT_EQ(prepared.size(), 5u);
    EXPECT_EQ(prepared[text(p)], 1);
    return std::vector<double>{10};
  };
  tune(product(), target::find("sm_90a"), {}, 4, measure, "a GPU", toolchain::Cache::temporary(), {}, prepare);
  const Prepare broken = [](const emit::EmittedProgram&) { throw std::runtime_error("does not compile"); };
  EXPECT_THROW(
      tune(product(), target::find("sm_90a"), {}, 4, measure, "a GPU", toolchain::Cache::temporary(), {}, broken),
      std::runtime_error);
}

/// Two products, the second of what the first made.
graph::KernelGraph two_products() {
  graph::Builder b("g");
  const auto times = [&](const graph::TensorHandle& x, const graph::TensorHandle& w) {
    return b
        .custom({{32}, {128}, 16},
                [&](graph::BlockBuilder& t) {
                  t.store(accum(matmul(t.load(x, {.loop = 1}), t.load(w, {.x = 1, .loop = 0}))), {.x = 1});
                })
        .at(0);
  };
  const graph::TensorHandle first = times(b.input("X", {16, 1024}), b.input("W", {1024, 2048}));
  b.output(times(first, b.input("V", {2048, 1024})), "Y");
  return b.build();
}

// Tilings are tried for one operator at a time, with the best estimate for the other. The best measured ones
// of each are then measured together.
TEST(Tune, PutsTheBestOfEachOperatorTogether) {
  std::map<std::string, double> cost[2];  // the more tiles of an operator there are, the faster
  std::set<std::string> tried;
  const MeasureProgram each = [&](const emit::EmittedProgram& p) {
    double us = 0;
    for (std::size_t op = 0; op < 2; ++op) {
      const std::string tiles = retile::to_json({p.manifest.tiling.at(op)});
      us += cost[op].try_emplace(tiles, 20 - 3.0 * static_cast<double>(cost[op].size())).first->second;
    }
    tried.insert(text(p));
    return std::vector<double>{us};
  };
  const Tuned best = tune(two_products(), target::find("sm_90a"), {}, 8, each, "a GPU", toolchain::Cache::temporary());
  double minimum = 0;
  for (std::size_t op = 0; op < 2; ++op) {
    ASSERT_GT(cost[op].size(), 2u);
    const auto fastest = std::ranges::min_element(cost[op], {}, [](const auto& entry) { return entry.second; });
    EXPECT_EQ(retile::to_json({best.tiling.at(op)}), fastest->first);
    minimum += fastest->second;
  }
  EXPECT_EQ(best.tried.back().us, minimum);
  EXPECT_EQ(best.tried.size(), tried.size());
  for (std::size_t i = 0; i + 1 < best.tried.size(); ++i) EXPECT_GT(best.tried[i].us, minimum);
}

TEST(Tune, DecidesTiesByAFixedKey) {
  const graph::KernelGraph g = product();
  const target::Target& target = target::find("sm_90a");
  std::map<std::string, retile::Tiling> taken;
  for (const double noise : {0.0, 0.01, -0.01}) {
    int n = 0;
    const MeasureProgram even = [&](const emit::EmittedProgram&) {
      return std::vector<double>{10 * (1 + (++n % 3 == 0 ? noise : 0))};
    };
    taken[std::to_string(noise)] = tune(g, target, {}, 4, even, "a GPU", toolchain::Cache::temporary()).tiling;
  }
  for (const auto& [noise, tiling] : taken) EXPECT_EQ(tiling, taken.begin()->second) << noise;
  EXPECT_EQ(taken.begin()->second[0].grid.x, 32);  // the fewest blocks
}

}  // namespace
}  // namespace zellige::run
