// Tilings of files, which may number the operators of the graph whose matmuls are left as they are.
#include "fuse/declared.hpp"

#include <gtest/gtest.h>

#include "fuse/custom.hpp"
#include "fuse/separate.hpp"
#include "graph/builder.hpp"
#include "graph/error.hpp"
#include "retile/retile.hpp"

namespace zellige::fuse {
namespace {

using retile::MatmulTile;
using retile::OpTiling;
using retile::Tiling;

constexpr MatmulTile tile{64, 128, 64, 128};

/// A matmul and a permutation, between two custom operators if `customs`.
graph::KernelGraph graph_of(bool customs) {
  graph::Builder b("g");
  graph::TensorHandle x = b.input("X", {256, 512});
  const auto doubled = [&](graph::TensorHandle t) {
    return b
        .custom({.grid = {8}, .block = {128}},
                [&](graph::BlockBuilder& block) {
                  const graph::TileHandle a = block.load(t, {.x = 0});
                  block.store(a + a, {.x = 0});
                })
        .at(0);
  };
  if (customs) x = doubled(x);
  graph::TensorHandle y = matmul(x, b.input("W", {512, 256}));
  if (customs) y = doubled(y);
  b.output(neg(permute(y, {1, 0})), "Y");
  return b.build();
}

/// Returns the grid of the custom operator that multiplies.
graph::Dim3 grid(const graph::KernelGraph& g) {
  for (const graph::KernelOp& op : g.ops)
    if (op.block && std::ranges::count(op.block->ops, graph::OpKind::matmul, &graph::BlockOp::kind) > 0)
      return op.block->grid;
  return {0, 0, 0};
}

std::string refusal(const graph::KernelGraph& g, const Tiling& tiling) {
  try {
    separate(g, target::find("sm_90a"), tiling);
    return "taken";
  } catch (const Error& e) {
    return e.what();
  }
}

TEST(Declared, TilesOfAGraphAsItIsGiven) {
  const target::Target& target = target::find("sm_90a");
  const graph::KernelGraph alone = graph_of(false), among = graph_of(true);
  EXPECT_EQ(grid(separate(alone, target, Tiling{{.op = 0, .product = tile}})), (graph::Dim3{2, 4, 1}));
  Tiling of_both = retile::tiling_of(among);
  ASSERT_EQ(of_both.size(), 2U);
  of_both[1].grid = {16};
  of_both.push_back({.op = 1, .product = tile});
  const graph::KernelGraph made = separate(among, target, of_both);
  EXPECT_EQ(grid(made), (graph::Dim3{2, 4, 1}));
  EXPECT_EQ(retile::tiling_of(made)[0].grid.x, 8);
  EXPECT_EQ(retile::tiling_of(made)[2].grid.x, 16);
}

// What a run has recorded is of the custom operators that it made.
TEST(Declared, TilingsOfTheAssembledGraphAreApplied) {
  const target::Target& target = target::find("sm_90a");
  const graph::KernelGraph g = graph_of(true), made = separate(g, target);
  Tiling recorded = retile::tiling_of(made);
  ASSERT_EQ(recorded.size(), 4U);  // neg, too
  recorded[0].grid.x = 4;
  EXPECT_EQ(retile::tiling_of(separate(g, target, recorded)), recorded);
}

TEST(Declared, TilesOfAFusedGraph) {
  const target::Target& target = target::find("sm_90a");
  graph::Builder b("g");
  b.output(matmul(b.input("X", {3, 256, 512}), b.input("W", {512, 256})), "Y");
  candidate::CostCache known;
  const Optimized o = optimize(b.build(), target, Custom::kept, known, {}, Reasons::omitted,
                               Tiling{{.op = 0, .product = MatmulTile{128, 64, 64, 128}}});
  EXPECT_EQ(grid(o.graph).count(), 6 * 4);
}

TEST(Declared, OfOtherOperatorsAreRefused) {
  const graph::KernelGraph g = graph_of(true);
  const Tiling own = retile::tiling_of(g);
  EXPECT_EQ(refusal(g, {own[0], own[1], {.op = 2, .product = tile}}),
            "graph g: expected the tile of operator 2 to be a matmul's, found custom");
  EXPECT_EQ(refusal(g, {own[0], own[1], {.op = 4, .product = tile}}),
            "graph g: expected the tile of operator 4 to be a matmul's, found neg");
  EXPECT_EQ(refusal(g, {own[0], own[1], {.op = 9, .product = tile}}),
            "graph g: expected the tile of operator 9 to be a matmul's, found no such operator");
  EXPECT_EQ(refusal(g, {own[1], {.op = 1, .product = tile}}),
            "graph g: expected a tiling of its custom operators (0, 2), found one of 2");
  EXPECT_EQ(refusal(graph_of(false), {{.op = 0, .product = MatmulTile{64, 128, 512, 128}}}), "taken");
  EXPECT_EQ(
      refusal(graph_of(false), {{.op = 0, .product = MatmulTile{256, 256, 512, 128}}}),
      "graph g: operator 0 has no kernel with this tile: operator 0: tile 256x256x512, 128 threads: no tiling of the "
      "kernel fits into shared memory");
}

}  // namespace
}  // namespace zellige::fuse
