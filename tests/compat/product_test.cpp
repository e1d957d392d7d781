// A GEMM as CuTe users write it, with its blocks and threads run sequentially on the host.
#include <gtest/gtest.h>

#include <cute/tensor.hpp>
#include <vector>

namespace {

// C = alpha * A * B^T + beta * C. One thread of one block.
template <class ProblemShape, class CtaTiler, class TA, class AStride, class ASmemLayout, class AThreadLayout, class TB,
          class BStride, class BSmemLayout, class BThreadLayout, class TC, class CStride, class CThreadLayout,
          class Alpha, class Beta>
void product_of_one_block(ProblemShape shape_MNK, CtaTiler cta_tiler, int block_m, int block_n, TA const* A, AStride dA,
                          ASmemLayout sA_layout, AThreadLayout tA, TB const* B, BStride dB, BSmemLayout sB_layout,
                          BThreadLayout tB, TC* C, CStride dC, CThreadLayout tC, Alpha alpha, Beta beta) {
  using namespace cute;
  CUTE_STATIC_ASSERT_V(rank(shape_MNK) == Int<3>{});
  CUTE_STATIC_ASSERT_V(size(tA) == size(tB));
  CUTE_STATIC_ASSERT_V(size<0>(cta_tiler) % size<0>(tC) == Int<0>{});
  CUTE_STATIC_ASSERT_V(congruent(select<0, 2>(shape_MNK), dA));
  static_assert(is_static<ASmemLayout>::value);

  Tensor mA = make_tensor(make_gmem_ptr(A), select<0, 2>(shape_MNK), dA);
  Tensor mB = make_tensor(make_gmem_ptr(B), select<1, 2>(shape_MNK), dB);
  Tensor mC = make_tensor(make_gmem_ptr(C), select<0, 1>(shape_MNK), dC);
  auto cta_coord = make_coord(block_m, block_n, _);
  Tensor gA = local_tile(mA, cta_tiler, cta_coord, Step<_1, X, _1>{});
  Tensor gB = local_tile(mB, cta_tiler, cta_coord, Step<X, _1, _1>{});
  Tensor gC = local_tile(mC, cta_tiler, cta_coord, Step<_1, _1, X>{});

  std::vector<TA> smemA(cosize_v<ASmemLayout>);
  std::vector<TB> smemB(cosize_v<BSmemLayout>);
  Tensor sA = make_tensor(make_smem_ptr(smemA.data()), sA_layout);
  Tensor sB = make_tensor(make_smem_ptr(smemB.data()), sB_layout);
  static_assert(is_smem<decltype(sA)>::value && is_gmem<decltype(gA)>::value);

  using Accumulators = decltype(make_tensor_like(local_partition(gC, tC, 0, Step<_1, _1>{})));
  std::vector<Accumulators> tCrC(size(tC));
  for (auto& r : tCrC) clear(r);

  for (int k_tile = 0; k_tile < size<2>(gA); ++k_tile) {
    for (int thread = 0; thread < size(tA); ++thread) {
      copy(local_partition(gA, tA, thread)(_, _, k_tile), local_partition(sA, tA, thread));
      copy(local_partition(gB, tB, thread)(_, _, k_tile), local_partition(sB, tB, thread));
    }
    for (int thread = 0; thread < size(tC); ++thread) {
      Tensor tCsA = local_partition(sA, tC, thread, Step<_1, X>{});
      Tensor tCsB = local_partition(sB, tC, thread, Step<X, _1>{});
      CUTE_STATIC_ASSERT_V(size<1>(tCsA) == size<1>(tCsB));
      gemm(tCsA, tCsB, tCrC[thread]);
    }
  }
  for (int thread = 0; thread < size(tC); ++thread) {
    Tensor tCgC = local_partition(gC, tC, thread, Step<_1, _1>{});
    axpby(alpha, tCrC[thread], beta, tCgC);
  }
}

TEST(CompatProduct, AsInTheTutorial) {
  using namespace cute;
  int const m = 32, n = 48, k = 24;
  std::vector<float> a(m * k), b(n * k), c(m * n), wanted;
  for (int i = 0; i < m * k; ++i) a[i] = float(i % 7 - 3);
  for (int i = 0; i < n * k; ++i) b[i] = float(i % 5 - 2);
  for (int i = 0; i < m * n; ++i) c[i] = float(i % 3);
  wanted = c;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l) sum += a[i + m * l] * b[j + n * l];
      wanted[i + m * j] = 2 * sum + 3 * c[i + m * j];
    }

  auto prob_shape = make_shape(m, n, k);
  auto cta_tiler = make_shape(Int<16>{}, Int<16>{}, Int<8>{});
  auto sA = make_layout(make_shape(Int<16>{}, Int<8>{}));
  auto sB = make_layout(make_shape(Int<16>{}, Int<8>{}), LayoutRight{});
  auto tA = make_layout(make_shape(Int<8>{}, Int<4>{}));
  auto tC = make_layout(make_shape(Int<8>{}, Int<4>{}));
  auto blocks = ceil_div(make_shape(m, n), take<0, 2>(cta_tiler));
  for (int i = 0; i < size<0>(blocks); ++i) {
    for (int j = 0; j < size<1>(blocks); ++j) {
      product_of_one_block(prob_shape, cta_tiler, i, j, a.data(), make_stride(Int<1>{}, m), sA, tA, b.data(),
                           make_stride(Int<1>{}, n), sB, tA, c.data(), make_stride(Int<1>{}, m), tC, 2.f, 3.f);
    }
  }
  EXPECT_EQ(c, wanted);
}

