// CuTe's operations called by their static functions, register by register: compiled only. The comment after
// a call is the expected PTX; headers_test.cpp reads both.
#include <cuda.h>

#include <cute/tensor.hpp>

using namespace cute;

static_assert(is_same_v<SM80_16x8x8_F32TF32TF32F32_TN::CRegisters, float[4]>);
static_assert(is_same_v<SM80_16x8x16_F16F16F16F16_TN::DRegisters, uint32_t[2]>);
static_assert(is_same_v<SM75_U32x4_LDSM_N::SRegisters, uint128_t[1]>);
static_assert(is_same_v<SM75_U16x8_LDSM_T::DRegisters, uint32_t[4]>);
static_assert(is_same_v<SM90_U16x4_STSM_T::SRegisters, uint32_t[2]>);
static_assert(is_same_v<SM90_64x96x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::K>::CRegisters, float[48]>);
static_assert(is_same_v<SM90_64x96x16_F16F16F16_RS<GMMA::Major::K, GMMA::Major::K>::ARegisters, uint32_t[4]>);
static_assert(is_same_v<MMA_Atom<SM80_16x8x8_F32TF32TF32F32_TN>::MMA_Op, SM80_16x8x8_F32TF32TF32F32_TN>);
static_assert(is_same_v<TmaDescriptor, CUtensorMap>);
static_assert(is_same_v<SM80_8x8x4_C64C64C64C64_TN::DRegisters, complex<double>[2]>);
static_assert(is_same_v<SM80_8x8x4_GC64C64C64GC64_TN::CRegisters, SM80_8x8x4_GC64C64C64GC64_TN::GaussComplex[2]>);
static_assert(is_same_v<SM61_DP4A::ARegisters, uint32_t[1]>);

__global__ void warps(float* f, uint32_t* h) {
  __shared__ alignas(16) uint128_t tile[64];
  uint128_t& row = tile[threadIdx.x];
  float d[4] = {};
  SM80_16x8x8_F32TF32TF32F32_TN::fma(d[0], d[1], d[2], d[3], h[0], h[1], h[2], h[3], h[4], h[5], f[0], f[1], f[2],
                                     f[3]);  // mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
  f[0] = d[0] + d[1] + d[2] + d[3];
  SM75_8x8x16_S32S8S8S32_TN::fma(h[0], h[1], h[2], h[3], h[4],
                                 h[5]);                          // mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32
  SM75_U32x4_LDSM_N::copy(row, h[0], h[1], h[2], h[3]);          // ldmatrix.sync.aligned.m8n8.x4.shared.b16
  SM75_U16x4_LDSM_T::copy(row, h[0], h[1]);                      // ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16
  SM90_U32x4_STSM_N::copy(h[0], h[1], h[2], h[3], row);          // stmatrix.sync.aligned.m8n8.x4.shared.b16
  SM75_U32x1_MOVM_T::copy(h[0], h[1]);                           // movmatrix.sync.aligned.m8n8.trans.b16
  SM50_Shuffle_U32_2x2Trans_XOR4::copy(h[0], h[1], h[2], h[3]);  // shfl.sync.bfly.b32
  SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>::copy(*reinterpret_cast<uint128_t*>(f),
                                             row);  // cp.async.cg.shared.global
  SM80_CP_ASYNC_CACHEALWAYS_ZFILL<float>::copy(f[3], reinterpret_cast<float&>(row),
                                               f[0] > 1);  // cp.async.ca.shared
  complex<double> z[4];
  for (int i = 0; i < 4; ++i) z[i] = complex<double>(f[i], f[i + 4]);
  SM80_8x8x4_C64C64C64C64_TN::fma(z[0], z[1], z[2], z[3], z[0],
                                  z[1]);  // mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
  f[1] = float(z[0].real() + z[1].imag());
  int32_t sum;
  SM61_DP4A::fma(sum, h[0], h[1], int32_t(h[2]));  // dp4a.s32.s32
  h[2] = uint32_t(sum);
  uint64_t pair;
  copy_ldsm(tile, &pair);        // ldmatrix.sync.aligned.m8n8.x2.shared.b16
  copy_stsm_trans(&pair, tile);  // stmatrix.sync.aligned.m8n8.x2.trans.shared.b16
  if (thread0()) print(make_tiled_mma(SM80_16x8x8_F32TF32TF32F32_TN{}));
}

__global__ void warpgroup(float* f, uint64_t a, uint64_t b) {
  float d[4];
  for (int i = 0; i < 4; ++i) d[i] = f[i];
  for (int i = 0; i < 4; ++i) warpgroup_fence_operand(d[i]);
  warpgroup_arrive();
  SM90_64x8x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::MN>::fma(a, b, d[0], d[1], d[2],
                                                                  d[3]);  // wgmma.mma_async.sync.aligned.m64n8k16.f32
  warpgroup_commit_batch();
  warpgroup_wait<0>();
  GmmaDescriptor g(b);
  g.reg32_[0] += 2;
  for (int i = 0; i < 4; ++i) f[i] = d[i] + float(g.reg32_[0]);
}

/// Constants that have no address in device code.
struct Fixed {
  static constexpr uint64_t hint = 0;
  static constexpr uint16_t mask = 3;
  static constexpr int bytes = 128;
};

