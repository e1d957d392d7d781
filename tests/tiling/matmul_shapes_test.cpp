// Tiles of matmuls: those that the instructions allow, and the order in which they are tried.
#include "tiling/matmul_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "candidate/kernel.hpp"
#include "graph/builder.hpp"

namespace zellige::plan {
namespace {

using graph::DType;
using retile::MatmulTile;

std::vector<MatmulTile> legal(const tiling::MatmulSize& size, const char* target = "sm_90a") {
  return tiling::matmul_shapes(size, target::find(target));
}

/// A matmul, or with `more` the relu of one.
graph::KernelGraph product(std::int64_t m, std::int64_t n, std::int64_t k, bool more) {
  graph::Builder b("product");
  const graph::TensorHandle y = matmul(b.input("A", {m, k}), b.input("B", {k, n}, DType::f16, {1, k}));
  b.output(more ? relu(y) : y, "Y");
  return b.build();
}

std::vector<candidate::GroupKernel> kernels(const graph::KernelGraph& g) {
  std::vector<int> all;
  for (int i = 0; i < std::ssize(g.ops); ++i) all.push_back(i);
  std::string why;
  return candidate::kernels_of(g, all, target::find("sm_90a"), why);
}

/// Returns the tile as far as it is within the matrix. With A and B swapped, N is padded instead.
MatmulTile cut(MatmulTile t, const tiling::MatmulSize& size) {
  t.m = std::min(t.m, t.swap_ab ? size.n : size.m), t.k = std::min(t.k, size.k);
  if (!t.swap_ab) t.n = std::min(t.n, size.n);
  return t;
}

// Tiles that were listed by hand before they followed from the instructions: on mma.sync, on wgmma, and on wgmma with A and
// B swapped, where N is a number of rows.
TEST(MatmulShapes, HaveAllThatWereListed) {
  const MatmulTile by_warps[] = {{128, 128, 32, 256}, {128, 64, 32, 128}, {64, 128, 32, 128}, {64, 64, 64, 128},
                                 {32, 128, 64, 128},  {16, 128, 64, 128}, {32, 64, 64, 128},  {16, 64, 128, 128},
                                 {16, 32, 128, 128},  {16, 16, 256, 128}, {16, 32, 256, 128}, {16, 32, 512, 128}};
  const MatmulTile on_wgmma[] = {{128, 256, 64, 256}, {128, 224, 64, 256}, {128, 192, 64, 256}, {128, 160, 64, 256},
                                 {128, 128, 64, 256}, {128, 96, 64, 256},  {128, 64, 64, 256},  {64, 256, 64, 128},
                                 {64, 128, 64, 128},  {64, 64, 64, 128}};
  for (const char* target : {"sm_80", "sm_90a"})
    for (const std::int64_t m : {1, 9, 16, 33, 64, 100, 300, 384, 512, 4096})
      for (const std::int64_t n : {64, 1000, 4096, 14336})
        for (const std::int64_t k : {64, 1024, 8192}) {
          const tiling::MatmulSize size{.m = m, .n = n, .k = k, .dtype = DType::f16};
          const std::vector<MatmulTile> found = legal(size, target);
          const auto has = [&](const MatmulTile& t) {
            return std::ranges::any_of(found, [&](const MatmulTile& f) { return cut(f, size) == cut(t, size); });
          };
          for (const MatmulTile& t : by_warps)
            EXPECT_TRUE(has(t)) << m << " " << n << " " << k << " " << t.m << " " << t.n;
          if (target == std::string("sm_80") || k < 128) continue;
          for (const MatmulTile& t : on_wgmma)
            if (m >= t.m && n >= t.n) EXPECT_TRUE(has(t)) << m << " " << n << " " << t.m << " " << t.n;
          if (m >= 9 && m <= 64 && n % 64 == 0)
            EXPECT_TRUE(has({64, (m + 15) / 16 * 16, 64, 128, true})) << m << " " << n;
          for (const std::int64_t rows : tiling::odd_rows(m))
            for (const std::int64_t columns : {64, 128})
              if (n % columns == 0)
                EXPECT_TRUE(has({columns, rows, 64, columns == 64 ? 128 : 256, true})) << m << " " << n;
        }
}

TEST(MatmulShapes, AreEachThereOnce) {
  for (const std::int64_t m : {1, 40, 300, 4096}) {
    const tiling::MatmulSize size{.m = m, .n = 96, .k = 200, .dtype = DType::f16};
    const std::vector<MatmulTile> found = legal(size);
    for (std::size_t i = 0; i < found.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(cut(found[i], size) == cut(found[j], size)) << m;
  }
}

TEST(MatmulShapes, SwapAAndBOnWarpgroupsAlone) {
  for (const char* target : {"sm_80", "sm_90a"})
    for (std::int64_t m : {1, 8, 16, 33, 100, 300, 512})
      for (const MatmulTile& t : legal({1, m, 4096, 4096, DType::f16}, target))
        EXPECT_TRUE(!t.swap_ab || (std::string(target) == "sm_90a" && t.n <= 256 && t.n < m + 16)) << m;
}

TEST(MatmulShapes, OfOddRowsLeaveNoMoreEmpty) {
  EXPECT_EQ(tiling::odd_rows(300), (std::vector<std::int64_t>{152, 160, 112}));
  EXPECT_EQ(tiling::odd_rows(72), (std::vector<std::int64_t>{72, 80, 48}));
  EXPECT_EQ(tiling::odd_rows(64), std::vector<std::int64_t>{});
  EXPECT_EQ(tiling::odd_rows(384), (std::vector<std::int64_t>{192, 128}));
  EXPECT_EQ(tiling::odd_rows(512), (std::vector<std::int64_t>{256}));
  for (std::int64_t m = 1; m <= 5000; ++m)
    for (const std::int64_t tile : tiling::odd_rows(m)) {
      EXPECT_TRUE(tile % 8 == 0 && tile <= 256) << m;
      EXPECT_LE((m + tile - 1) / tile * tile, (m + 127) / 128 * 128) << m;
    }
}

// As f16 they need the bytes of f16: only operands that stay e4m3 have twice the K.
TEST(MatmulShapes, OfFloat8HaveTwiceTheKIfTheyLieAlongIt) {
  const auto largest_k = [&](const tiling::MatmulSize& size, const char* target) {
    return std::ranges::max(legal(size, target), {}, &MatmulTile::k).k;
  };
  tiling::MatmulSize size{1, 256, 256, 2048, DType::e4m3};
  EXPECT_EQ(largest_k(size, "sm_90a"), 1024);
  size.a_along_k = false;
  EXPECT_EQ(largest_k(size, "sm_90a"), 512);
}

// A matmul by itself comes in order of expected time. A group with other steps tries some of its tiles, at most two of which
// differ along K only.
TEST(MatmulShapes, OfAGroupAreThoseOfItsMatmul) {
  for (const auto& [m, n, k] :
       std::vector<std::array<std::int64_t, 3>>{{16, 4096, 4096}, {300, 1000, 600}, {1000, 72, 4096}}) {
    const std::vector<candidate::GroupKernel> alone = kernels(product(m, n, k, false));
    double before = 0;
    for (const candidate::GroupKernel& kernel : alone) {
      EXPECT_LE(before, kernel.us) << m;
      before = kernel.us;
    }
    std::vector<MatmulTile> tried;
    for (const candidate::GroupKernel& kernel : kernels(product(m, n, k, true)))
      if (kernel.shape && std::ranges::count(tried, *kernel.shape) == 0) tried.push_back(*kernel.shape);
    EXPECT_GE(tried.size(), 8U) << m;
    EXPECT_LE(tried.size(), 16U) << m;
    for (const MatmulTile& t : tried)
      EXPECT_LE(std::ranges::count_if(tried, [&](MatmulTile of) { return of.k = t.k, of == t; }), 2) << m;
    const auto best = std::ranges::find_if(alone, [](const candidate::GroupKernel& k) { return k.shape.has_value(); });
    ASSERT_NE(best, alone.end());
    EXPECT_EQ(std::ranges::count(tried, *best->shape), 1) << m;
  }
}

// Where the tile with the least expected time is the fastest of all that were measured on an H100 (bench/results).
TEST(MatmulShapes, AreThoseThatWereFastest) {
  EXPECT_TRUE(kernels(product(4096, 4096, 4096, false)).front().shape == (MatmulTile{128, 256, 64, 256}));
}

}  // namespace
}  // namespace zellige::plan
