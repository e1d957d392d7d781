// A matrix product with scales of blocks on SM100 in CuTe's words: a CTA multiplies a tile of 128 x 128 of e4m3, K in steps of
// 128, where each 32 elements along K have a scale. tcgen05.cp copies the scales from shared to tensor memory, 512 bytes for each
// tile. headers_test.cpp compiles it for sm_100a; no GPU that runs it was to be had.
#include <cutlass/arch/barrier.h>

#include <cute/arch/tmem_allocator_sm100.hpp>
#include <cute/tensor.hpp>

using namespace cute;

using Element = float_e4m3_t;
using Scale = float_ue8m0_t;
using ScaledMma = decltype(make_tiled_mma(
    SM100_MMA_MXF8F6F4_SS<Element, Element, float, Scale, 128, 128, UMMA::Major::K, UMMA::Major::K>{}));
using TileOf = decltype(UMMA::tile_to_mma_shape(UMMA::Layout_K_SW128_Atom<Element>{},
                                                partition_shape_A(ScaledMma{}, Shape<_128, _128>{})));
// The scales of 128 rows and 4 blocks of 32 elements, as tcgen05.mma takes them: byte k of 16 bytes of row i mod 32 is of rows
// i, 32 + i, 64 + i, 96 + i, 4 bytes each.
using ScalesOf = Layout<Shape<Shape<Shape<_32, _4>, Shape<_32, _1>>, _1, _4>,
                        Stride<Stride<Stride<_16, _4>, Stride<_0, _1>>, _0, _1>>;

struct SharedTiles {
  alignas(128) ArrayEngine<Element, cosize_v<TileOf>> a, b;
  alignas(16) ArrayEngine<Scale, 512> scales_a, scales_b;
  alignas(16) uint64_t barrier;
  alignas(16) uint32_t columns;
};

__global__ void scaled_product(Element const* a, Element const* b, Scale const* scales_a, Scale const* scales_b,
                               float* c, int m, int n, int k) {
  extern __shared__ char memory[];
  auto& shared = *reinterpret_cast<SharedTiles*>(memory);
  ScaledMma mma;
  auto const mine = mma.get_slice(_0{});
  Tensor all_a = make_tensor(make_gmem_ptr(a), make_shape(m, k), make_stride(k, _1{}));
  Tensor all_b = make_tensor(make_gmem_ptr(b), make_shape(n, k), make_stride(k, _1{}));
  Tensor all_c = make_tensor(make_gmem_ptr(c), make_shape(m, n), make_stride(n, _1{}));
  Tensor part_a = mine.partition_A(local_tile(all_a, Shape<_128, _128>{}, make_coord(blockIdx.x, _)));
  Tensor part_b = mine.partition_B(local_tile(all_b, Shape<_128, _128>{}, make_coord(blockIdx.y, _)));
  Tensor part_c = mine.partition_C(local_tile(all_c, Shape<_128, _128>{}, make_coord(blockIdx.x, blockIdx.y)));
  Tensor in_a = make_tensor(make_smem_ptr(shared.a.begin()), TileOf{});
  Tensor in_b = make_tensor(make_smem_ptr(shared.b.begin()), TileOf{});
  Tensor in_scales_a = make_tensor(make_smem_ptr(shared.scales_a.begin()), ScalesOf{});
  Tensor in_scales_b = make_tensor(make_smem_ptr(shared.scales_b.begin()), ScalesOf{});
  Tensor descriptors_a = mma.make_fragment_A(in_a);
  Tensor descriptors_b = mma.make_fragment_B(in_b);
  Tensor sums = mma.make_fragment_C(part_c);
  Tensor sfa = make_tensor<typename ScaledMma::FrgTypeSFA>(shape(in_scales_a));
  Tensor sfb = make_tensor<typename ScaledMma::FrgTypeSFB>(shape(in_scales_b));

  bool const first_warp = threadIdx.x < 32;
  TMEM::Allocator1Sm allocator{};
  if (first_warp) allocator.allocate(256, &shared.columns);
  if (threadIdx.x == 0) initialize_barrier(shared.barrier, 1);
  __syncthreads();
  sums.data() = shared.columns;
  sfa.data() = shared.columns + 128;
  sfb.data() = shared.columns + 132;

  using Copy = SM100_UTCCP_4x32dp128bit_1cta;
  auto const compact = [](auto const& x) { return make_tensor(x.data(), filter_zeros(x.layout())); };
  auto to_a = make_utccp_copy(Copy{}, compact(sfa)), to_b = make_utccp_copy(Copy{}, compact(sfb));
  auto from_a = get_utccp_smem_desc_tensor<Copy>(to_a.get_slice(0).partition_S(compact(in_scales_a)));
  auto from_b = get_utccp_smem_desc_tensor<Copy>(to_b.get_slice(0).partition_S(compact(in_scales_b)));
  auto into_a = to_a.get_slice(0).partition_D(compact(sfa)), into_b = to_b.get_slice(0).partition_D(compact(sfb));
  mma.accumulate_ = UMMA::ScaleOut::Zero;
  int phase = 0;
  for (int tile = 0; tile < int(size<3>(part_a)); ++tile) {
    cooperative_copy<128>(threadIdx.x, part_a(_, _, _, tile), in_a);
    cooperative_copy<128>(threadIdx.x, part_b(_, _, _, tile), in_b);
    for (int i = int(threadIdx.x); i < 512; i += 128) {
      shared.scales_a.begin()[i] = scales_a[(blockIdx.x * size<3>(part_a) + tile) * 512 + i];
      shared.scales_b.begin()[i] = scales_b[(blockIdx.y * size<3>(part_a) + tile) * 512 + i];
    }
    cutlass::arch::fence_view_async_shared();
    __syncthreads();
    if (first_warp) {
      if (elect_one_sync()) {
        copy(to_a, from_a, into_a);
        copy(to_b, from_b, into_b);
      }
      for (int step = 0; step < int(size<2>(descriptors_a)); ++step) {
        gemm(mma.with(mma.accumulate_, sfa(_, _, step), sfb(_, _, step)), descriptors_a(_, _, step),
             descriptors_b(_, _, step), sums);
        mma.accumulate_ = UMMA::ScaleOut::One;
      }
      cutlass::arch::umma_arrive(&shared.barrier);
    }
    wait_barrier(shared.barrier, phase);
    phase ^= 1;
  }
  TiledCopy load = make_tmem_copy(SM100_TMEM_LOAD_32dp32b32x{}, sums);
  ThrCopy thread = load.get_slice(threadIdx.x);
  Tensor out = thread.partition_D(part_c);
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
