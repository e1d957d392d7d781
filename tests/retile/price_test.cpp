// Cost estimates follow the bytes moved and the work done, and report them.
#include <gtest/gtest.h>

#include "graph/builder.hpp"
#include "plan/estimate.hpp"

namespace zellige::plan {
namespace {

CostEstimate cost_of(std::int64_t rows, std::int64_t k, std::int64_t n, graph::Launch launch) {
  graph::Builder b("g");
  const graph::Tensor x = b.input("X", {rows, k}), w = b.input("W", {k, n});
  b.output(b.custom(launch,
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(x, {.loop = 1}), t.load(w, {.x = 1, .loop = 0}))), {.x = 1});
                    })
               .at(0),
           "Y");
  const target::Target& target = target::find("sm_90a");
  return estimate_cost(make_plan(b.build(), target), target);
}

TEST(CostEstimate, OfRunsInSectors) {
  for (int run = 1; run <= 200; ++run) {
    // Brute force: a thousand sequential runs.
    double bytes = 0;
    for (int i = 0; i < 1024; ++i) bytes += 32.0 * ((i * run + run - 1) / 32 - i * run / 32 + 1);
    EXPECT_NEAR(in_sectors(run), bytes / 1024, 1e-9) << run;
  }
}

TEST(CostEstimate, CountsWhatIsMoved) {
  const KernelCost k = cost_of(16, 1024, 2048, {{64}, {128}, 16}).kernels.at(0);
  // W once, X and Y, in rows of whole sectors; X again by each block.
  EXPECT_DOUBLE_EQ(k.dram_bytes, 2.0 * (16 * 1024 + 1024 * 2048 + 16 * 2048));
  EXPECT_DOUBLE_EQ(k.l2_bytes, 2.0 * (64 * 16 * 1024 + 1024 * 2048 + 16 * 2048));
  EXPECT_EQ(k.blocks_of_busiest, 1);
  EXPECT_EQ(k.trip_count, 16);
  EXPECT_GT(k.in_flight, 2);
  // 16 x 32 of each block: four columns of products of 16 x 8 x 16, whatever the warps.
  EXPECT_DOUBLE_EQ(k.tensor_cycles, 4 * 1024 / 16 * 8 / 4.0);
}

TEST(CostEstimate, FollowsWhatIsDone) {
  const double one = cost_of(16, 1024, 2048, {{64}, {128}, 16}).us;
  EXPECT_GT(cost_of(16, 4096, 2048, {{64}, {128}, 64}).us, one);
  EXPECT_GT(cost_of(16, 1024, 8192, {{256}, {128}, 16}).us, one);
  // Eight blocks leave most of the GPU idle; rows of 16 bytes waste half of each sector.
  EXPECT_GT(cost_of(16, 1024, 2048, {{8}, {128}, 128}).us, one);
  EXPECT_GT(cost_of(16, 1024, 2048, {{256}, {128}, 16}).kernels[0].l2_bytes,
            2 * 64 * 16 * 1024 * 4 + 2 * 1.9 * 1024 * 2048);
}

TEST(CostEstimate, SaysItsParts) {
  CostEstimate p = cost_of(16, 1024, 2048, {{64}, {128}, 16});
  KernelCost& k = p.kernels.at(0);
  EXPECT_GT(k.us, k.launch + k.first + std::max({k.dram, k.l2, k.shared, k.tensor, k.issue, k.latency}));
  EXPECT_DOUBLE_EQ(p.us, k.us);
  k.us = 12.34, k.launch = 1, k.first = 2, k.dram = 3, k.l2 = 4, k.shared = 5, k.tensor = 6, k.issue = 7, k.latency = 8;
  k.blocks_of_busiest = 3, k.blocks_each = 2;
  EXPECT_EQ(print(p),
            "cost of g_k0: 12.3 us: launch 1.0, first load 2.0, DRAM 3.0, L2 4.0, shared memory 5.0, tensor "
            "cores 6.0, issue 7.0, "
            "latencies 8.0; 2 blocks of 3 at a time on the busiest multiprocessor\n");
}

}  // namespace
}  // namespace zellige::plan
