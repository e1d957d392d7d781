// cooperative_gemm of a TiledMMA by all its threads sequentially, against explicit loops: shapes that the
// tiles divide and shapes that they do not, accumulators that start from C or not, values transformed on load
// and store.
#include <gtest/gtest.h>

#include <cute/tensor.hpp>
#include <vector>

using namespace cute;

namespace {

auto const mma = make_tiled_mma(UniversalFMA<float>{}, Layout<Shape<_4, _8, _1>>{});
constexpr int threads = 32;

template <int M, int N, int K>
void product_is_right(float alpha, float beta) {
  std::vector<float> a(M * K), b(N * K), c(M * N);
  for (int i = 0; i < M * K; ++i) a[std::size_t(i)] = float(i * 7 % 11 - 5);
  for (int i = 0; i < N * K; ++i) b[std::size_t(i)] = float(i * 5 % 13 - 6);
  for (int i = 0; i < M * N; ++i) c[std::size_t(i)] = float(i % 17);
  std::vector<float> const before = c;
  Tensor sA = make_tensor(a.data(), Layout<Shape<Int<M>, Int<K>>, Stride<Int<K>, _1>>{});
  Tensor sB = make_tensor(b.data(), Layout<Shape<Int<N>, Int<K>>>{});
  Tensor sC = make_tensor(c.data(), Layout<Shape<Int<M>, Int<N>>>{});
  auto const twice = [](float x) { return 2 * x; };
  auto const more = [](float x) { return x + 1; };
  for (unsigned t = 0; t < threads; ++t)
    cooperative_gemm(t, mma, alpha, sA, sB, beta, sC, twice, identity{}, more, more);
  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) {
      float sum = 0;
      for (int k = 0; k < K; ++k) sum += 2 * sA(m, k) * sB(n, k);
      float const was = before[std::size_t(m + M * n)];
      float const right = beta == 0 ? alpha * sum + 1 : alpha * sum + beta * (was + 1) + 1;
      ASSERT_EQ(sC(m, n), right) << M << "x" << N << "x" << K << " at " << m << "," << n;
    }
  }
}
TEST(CompatCooperative, ProductsOfAllShapes) {
  for (float beta : {0.f, 3.f}) {
    product_is_right<8, 16, 4>(1, beta);
    product_is_right<4, 8, 1>(2, beta);
    product_is_right<7, 16, 3>(1, beta);  // M is no multiple of the tile
    product_is_right<8, 13, 4>(2, beta);  // N neither
    product_is_right<3, 5, 2>(-1, beta);  // less than a tile
    product_is_right<32, 64, 16>(1, beta);
  }
}

TEST(CompatCooperative, AccumulatorsThatRemainInRegisters) {
  std::vector<float> a(8 * 4, 2), b(16 * 4, 3);
  Tensor sA = make_tensor(a.data(), Layout<Shape<_8, _4>>{});
  Tensor sB = make_tensor(b.data(), Layout<Shape<_16, _4>>{});
  for (int t = 0; t < threads; ++t) {
    Tensor sums = partition_fragment_C(mma, Shape<_8, _16>{});
    fill(sums, 1.f);
    cooperative_gemm(unsigned(t), mma, sA, sB, sums);
    for (int i = 0; i < int(size(sums)); ++i) EXPECT_EQ(sums(i), 1.f + 4 * 6.f);
  }
}

TEST(CompatCooperative, CopiesTakeAPolicy) {
  std::vector<int> from(96), to(96, -1);
  for (int i = 0; i < 96; ++i) from[std::size_t(i)] = i;
  Tensor src = make_tensor(from.data(), Layout<Shape<_8, _12>>{});
  Tensor dst = make_tensor(to.data(), Layout<Shape<_8, _12>>{});
  for (unsigned t = 0; t < threads; ++t) cooperative_copy<threads, 32>(t, src, dst, AutoCopyAsync{});
  EXPECT_EQ(from, to);
}

TEST(CompatNumbers, OrdersAndTuplesOfNumbers) {
  EXPECT_TRUE(lex_leq(make_coord(1, 2), make_coord(1, 2)) && lex_geq(make_coord(1, 2), make_coord(1, 2)));
  EXPECT_TRUE(lex_gtr(make_coord(2, 0), make_coord(1, 9)) && !colex_gtr(make_coord(2, 0), make_coord(1, 9)));
  EXPECT_TRUE(colex_leq(make_coord(2, 0), make_coord(1, 9)) && !colex_geq(make_coord(2, 0), make_coord(1, 9)));
  std::vector<int> const a = {6, 3, 4};
  EXPECT_EQ(make_int_tuple<5>(a, 3, 0), make_tuple(6, 3, 4, 0, 0));
  using Mixed = tuple<_1, tuple<int, int, _3>, int, _2>;
  EXPECT_EQ((make_int_tuple_from<Mixed>(6, 3, 4)), make_tuple(_1{}, make_tuple(6, 3, _3{}), 4, _2{}));
  EXPECT_EQ((to_array<int>(make_tuple(_1{}, make_tuple(6, 3, _3{}), 4))), (array<int, 5>{1, 6, 3, 3, 4}));
  static_assert(rank_t<Shape<_2, _3>>::value == 2 && depth_v<Shape<_2, Shape<_3>>> == 2);
  static_assert(has_int0<Shape<_2, Shape<_0>>>::value && !has_underscore<Shape<_2>>::value);
  EXPECT_EQ(num_digits(0), 1);
  EXPECT_EQ(num_digits(-1234), 4);
}

TEST(CompatNumbers, LayoutsOfLayouts) {
  auto const l = make_layout(make_shape(4, 6), make_stride(1, 8));
  EXPECT_EQ(transform_layout(l, [](auto const& mode) { return make_layout(shape(mode), 2 * stride(mode)); }),
            make_layout(make_shape(4, 6), make_stride(2, 16)));
  EXPECT_EQ(tile_unzip(logical_divide(l, make_tile(_2{}, _3{})), make_tile(_2{}, _3{})),
            zipped_divide(l, make_tile(_2{}, _3{})));
  auto const atom = composition(Swizzle<2, 0, 3>{}, Layout<Shape<_8, _8>, Stride<_8, _1>>{});
  EXPECT_EQ(tile_to_shape(atom, Layout<Shape<_16, _32>, Stride<_32, _1>>{}), tile_to_shape(atom, Shape<_16, _32>{}));
  static_assert(is_composed_layout<remove_cvref_t<decltype(atom)>>::value &&
                !is_composed_layout<Layout<_4, _1>>::value);
}

}  // namespace