__global__ void constants(float* f, CUTE_GRID_CONSTANT CUtensorMap const map) {
  __shared__ uint64_t full;
  __shared__ alignas(128) float tile[256];
  SM90_TMA_LOAD_5D::copy(&map, &full, Fixed::hint, tile, 0, 0, 1, 2, 3);  // cp.async.bulk.tensor.5d.shared::cluster
  SM90_TMA_LOAD::copy(&map, &full, Fixed::hint, tile, 0, 1);              // cp.async.bulk.tensor.2d.shared::cluster
  SM90_TMA_LOAD_MULTICAST_2D::copy(&map, &full, Fixed::mask, Fixed::hint, tile, 0,
                                   1);  // cp.async.bulk.tensor.2d.shared::cluster.global.mb
  SM90_TMA_LOAD_IM2COL_MULTICAST_3D::copy(&map, &full, Fixed::mask, tile, 0, 1, 2,
                                          uint16_t(1));    // cp.async.bulk.tensor.3d.shared::cluster.global.im2col
  SM90_BULK_COPY_G2S::copy(f, &full, tile, Fixed::bytes);  // cp.async.bulk.shared::cluster.global
  SM90_BULK_COPY_S2G::copy(tile, f, Fixed::bytes);         // cp.async.bulk.global.shared::cta
  SM90_BULK_COPY_G2S::PREFETCH::copy(f, Fixed::bytes);     // cp.async.bulk.prefetch.L2.global
  if (thread0()) print(Fixed::bytes), print(Layout<_4>::rank);
}

__global__ void tma(float* f, CUTE_GRID_CONSTANT CUtensorMap const map, TmaDescriptor* out) {
  __shared__ uint64_t full;
  __shared__ alignas(128) float tile[256];
  __shared__ TmaDescriptor changed;
  SM90_TMA_LOAD_2D::copy(&map, &full, uint64_t(TMA::CacheHintSm90::EVICT_FIRST), tile, 3,
                         4);                                     // cp.async.bulk.tensor.2d.shared
  SM90_TMA_LOAD::copy(&map, &full, 0, tile, 3, 4, 5);            // cp.async.bulk.tensor.3d.shared::cluster.global.mb
  SM90_TMA_LOAD_MULTICAST_1D::copy(&map, &full, 3, 0, tile, 3);  // cp.async.bulk.tensor.1d.shared
  SM90_TMA_LOAD_4D::PREFETCH::copy(&map, 3, 4, 5, 6);            // cp.async.bulk.prefetch.tensor.4d.L2.global
  SM90_TMA_STORE_5D::copy(&map, tile, 3, 4, 5, 6, 7);            // cp.async.bulk.tensor.5d.global.shared::cta
  SM90_TMA_REDUCE_ADD_3D::copy(&map, tile, 3, 4, 5);             // cp.reduce.async.bulk.tensor.3d.global
  SM90_TMA_LOAD_IM2COL_4D::copy(&map, &full, tile, 1, 2, 3, 4, uint16_t(5),
                                uint16_t(6));  // cp.async.bulk.tensor.4d.shared
  SM90_TMA_LOAD_IM2COL::PREFETCH::copy(&map, 1, 2, 4,
                                       uint16_t(5));      // cp.async.bulk.prefetch.tensor.3d.L2.global.im2col
  SM90_TMA_STORE_IM2COL::copy(&map, tile, 1, 2, 4);       // cp.async.bulk.tensor.3d.global.shared::cta.im2col
  SM90_BULK_COPY_G2S::copy(f, &full, tile, 64);           // cp.async.bulk.shared::cluster.global
  SM90_BULK_COPY_S2G::copy(tile, f, 64);                  // cp.async.bulk.global.shared::cta
  tma_descriptor_replace_addr_in_shared_mem(changed, f);  // tensormap.replace.tile.global_address
  tma_descriptor_replace_dims_strides_in_shared_mem(changed, {1, 2, 3, 4, 5},
                                                    {0, 16, 32, 48, 64});  // tensormap.replace.tile.global_stride
  tma_descriptor_cp_fence_release(out, changed);                           // tensormap.cp_fenceproxy
  tma_descriptor_fence_acquire(out);                                       // fence.proxy.tensormap::generic.acquire.gpu
  tma_desc_commit_group();                                                 // cp.async.bulk.commit_group
  tma_desc_wait_group();                                                   // cp.async.bulk.wait_group.read
}

/// 128 x 64 by mma.sync, from shared memory by ldmatrix; accumulation starts from C.
__global__ void together(half_t* storage, float* c) {
  auto const mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2>>{}, Tile<_32, _32, _16>{});
  Tensor sA = make_tensor(make_smem_ptr(storage), Layout<Shape<_128, _32>, Stride<_32, _1>>{});
  Tensor sB = make_tensor(make_smem_ptr(storage + 4096), Layout<Shape<_64, _32>, Stride<_32, _1>>{});
  Tensor sC = make_tensor(make_smem_ptr(c), Layout<Shape<_128, _64>>{});
  cooperative_gemm(threadIdx.x, mma, 2.f, sA, sB, 1.f, sC, identity{}, identity{}, identity{}, identity{},
                   SM75_U32x4_LDSM_N{}, SM75_U32x2_LDSM_N{});  // ldmatrix.sync.aligned.m8n8.x4.shared.b16
  // Without copies of its own: each thread's parts of shared memory are loaded first.
  auto const mine = mma.get_slice(threadIdx.x);
  Tensor sums = mine.partition_fragment_C(sC);
  clear(sums);
  gemm(mma, mine.partition_A(sA), mine.partition_B(sB), sums);
  copy(sums, mine.partition_C(sC));
  Tensor odd = make_tensor(make_smem_ptr(c), Layout<Shape<Int<127>, Int<61>>>{});
  Tensor oA = make_tensor(make_smem_ptr(storage), Layout<Shape<Int<127>, _17>, Stride<_32, _1>>{});
  Tensor oB = make_tensor(make_smem_ptr(storage), Layout<Shape<Int<61>, _17>, Stride<_32, _1>>{});
  cooperative_gemm(threadIdx.x, mma, 2.f, oA, oB, 0.f,
                   odd);  // mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
}
