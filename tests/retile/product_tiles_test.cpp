// Tiles of standalone matmuls: their order, and their description.
#include "lower/product_tiles.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/builder.hpp"
#include "plan/product_tile.hpp"
#include "tiling/tile.hpp"

namespace zellige::plan {
namespace {

using graph::DType;
using retile::OpTiling;
using retile::ProductTile;
using retile::Tiling;

std::vector<ProductTile> legal(const ProductSize& size, const char* target = "sm_90a") {
  return product_tiles(size, target::find(target));
}
ProductTile fastest(const ProductSize& size, const char* target = "sm_90a") {
  return ranked_tiles(size, target::find(target)).front();
}

/// Returns the tile as far as it is within the matrix. With A and B swapped, N is padded instead.
ProductTile cut(ProductTile t, const ProductSize& size) {
  t.m = std::min(t.m, t.swap_ab ? size.n : size.m), t.k = std::min(t.k, size.k);
  if (!t.swap_ab) t.n = std::min(t.n, size.n);
  return t;
}

// Tiles that were listed by hand before they followed from the instructions: on mma.sync, on wgmma, and on wgmma with A and
// B swapped, where N is a number of rows.
TEST(ProductTiles, HaveAllThatWereListed) {
  const ProductTile by_warps[] = {{128, 128, 32, 256}, {128, 64, 32, 128}, {64, 128, 32, 128}, {64, 64, 64, 128},
                                  {32, 128, 64, 128},  {16, 128, 64, 128}, {32, 64, 64, 128},  {16, 64, 128, 128},
                                  {16, 32, 128, 128},  {16, 16, 256, 128}, {16, 32, 256, 128}, {16, 32, 512, 128}};
  const ProductTile on_wgmma[] = {{128, 256, 64, 256}, {128, 224, 64, 256}, {128, 192, 64, 256}, {128, 160, 64, 256},
                                  {128, 128, 64, 256}, {128, 96, 64, 256},  {128, 64, 64, 256},  {64, 256, 64, 128},
                                  {64, 128, 64, 128},  {64, 64, 64, 128}};
  for (const char* target : {"sm_80", "sm_90a"})
    for (const std::int64_t m : {1, 9, 16, 33, 64, 100, 300, 384, 512, 4096})
      for (const std::int64_t n : {64, 1000, 4096, 14336})
        for (const std::int64_t k : {64, 1024, 8192}) {
          const ProductSize size{.m = m, .n = n, .k = k, .dtype = DType::f16};
          const std::vector<ProductTile> found = legal(size, target);
          const auto has = [&](const ProductTile& t) {
            return std::ranges::any_of(found, [&](const ProductTile& f) { return cut(f, size) == cut(t, size); });
          };
          for (const ProductTile& t : by_warps)
            EXPECT_TRUE(has(t)) << m << " " << n << " " << k << " " << t.m << " " << t.n;
          if (target == std::string("sm_80") || k < 128) continue;
          for (const ProductTile& t : on_wgmma)
            if (m >= t.m && n >= t.n) EXPECT_TRUE(has(t)) << m << " " << n << " " << t.m << " " << t.n;
          if (m >= 9 && m <= 64 && n % 64 == 0)
            EXPECT_TRUE(has({64, (m + 15) / 16 * 16, 64, 128, true})) << m << " " << n;
          for (const std::int64_t rows : odd_rows(m))
            for (const std::int64_t columns : {64, 128})
              if (n % columns == 0)
                EXPECT_TRUE(has({columns, rows, 64, columns == 64 ? 128 : 256, true})) << m << " " << n;
        }
}

TEST(ProductTiles, AreEachThereOnce) {
  for (const std::int64_t m : {1, 40, 300, 4096}) {
    const ProductSize size{.m = m, .n = 96, .k = 200, .dtype = DType::f16};
    const std::vector<ProductTile> found = legal(size);
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(cut(found[i], size) == cut(found[j], size)) << m;
  }
}

TEST(ProductTiles, SwapAAndBOnWarpgroupsAlone) {
  for (const char* target : {"sm_80", "sm_90a"})
    for (std::int64_t m : {1, 8, 16, 33, 100, 300, 512})
      for (const ProductTile& t : legal({1, m, 4096, 4096, DType::f16}, target))
        EXPECT_TRUE(!t.swap_ab || (std::string(target) == "sm_90a" && t.n <= 256 && t.n < m + 16)) << m;
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
}

// As f16 they need the bytes of f16: only operands that stay e4m3 have twice the K.
TEST(ProductTiles, OfFloat8HaveTwiceTheKIfTheyLieAlongIt) {
  const auto largest_k = [&](const ProductSize& size, const char* target) {
    return std::ranges::max(legal(size, target), {}, &ProductTile::k).k;
  };
  ProductSize size{1, 256, 256, 2048, DType::e4m3};
  EXPECT_EQ(largest_k(size, "sm_90a"), 1024);
  size.a_along_k = false;
  EXPECT_EQ(largest_k(size, "sm_90a"), 512);
}

TEST(ProductTiles, AreRankedByTheTimeOfTheirSketches) {
  const target::Target& target = target::find("sm_90a");
  for (const auto& [m, n, k] :
       std::vector<std::array<std::int64_t, 3>>{{16, 4096, 4096}, {300, 1000, 600}, {1000, 72, 4096}}) {
    graph::Builder b("product");
    b.output(matmul(b.input("A", {m, k}), b.input("B", {k, n}, DType::f16, {1, k})), "Y");
    const graph::KernelGraph g = b.build();
    const std::vector<ProductTile>& all = ranked_tiles(product_size(g, 0), target);
    double before = 0;
    for (const ProductTile& t : all) {
      const double us = estimate_cost(sketch(g, target, {{.op = 0, .product = t}}), target).us;
      EXPECT_LE(before, us * (1 + 1e-9)) << m;
      before = us;
    }
    EXPECT_EQ(make_plan(g, target).program.products.at(0).product, all.front());
  }
}

// Where the tile with the least expected time is the fastest of all that were measured on an H100 (bench/results).
TEST(ProductTiles, AreThoseThatWereFastest) {
  EXPECT_EQ(fastest({1, 4096, 4096, 4096, DType::f16}), (ProductTile{128, 256, 64, 256}));
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
