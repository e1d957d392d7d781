// Products on warpgroups whose K the blocks of a cluster divide (split K), as emitted.
#include <gtest/gtest.h>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "plan/plan.hpp"
#include "tiled_product.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using plan::Blocks;

/// Expects that a graph's kernel divides K by `blocks` if that is asked for, and computes what the reference does.
void expect_split(const graph::KernelGraph& g, int blocks, retile::Tiling tiling = {}) {
  const plan::PlanOptions options{.blocks = {{Blocks::split_k, blocks}}, .tiling = std::move(tiling)};
  const plan::Plan plan = test::make_plan(g, target::find("sm_90a"), options);
  ASSERT_EQ(plan.kernels[0].parts_of_loop(), blocks) << ir::print(plan);
  EXPECT_EQ(plan.kernels[0].blocks, plan.kernels[0].program.grid.count() * blocks);
  std::vector<reference::Array> inputs;
  for (int t : g.inputs) inputs.push_back(integers(g.tensors[t].shape, t + 1));
  expect_as_reference(g, inputs, 0, 0, "sm_90a", options);
}

// Each block of a cluster has a part of K: every element once, from all.
TEST(Warpgroups, SplitKOverTheBlocksOfACluster) {
  std::size_t place = 0;
  for (int blocks : {2, 4, 8})
    for (bool along : {false, true})
      if (test::one_a_row(place++, 2))
        expect_split(tiled({128, 256, 1024, along, along, along ? DType::f16 : DType::bf16}), blocks);
}

// 37 iterations, of which the last ones, of 38 and of 40, lie beyond K. K ends within the 37th.
TEST(Warpgroups, SplitKIntoPartsThatReachBeyondIt) {
  std::size_t place = 0;
  for (int blocks : {2, 4, 8})
    for (const std::int64_t k : {37 * 64, 37 * 64 - 24}) {
      if (!test::one_a_row(place++, 2)) continue;
      graph::Builder b("uneven");
      b.output(matmul(b.input("A", {128, k}), b.input("B", {k, 256}, DType::f16, {1, k})), "C");
      expect_split(b.build(), blocks, {{.op = 0, .product = retile::MatmulTile{128, 128, 64, 256}}});
    }
}

// A part of 8 to 64 columns, in spans of 16 to 128 bytes. With A and B swapped, it is 8 to 48 rows of the result.
TEST(Warpgroups, SplitKIntoNarrowParts) {
  std::size_t place = 0;
  for (int blocks : {2, 4, 8})
    for (const bool swap : {false, true})
      for (const std::int64_t columns : {64, swap ? 96 : 128}) {
        if (!test::one_a_row(place++, 4)) continue;
        if (columns % (8 * blocks) != 0) continue;
        graph::Builder b("narrow");
        const auto A = b.input("A", {columns, 1024}, DType::bf16);
        const auto B = b.input("B", {1024, 200}, DType::bf16, {1, 1024});
        b.output(matmul(A, B), "C");
        expect_split(b.build(), blocks, {{.op = 0, .product = retile::MatmulTile{64, columns, 64, 128, swap}}});
      }
}

// The epilogue reads a row of another tensor, and one of the result's shape; a float32 result takes twice the boxes.
TEST(Warpgroups, SplitKUnderAnEpilogue) {
  std::size_t place = 0;
  for (int blocks : {2, 4, 8})
    for (DType to : {DType::f16, DType::f32}) {
      if (!test::one_a_row(place++, 2)) continue;
      graph::Builder b("epilogue");
      const auto X = b.input("X", {128, 1024}), W = b.input("W", {1024, 256}), bias = b.input("bias", {1, 256}),
                 R = b.input("R", {128, 256});
      b.output(b.custom({.grid = {2}, .block = {256}, .loop = 16},
                        [&](graph::BlockBuilder& t) {
                          const auto sum = accum(matmul(t.load(X, {.loop = 1}), t.load(W, {.x = 1, .loop = 0})));
                          t.store(cast(relu(sum + t.load(bias, {.x = 1})) + t.load(R, {.x = 1}), to), {.x = 1});
                        })[0],
               "Y");
      expect_split(b.build(), blocks);
    }
}

// The expected time decides: a long K is divided by as many blocks as there are, a short one is not.
TEST(Warpgroups, SplitKWhereThatIsExpectedToBeFaster) {
  const auto parts = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return test::make_plan(tiled({m, n, k, false, true, DType::f16}), target::find("sm_90a"))
        .kernels[0]
        .parts_of_loop();
  };
  EXPECT_EQ(parts(256, 256, 16384), 8);
  EXPECT_EQ(parts(768, 768, 8192), 2);  // 36 tiles: there are 30 clusters of four blocks
  EXPECT_EQ(parts(256, 256, 512), 1);
}

// With row sums, or if a block's part is less than a TMA row: K is not split.
TEST(Warpgroups, KIsNotSplitWhereRanksCannotStoreAPartEach) {
  graph::Builder b("rows");
  const auto A = b.input("A", {256, 4096}), B = b.input("B", {4096, 256});
  b.output(b.custom({.grid = {2}, .block = {256}, .loop = 64},
                    [&](graph::BlockBuilder& t) {
                      const auto sum = accum(matmul(t.load(A, {.x = 0, .loop = 1}), t.load(B, {.loop = 0})));
                      t.store(sum / reduction(sum, 1), {.x = 0});
                    })[0],
           "Y");
  EXPECT_EQ(test::make_plan(b.build(), target::find("sm_90a")).kernels[0].parts_of_loop(), 1);
}

// A warpgroup with two tiles along M has all columns of the first tile before those of the second.
TEST(Warpgroups, KIsNotSplitWhereAPartOfTheAccumulatorsIsNoColumns) {
  graph::Builder b("product");
  b.output(matmul(b.input("A", {128, 4096}), b.input("B", {4096, 256})), "C");
  const graph::KernelGraph g = b.build();
  for (const auto& [threads, parts] : {std::pair{256, 8}, {128, 1}}) {
    plan::PlanOptions options;
    options.tiling = {{.op = 0, .product = retile::MatmulTile{128, 128, 64, threads}}};
    EXPECT_EQ(test::make_plan(g, target::find("sm_90a"), options).kernels[0].parts_of_loop(), parts) << threads;
  }
}

}  // namespace
}  // namespace zellige::run
