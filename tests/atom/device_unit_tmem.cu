// Calls every move between tensor memory and registers, every ldmatrix and stmatrix of bytes, the matrix instructions of SM100
// with what surrounds them, TMA loads of pairs, launch control and arithmetic on two floats: ptx_test.cpp compiles it.
#include <zellige/atom/byte_matrix.hpp>
#include <zellige/atom/launch_control.hpp>
#include <zellige/atom/packed_float.hpp>
#include <zellige/atom/tma_pair.hpp>
#include <zellige/atom/tmem_copy.hpp>
#include <zellige/atom/tmem_from_shared.hpp>
#include <zellige/atom/umma_block.hpp>
#include <zellige/atom/umma_sparse.hpp>

using namespace zellige;

template <class Op>
__device__ void one(uint32_t* data, uint32_t address) {
  typename Op::Registers r;
  for (auto& x : r) x = *data++;
  Op::call(r, address);
  for (auto& x : r) *data++ = x;
}
template <class Load, class Packed, class Store, class Unpacked>
__device__ void moves(uint32_t* data, uint32_t address) {
  one<Load>(data, address);
  one<Packed>(data, address);
  one<Store>(data, address);
  one<Unpacked>(data, address);
}
#define ZELLIGE_MOVES(shape)                                                              \
  moves<SM100_TMEM_LOAD_##shape, SM100_TMEM_LOAD_##shape##_16b, SM100_TMEM_STORE_##shape, \
        SM100_TMEM_STORE_##shape##_16b>(data, address);
template <class... Op>
__device__ void of_bytes(uint32_t* data, void const* row) {
  auto const each = [&]<class T>(T) {
    typename T::ByteRegisters r;
    for (auto& x : r) x = *data++;
    T::call(r, row);
    for (auto& x : r) *data++ = x;
  };
  (each(Op{}), ...);
}
__global__ void all(uint32_t* data, uint32_t address) {
  __shared__ uint4 rows[32];
  of_bytes<SM100_U8x8_LDSM_T, SM100_U8x16_LDSM_T, SM100_SU4_DU8x16_x1_LDSM_N, SM100_SU4_DU8x16_x2_LDSM_N,
           SM100_SU4_DU8x16_x4_LDSM_N, SM100_SU6_DU8x16_x1_LDSM_N, SM100_SU6_DU8x16_x2_LDSM_N,
           SM100_SU6_DU8x16_x4_LDSM_N, SM100_U8x4_STSM_T, SM100_U8x8_STSM_T, SM100_U8x16_STSM_T>(data,
                                                                                                 rows + threadIdx.x);
  __shared__ ClusterLaunchResponse response;
  __shared__ uint64_t barrier;
  cluster_launch_try_cancel(&response, &barrier);
  ClusterLaunchAnswer const next = cluster_launch_query(response);
  float2 pair{1.f, float(next.x + next.y + next.z)};
  if (next.canceled) add(pair, pair, pair);
  mul(pair, pair, float2{2.f, 3.f});
  fma(pair, pair, pair, float2{4.f, 5.f});
  *data++ = __float_as_uint(pair.x) ^ __float_as_uint(pair.y);
#if ZELLIGE_TENSOR_MEMORY
  cluster_launch_try_cancel_multicast(&response, &barrier);
  ZELLIGE_MOVES(16dp256b1x)
  ZELLIGE_MOVES(16dp256b2x)
  ZELLIGE_MOVES(16dp256b4x)
  ZELLIGE_MOVES(16dp256b8x)
  ZELLIGE_MOVES(16dp256b16x)
  ZELLIGE_MOVES(16dp256b32x)
  ZELLIGE_MOVES(16dp128b1x)
  ZELLIGE_MOVES(16dp128b2x)
  ZELLIGE_MOVES(16dp128b4x)
  ZELLIGE_MOVES(16dp128b8x)
  ZELLIGE_MOVES(16dp128b16x)
  ZELLIGE_MOVES(16dp128b32x)
  ZELLIGE_MOVES(16dp128b64x)
  ZELLIGE_MOVES(16dp64b1x)
  ZELLIGE_MOVES(16dp64b2x)
  ZELLIGE_MOVES(16dp64b4x)
  ZELLIGE_MOVES(16dp64b8x)
  ZELLIGE_MOVES(16dp64b16x)
  ZELLIGE_MOVES(16dp64b32x)
  ZELLIGE_MOVES(16dp64b64x)
  ZELLIGE_MOVES(16dp64b128x)
  ZELLIGE_MOVES(16dp32b1x)
  ZELLIGE_MOVES(16dp32b2x)
  ZELLIGE_MOVES(16dp32b4x)
  ZELLIGE_MOVES(16dp32b8x)
  ZELLIGE_MOVES(16dp32b16x)
  ZELLIGE_MOVES(16dp32b32x)
  ZELLIGE_MOVES(16dp32b64x)
  ZELLIGE_MOVES(16dp32b128x)
  ZELLIGE_MOVES(32dp32b1x)
  ZELLIGE_MOVES(32dp32b2x)
  ZELLIGE_MOVES(32dp32b4x)
  ZELLIGE_MOVES(32dp32b8x)
  ZELLIGE_MOVES(32dp32b16x)
  ZELLIGE_MOVES(32dp32b32x)
  ZELLIGE_MOVES(32dp32b64x)
  ZELLIGE_MOVES(32dp32b128x)
  tmem_load_wait();
  tmem_store_wait();
#endif
}

