// A typical matmul tile: cp.async into swizzled shared memory, ldmatrix into fragments made by a TiledMMA,
// its instruction on them, and the accumulators back. On the emulator, exactly.
#include <random>
#include <zellige/atom/copy_call.hpp>
#include <zellige/atom/mma_call.hpp>

#include "emulated.hpp"

namespace zellige {
namespace {

/// C (64, 64) = A (64, 64) B^T, both K-major, by the instruction Op over 2 x 2 warps.
template <class Op, class Load, class Swizzled>
__global__ void tile_product(gmem<typename MMA_Traits<Op>::ValTypeA const> A,
                             gmem<typename MMA_Traits<Op>::ValTypeB const> B,
                             gmem<typename MMA_Traits<Op>::ValTypeC> C) {
  using T = typename MMA_Traits<Op>::ValTypeA;
  constexpr int vector = 16 / int(sizeof(T));
  auto const rows = Layout<Shape<_64, _64>, Stride<_64, _1>>{};
  auto const gA = make_tensor(make_gmem_ptr(A), rows);
  auto const gB = make_tensor(make_gmem_ptr(B), rows);
  auto const gC = make_tensor(make_gmem_ptr(C), rows);
  auto const layout = tile_to_shape(Swizzled{}, Shape<_64, _64>{});
  auto const sA = make_tensor(make_smem_ptr(shared<T>("sA", 0, 4096)), layout);
  auto const sB = make_tensor(make_smem_ptr(shared<T>("sB", 4096 * sizeof(T), 4096)), layout);
  int const thread = int(threadIdx.x);

  auto const fill = make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, T>{},
                                    Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, Int<vector>>>{});
  auto const mine = fill.get_slice(thread);
  copy(fill, mine.partition_S(gA), mine.partition_D(sA));
  copy(fill, mine.partition_S(gB), mine.partition_D(sB));
  cp_async_fence();
  cp_async_wait<0>();
  __syncthreads();

  auto const mma = make_tiled_mma(Op{}, Layout<Shape<_2, _2, _1>>{}, Tile<_32, _32, _16>{});
  auto const thr = mma.get_slice(thread);
  auto rA = thr.partition_fragment_A(sA);
  auto rB = thr.partition_fragment_B(sB);
  auto const load_a = make_tiled_copy_A(Copy_Atom<Load, T>{}, mma);
  auto const load_b = make_tiled_copy_B(Copy_Atom<Load, T>{}, mma);
  copy(load_a, load_a.get_slice(thread).partition_S(sA), load_a.get_slice(thread).retile_D(rA));
  copy(load_b, load_b.get_slice(thread).partition_S(sB), load_b.get_slice(thread).retile_D(rB));

  auto out = thr.partition_C(gC);
  auto rC = thr.partition_fragment_C(gC);
  clear(rC);
  gemm(mma, rA, rB, rC);
  copy(rC, out);
}
template <class Op, class Load, class Swizzled>
void run(emulate::Launch& l) {
  emulate::call(l, tile_product<Op, Load, Swizzled>);
}

template <class Op, class Load, class Swizzled>
void is_exact() {
  using T = typename MMA_Traits<Op>::ValTypeA;
  using D = typename MMA_Traits<Op>::ValTypeC;
  std::mt19937 random(3);
  auto draw = [&](int) { return T(float(int(random() % 9) - 4)); };
  emulate::Buffer A = filled<T>("A", 4096, draw), B = filled<T>("B", 4096, draw), C("C", 4096 * sizeof(D));
  ASSERT_EQ(launch(run<Op, Load, Swizzled>, {&A, &B, &C}, {false, false, true}, 128, 2 * 4096 * sizeof(T)), "");
  for (int m = 0; m < 64; ++m) {
    for (int n = 0; n < 64; ++n) {
      float sum = 0;
      for (int k = 0; k < 64; ++k) sum += float(elements<T>(A)[64 * m + k]) * float(elements<T>(B)[64 * n + k]);
      ASSERT_EQ(float(elements<D>(C)[64 * m + n]), sum) << m << " " << n;
    }
  }
}

using Unswizzled = Layout<Shape<_8, _64>, Stride<_64, _1>>;
using HalfSwizzled = decltype(composition(Swizzle<3, 3, 3>{}, Unswizzled{}));
using WordSwizzled = decltype(composition(Swizzle<3, 2, 4>{}, Unswizzled{}));

TEST(TiledProducts, HalfAndBfloat16) {
  is_exact<SM80_16x8x16_F32F16F16F32_TN, SM75_U32x4_LDSM_N, HalfSwizzled>();
  is_exact<SM80_16x8x16_F32BF16BF16F32_TN, SM75_U32x4_LDSM_N, Unswizzled>();
  is_exact<SM80_16x8x8_F32F16F16F32_TN, SM75_U32x2_LDSM_N, HalfSwizzled>();
}
TEST(TiledProducts, HalfAccumulators) { is_exact<SM80_16x8x16_F16F16F16F16_TN, SM75_U32x4_LDSM_N, HalfSwizzled>(); }
TEST(TiledProducts, TensorFloatByWords) { is_exact<SM80_16x8x8_F32TF32TF32F32_TN, DefaultCopy, WordSwizzled>(); }
TEST(TiledProducts, UniversalLoads) { is_exact<SM80_16x8x16_F32F16F16F32_TN, UniversalCopy<uint32_t>, HalfSwizzled>(); }

}  // namespace
}  // namespace zellige
