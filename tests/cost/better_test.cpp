// The order of ways to compute the same.
#include "cost/better.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace zellige::plan {
namespace {

const target::Costs::Search costs;

cost::WayCost way(double us, std::size_t launches) { return {.us = us, .launches = launches}; }

TEST(Better, IsWhatTakesLessTime) {
  EXPECT_TRUE(cost::better(way(9.9, 2), way(10, 2), costs));
  EXPECT_FALSE(cost::better(way(10, 2), way(9.9, 2), costs));
  EXPECT_FALSE(cost::better(way(10, 2), way(10, 2), costs));
}

// A launch more must save 0.4 us and a twentieth of the time.
TEST(Better, ALaunchMoreMustSaveSomething) {
  EXPECT_FALSE(cost::better(way(10, 2), way(10.8, 1), costs));
  EXPECT_TRUE(cost::better(way(10, 2), way(11, 1), costs));
  EXPECT_TRUE(cost::better(way(1.2, 1), way(1, 2), costs));
}

TEST(Better, OfEqualTimesTheHostsAndTheWorkspaceDecide) {
  EXPECT_TRUE(cost::better({.us = 1, .host_us = 2}, {.us = 1, .host_us = 3}, costs));
  EXPECT_TRUE(cost::better({.us = 1, .workspace = 0}, {.us = 1, .workspace = 16}, costs));
  EXPECT_FALSE(cost::better({.us = 1, .host_us = 3, .workspace = 0}, {.us = 1, .host_us = 2, .workspace = 16}, costs));
}

TEST(Better, IsATotalOrder) {
  std::mt19937 random(59);
  std::vector<cost::WayCost> ways;
  for (int i = 0; i < 60; ++i)
    ways.push_back({static_cast<double>(random() % 8), random() % 4, static_cast<double>(random() % 3),
                    static_cast<std::int64_t>(random() % 3)});
  for (const cost::WayCost& a : ways)
    for (const cost::WayCost& b : ways) {
      EXPECT_FALSE(cost::better(a, b, costs) && cost::better(b, a, costs));
      for (const cost::WayCost& c : ways)
        if (cost::better(a, b, costs) && cost::better(b, c, costs)) EXPECT_TRUE(cost::better(a, c, costs));
    }
}

TEST(Better, ClearlySoFromAGainOn) {
  EXPECT_TRUE(cost::clearly_better(way(8.7, 1), way(10, 1), false, costs));
  EXPECT_FALSE(cost::clearly_better(way(8.9, 1), way(10, 1), false, costs));
  EXPECT_FALSE(cost::clearly_better(way(8.7, 1), way(10, 1), true, costs)) << "loops are longer";
  EXPECT_FALSE(cost::clearly_better(way(1, 1), way(1.9, 1), false, costs)) << "less than a microsecond";
}

}  // namespace
}  // namespace zellige::plan
