// Every call for SM90 once: ptx_test.cpp compiles it to PTX and searches each mnemonic.
#include <zellige/atom.hpp>
#include <zellige/atom/elect.hpp>
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/atom/movmatrix.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/prefetch.hpp>
#include <zellige/atom/setmaxnreg.hpp>
#include <zellige/atom/stmatrix.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/wgmma.hpp>

namespace zellige {

__global__ void synchronises(gmem<unsigned> out) {
  const auto full = shared<uint64_t>("full", 0, 1);
  mbarrier_init(full, 1);
  fence_mbarrier_init();
  mbarrier_arrive(full);
  mbarrier_arrive(full, 3);
  mbarrier_arrive_expect_tx(full, 64);
  mbarrier_expect_tx(full, 64);
  mbarrier_complete_tx(full, 64);
  mbarrier_arrive_remote(full, 1);
  mbarrier_arrive_remote_relaxed(full, 1);
  mbarrier_arrive_expect_tx_remote(full, 1, 64);
  cp_async_mbarrier_arrive(full);
  mbarrier_wait(full, 0);
  mbarrier_wait_cluster(full, 0);
  while (!mbarrier_try_wait(full, 1)) {
  }
  out[0] = mbarrier_test_wait(full, 0);
  mbarrier_inval(full);
  cluster_sync();
  cluster_arrive_relaxed();
  cluster_wait();
  out[1] = cluster_ctarank() + cluster_nctarank() + cluster_ctaid().x + cluster_ctaid().y + cluster_ctaid().z;
  out[2] = mapa(recast<unsigned>(full), 1)[0];
  named_barrier_sync(1, 128);
  named_barrier_arrive(2, 128);
  register_dealloc<40>();
  register_alloc<232>();
  if (elect_one()) out[3] = 1;
  griddep_wait();
  griddep_launch_dependents();
  prefetch_l1(out);
  prefetch_l2(out);
  bulk_prefetch_l2(out, 64);
  fence_proxy_async();
  fence_proxy_async_shared();
  fence_proxy_async_global();
  fence_block();
  fence_cluster();
  fence_device();
}

__global__ void copies_in_bulk(gmem<float> memory) {
  const auto tile = shared<float>("tile", 1024, 64);
  const auto full = shared<uint64_t>("full", 0, 1);
  bulk_load(tile, memory, 64, full);
  bulk_load_hint(tile, memory, 64, full, CacheHint::evict_first);
  bulk_load_multicast(tile, memory, 64, full, 3);
  bulk_copy_cluster(tile, 1, tile, 64, full);
  store_async(tile, 1, 5, full);
  bulk_store(memory, tile, 64);
  bulk_reduce_add<float>(memory, tile, 64);
  bulk_reduce_add<half_t>(memory, tile, 64);
  bulk_reduce_add<bfloat16_t>(memory, tile, 64);
  bulk_reduce_add<int32_t>(memory, tile, 64);
  bulk_reduce_add<uint32_t>(memory, tile, 64);
  tma_store_commit();
  tma_store_wait<2>();
  tma_store_wait_read<1>();
  tma_store_wait_complete<0>();
}

__global__ void copies_boxes(const __grid_constant__ TmaDescriptor map) {
  const auto tile = shared<float>("tile", 1024, 64);
  const auto full = shared<uint64_t>("full", 0, 1);
  prefetch_tma_descriptor(map);
#define ZELLIGE_EACH(D, ...)                                                          \
  tma_load_##D##d(tile, map, full, __VA_ARGS__);                                      \
  tma_load_hint_##D##d(tile, map, full, CacheHint::evict_last, __VA_ARGS__);          \
  tma_load_multicast_##D##d(tile, map, full, 3, __VA_ARGS__);                         \
  tma_load_multicast_hint_##D##d(tile, map, full, 3, CacheHint::normal, __VA_ARGS__); \
  tma_prefetch_##D##d(map, __VA_ARGS__);                                              \
  tma_store_##D##d(map, tile, __VA_ARGS__);                                           \
  tma_store_hint_##D##d(map, tile, CacheHint::evict_first, __VA_ARGS__);              \
  tma_reduce_add_##D##d(map, tile, __VA_ARGS__);                                      \
  tma_reduce_min_##D##d(map, tile, __VA_ARGS__);                                      \
  tma_reduce_max_##D##d(map, tile, __VA_ARGS__);
  ZELLIGE_EACH(1, 1)
  ZELLIGE_EACH(2, 1, 2)
  ZELLIGE_EACH(3, 1, 2, 3)
  ZELLIGE_EACH(4, 1, 2, 3, 4)
  ZELLIGE_EACH(5, 1, 2, 3, 4, 5)
#undef ZELLIGE_EACH
  tma_load_im2col_3d(tile, map, full, 1, 2, 3, 1);
  tma_load_im2col_4d(tile, map, full, 1, 2, 3, 4, 1, 2);
  tma_load_im2col_5d(tile, map, full, 1, 2, 3, 4, 5, 1, 2, 3);
  tma_load_im2col_multicast_3d(tile, map, full, 3, 1, 2, 3, 1);
  tma_load_im2col_multicast_4d(tile, map, full, 3, 1, 2, 3, 4, 1, 2);
  tma_load_im2col_multicast_5d(tile, map, full, 3, 1, 2, 3, 4, 5, 1, 2, 3);
  tma_store_im2col_3d(map, tile, 1, 2, 3);
  tma_store_im2col_4d(map, tile, 1, 2, 3, 4);
  tma_store_im2col_5d(map, tile, 1, 2, 3, 4, 5);
}

template <int R>
__global__ void multiplies(gmem<float> out, uint64_t a, uint64_t b) {
  float d[R] = {};
  wgmma_fence();
  wgmma<half_t>(d, a, b);
  wgmma<half_t, Major::MN, Major::MN>(d, a, b);
  wgmma<bfloat16_t, Major::K, Major::K, bfloat16_t, -1, 1>(d, a, b, false);
  wgmma<tfloat32_t>(d, a, b);
  wgmma<float_e4m3_t, Major::K, Major::K, float_e5m2_t>(d, a, b);
  const uint32_t ra[4] = {threadIdx.x, 1, 2, 3};
  wgmma<half_t, Major::MN>(d, ra, b);
  wgmma<float_e5m2_t>(d, ra, b);
  wgmma_commit();
  wgmma_wait<0>();
  wgmma_fence_operand(d);
  for (int i = 0; i < R; ++i) out[128 * i + threadIdx.x] = d[i];
}
template __global__ void multiplies<4>(gmem<float>, uint64_t, uint64_t);
template __global__ void multiplies<128>(gmem<float>, uint64_t, uint64_t);

__global__ void multiplies_integers_and_halves(gmem<uint32_t> out, uint64_t a, uint64_t b) {
  int32_t d[12] = {};
  uint32_t h[10] = {};
  wgmma_fence();
  wgmma<int8_t, Major::K, Major::K, uint8_t>(d, a, b);
  wgmma<uint8_t, Major::K, Major::K, int8_t, 1, 1, true>(d, a, b);
  wgmma<half_t>(h, a, b);
  wgmma<float_e4m3_t>(h, a, b);
  wgmma_commit();
  wgmma_wait<1>();
  wgmma_wait<0>();
  for (int i = 0; i < 10; ++i) out[128 * i + threadIdx.x] = static_cast<uint32_t>(d[i]) + h[i];
}

__global__ void matrices(gmem<uint32_t> out) {
  const auto tile = shared<half_t>("tile", 0, 256);
  const uint32_t r1[1] = {1}, r2[2] = {1, 2}, r4[4] = {1, 2, 3, 4};
  const auto row = tile + 8 * threadIdx.x;
  stmatrix_x1(row, r1);
  stmatrix_x2(row, r2);
  stmatrix_x4(row, r4);
  stmatrix_x1_trans(row, r1);
  stmatrix_x2_trans(row, r2);
  stmatrix_x4_trans(row, r4);
  out[threadIdx.x] = movmatrix_trans(threadIdx.x);
}

}  // namespace zellige
