// Which of two ways is taken by measured times.
#include "cost/pays.hpp"

#include <gtest/gtest.h>

namespace zellige::cost {
namespace {

WayCost way(double us, double host_us = 0) { return {.us = us, .host_us = host_us}; }

TEST(Pays, TheSlowerOfHostAndGpuDecides) {
  EXPECT_EQ(total_us(way(10, 2)), 10.5);
  EXPECT_EQ(total_us(way(2, 10)), 10.5);
  EXPECT_TRUE(faster(way(2, 10), way(10, 3)));
  EXPECT_FALSE(faster(way(2, 10), way(10, 2)));
}

TEST(Pays, WhereTheGpuIsTheSlowerTheHostCountsAQuarter) {
  EXPECT_TRUE(faster_gpu_bound(way(8, 7), way(10, 0)));
  EXPECT_FALSE(faster_gpu_bound(way(8, 8), way(10, 0)));
}

TEST(Pays, ClearlyFasterFromThreePercentOn) {
  EXPECT_TRUE(clearly_faster(way(97), way(100)));
  EXPECT_FALSE(clearly_faster(way(97.1), way(100)));
  EXPECT_TRUE(as_fast(way(101), way(100)));
  EXPECT_FALSE(as_fast(way(101.1), way(100)));
}

TEST(Pays, ExpectedTimesAreDoubted) {
  EXPECT_TRUE(may_be_faster(way(121), way(100)));
  EXPECT_FALSE(may_be_faster(way(122), way(100)));
  EXPECT_TRUE(worth_measuring(way(400), way(100)));
  EXPECT_FALSE(worth_measuring(way(401), way(100)));
}

// A softmax of 16 x 127280 f32 alone: torch's kernel, and two of ours.
TEST(Pays, TheHostMayLoseWhereTheGraphGains) {
  EXPECT_TRUE(pays(way(34, 8), way(8, 17), way(8, 17)));
  EXPECT_FALSE(pays(way(18, 8), way(8, 17), way(8, 17)));
}

TEST(Pays, TheGpuMayNotLose) {
  EXPECT_TRUE(pays(way(10, 20), way(10.39, 10), way(10.39, 10)));
  EXPECT_FALSE(pays(way(10, 20), way(10.41, 10), way(10.41, 10)));
}

TEST(Pays, TheHostDoesNotCountInAGraphOfWhichTheGpuIsTheSlower) {
  EXPECT_TRUE(pays(way(10, 5), way(9.6, 30), way(1600, 1000)));
  EXPECT_FALSE(pays(way(10, 5), way(9.8, 30), way(1600, 1000)));
  EXPECT_FALSE(pays(way(10, 5), way(9.6, 30), way(1500, 1000)));
}

TEST(Pays, PartsAreWorthTheCallOfTheirGraph) {
  EXPECT_TRUE(worth(way(4, 4), way(0, 8), way(1000)));
  EXPECT_FALSE(worth(way(4, 3), way(0, 8), way(1000)));
  EXPECT_TRUE(worth(way(4, -20), way(0, 8), way(80)));
}

}  // namespace
}  // namespace zellige::cost
