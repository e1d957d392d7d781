// Cost estimates follow the bytes moved and the work done, and report them.
#include <gtest/gtest.h>

#include "../unfused.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "plan/estimate.hpp"

namespace zellige::plan {
namespace {

predict::CostEstimate cost_of(std::int64_t rows, std::int64_t k, std::int64_t n, graph::CustomLaunch launch) {
  graph::Builder b("g");
  const graph::TensorHandle x = b.input("X", {rows, k}), w = b.input("W", {k, n});
  b.output(b.custom(launch,
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(x, {.loop = 1}), t.load(w, {.x = 1, .loop = 0}))), {.x = 1});
                    })
               .at(0),
           "Y");
  const target::Target& target = target::find("sm_90a");
  return estimate_cost(test::make_plan(b.build(), target), target);
}

constexpr retile::MatmulTile wide{128, 256, 64, 256}, tall{256, 128, 64, 256};

/// Returns the plan of a matmul of m x k by k x n in the given tiles on warpgroups.
Plan plan_of(std::int64_t m, std::int64_t n, std::int64_t k, const retile::MatmulTile& tile,
             const std::vector<BlockAssignment>& blocks = ways_of_blocks) {
  graph::KernelGraph g;
  g.name = "product";
  g.tensors = {{graph::DType::f16, {m, k}, {k, 1}, "A"},
               {graph::DType::f16, {k, n}, {1, k}, "B"},
               {graph::DType::f16, {}, {}, "C"}};
  g.inputs = {0, 1}, g.outputs = {2};
  g.ops.push_back({.kind = graph::OpKind::matmul, .inputs = {0, 1}, .outputs = {2}});
  const PlanOptions fixed{.blocks = blocks, .tiles = TilingPolicy::fixed, .tiling = {{.op = 0, .product = tile}}};
  return test::make_plan(graph::infer(std::move(g)), target::find("sm_90a"), fixed);
}
kernel::Kernel kernel_of(std::int64_t m, std::int64_t n, std::int64_t k) {
  return plan_of(m, n, k, wide).kernels.at(0);
}
cost::KernelCost cost_of(std::int64_t m, std::int64_t n, std::int64_t k, const retile::MatmulTile& tile,
                         Blocks blocks) {
  const target::Target& target = target::find("sm_90a");
  return estimate_cost(plan_of(m, n, k, tile, {blocks}), target).kernels.at(0);
}

// A pair saves reads of the L2, which only rows of odd lengths make dear: 512 x 8192 x 3896 took 68.8 us without pairs on an
// H200, and 52.2 in pairs; 512 x 4096 x 4096 28.5 and 30.1.
TEST(CostEstimate, TakesPairsWhereRowsStraddleHalfLines) {
  EXPECT_EQ(kernel_of(512, 8192, 3896).cluster, 2);
  EXPECT_FALSE(kernel_of(512, 8192, 3896).split_k);
  EXPECT_EQ(kernel_of(512, 8192, 4096).cluster, 1);
  EXPECT_EQ(kernel_of(4096, 8192, 4096).cluster, 1);
}

// Two adjacent blocks are served a tile that both load once. Of two tiles that differ in orientation alone, the one whose
// neighbours share the larger operand is faster.
TEST(CostEstimate, ServesNeighboursOnce) {
  const double bytes = 4096 * 2;  // of a row of A, or a column of B
  const auto saved = [](const cost::KernelCost& k) { return k.l2_bytes - k.served_bytes; };
  // 128 tiles, one per block, row by row: neighbours have the same rows.
  const cost::KernelCost w = cost_of(2048, 2048, 4096, wide, Blocks::a_tile),
                         t = cost_of(2048, 2048, 4096, tall, Blocks::a_tile);
  EXPECT_DOUBLE_EQ(w.l2_bytes, t.l2_bytes);
  EXPECT_DOUBLE_EQ(saved(w), 128 * 128 * bytes / 2);
  EXPECT_DOUBLE_EQ(saved(t), 128 * 256 * bytes / 2);
  EXPECT_LE(t.l2, w.l2);
  // 2048 tiles of persistent blocks, in columns of several rows, or of pairs: neighbours have the same columns.
  for (const Blocks blocks : {Blocks::persistent, Blocks::pairs}) {
    EXPECT_DOUBLE_EQ(saved(cost_of(8192, 8192, 4096, wide, blocks)), 2048 * 256 * bytes / 2);
    EXPECT_DOUBLE_EQ(saved(cost_of(8192, 8192, 4096, tall, blocks)), 2048 * 128 * bytes / 2);
  }
  // Neighbours with different parts of K share nothing, nor do those whose rows straddle half lines.
  EXPECT_EQ(saved(cost_of(1024, 2048, 4096, wide, Blocks::split_k)), 0);
  EXPECT_EQ(saved(cost_of(2048, 2048, 4104, wide, Blocks::a_tile)), 0);
}

