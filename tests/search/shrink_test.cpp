// Sizes shrink and keep the graph's structure.
#include "search/shrink.hpp"

#include <gtest/gtest.h>

#include "graph/infer.hpp"
#include "number/exponents.hpp"
#include "programs.hpp"
#include "random/generate.hpp"

namespace zellige::search {
namespace {

using namespace test;

SmallPair shrink_alone(const KernelGraph& g) { return shrink({g, g, match(g, g)}); }

TEST(Shrink, ExtentsOfProgramsBecomeTwo) {
  for (const Program& p : programs()) {
    const SmallPair s = shrink_alone(p.graph);
    EXPECT_TRUE(s.shrunk);
    for (int t : s.a.inputs)
      for (std::int64_t extent : s.a.tensors[t].shape) EXPECT_LE(extent, 3) << p.file;
  }
}

TEST(Shrink, GridsLoopsAndTilesKeepTheirPart) {
  Builder b("parts");
  const TensorHandle x = b.input("X", {16, 256}), w = b.input("W", {256, 4096});
  b.output(b.custom({.grid = {64, 1, 1}, .block = {128}, .loop = 4}, [&](graph::BlockBuilder& t) {
              t.store(accum(matmul(t.load(x, {.loop = 1}), t.load(w, {.x = 1, .loop = 0}))), {.x = 1});
            }).at(0));
  const SmallPair s = shrink_alone(b.build());
  const graph::BlockGraph& block = *s.a.ops[0].block;
  EXPECT_GT(block.grid.x, 1);
  EXPECT_EQ(block.grid.y, 1);
  EXPECT_GT(block.loop, 1);
  for (const graph::BlockTensor& tile : block.tensors)
    for (std::int64_t extent : tile.shape) EXPECT_TRUE(extent > 1 && extent <= 8);
  EXPECT_LE(work(s.a), 2000);
}

TEST(Shrink, WhatIsCutInTwoWaysRemainsDifferent) {
  const auto reduced = [](std::int64_t to) {
    Builder b("reduced");
    const TensorHandle x = b.input("X", {4, 256});
    b.output(reduction(square(reduction(x, 1, to)), 1));
    return b.build();
  };
  const KernelGraph a = reduced(64), b = reduced(32), c = reduced(64);
  SmallPair s = shrink({a, b, match(a, b)});
  EXPECT_GT(s.a.ops[0].attributes.to, s.b.ops[0].attributes.to);
  EXPECT_LE(s.a.tensors[s.a.inputs[0]].shape[1], 16);
  s = shrink({a, c, match(a, c)});
  EXPECT_EQ(s.a.ops[0].attributes.to, s.b.ops[0].attributes.to);
}

TEST(Shrink, PartsOfASumShrinkAloneOrKeepTheirProportions) {
  Builder b("joined");
  const TensorHandle x = b.input("X", {2, 61}), y = b.input("Y", {2, 12});
  b.output(concat(x, y, 1));
  const SmallPair free = shrink_alone(b.build());
  EXPECT_LE(free.a.tensors[free.a.outputs[0]].shape[1], 8);
  Builder c("cut");
  const TensorHandle u = c.input("X", {2, 192}), v = c.input("Y", {2, 64});
  c.output(reduction(concat(u, v, 1), 1, 16));
  const SmallPair tied = shrink_alone(c.build());
  const auto shape = [&](int i) { return tied.a.tensors[tied.a.inputs[static_cast<std::size_t>(i)]].shape[1]; };
  EXPECT_EQ(shape(0), 3 * shape(1));
  EXPECT_LE(shape(1), 2);
}

TEST(Shrink, WhatCountsRemainsDifferent) {
  Builder b("means");
  const TensorHandle x = b.input("X", {2048, 4096}), w = b.input("W", {4096, 8192});
  b.output(mean(mean(matmul(x, w), 1, true), 0, true));
  const KernelGraph g = b.build();
  const std::vector<SmallPair> pairs = shrink_distinct({g, g, match(g, g)});
  ASSERT_EQ(pairs.size(), 1U);
  const KernelGraph& small = pairs[0].a;
  EXPECT_EQ(small.tensors[small.inputs[0]].shape, (Shape{2, 3}));
  EXPECT_EQ(small.tensors[small.inputs[1]].shape, (Shape{3, 5}));
}

/// Whatever the graph, the small one is valid, no larger, and an extent is 1 exactly where it was.
TEST(Shrink, RandomGraphsAreComplete) {
  int smaller = 0, views = 0, graphs = 300;
  for (int seed = 1; seed <= graphs; ++seed) {
    const KernelGraph g = random_graphs::random_graph(static_cast<std::uint64_t>(seed));
    SmallPair s;
    try {
      s = shrink_alone(g);
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("names sizes of its own"), std::string::npos) << g.name << ": " << e.what();
      ++views;
      continue;
    }
    ASSERT_NO_THROW(graph::validate(s.a)) << g.name;
    EXPECT_LE(work(s.a), work(g)) << g.name;
    EXPECT_EQ(work(s.a), work(s.b)) << g.name;
    smaller += s.shrunk;
    for (std::size_t t = 0; t < g.tensors.size(); ++t)
      for (std::size_t d = 0; d < g.tensors[t].shape.size(); ++d)
        EXPECT_EQ(g.tensors[t].shape[d] == 1, s.a.tensors[t].shape[d] == 1) << g.name << " " << g.tensors[t].name;
  }
  EXPECT_GE(smaller, (graphs - views) * 9 / 10);
  EXPECT_LE(views, graphs * 3 / 5);
}

TEST(Exponents, SmallestThatKeepTheProducts) {
  // 4096 = 64 x 4 x 16 = 128 x 32
  number::Products p;
  p.values = {4096, 64, 4, 16, 128, 32};
  p.fixed.assign(6, false);
  p.products = {{0, {1, 2, 3}}, {0, {4, 5}}};
  const auto v = number::shrink_values(p);
  EXPECT_EQ(v[0], 8);
  EXPECT_EQ(v[1] * v[2] * v[3], 8);
  EXPECT_EQ(v[4] * v[5], 8);
}

}  // namespace
}  // namespace zellige::search
