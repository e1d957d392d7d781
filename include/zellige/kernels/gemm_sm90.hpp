// Computes a GEMM on Hopper: D = epilogue(A B^T), where A is M x K and B is N x K, both K-contiguous. The kernel is
// persistent and warp-specialized: a producer fills a shared-memory ring by TMA, and two consumer warpgroups multiply
// 64 rows each with wgmma. The consumers store a tile through shared memory by TMA while the next tile's loads are in
// flight.
//
//   using Tile = GemmTile<half_t, half_t, /*TileN=*/256, /*Stages=*/4, /*ClusterM=*/2>;
//   gemm_sm90<Tile><<<132, Tile::threads, Tile::shared_bytes>>>(a, b, d, {m, n, k, /*group=*/4}, Identity{});
//
// a, b and d are TMA descriptors, which descriptors.hpp describes. Boxes are TileM rows x 128 bytes of A and
// Tile::slice_rows rows x 128 bytes of B, both with the 128-byte swizzle, and 64 rows x Tile::slab_columns of D. M, N
// and K may have any value that TMA can address: rows are multiples of 16 bytes. `group` is the number of cluster rows
// in a group of the tile order (tile_scheduler.hpp).
//
// The ClusterM blocks of a cluster compute vertically adjacent tiles and share B by multicast. With TileM = 64, for
// small M, the two warpgroups divide the tile's columns in place of its rows.
#pragma once
#include <zellige/atom/cluster.hpp>
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/block/apply_epilogue.hpp>
#include <zellige/block/fragment_wgmma.hpp>
#include <zellige/block/ring.hpp>
#include <zellige/block/roles.hpp>
#include <zellige/block/slab.hpp>
#include <zellige/block/tile_scheduler.hpp>

namespace zellige::kernels {

/// Configuration of gemm_sm90: element types, the block's tile, the number of stages, and the cluster. Members with
/// `offset` in their name are bytes of shared memory.
template <class Element_, class Output_, int TileN_, int Stages_, int ClusterM_ = 1, int TileM_ = 128>
struct GemmTile {
  using Element = Element_;
  using Output = Output_;
  static constexpr int TileM = TileM_, TileN = TileN_, Stages = Stages_, ClusterM = ClusterM_, threads = 384;
  static constexpr int columns = TileM == 128 ? TileN : TileN / 2;  // per warpgroup of 64 rows
  static constexpr int TileK = 128 / sizeof(Element);               // a swizzled row
  static constexpr int slice_rows = TileN % (8 * ClusterM) == 0 ? TileN / ClusterM : 40;
  static constexpr int slab_columns = columns % 64 == 0 ? 64 : 40;
  using Loads = Ring<Stages, Tiles<TileM * 128, TileN * 128>, ClusterM>;
  static constexpr int slabs_offset = Loads::tiles_bytes;
  static constexpr int slab = slab_bytes<slab_columns>;
  static constexpr int barriers_offset = slabs_offset + 4 * slab;  // two slabs per warpgroup
  static constexpr int shared_bytes = barriers_offset + Loads::barriers_bytes;
  static_assert(TileN % slice_rows == 0 && columns % slab_columns == 0,
                "GemmTile: columns in multiples of 64 or of 40");
  static_assert(TileM == 128 || TileM == 64, "GemmTile: 128 or 64 rows");
};

/// Run-time sizes of the GEMM, and the height of a group in grouped rasterization (tile_scheduler.hpp).
struct GemmShape {
  int m, n, k;
  int group;  // cluster rows of tiles per raster group
};

/// The tiles that this block computes. A cluster computes ClusterM vertically adjacent tiles at a time; its block of
/// rank r computes the r-th of them.
template <class Tile>
struct GemmWork {
  TileOrder order;
  int m, n, rank, clusters, cluster_id, steps;

