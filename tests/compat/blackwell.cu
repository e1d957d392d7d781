// A matrix product on SM100 in CuTe's words: a CTA multiplies a tile of 128 x 256, K in steps of 64, from global memory by
// shared memory into tensor memory. headers_test.cpp compiles it for sm_100a; no GPU that runs it was to be had.
#include <cutlass/arch/barrier.h>
#include <cutlass/half.h>

#include <cute/arch/tmem_allocator_sm100.hpp>
#include <cute/tensor.hpp>

using namespace cute;

template <class LayoutA, class LayoutB>
struct Shared {
  alignas(128) ArrayEngine<cutlass::half_t, cosize_v<LayoutA>> a;
  alignas(128) ArrayEngine<cutlass::half_t, cosize_v<LayoutB>> b;
  alignas(16) uint64_t barrier;
  alignas(16) uint32_t columns;
};

template <class Mma, class LayoutA, class LayoutB>
__global__ void product(cutlass::half_t const* a, cutlass::half_t const* b, float* c, int m, int n, int k, Mma mma,
                        LayoutA layout_a, LayoutB layout_b) {
  extern __shared__ char memory[];
  auto& shared = *reinterpret_cast<Shared<LayoutA, LayoutB>*>(memory);
  Tensor all_a = make_tensor(make_gmem_ptr(a), make_shape(m, k), make_stride(k, _1{}));
  Tensor all_b = make_tensor(make_gmem_ptr(b), make_shape(n, k), make_stride(k, _1{}));
  Tensor all_c = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(n, _1{}));
  Tensor tile_a = local_tile(all_a, Shape<_128, _64>{}, make_coord(blockIdx.x, _));
  Tensor tile_b = local_tile(all_b, Shape<_256, _64>{}, make_coord(blockIdx.y, _));
  Tensor tile_c = local_tile(all_c, Shape<_128, _256>{}, make_coord(blockIdx.x, blockIdx.y));
  Tensor in_a = make_tensor(make_smem_ptr(shared.a.begin()), layout_a);
  Tensor in_b = make_tensor(make_smem_ptr(shared.b.begin()), layout_b);

  auto mine = mma.get_slice(_0{});
  Tensor part_a = mine.partition_A(tile_a);
  Tensor part_b = mine.partition_B(tile_b);
  Tensor descriptors_a = mma.make_fragment_A(in_a);
  Tensor descriptors_b = mma.make_fragment_B(in_b);
  Tensor sums = mma.make_fragment_C(mine.partition_C(tile_c));

  bool const first_warp = threadIdx.x < 32;
  TMEM::Allocator1Sm allocator{};
  if (first_warp) allocator.allocate(256, &shared.columns);
  if (threadIdx.x == 0) initialize_barrier(shared.barrier, 1);
  __syncthreads();
  sums.data() = shared.columns;
  mma.accumulate_ = UMMA::ScaleOut::Zero;
  int phase = 0;
  for (int tile = 0; tile < int(size<3>(part_a)); ++tile) {
    cooperative_copy<128>(threadIdx.x, part_a(_, _, _, tile), in_a);
    cooperative_copy<128>(threadIdx.x, part_b(_, _, _, tile), in_b);
    cutlass::arch::fence_view_async_shared();
    __syncthreads();
    if (first_warp) {
      for (int step = 0; step < int(size<2>(descriptors_a)); ++step) {
        gemm(mma, descriptors_a(_, _, step), descriptors_b(_, _, step), sums);
        mma.accumulate_ = UMMA::ScaleOut::One;
      }
      cutlass::arch::umma_arrive(&shared.barrier);
    }
    wait_barrier(shared.barrier, phase);
    phase ^= 1;
  }
  TiledCopy load = make_tmem_copy(SM100_TMEM_LOAD_32dp32b32x{}, sums);
  ThrCopy thread = load.get_slice(threadIdx.x);
  Tensor out = thread.partition_D(mine.partition_C(tile_c));
  Tensor values = make_tensor<float>(shape(out));
  copy(load, thread.partition_S(sums), values);
  cutlass::arch::fence_view_async_tmem_load();
  copy(values, out);
  __syncthreads();
  if (first_warp) {
    allocator.release_allocation_lock();
    allocator.free(shared.columns, 256);
  }
}

using Half = cutlass::half_t;
using Tiled =
    decltype(make_tiled_mma(SM100_MMA_F16BF16_SS<Half, Half, float, 128, 256, UMMA::Major::K, UMMA::Major::K>{}));
using TiledA = decltype(UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<Half>{},
                                                partition_shape_A(Tiled{}, Shape<_128, _64>{})));
using TiledB = decltype(UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<Half>{},
                                                partition_shape_B(Tiled{}, Shape<_256, _64>{})));
template __global__ void product<Tiled, TiledA, TiledB>(Half const*, Half const*, float*, int, int, int, Tiled, TiledA,
                                                        TiledB);
