// Tiles of standalone matmuls: their order, and their description.
#include "lower/product_tiles.hpp"

#include <gtest/gtest.h>

#include "graph/builder.hpp"
#include "tiling/tile.hpp"

namespace zellige::plan {
namespace {

using graph::DType;
using retile::OpTiling;
using retile::ProductTile;
using retile::Tiling;

ProductTile first(const ProductSize& size, const char* target = "sm_90a") {
  return product_tiles(size, target::find(target)).front();
}

// The fastest on an H200 of all that were measured (docs/log.md).
TEST(ProductTiles, AreThoseThatWereFastest) {
  EXPECT_EQ(first({1, 512, 2048, 2048, DType::bf16}), (ProductTile{128, 64, 64, 256}));
  EXPECT_EQ(first({1, 512, 2048, 8192, DType::bf16}), (ProductTile{128, 128, 64, 256}));
  EXPECT_EQ(first({1, 512, 28672, 4096, DType::bf16}), (ProductTile{128, 128, 64, 256}));
  EXPECT_EQ(first({1, 2048, 2048, 2048, DType::f16}), (ProductTile{128, 128, 64, 256}));
  EXPECT_EQ(first({1, 16, 8192, 8192, DType::f16}), (ProductTile{64, 16, 64, 128, true}));
  EXPECT_EQ(first({1, 1, 2048, 8192, DType::bf16}), (ProductTile{16, 16, 256, 128}));
}

TEST(ProductTiles, SwapAAndBOnWarpgroupsAlone) {
  for (const char* target : {"sm_80", "sm_90a"})
    for (std::int64_t m : {1, 8, 16, 33, 100, 300, 512})
      for (const ProductTile& t : product_tiles({1, m, 4096, 4096, DType::f16}, target::find(target)))
        EXPECT_TRUE(!t.swap_ab || (std::string(target) == "sm_90a" && t.n <= 256 && m >= 8)) << m;
}

TEST(ProductTiles, OfOddRowsLeaveNoMoreEmpty) {
  EXPECT_EQ(odd_rows(300), (std::vector<std::int64_t>{152, 160, 112}));
  EXPECT_EQ(odd_rows(72), (std::vector<std::int64_t>{72, 80, 48}));
  EXPECT_EQ(odd_rows(64), std::vector<std::int64_t>{});
  EXPECT_EQ(odd_rows(384), (std::vector<std::int64_t>{192, 128}));
  EXPECT_EQ(odd_rows(512), (std::vector<std::int64_t>{256}));
  for (std::int64_t m = 1; m <= 5000; ++m)
    for (const std::int64_t tile : odd_rows(m)) {
      EXPECT_TRUE(tile % 8 == 0 && tile <= 256) << m;
      EXPECT_LE((m + tile - 1) / tile * tile, (m + 127) / 128 * 128) << m;
    }
  EXPECT_EQ(first({1, 300, 4096, 14336, DType::bf16}), (ProductTile{64, 160, 64, 128, true}));
  EXPECT_EQ(first({1, 384, 4096, 14336, DType::bf16}),
            (ProductTile{64, 192, 64, 128, true}));  // 128 tiles: all at once
}

// As f16 they need as many bytes as f16: only operands that stay e4m3 have twice the K.
TEST(ProductTiles, OfFloat8HaveTwiceTheKIfTheyLieAlongIt) {
  ProductSize size{1, 256, 256, 512, DType::e4m3};
  const ProductTile across = first(size);
  size.along_k = true;
  EXPECT_EQ(first(size).k, 2 * across.k);
  EXPECT_EQ(first(size, "sm_80").k, across.k);
}

graph::KernelGraph product() {
  graph::Builder b("g");
  b.output(neg(matmul(b.input("X", {256, 512}), b.input("W", {512, 256}))), "Y");
  return b.build();
}

TEST(ProductTiles, AreExplicitAndRecorded) {
  const target::Target& target = target::find("sm_90a");
  PlanOptions plan_options{.tiles = Tiles::fixed};
  plan_options.tiling = {{.op = 0, .product = ProductTile{64, 128, 64, 128}}};
  const Tiled t = tile(product(), target, plan_options);
  EXPECT_EQ(t.plan.kernels[0].program.grid.count(), 8);
  EXPECT_EQ(tiling_of(t), plan_options.tiling);
  EXPECT_EQ(retile::parse_tiling(retile::to_json(plan_options.tiling), "a test"), plan_options.tiling);
  EXPECT_EQ(retile::print({{.op = 0, .product = ProductTile{64, 16, 64, 128, true}}}),
            "operator 0: tile 64x16x64, 128 threads, A and B swapped");
}

TEST(ProductTiles, OfWhatIsNoProductAreRefused) {
  PlanOptions plan_options{.tiles = Tiles::fixed};
  plan_options.tiling = {{.op = 1, .product = ProductTile{64, 128, 64, 128}}};
  try {
    tile(product(), target::find("sm_90a"), plan_options);
    FAIL() << "taken";
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "graph g: expected the tile of operator 1 to be a product's, found neg");
  }
}

TEST(ProductTiles, AreLookedAtByWhoMeasures) {
  const target::Target& target = target::find("sm_90a");
  const std::vector<Tiled> all = ranked(product(), target, {}, 4, Tilings::of_products_too).tiled;
  ASSERT_EQ(all.size(), 5u);  // four, and the planner's own
  for (std::size_t i = 1; i < all.size(); ++i) {
    EXPECT_LE(all[i - 1].cost.us, all[i].cost.us);
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(tiling_of(all[i]), tiling_of(all[j]));
  }
  EXPECT_EQ(ranked(product(), target, {}, 4, Tilings::of_custom_operators).tiled.size(), 1u);
}

}  // namespace
}  // namespace zellige::plan