#if ZELLIGE_TENSOR_MEMORY
template <class Op>
__device__ void product(uint64_t a, uint64_t b, uint32_t c) {
  if constexpr (Op::a_in_tmem)
    Op::fma(uint32_t(a), b, c, 1u, uint64_t(Op::instruction) << 32);
  else
    Op::fma(a, b, c, 1u, uint64_t(Op::instruction) << 32);
}
__global__ void alone(uint64_t a, uint64_t b, uint32_t c, uint64_t* barrier, uint32_t* address) {
  using enum UMMA::Major;
  TMEM::Allocator1Sm columns;
  columns.allocate(512, address);
  product<SM100_MMA_TF32_SS<tfloat32_t, tfloat32_t, float, 128, 256, K, MN>>(a, b, c);
  product<SM100_MMA_TF32_TS<tfloat32_t, tfloat32_t, float, 64, 8, K, K>>(a, b, c);
  product<SM100_MMA_F16BF16_SS<half_t, half_t, half_t, 128, 16, MN, K>>(a, b, c);
  product<SM100_MMA_F16BF16_TS<bfloat16_t, bfloat16_t, float, 128, 256, K, K>>(a, b, c);
  product<SM100_MMA_F8F6F4_TS<float_e4m3_t, float_e2m1_t, float, 128, 256, K, K>>(a, b, c);
#if ZELLIGE_INTEGERS
  product<SM100_MMA_S8_SS<signed char, signed char, int, 64, 24, K, K>>(a, b, c);
  product<SM100_MMA_S8_TS<signed char, unsigned char, int, 128, 256, K, K, UMMA::Saturate::True>>(a, b, c);
#endif
  tcgen05_commit(barrier);
  tcgen05_commit_multicast(barrier, 3);
  tcgen05_before_thread_sync();
  tcgen05_after_thread_sync();
  columns.release_allocation_lock();
  columns.free(c, 512);
}
__global__ void in_pairs(uint64_t a, uint64_t b, uint32_t c, uint64_t* barrier, uint32_t* address) {
  using enum UMMA::Major;
  TMEM::Allocator2Sm columns;
  columns.allocate(512, address);
  product<SM100_MMA_TF32_2x1SM_SS<tfloat32_t, tfloat32_t, float, 256, 256, K, K>>(a, b, c);
  product<SM100_MMA_TF32_2x1SM_TS<tfloat32_t, tfloat32_t, float, 128, 32, K, K>>(a, b, c);
  product<SM100_MMA_F16BF16_2x1SM_SS<half_t, half_t, float, 256, 256, K, K>>(a, b, c);
  product<SM100_MMA_F16BF16_2x1SM_TS<half_t, half_t, float, 256, 256, K, K>>(a, b, c);
  product<SM100_MMA_F8F6F4_2x1SM_TS<float_e5m2_t, float_e3m2_t, float, 256, 256, K, K>>(a, b, c);
#if ZELLIGE_INTEGERS
  product<SM100_MMA_S8_2x1SM_SS<signed char, signed char, int, 256, 256, K, K>>(a, b, c);
  product<SM100_MMA_S8_2x1SM_TS<signed char, unsigned char, int, 256, 256, K, K>>(a, b, c);
#endif
  tcgen05_commit_pair(barrier);
  tcgen05_commit_multicast_pair(barrier, 3);
  columns.release_allocation_lock();
  columns.free(c, 512);
}
__global__ void loads_of_pairs(TmaDescriptor const* map, uint64_t* barrier, uint64_t hint, char* tile, int x, int y) {
  SM100_TMA_2SM_LOAD_1D::copy(map, barrier, hint, tile, x);
  SM100_TMA_2SM_LOAD_2D::copy(map, barrier, hint, tile, x, y);
  SM100_TMA_2SM_LOAD_3D::copy(map, barrier, hint, tile, x, y, 1);
  SM100_TMA_2SM_LOAD_4D::copy(map, barrier, hint, tile, x, y, 1, 2);
  SM100_TMA_2SM_LOAD_5D::copy(map, barrier, hint, tile, x, y, 1, 2, 3);
  SM100_TMA_2SM_LOAD_MULTICAST_1D::copy(map, barrier, 3, hint, tile, x);
  SM100_TMA_2SM_LOAD_MULTICAST_2D::copy(map, barrier, 3, hint, tile, x, y);
  SM100_TMA_2SM_LOAD_MULTICAST_3D::copy(map, barrier, 3, hint, tile, x, y, 1);
  SM100_TMA_2SM_LOAD_MULTICAST_4D::copy(map, barrier, 3, hint, tile, x, y, 1, 2);
  SM100_TMA_2SM_LOAD_MULTICAST_5D::copy(map, barrier, 3, hint, tile, x, y, 1, 2, 3);
  uint16_t const tap = 1;
  SM100_TMA_2SM_LOAD_IM2COL_3D::copy(map, barrier, tile, x, y, 1, tap);
  SM100_TMA_2SM_LOAD_IM2COL_4D::copy(map, barrier, tile, x, y, 1, 2, tap, tap);
  SM100_TMA_2SM_LOAD_IM2COL_5D::copy(map, barrier, tile, x, y, 1, 2, 3, tap, tap, tap);
  SM100_TMA_2SM_LOAD_IM2COL_MULTICAST_3D::copy(map, barrier, 3, tile, x, y, 1, tap);
  SM100_TMA_2SM_LOAD_IM2COL_MULTICAST_4D::copy(map, barrier, 3, tile, x, y, 1, 2, tap, tap);
  SM100_TMA_2SM_LOAD_IM2COL_MULTICAST_5D::copy(map, barrier, 3, tile, x, y, 1, 2, 3, tap, tap, tap);
}
__global__ void rows_of_a_matrix(TmaDescriptor const* map, uint64_t* barrier, char* tile, int x, int y) {
  tma_gather4(tile, *map, barrier, x, y, y + 3, y + 5, y + 6);
  tma_gather4_multicast(tile, *map, barrier, 3, x, y, y + 3, y + 5, y + 6);
  tma_gather4_pair(tile, *map, barrier, x, y, y + 3, y + 5, y + 6);
  tma_prefetch_gather4(*map, x, y, y + 3, y + 5, y + 6);
  tma_scatter4(*map, tile, x, y, y + 3, y + 5, y + 6);
}
template <class Op>
__device__ void scaled(uint64_t a, uint64_t b, uint32_t c, uint32_t scales) {
  Op::fma(a, b, c, 1u, uint64_t(Op::word) << 32, scales, scales + 4, c + 8);
}
template <class Op>
__device__ void formed(uint64_t a, uint64_t b, uint32_t c) {
  Op::fma(typename Op::AOperand(a), b, c, 1u, uint64_t(Op::word) << 32, c + 8);
}
using E2 = float_e2m1_t;
using E4 = float_e4m3_t;
using U4 = float_ue4m3_t;
using U8 = float_ue8m0_t;
__global__ void scaled_alone(uint64_t a, uint64_t b, uint32_t c, uint32_t s) {
  using enum UMMA::Major;
  scaled<SM100_MMA_MXF8F6F4_SS<E4, float_e3m2_t, float, U8, 128, 128, K, MN>>(a, b, c, s);
  scaled<SM100_MMA_MXF4_SS<E2, E2, float, U8, 128, 256, 32, K, K>>(a, b, c, s);
  scaled<SM100_MMA_MXF4_SS<E2, E2, float, U4, 128, 256, 16, K, K>>(a, b, c, s);
  scaled<SM100_MMA_MXF8F6F4_SS_SPARSE<E4, E4, float, U8, 128, 128, K, K>>(a, b, c, s);
  scaled<SM100_MMA_MXF4NVF4_SS_SPARSE<E2, E2, float, U8, 128, 256, 64, K, K>>(a, b, c, s);
  scaled<SM100_MMA_MXF4NVF4_SS_SPARSE<E2, E2, float, U4, 128, 256, 32, K, K>>(a, b, c, s);
#if ZELLIGE_ULTRA
  scaled<SM103::SM103_MXF4_ULTRA_SS_VS<E2, E2, float, U4, 128, 256, 16, K, K>>(a, b, c, s);
  scaled<SM103::SM103_MXF4_ULTRA_SS_VS<E2, E2, float, U8, 128, 256, 32, K, K>>(a, b, c, s);
#endif
}
__global__ void scaled_in_pairs(uint64_t a, uint64_t b, uint32_t c, uint32_t s) {
  using enum UMMA::Major;
  scaled<SM100_MMA_MXF8F6F4_2x1SM_SS<E4, E4, float, U8, 256, 128, K, MN>>(a, b, c, s);
  scaled<SM100_MMA_MXF4_2x1SM_SS<E2, E2, float, U8, 128, 256, 32, K, K>>(a, b, c, s);
  scaled<SM100_MMA_MXF4_2x1SM_SS<E2, E2, float, U4, 256, 256, 16, K, K>>(a, b, c, s);
  scaled<SM100_MMA_MXF8F6F4_2x1SM_SS_SPARSE<E4, E4, float, U8, 256, 128, K, K>>(a, b, c, s);
  scaled<SM100_MMA_MXF4NVF4_2x1SM_SS_SPARSE<E2, E2, float, U8, 256, 256, 64, K, K>>(a, b, c, s);
  scaled<SM100_MMA_MXF4NVF4_2x1SM_SS_SPARSE<E2, E2, float, U4, 256, 256, 32, K, K>>(a, b, c, s);
#if ZELLIGE_ULTRA
  scaled<SM103::SM103_MXF4_ULTRA_2x1SM_SS_VS<E2, E2, float, U4, 256, 256, 16, K, K>>(a, b, c, s);
  scaled<SM103::SM103_MXF4_ULTRA_2x1SM_SS_VS<E2, E2, float, U8, 256, 256, 32, K, K>>(a, b, c, s);
#endif
}
__global__ void sparse_alone(uint64_t a, uint64_t b, uint32_t c) {
  using enum UMMA::Major;
  formed<SM100_MMA_TF32_SS_SPARSE<tfloat32_t, tfloat32_t, float, 128, 128, K, K>>(a, b, c);
  formed<SM100_MMA_F16BF16_SS_SPARSE<half_t, half_t, half_t, 64, 128, K, K>>(a, b, c);
  formed<SM100_MMA_F8F6F4_SS_SPARSE<E4, float_e5m2_t, float, 128, 256, K, K>>(a, b, c);
  SM100_MMA_F8F6F4_SS::fma(a, b, c, 1, uint64_t(c) << 32);
  formed<SM100_MMA_F16BF16_SS_SCALED<half_t, half_t, float, 128, 256, K, K, 3>>(a, b, c);
  formed<SM100_MMA_F16BF16_TS_SCALED<half_t, half_t, float, 128, 256, K, K, 15>>(a, b, c);
#if ZELLIGE_INTEGERS
  formed<SM100_MMA_S8_SS_SPARSE<signed char, unsigned char, int, 128, 256, K, K>>(a, b, c);
#endif
}
__global__ void sparse_in_pairs(uint64_t a, uint64_t b, uint32_t c) {
  using enum UMMA::Major;
  formed<SM100_MMA_TF32_2x1SM_SS_SPARSE<tfloat32_t, tfloat32_t, float, 256, 128, K, K>>(a, b, c);
  formed<SM100_MMA_F16BF16_2x1SM_SS_SPARSE<bfloat16_t, bfloat16_t, float, 256, 128, K, K>>(a, b, c);
  formed<SM100_MMA_F8F6F4_2x1SM_SS_SPARSE<E4, float_e5m2_t, float, 256, 256, K, K>>(a, b, c);
  SM100_MMA_F8F6F4_2x1SM_SS::fma(a, b, c, 1, uint64_t(c) << 32);
  formed<SM100_MMA_F16BF16_2x1SM_SS_SCALED<half_t, half_t, float, 256, 256, K, K, 3>>(a, b, c);
  formed<SM100_MMA_F16BF16_2x1SM_TS_SCALED<half_t, half_t, float, 256, 256, K, K, 15>>(a, b, c);
#if ZELLIGE_INTEGERS
  formed<SM100_MMA_S8_2x1SM_SS_SPARSE<signed char, unsigned char, int, 256, 256, K, K>>(a, b, c);
#endif
}
template <class... Op>
__device__ void from_shared(uint64_t descriptor, uint32_t address) {
  (Op::copy(descriptor, address), ...);
  (Op::template copy<TmemExpansion::six_bits>(descriptor, address), ...);
  (Op::template copy<TmemExpansion::four_bits>(descriptor, address), ...);
}
__global__ void from_shared_alone(uint64_t descriptor, uint32_t address) {
  from_shared<SM100_UTCCP_128dp256bit_1cta, SM100_UTCCP_128dp128bit_1cta, SM100_UTCCP_4dp256bit_1cta,
              SM100_UTCCP_4x32dp128bit_1cta, SM100_UTCCP_2x64dp128bitlw0213_1cta, SM100_UTCCP_2x64dp128bitlw0123_1cta>(
      descriptor, address);
  tcgen05_shift_down(address);
}
__global__ void from_shared_in_pairs(uint64_t descriptor, uint32_t address) {
  from_shared<SM100_UTCCP_128dp256bit_2cta, SM100_UTCCP_128dp128bit_2cta, SM100_UTCCP_4dp256bit_2cta,
              SM100_UTCCP_4x32dp128bit_2cta, SM100_UTCCP_2x64dp128bitlw0213_2cta, SM100_UTCCP_2x64dp128bitlw0123_2cta>(
      descriptor, address);
  tcgen05_shift_down<2>(address);
}
#endif
