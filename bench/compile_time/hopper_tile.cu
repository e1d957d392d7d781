// A Hopper tile in the tiled API, for NVRTC: C (128, 128) = A B^T, loads by TMA, matmul by a TiledMMA of two
// warpgroups. The host makes both copies; the NVRTC source names their types.
#include <zellige/atom/cluster_names.hpp>
#include <zellige/atom/gmma_call.hpp>
#include <zellige/atom/tma_call.hpp>

using namespace zellige;

using Block = Shape<_128, _64>;
using Smem = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Block{}));
using Box = Layout<Shape<_64, _128>, Stride<E<1>, E<0>>>;
using Aux = AuxTmaParams<Stride<E<1>, E<0>>, Box, Swizzle<3, 4, 3>>;
using Load = TiledCopy<Copy_Atom<Copy_Traits<SM90_TMA_LOAD, Int<128 * 64 * 16>, Aux>, half_t>,
                       Layout<Shape<_1, Shape<Shape<_64, _128>, _1>>, Stride<_0, Stride<Stride<_128, _1>, _0>>>, Block>;

extern "C" __global__ void tile_product(const __grid_constant__ Load load_a, const __grid_constant__ Load load_b,
                                        float* C, int M, int N, int K) {
  extern __shared__ __align__(1024) unsigned char raw[];
  Tensor sA = make_tensor(make_smem_ptr(reinterpret_cast<half_t*>(raw)), Smem{});
  Tensor sB = make_tensor(make_smem_ptr(reinterpret_cast<half_t*>(raw + 16384)), Smem{});
  uint64_t& barrier = *reinterpret_cast<uint64_t*>(raw + 32768);
  int const thread = int(threadIdx.x), bm = int(blockIdx.x), bn = int(blockIdx.y);
  if (thread == 0) {
    initialize_barrier(barrier, 1);
    fence_mbarrier_init();
  }
  __syncthreads();
  Tensor gA = local_tile(load_a.get_tma_tensor(make_shape(M, K)), Block{}, make_coord(bm, _));
  Tensor gB = local_tile(load_b.get_tma_tensor(make_shape(N, K)), Block{}, make_coord(bn, _));
  auto const all_a = load_a.get_slice(0);
  auto const all_b = load_b.get_slice(0);
  Tensor from_a = all_a.partition_S(gA);
  Tensor from_b = all_b.partition_S(gB);
  Tensor to_a = all_a.partition_D(sA);
  Tensor to_b = all_b.partition_D(sB);
  auto const mma = make_tiled_mma(GMMA::Mma<128, Number::f32, Number::f16, Number::f16>{}, Layout<Shape<_2, _1, _1>>{});
  auto const mine = mma.get_slice(thread);
  Tensor rA = mine.make_fragment_A(mine.partition_A(sA));
  Tensor rB = mine.make_fragment_B(mine.partition_B(sB));
  Tensor c = make_tensor(make_gmem_ptr(C), make_shape(M, N), make_stride(N, _1{}));
  Tensor out = mine.partition_C(local_tile(c, Shape<_128, _128>{}, make_coord(bm, bn)));
  Tensor rC = mine.make_fragment_C(out);
  clear(rC);
#pragma unroll 1
  for (int k = 0; k < size<2>(gA); ++k) {
    if (thread == 0) {
      set_barrier_transaction_bytes(barrier, 2 * 128 * 64 * 2);
      copy(load_a.with(barrier), from_a(_, _, _, k), to_a);
      copy(load_b.with(barrier), from_b(_, _, _, k), to_b);
    }
    wait_barrier(barrier, k & 1);
    warpgroup_fence_operand(rC);
    warpgroup_arrive();
    gemm(mma, rA, rB, rC);
    warpgroup_commit_batch();
    warpgroup_wait<0>();
    warpgroup_fence_operand(rC);
    __syncthreads();
  }
  copy(rC, out);
}
