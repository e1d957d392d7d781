#include "reference/sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "graph/builder.hpp"

namespace zellige::graph {
namespace {

TEST(Tiling, CoversEachElementOnce) {
  for (const Shape& shape :
       {Shape{300}, Shape{1, 1}, Shape{128, 128}, Shape{129, 7}, Shape{3, 130, 257}, Shape{2, 3, 5, 200}}) {
    const reference::SampleTiling t = reference::tiling(shape);
    std::vector<int> times(static_cast<std::size_t>(size(shape)));
    for (std::int64_t i = 0; i < t.count(); ++i) {
      const reference::TensorRegion r = t.at(i);
      const std::int64_t n = shape.back();
      reference::each_row(shape, r, [&](std::int64_t row, std::int64_t) {
        for (std::int64_t c = r.origin.back(); c < r.origin.back() + r.extent.back(); ++c)
          ++times[static_cast<std::size_t>(row * n + c)];
      });
    }
    for (int n : times) ASSERT_EQ(n, 1) << to_string(shape);
  }
  EXPECT_EQ(reference::tiling({3, 130, 257}).count(), 3 * 2 * 3);
  EXPECT_EQ(reference::tiling({3, 130, 257}).at(17), (reference::TensorRegion{{2, 128, 256}, {1, 2, 1}}));
}

KernelGraph product(std::int64_t m, std::int64_t n, std::int64_t k) {
  Builder b("g");
  const TensorHandle A = b.input("A", {m, k}), B = b.input("B", {k, n});
  b.output(matmul(A, B), "Y");
  return b.build();
}

// Always takes the last tile, and the requested number of others, uniformly.
TEST(Sample, TakesTheLastTileAndAnyOthers) {
  const KernelGraph g = product(1024, 1024, 16);
  reference::SampleLimits limits;
  limits.max_tiles = 8;
  std::map<std::int64_t, int> times;
  constexpr int seeds = 4000;
  for (std::uint64_t seed = 0; seed < seeds; ++seed) {
    const reference::Sample s = reference::sample(g, g.outputs, seed, limits).at(0);
    ASSERT_EQ(s.tiles.size(), 8u);
    ASSERT_EQ(std::set<std::int64_t>(s.tiles.begin(), s.tiles.end()).size(), 8u);
    for (std::int64_t t : s.tiles) ++times[t];
  }
  EXPECT_EQ(times[63], seeds);
  const double expected = seeds * 7.0 / 63, spread = std::sqrt(expected * (1 - 7.0 / 63));
  for (std::int64_t t = 0; t < 63; ++t) EXPECT_NEAR(times[t], expected, 4.5 * spread) << t;
  EXPECT_EQ(reference::sample(g, g.outputs, 5, limits).at(0).tiles,
            reference::sample(g, g.outputs, 5, limits).at(0).tiles);
  EXPECT_NE(reference::sample(g, g.outputs, 5, limits).at(0).tiles,
            reference::sample(g, g.outputs, 6, limits).at(0).tiles);
}

TEST(Sample, TakesAllTilesWhereThatIsNotTooMuch) {
  const KernelGraph g = product(300, 500, 64);
  const reference::Sample s = reference::sample(g, g.outputs, 1).at(0);
  EXPECT_EQ(s.tiles.size(), 12u);
  EXPECT_EQ(s.from, g.inputs);
  EXPECT_TRUE(s.known.empty());
  const KernelGraph large = product(8192, 8192, 8192);
  const reference::Sample part = reference::sample(large, large.outputs, 1).at(0);
  EXPECT_EQ(part.tiling.count(), 4096);
  EXPECT_EQ(part.tiles.size(), 145u);  // 1e11 of work at 2 * 128 * 128 * 8192 and 200 * 2 * 128 * 8192 a tile
}

// A tile of ((A (B C)) D) needs all of B C, and so all of A (B C) if it is the right operand: from stored
// results, little.
TEST(Sample, GoesStageByStageWhereATileNeedsTheProgram) {
  Builder b("chain");
  const TensorHandle A = b.input("A", {2048, 2048}), B = b.input("B", {2048, 2048}), C = b.input("C", {2048, 2048}),
                     D = b.input("D", {2048, 2048});
  const TensorHandle inner = matmul(B, C), outer = matmul(A, inner), Y = matmul(D, outer);
  b.output(matmul(Y, D), "Y");
  const KernelGraph g = b.build();
  std::vector<int> all;
  for (const KernelOp& op : g.ops) all.push_back(op.outputs[0]);
  const std::vector<reference::Sample> samples = reference::sample(g, all, 1, {.work = 4e10, .max_tiles = 8});
  ASSERT_EQ(samples.size(), 4u);
  EXPECT_TRUE(samples[0].known.empty());
  EXPECT_FALSE(samples[2].known.empty());
  EXPECT_FALSE(samples[3].known.empty());
  EXPECT_EQ(samples[3].from, (std::vector<int>{g.inputs[3], all[2]}));
  EXPECT_EQ(samples[2].tiles.size(), 8u);
  EXPECT_EQ(samples[3].tiles.size(), 8u);
  // With nothing stored on the way there is nothing nearer: one tile is taken whatever it costs.
  const reference::Sample only = reference::sample(g, {all[3]}, 1, {.work = 1e9, .max_tiles = 8}).at(0);
  EXPECT_TRUE(only.known.empty());
  EXPECT_EQ(only.tiles, std::vector<std::int64_t>{255});
}

TEST(Sample, WorkCountsProductsAndElements) {
  EXPECT_EQ(reference::work(product(10, 20, 30)), 2 * 10 * 20 * 30 + reference::work_an_element * (10 * 30 + 30 * 20));
  Builder b("g");
  b.output(exp(b.input("X", {10, 20})));
  EXPECT_EQ(reference::work(b.build()), reference::work_an_element * 400);
  Builder c("h");
  const TensorHandle X = c.input("X", {64, 32}), W = c.input("W", {32, 48});
  c.output(c.custom({.grid = {3}, .block = {32}, .loop = 2}, [&](BlockBuilder& t) {
              t.store(accum(matmul(t.load(X, {.loop = 1}), t.load(W, {.x = 1, .loop = 0}))), {.x = 1});
            }).at(0));
  const double block = 2.0 * 64 * 16 * 16 + reference::work_an_element * (64 * 16 + 16 * 16 + 64 * 16 + 64 * 16);
  EXPECT_EQ(reference::work(c.build()), 6 * block + reference::work_an_element * (64 * 32 + 32 * 48));
}

}  // namespace
}  // namespace zellige::graph