// The busiest of the persistent blocks receives the tiles that it multiplies. With 264 tiles all blocks have two.
TEST(CostEstimate, CountsWhatTheBusiestBlockReceives) {
  const double tile = (128 + 256) * 4096 * 2 + 128 * 256 * 2;
  for (const std::int64_t rows : {10, 20, 33}) {  // 80, 160 and 264 tiles
    const cost::KernelCost k = cost_of(128 * rows, 2048, 4096, wide, Blocks::persistent);
    EXPECT_DOUBLE_EQ(k.received_bytes, tile * k.tiles) << rows;
    EXPECT_DOUBLE_EQ(k.tiles, rows > 16 ? 2 : 1) << rows;
  }
}

TEST(CostEstimate, CountsWhatIsMoved) {
  const cost::KernelCost k = cost_of(16, 1024, 2048, {{64}, {128}, 16}).kernels.at(0);
  // W once, X and Y, in rows of whole sectors; X again by each block.
  EXPECT_DOUBLE_EQ(k.dram_bytes, 2.0 * (16 * 1024 + 1024 * 2048 + 16 * 2048));
  EXPECT_DOUBLE_EQ(k.l2_bytes, 2.0 * (64 * 16 * 1024 + 1024 * 2048 + 16 * 2048));
  EXPECT_EQ(k.blocks_of_busiest, 1);
  EXPECT_EQ(k.trip_count, 16);
  EXPECT_GT(k.in_flight, 2);
  // 16 x 32 of each block: four columns of products of 16 x 8 x 16, whatever the warps.
  EXPECT_DOUBLE_EQ(k.tensor_cycles, 4.0 * 1024 / 16 * 8 / 4);
}

// Without a producer warp, the latency of a loop rises with the bytes of its iterations; with one, it does not.
TEST(CostEstimate, LoadsOfLargeStagesTakeLonger) {
  const target::Target& target = target::find("sm_90a");
  cost::KernelCost k = cost_of(16, 1024, 2048, {{64}, {128}, 16}).kernels.at(0);
  k.chain = 0;  // the loads decide
  const double few = cost::time_of(k, target).latency, bytes = k.received_bytes;
  k.received_bytes += bytes;
  EXPECT_NEAR(cost::time_of(k, target).latency - few,
              k.waves * bytes / target.costs.stage_rate / k.in_flight * 1e-3 / target.costs.clock, 1e-9);
  k.warp_specialized = true;
  const double many = cost::time_of(k, target).latency;
  k.received_bytes = bytes;
  EXPECT_EQ(cost::time_of(k, target).latency, many);
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
  predict::CostEstimate p = cost_of(16, 1024, 2048, {{64}, {128}, 16});
  cost::KernelCost& k = p.kernels.at(0);
  EXPECT_GT(k.us, k.launch + k.first + std::max({k.dram, k.l2, k.shared, k.tensor, k.issue, k.latency}));
  EXPECT_DOUBLE_EQ(p.us, k.us);
  k.us = 12.34, k.launch = 1, k.first = 2, k.dram = 3, k.l2 = 4, k.shared = 5, k.tensor = 6, k.issue = 7, k.latency = 8;
  k.blocks_of_busiest = 3, k.blocks_each = 2;
  EXPECT_EQ(predict::print(p),
            "cost of g_k0: 12.3 us: launch 1.0, first load 2.0, DRAM 3.0, L2 4.0, shared memory 5.0, tensor "
            "cores 6.0, issue 7.0, "
            "latencies 8.0; 2 blocks of 3 at a time on the busiest multiprocessor\n");
}

}  // namespace
}  // namespace zellige::plan
