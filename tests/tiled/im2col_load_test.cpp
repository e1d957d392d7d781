// Convolutions by TMA on the emulator: the contents of a tile of the virtual im2col matrix.
#include <random>
#include <zellige/atom/cluster_names.hpp>

#include "im2col.hpp"

namespace zellige {
namespace {

// Tile (bm, bk) of the matrix, into shared memory by TMA and out as it lies there.
template <class Copy, class Smem, int boxes>
__global__ void gathers(Copy const tma, int bm, int bk, gmem<half_t> out) {
  auto const sA = make_tensor(make_smem_ptr(shared<half_t>("sA", 0, 64 * 64)), Smem{});
  auto const barrier = shared<uint64_t>("barrier", 8192, 1);
  int const thread = int(threadIdx.x);
  if (thread == 0) {
    initialize_barrier(barrier, 1);
    fence_mbarrier_init();
    set_barrier_transaction_bytes(barrier, 64 * 64 * 2);
    auto const tile = local_tile(tma.get_tma_tensor(0), Shape<_64, _64>{}, make_coord(bm, bk));
    auto const mine = tma.get_slice(0);
    copy(tma.with(barrier), mine.partition_S(tile), mine.partition_D(sA));
  }
  __syncthreads();
  wait_barrier(barrier, 0);
  for (int i = thread; i < 64 * 64; i += 32) out[i] = sA(i);
}
template <class... T>
void run_gathers(emulate::Launch& l) {
  emulate::call(l, gathers<T..., 1>);
}

std::string findings(emulate::EmulationReport const& report) {
  std::string all;
  for (auto const& finding : report.findings) all += finding.message + "\n";
  return all;
}
emulate::Buffer random_image(Convolution const& c) {
  int count = c.channels * c.images;
  for (int d = 0; d < c.dims; ++d) count *= c.extent[d];
  std::mt19937 random(9);
  return filled<half_t>("image", count, [&](int) { return half_t(float(1 + int(random() % 2000))); });
}

template <int dims, class Smem>
void tiles_are_gathered(Convolution const& c) {
  emulate::Buffer in = random_image(c);
  auto const tma = copy_of<dims>(SM90_TMA_LOAD_IM2COL{}, c, Smem{}, Shape<_64, _64>{}, _1{});
  auto const x = tma.get_tma_tensor(0);
  int const tiles_m = (int(size<0>(x)) + 63) / 64, tiles_k = int(size<1>(x)) / 64;
  for (int bm = 0; bm < tiles_m; ++bm) {
    for (int bk = bm % 2; bk < tiles_k; bk += 2) {
      emulate::Buffer out("out", 64 * 64 * 2);
      emulate::LaunchConfig config{.grid = {1}, .block = {32}, .shared_bytes = 8200, .workers = 1};
      config.parameters.emplace_back(tma, in, false);
      config.parameters.emplace_back(bm);
      config.parameters.emplace_back(bk);
      config.parameters.emplace_back(out, true);
      ASSERT_EQ(findings(emulate::run(run_gathers<remove_cvref_t<decltype(tma)>, Smem>, config)), "");
      for (int i = 0; i < 64 * 64; ++i) {
        int const m = 64 * bm + i % 64, k = 64 * bk + i / 64;
        int tap[3], rest = k / c.channels;
        for (int d = 0; d < dims; ++d) tap[d] = rest % c.taps[d], rest /= c.taps[d];
        int const from = gathered(c, m, k % c.channels, tap);
        float const want = from < 0 ? 0.f : float(elements<half_t>(in)[from]);
        ASSERT_EQ(float(elements<half_t>(out)[i]), want)
            << "tile " << bm << "," << bk << " row " << m << " column " << k;
      }
    }
  }
}
template <template <class> class Atom>
using Tile64 = remove_cvref_t<decltype(tile_to_shape(Atom<half_t>{}, Shape<_64, _64>{}))>;
TEST(Im2col, TilesHoldWhatADirectGatherFinds) {
  tiles_are_gathered<1, Tile64<GMMA::Layout_K_SW128_Atom>>({1, 64, 3, {37}, {3}, {2}, {1}, {2}, {2}});
  tiles_are_gathered<2, Tile64<GMMA::Layout_K_SW128_Atom>>({2, 128, 2, {7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}});
  tiles_are_gathered<2, Tile64<GMMA::Layout_K_SW64_Atom>>({2, 64, 3, {8, 6}, {3, 2}, {1, 0}, {1, 0}, {2, 1}, {1, 2}});
  tiles_are_gathered<3, Tile64<GMMA::Layout_K_INTER_Atom>>(
      {3, 64, 2, {4, 3, 5}, {2, 3, 2}, {0, 1, 1}, {1, 1, 0}, {1, 2, 1}, {1, 1, 1}});
}

// Half a tile by each CTA of a cluster of two, into both.
template <class Copy, class Smem>
__global__ void gathers_shared(Copy const tma, gmem<half_t> out) {
  auto const sA = make_tensor(make_smem_ptr(shared<half_t>("sA", 0, 64 * 64)), Smem{});
  auto const barrier = shared<uint64_t>("barrier", 8192, 1);
  int const thread = int(threadIdx.x), rank = int(block_rank_in_cluster());
  if (thread == 0) {
    initialize_barrier(barrier, 1);
    fence_mbarrier_init();
  }
  cluster_sync();
  if (thread == 0) {
    set_barrier_transaction_bytes(barrier, 64 * 64 * 2);
    auto const tile = local_tile(tma.get_tma_tensor(0), Shape<_64, _64>{}, make_coord(1, 2));
    auto const parts = tma_partition(tma, rank, make_layout(_2{}), group_modes<0, 2>(sA), group_modes<0, 2>(tile));
    copy(tma.with(barrier, uint16_t(3)), get<0>(parts), get<1>(parts));
  }
  wait_barrier(barrier, 0);
  for (int i = thread; i < 64 * 64; i += 32) out[4096 * rank + i] = sA(i);
  cluster_sync();
}
template <class... T>
void run_gathers_shared(emulate::Launch& l) {
  emulate::call(l, gathers_shared<T...>);
}
TEST(Im2col, MulticastSharesThePixels) {
  Convolution const c{2, 64, 2, {7, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};
  emulate::Buffer in = random_image(c), out("out", 2 * 4096 * 2);
  auto const tma = copy_of<2>(SM90_TMA_LOAD_IM2COL_MULTICAST{}, c, SmemLayout{}, Shape<_64, _64>{}, _2{});
  emulate::LaunchConfig config{.grid = {2}, .block = {32}, .shared_bytes = 8200, .workers = 1, .cluster = {2, 1, 1}};
  config.parameters.emplace_back(tma, in, false);
  config.parameters.emplace_back(out, true);
  ASSERT_EQ(findings(emulate::run(run_gathers_shared<remove_cvref_t<decltype(tma)>, SmemLayout>, config)), "");
  int const tap[] = {2, 0};
  for (int i = 0; i < 2 * 4096; ++i) {
    int const from = gathered(c, 64 + i % 64, i % 4096 / 64, tap);
    ASSERT_EQ(float(elements<half_t>(out)[i]), from < 0 ? 0.f : float(elements<half_t>(in)[from])) << i;
  }
}

// The gradient's way: a tile (channels, pixels), and a store of it pixel by pixel elsewhere.
template <class Load, class Store, class Smem>
__global__ void transposes(Load const load, Store const store) {
  auto const sA = make_tensor(make_smem_ptr(shared<half_t>("sA", 0, 64 * 64)), Smem{});
  auto const barrier = shared<uint64_t>("barrier", 8192, 1);
  int const thread = int(threadIdx.x);
  if (thread == 0) {
    initialize_barrier(barrier, 1);
    fence_mbarrier_init();
    set_barrier_transaction_bytes(barrier, 64 * 64 * 2);
    auto const from = local_tile(load.get_tma_tensor(0), Shape<_64, _64>{}, make_coord(1, 1));
    auto const all = load.get_slice(0);
    copy(load.with(barrier), all.partition_S(from), all.partition_D(sA));
  }
  __syncthreads();
  wait_barrier(barrier, 0);
  if (thread == 0) {
    auto const to = local_tile(store.get_tma_tensor(0), Shape<_64, _64>{}, make_coord(0, 0));
    auto const all = store.get_slice(0);
    auto target = all.partition_D(to);
    copy(store, all.partition_S(sA), target);
    tma_store_arrive();
    tma_store_wait<0>();
  }
}
template <class... T>
void run_transposes(emulate::Launch& l) {
  emulate::call(l, transposes<T...>);
}
TEST(Im2col, ChannelsFirstAndStores) {
  using Smem = remove_cvref_t<decltype(tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<_64, _64>{}))>;
  Convolution const c{2, 128, 2, {8, 8}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {1, 1}};
  emulate::Buffer in = random_image(c), out("out", 64 * 64 * 2);
  auto const pixels = make_shape(8, 8, 2);
  auto const x = make_tensor(make_gmem_ptr(nowhere),
                             make_layout(make_shape(128, pixels), make_stride(_1{}, make_stride(128, 1024, 8192))));
  auto const y = make_tensor(make_gmem_ptr(nowhere), make_layout(make_shape(64, make_shape(8, 8, 1)),
                                                                 make_stride(_1{}, make_stride(64, 512, 4096))));
  auto const load = make_im2col_tma_copy(SM90_TMA_LOAD_IM2COL{}, x, Smem{}, Shape<_64, _64>{});
  auto const store = make_im2col_tma_copy(SM90_TMA_STORE_IM2COL{}, y, Smem{});
  emulate::LaunchConfig config{.grid = {1}, .block = {32}, .shared_bytes = 8200, .workers = 1};
  config.parameters.emplace_back(load, in, false);
  config.parameters.emplace_back(store, out, true);
  ASSERT_EQ(findings(emulate::run(run_transposes<remove_cvref_t<decltype(load)>, remove_cvref_t<decltype(store)>, Smem>,
                                  config)),
            "");
  for (int p = 0; p < 64; ++p)
    for (int k = 0; k < 64; ++k)
      ASSERT_EQ(float(elements<half_t>(out)[64 * p + k]), float(elements<half_t>(in)[128 * (64 + p) + 64 + k]))
          << p << " " << k;
}

}  // namespace
}  // namespace zellige