  ZELLIGE_CALL explicit GemmWork(const GemmShape& s) : m(s.m), n(s.n) {
    rank = Tile::ClusterM > 1 ? cluster_ctarank() : 0;
    clusters = gridDim.x / Tile::ClusterM;
    cluster_id = blockIdx.x / Tile::ClusterM;
    steps = (s.k + Tile::TileK - 1) / Tile::TileK;
    const int height = Tile::TileM * Tile::ClusterM;
    order = {(s.m + height - 1) / height, (s.n + Tile::TileN - 1) / Tile::TileN, s.group};
  }
  /// Returns the index in A and D of the first row of this block's tile, where p (tile row and column) is the
  /// cluster's position in the tile order.
  ZELLIGE_CALL int row(TileOrder::Place p) const { return (p.row * Tile::ClusterM + rank) * Tile::TileM; }
};

/// Runs the producer: loads A and B for each of the block's tiles. With clusters, each block loads a part of B and
/// multicasts it to the cluster. Called by one thread.
template <class Tile>
ZELLIGE_CALL void gemm_load(const TmaDescriptor& a, const TmaDescriptor& b, const GemmWork<Tile>& work,
                            const typename Tile::Loads& ring) {
  const CacheHint hint = work.order.rows == 1 ? CacheHint::evict_first : CacheHint::normal;  // then B is a stream
  auto stage = ring.first_empty();
  griddep_wait();
  for (int t = work.cluster_id; t < work.order.tiles(); t += work.clusters) {
    const auto place = work.order(t);
    for (int step = 0; step < work.steps; ++step, ++stage) {
      const auto full = ring.acquire(stage);
      const int k = step * Tile::TileK, column = place.column * Tile::TileN;
      const auto tile = ring.tile(stage, 1);
      if constexpr (Tile::ClusterM > 1) {
#pragma unroll
        for (int i = 0; i < Tile::TileN / Tile::slice_rows; ++i)
          if (i % Tile::ClusterM == work.rank)
            tma_load_multicast_hint_2d(tile + i * Tile::slice_rows * 128, b, full, (1 << Tile::ClusterM) - 1, hint, k,
                                       column + i * Tile::slice_rows);
      } else {
        tma_load_hint_2d(tile, b, full, hint, k, column);
      }
      tma_load_2d(ring.tile(stage, 0), a, full, k, work.row(place));
    }
  }
  ring.drain(stage);  // other blocks arrive at this block's barriers until then
}

/// Runs a consumer: computes and stores the calling warpgroup's part of each of the block's tiles: 64 rows, or half of
/// the columns if TileM is 64. Called by all threads of both consumer warpgroups.
template <class Tile, class Epilogue>
ZELLIGE_CALL void gemm_multiply(const TmaDescriptor& d_map, const GemmWork<Tile>& work,
                                const typename Tile::Loads& ring, const Epilogue& epilogue) {
  using Element = typename Tile::Element;
  using Output = typename Tile::Output;
  const int warpgroup = threadIdx.x / 128 - 1, thread = threadIdx.x % 128;
  const int row_offset = Tile::TileM == 128 ? 64 * warpgroup : 0;
  const int column_offset = Tile::TileM == 128 ? 0 : Tile::columns * warpgroup;
  constexpr int columns = Tile::slab_columns;
  auto slabs = Slabs<Output, columns>::at("D", Tile::slabs_offset + warpgroup * 2 * Tile::slab, 1 + warpgroup);
  auto stage = ring.first();
  WarpgroupFragment<Tile::columns> d;
  for (int t = work.cluster_id; t < work.order.tiles(); t += work.clusters) {
    const auto place = work.order(t);
    auto previous = stage;
#pragma unroll 2
    for (int step = 0; step < work.steps; ++step, ++stage) {
      ring.wait(stage);
      issue_wgmma<Element, 4>(d, k_major<Tile::TileM>(ring.tile(stage, 0) + row_offset * 128),
                              k_major<Tile::TileN>(ring.tile(stage, 1) + column_offset * 128), step > 0);
      wgmma_commit();
      if (step > 0) {
        wgmma_wait<1>();
        ring.release(previous);
      }
      previous = stage;
    }
    wgmma_wait<0>();
    ring.release(previous);

    const int row = work.row(place) + row_offset, column = place.column * Tile::TileN + column_offset;
#pragma unroll
    for (int j = 0; j < Tile::columns; j += columns) {
      apply_pairs<columns>(epilogue, d, j, thread, {row, column, work.m, work.n});
      slabs.store(d, j, thread, [&](smem<Output> slab) { tma_store_2d(d_map, slab, column + j, row); });
    }
  }
  slabs.drain(thread);
}

/// Computes D = epilogue(A B^T). Launch with one block per SM, clusters of Tile::ClusterM blocks, Tile::threads threads
/// and Tile::shared_bytes bytes of dynamic shared memory.
template <class Tile, class Epilogue>
__global__ __launch_bounds__(384, 1) void gemm_sm90(const __grid_constant__ TmaDescriptor a,
                                                    const __grid_constant__ TmaDescriptor b,
                                                    const __grid_constant__ TmaDescriptor d, GemmShape shape,
                                                    Epilogue epilogue) {
  const auto ring = Tile::Loads::at(0, Tile::barriers_offset, {"A", "B"});
  const GemmWork<Tile> work(shape);
  griddep_launch_dependents();
  if (threadIdx.x == 0) {
    prefetch_tma_descriptor(a), prefetch_tma_descriptor(b);
    ring.init(8);  // warps
    fence_mbarrier_init();
  }
  if constexpr (Tile::ClusterM > 1)
    cluster_sync();
  else
    __syncthreads();
  roles(producer<4, 40>([&] { gemm_load(a, b, work, ring); }),
        consumer<8, 232>([&] { gemm_multiply(d, work, ring, epilogue); }));
  __syncwarp();
  if constexpr (Tile::ClusterM > 1) cluster_sync();  // no block exits while others write here
}

}  // namespace zellige::kernels