TEST(CompatProduct, PredicatesByIdentityTensor) {
  using namespace cute;
  std::vector<int> from(7 * 5), to(8 * 8, -1);
  for (int i = 0; i < 35; ++i) from[i] = i;
  Tensor source = make_tensor(from.data(), make_shape(7, 5));
  Tensor target = make_tensor(to.data(), Shape<_8, _8>{});
  Tensor tiles = zipped_divide(target, Shape<_4, _4>{});
  Tensor coordinates = zipped_divide(make_identity_tensor(shape(target)), Shape<_4, _4>{});
  Tensor source_tiles =
      zipped_divide(make_tensor(from.data(), make_layout(Shape<_8, _8>{}, make_stride(_1{}, 7))), Shape<_4, _4>{});
  for (int tile = 0; tile < size<1>(tiles); ++tile) {
    Tensor crd = coordinates(make_coord(_, _), tile);
    Tensor pred = make_tensor<bool>(shape(crd));
    for (int i = 0; i < size(pred); ++i) pred(i) = elem_less(crd(i), shape(source));
    copy_if(pred, source_tiles(make_coord(_, _), tile), tiles(make_coord(_, _), tile));
  }
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < 8; ++j) EXPECT_EQ(target(i, j), i < 7 && j < 5 ? source(i, j) : -1) << i << ' ' << j;
}

TEST(CompatProduct, Reductions) {
  using namespace cute;
  Tensor x = make_tensor(counting_iterator<int>{1}, Shape<_4, _3>{});
  EXPECT_EQ(reduce(x, 0, plus{}), 78);
  complex<float> values[] = {{1, 2}, {3, -4}};
  Tensor z = make_tensor(&values[0], Shape<_2>{});
  transform(z, conjugate{});
  EXPECT_EQ(values[0], (complex<float>(1, -2)));
  EXPECT_EQ(values[1], (complex<float>(3, 4)));
}

TEST(CompatProduct, LazyTransformComputesWhenAsked) {
  using namespace cute;
  int values[] = {1, 2, 3, 4}, calls = 0;
  Tensor x = make_tensor(&values[0], Shape<_2, _2>{});
  Tensor squares = cute::lazy::transform(x, [&](int v) { return ++calls, v * v; });
  EXPECT_EQ(calls, 0);
  values[3] = 5;
  EXPECT_EQ(squares(1, 1), 25);
  EXPECT_EQ(calls, 1);
}

}  // namespace
