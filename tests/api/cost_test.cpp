// The C functions that decide which of two ways is taken.
#include <gtest/gtest.h>
#include <zellige/api.h>

#include <cmath>
#include <cstddef>
#include <string>

namespace {

zellige_cost way(double us, double host_us = 0, int64_t launches = 1, int64_t workspace = 0) {
  return {sizeof(zellige_cost), us, host_us, launches, workspace};
}
int compare(zellige_relation relation, zellige_cost a, zellige_cost b) {
  return zellige_cost_compare(relation, &a, &b);
}

TEST(ApiCost, RelationsAreThoseOfTheirNames) {
  EXPECT_EQ(compare(ZELLIGE_BETTER, way(10, 0, 2), way(10.8)), 0);
  EXPECT_EQ(compare(ZELLIGE_BETTER, way(10, 0, 2), way(11)), 1);
  EXPECT_EQ(compare(ZELLIGE_BETTER, way(10, 2), way(10, 3)), 1);
  EXPECT_EQ(compare(ZELLIGE_BETTER, way(10, 2, 1, 16), way(10, 2)), 0);
  EXPECT_EQ(compare(ZELLIGE_FASTER, way(2, 10), way(10, 3)), 1);
  EXPECT_EQ(compare(ZELLIGE_FASTER, way(2, 10), way(10, 2)), 0);
  EXPECT_EQ(compare(ZELLIGE_FASTER_GPU_BOUND, way(8, 7), way(10)), 1);
  EXPECT_EQ(compare(ZELLIGE_FASTER_GPU_BOUND, way(8, 8), way(10)), 0);
  EXPECT_EQ(compare(ZELLIGE_CLEARLY_FASTER, way(97), way(100)), 1);
  EXPECT_EQ(compare(ZELLIGE_CLEARLY_FASTER, way(98), way(100)), 0);
  EXPECT_EQ(compare(ZELLIGE_MAY_BE_FASTER, way(121), way(100)), 1);
  EXPECT_EQ(compare(ZELLIGE_MAY_BE_FASTER, way(122), way(100)), 0);
  EXPECT_EQ(compare(ZELLIGE_WORTH_MEASURING, way(400), way(100)), 1);
  EXPECT_EQ(compare(ZELLIGE_WORTH_MEASURING, way(401), way(100)), 0);
}

TEST(ApiCost, GraphsAndTimesInAll) {
  const zellige_cost torchs = way(34, 8), own = way(8, 17), less = way(18, 8), call = way(0, 8);
  EXPECT_EQ(zellige_cost_time(&torchs), 36);
  EXPECT_EQ(zellige_cost_pays(&torchs, &own, &own), 1);
  EXPECT_EQ(zellige_cost_pays(&less, &own, &own), 0);
  EXPECT_EQ(zellige_cost_worth(&own, &call, &torchs), 1);
  EXPECT_EQ(zellige_cost_worth(&call, &torchs, &own), 0);
}

TEST(ApiCost, AnEarlierVersionOfTheStructureHasTheRestZero) {
  zellige_cost early = way(10, 100);
  early.size = offsetof(zellige_cost, host_us);
  EXPECT_EQ(zellige_cost_time(&early), 10);
  early.size = 4 * sizeof early;
  EXPECT_EQ(zellige_cost_time(&early), 102.5);
}

TEST(ApiCost, WhatIsNoCostIsRefused) {
  const zellige_cost a = way(1);
  const auto why = [&](zellige_cost b) {
    EXPECT_EQ(zellige_cost_compare(ZELLIGE_FASTER, &a, &b), -1);
    return std::string(zellige_last_error());
  };
  EXPECT_EQ(why(way(std::nan(""))), "b, us: expected microseconds, found nan");
  EXPECT_EQ(why(way(1, std::nan(""))), "b, host_us: expected microseconds, found nan");
  EXPECT_EQ(why(way(1, 1, -1)), "b, launches: expected 0 or more, found -1");
  zellige_cost none = a;
  none.size = 0;
  EXPECT_EQ(why(none), "b, size: expected sizeof(zellige_cost), which is 40, found 0");
  EXPECT_TRUE(std::isnan(zellige_cost_time(&none)));
  EXPECT_STREQ(zellige_last_error(), "cost, size: expected sizeof(zellige_cost), which is 40, found 0");
  EXPECT_EQ(zellige_cost_pays(&a, &none, &a), -1);
  EXPECT_STREQ(zellige_last_error(), "after, size: expected sizeof(zellige_cost), which is 40, found 0");
  EXPECT_EQ(zellige_cost_worth(&a, &a, nullptr), -1);
  EXPECT_STREQ(zellige_last_error(), "whole: expected an address, found NULL");
  EXPECT_EQ(zellige_cost_compare(static_cast<zellige_relation>(6), &a, &a), -1);
  EXPECT_STREQ(zellige_last_error(), "zellige_cost_compare: expected 0 to 5, found 6");
}

}  // namespace
