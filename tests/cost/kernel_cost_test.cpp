// Laws of the cost model's time of a launch, and its counts of touched lines and sectors against enumeration.
#include "cost/kernel_cost.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <random>

namespace zellige::plan {
namespace {

const target::Target& h200() { return target::find("sm_90a"); }

/// A launch with random quantities.
cost::KernelCost drawn(std::mt19937& random) {
  const auto up_to = [&](double n) { return std::uniform_real_distribution<double>(0, n)(random); };
  cost::KernelCost k;
  k.launched = 1 + std::floor(up_to(1000)), k.blocks_each = 1 + static_cast<int>(random() % 8);
  k.first_kernel = random() % 2, k.warp_specialized = random() % 2, k.stalls = random() % 2;
  k.dram_bytes = up_to(1e8), k.l2_bytes = up_to(1e8), k.served_bytes = up_to(1e8), k.received_bytes = up_to(1e5);
  k.dram_runs = up_to(1e4), k.wavefronts = up_to(1e4), k.tensor_cycles = up_to(1e4), k.slots = up_to(1e4);
  k.narrow_copies = up_to(100), k.anywhere = up_to(100), k.matmuls = static_cast<int>(random() % 3);
  k.requests = up_to(100), k.trip_count = 1 + std::floor(up_to(50));
  k.in_flight = 1 + std::floor(up_to(8)), k.chain = up_to(1000), k.barriers = up_to(50), k.rounds = up_to(50);
  k.tiles = up_to(4), k.values = up_to(128), k.exchanged_bytes = random() % 2 ? up_to(1e4) : 0;
  return k;
}

TEST(KernelCost, TakesAtLeastTheTimeOfEachResource) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    const cost::KernelCost k = cost::time_of(drawn(random), h200());
    for (const double part : {k.dram, k.l2, k.shared, k.tensor, k.issue, k.latency})
      EXPECT_GE(k.us * (1 + 1e-9), k.launch + k.first + part) << i;
  }
}

TEST(KernelCost, DoesNotFallIfThereIsMoreToDo) {
  constexpr double cost::KernelCost::*quantities[] = {
      &cost::KernelCost::dram_bytes, &cost::KernelCost::served_bytes,  &cost::KernelCost::received_bytes,
      &cost::KernelCost::dram_runs,  &cost::KernelCost::wavefronts,    &cost::KernelCost::tensor_cycles,
      &cost::KernelCost::slots,      &cost::KernelCost::narrow_copies, &cost::KernelCost::requests,
      &cost::KernelCost::chain,      &cost::KernelCost::barriers,      &cost::KernelCost::rounds,
      &cost::KernelCost::values,     &cost::KernelCost::anywhere,      &cost::KernelCost::exchanged_bytes};
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    const cost::KernelCost k = drawn(random);
    const double before = cost::time_of(k, h200()).us;
    for (std::size_t q = 0; q < std::size(quantities); ++q) {
      cost::KernelCost more = k;
      more.*quantities[q] *= 1.5;
      EXPECT_GE(cost::time_of(more, h200()).us * (1 + 1e-9), before) << i << ", quantity " << q;
    }
  }
}

TEST(KernelCost, OfALaterKernelHasAShorterLaunch) {
  std::mt19937 random(3);
  cost::KernelCost k = drawn(random);
  k.first_kernel = true;
  const double first = cost::time_of(k, h200()).us;
  k.first_kernel = false;
  EXPECT_NEAR(first - cost::time_of(k, h200()).us, h200().costs.launch - h200().costs.next, 1e-9);
}

TEST(KernelCost, OfRunsInSectors) {
  for (int run = 1; run <= 200; ++run) {
    // Brute force: a thousand sequential runs.
    int sectors = 0;
    for (int i = 0; i < 1024; ++i) sectors += (i * run + run - 1) / 32 - i * run / 32 + 1;
    EXPECT_NEAR(cost::in_sectors(run), 32.0 * sectors / 1024, 1e-9) << run;
  }
}

TEST(KernelCost, OfRowsInHalfLines) {
  for (int run : {1, 16, 32, 64, 96, 128})
    for (int step : {16, 32, 48, 64, 80, 112, 128, 144}) {
      // Brute force: rows that start at multiples of `step` bytes, until the starts repeat.
      int touched = 0;
      for (int i = 0; i < 64; ++i) touched += (i * step + run - 1) / 64 - i * step / 64 + 1;
      EXPECT_NEAR(cost::blocks_touched(run, step, 64), touched / 64.0, 1e-9) << run << " " << step;
    }
  EXPECT_EQ(cost::blocks_touched(128, 0, 64), 2);
}

TEST(KernelCost, OfRequestsOfCopies) {
  EXPECT_EQ(cost::requests_of(128, 128), 1);  // a line
  EXPECT_EQ(cost::requests_of(512, 128), 4);
  EXPECT_EQ(cost::requests_of(64, 64), 1);
  EXPECT_EQ(cost::requests_of(128, 64), 1.5);                                    // two halves from 64 on
  EXPECT_EQ(cost::requests_of(128, 16), (1 + 3 + 3 + 3 + 2 + 3 + 3 + 3) / 8.0);  // from 0, 16, .., 112 on
}

// One for each line of 128 bytes that the run covers, and one for each half of one that it touches otherwise.
TEST(KernelCost, RequestsAreThoseThatAreCounted) {
  constexpr std::int64_t line = 128, half = 64;
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    const std::int64_t step = 1 + static_cast<std::int64_t>(random() % 200),
                       run = 1 + static_cast<std::int64_t>(random() % 500);
    double requests = 0;
    for (std::int64_t start = 0; start < line; ++start) {
      const std::int64_t begin = start * step, end = begin + run;
      for (std::int64_t at = begin / line * line; at < end; at += line)
        if (begin <= at && at + line <= end)
          ++requests;
        else
          requests += (begin < at + half && at < end) + (begin < at + line && at + half < end);
    }
    EXPECT_NEAR(cost::requests_of(static_cast<double>(run), step), requests / static_cast<double>(line), 1e-9)
        << run << " bytes at multiples of " << step;
  }
}

TEST(KernelCost, WhatIsReadAgainIsEvictedTheMoreTheMoreThereIs) {
  double before = 0;
  for (double bytes = 1e5; bytes < 1e10; bytes *= 1.7) {
    const double evicted = cost::evicted_of_rows(bytes, h200());
    EXPECT_GE(evicted + 1e-12, before) << bytes;
    EXPECT_LE(evicted, 1) << bytes;
    before = evicted;
  }
  EXPECT_GT(before, 0.99);
  EXPECT_LT(cost::evicted_of_rows(1e5, h200()), 0.01);
}

}  // namespace
}  // namespace zellige::plan
