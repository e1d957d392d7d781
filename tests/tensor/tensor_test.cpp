// Tensors: views and owners, slices, tiles and parts, and the algorithms on them.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>
#include <vector>
#include <zellige/tensor.hpp>

namespace zellige {
namespace {

TEST(Tensor, CopiesOfOwnersAreDeepAndOfViewsAreNot) {
  auto a = make_tensor<int>(Shape<_2, _3>{});
  fill(a, 7);
  auto b = a;
  b(1, 2) = 9;
  EXPECT_EQ(a(1, 2), 7);
  int memory[6] = {};
  auto v = make_tensor(&memory[0], Shape<_2, _3>{});
  auto w = v;
  w(1, 2) = 9;
  EXPECT_EQ(v(1, 2), 9);
  EXPECT_EQ(memory[5], 9);
}

TEST(Tensor, SlicesAreViewsOfTheirTensor) {
  auto a = make_tensor<int>(Layout<Shape<_4, _5>, Stride<_5, _1>>{});
  for (int i = 0; i < 20; ++i) a.data()[i] = i;
  auto row = a(2, _);
  EXPECT_EQ(row(3), 13);
  row(3) = -1;
  EXPECT_EQ(a(2, 3), -1);
}

// Every element of a tensor of run-time extents belongs to exactly one thread of exactly one tile.
TEST(Tensor, TilesAndPartsPartition) {
  int const m = 24, n = 16;
  std::vector<int> memory(std::size_t(m * n));
  std::iota(memory.begin(), memory.end(), 0);
  auto a = make_tensor(make_gmem_ptr(memory.data()), make_shape(m, n), make_stride(n, _1{}));
  std::multiset<int> seen;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 2; ++j) {
      auto tile = local_tile(a, Shape<_8, _8>{}, make_coord(i, j));
      EXPECT_EQ(tile(0, 0), i * 8 * n + j * 8);
      for (int t = 0; t < 8; ++t) {
        auto part = local_partition(tile, Layout<Shape<_4, _2>>{}, t);
        EXPECT_EQ(int(size(part)), 8);
        for (int k = 0; k < 8; ++k) seen.insert(part(k));
      }
    }
  }
  EXPECT_EQ(seen.size(), std::size_t(m * n));
  EXPECT_EQ(std::set<int>(seen.begin(), seen.end()).size(), std::size_t(m * n));
}

// An identity tensor partitioned the same way gives the tile's coordinates: tile(c) ==
// a(coordinates(c)).
TEST(Tensor, IdentityTensorsNameTheElements) {
  std::vector<int> memory(std::size_t(32 * 48));
  std::iota(memory.begin(), memory.end(), 0);
  auto const shape = Shape<_32, _48>{};
  auto a = make_tensor(memory.data(), shape, LayoutRight{});
  auto c = make_identity_tensor(shape);
  for (int t : {0, 5, 31}) {
    auto pa = local_partition(a, Layout<Shape<_4, _8>>{}, t);
    auto pc = local_partition(c, Layout<Shape<_4, _8>>{}, t);
    for (int k = 0; k < int(size(pa)); ++k) EXPECT_EQ(pa(k), a(get<0>(pc(k)), get<1>(pc(k))));
  }
}

TEST(Algorithms, GemmIsTheSumOfProducts) {
  auto a = make_tensor<int>(Shape<_4, _3>{});
  auto b = make_tensor<int>(Shape<_5, _3>{});
  auto c = make_tensor<int>(Shape<_4, _5>{});
  for (int i = 0; i < 12; ++i) a(i) = i - 4;
  for (int i = 0; i < 15; ++i) b(i) = 2 * i - 7;
  fill(c, 1);
  gemm(a, b, c);
  for (int m = 0; m < 4; ++m) {
    for (int n = 0; n < 5; ++n) {
      int sum = 1;
      for (int k = 0; k < 3; ++k) sum += a(m, k) * b(n, k);
      EXPECT_EQ(c(m, n), sum);
    }
  }
}

TEST(Algorithms, AxpbyDoesNotReadYWhereBetaIsZero) {
  auto x = make_tensor<float>(Shape<_4>{});
  auto y = make_tensor<float>(Shape<_4>{});
  fill(x, 2.f);
  fill(y, std::nanf(""));
  axpby(3.f, x, 0.f, y);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(y(i), 6.f);
  axpby(1.f, x, 2.f, y);
  EXPECT_EQ(y(3), 14.f);
}

TEST(Algorithms, CopyIfCopiesWhereThePredicateHolds) {
  auto x = make_tensor<int>(Shape<_8>{});
  auto y = make_tensor<int>(Shape<_8>{});
  for (int i = 0; i < 8; ++i) x(i) = i;
  fill(y, -1);
  copy_if([](int i) { return i % 3 == 0; }, x, y);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(y(i), i % 3 == 0 ? i : -1);
  EXPECT_EQ(reduce(y, 0), 0 + 3 + 6 - 5);
}

TEST(Algorithms, RunTimeSizesAreChecked) {
  std::vector<int> memory(64);
  auto a = make_tensor(memory.data(), make_shape(8, 4));
  auto b = make_tensor(memory.data(), make_shape(4, 7));
  try {
    copy(a, b);
    FAIL() << "nothing was refused";
  } catch (LayoutError const& e) {
    EXPECT_STREQ(e.what(), "copy: the tensors have 32 and 28 elements; the numbers must be equal");
  }
}

}  // namespace
}  // namespace zellige
