// GEMM for Hopper: D = epilogue(A B^T), A being M x K and B N x K, both K-contiguous. TMA fills a ring of stages,
// two warpgroups multiply 64 rows each with wgmma, the result leaves through shared memory by TMA while the next
// tile's loads are under way. One persistent block a multiprocessor.
//
//   using Tile = GemmTile<half_t, half_t, /*TileN=*/256, /*Stages=*/4, /*ClusterM=*/2>;
//   gemm_sm90<Tile><<<132, Tile::threads, Tile::shared_bytes>>>(a, b, d, {m, n, k, /*group=*/4}, Identity{});
//
// Descriptors: A boxes of TileM rows x 128 bytes, B of Tile::slice_rows x 128 bytes, both with the 128-byte swizzle;
// D of 64 rows x Tile::slab_columns. Any M, N and K that TMA can address: rows of 16-byte multiples.
//
// ClusterM blocks above one another share B by multicast. TileM = 64, for few rows: the warpgroups take half of the
// columns each. Where the time goes on an H200: docs/performance.md.
#pragma once
#include <zellige/atom/cluster.hpp>
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/setmaxnreg.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/wgmma.hpp>
#include <zellige/block/epilogue.hpp>
#include <zellige/block/pipeline.hpp>
#include <zellige/block/slab.hpp>
#include <zellige/block/tile_scheduler.hpp>

namespace zellige::kernels {

template <class Element_, class Output_, int TileN_, int Stages_, int ClusterM_ = 1, int TileM_ = 128>
struct GemmTile {
  using Element = Element_;
  using Output = Output_;
  static constexpr int TileM = TileM_, TileN = TileN_, Stages = Stages_, ClusterM = ClusterM_, threads = 384;
  static constexpr int columns = TileM == 128 ? TileN : TileN / 2;  // of a warpgroup's 64 rows
  static constexpr int TileK = 128 / sizeof(Element);               // a swizzled line
  static constexpr int slice_rows = TileN % (8 * ClusterM) == 0 ? TileN / ClusterM : 40;
  static constexpr int slab_columns = columns % 64 == 0 ? 64 : 40;
  static constexpr int a_bytes = TileM * 128, b_bytes = TileN * 128;
  static constexpr int slabs_offset = Stages * (a_bytes + b_bytes);
  static constexpr int slab = slab_bytes<slab_columns>;
  static constexpr int barriers_offset = slabs_offset + 4 * slab;  // two slabs a warpgroup
  static constexpr int shared_bytes = barriers_offset + PipelineTmaAsync<Stages>::bytes;
  static_assert(TileN % slice_rows == 0 && columns % slab_columns == 0,
                "GemmTile: columns in multiples of 64 or of 40");
  static_assert(TileM == 128 || TileM == 64, "GemmTile: 128 or 64 rows");
};

struct GemmShape {
  int m, n, k;
  int group;  // cluster rows of tiles that are taken together
};

/// The tiles are the cluster's, one below another; this block takes the one of its rank.
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
  ZELLIGE_CALL int row(TileOrder::Place p) const { return (p.row * Tile::ClusterM + rank) * Tile::TileM; }
};

/// By one thread of the producer warp.
template <class Tile>
ZELLIGE_CALL void gemm_load(const TmaDescriptor& a, const TmaDescriptor& b, const GemmWork<Tile>& work,
                            const PipelineTmaAsync<Tile::Stages>& pipeline) {
  const auto sA = shared<unsigned char>("A", 0, Tile::Stages * Tile::a_bytes);
  const auto sB = shared<unsigned char>("B", Tile::Stages * Tile::a_bytes, Tile::Stages * Tile::b_bytes);
  const CacheHint hint =
      work.order.rows == 1 ? CacheHint::evict_first : CacheHint::normal;  // then B is a stream
  auto stage = producer_start<Tile::Stages>();
  griddep_wait();
  for (int t = work.cluster_id; t < work.order.tiles(); t += work.clusters) {
    const auto place = work.order(t);
    for (int step = 0; step < work.steps; ++step, ++stage) {
      pipeline.producer_acquire(stage, Tile::a_bytes + Tile::b_bytes);
      const auto full = pipeline.full_barrier(stage);
      const int k = step * Tile::TileK, column = place.column * Tile::TileN;
      const auto tile = sB + stage.index * Tile::b_bytes;
      if constexpr (Tile::ClusterM > 1) {
#pragma unroll
        for (int i = 0; i < Tile::TileN / Tile::slice_rows; ++i)
          if (i % Tile::ClusterM == work.rank)
            tma_load_multicast_hint_2d(tile + i * Tile::slice_rows * 128, b, full, (1 << Tile::ClusterM) - 1,
                                       hint, k, column + i * Tile::slice_rows);
      } else {
        tma_load_hint_2d(tile, b, full, hint, k, column);
      }
      tma_load_2d(sA + stage.index * Tile::a_bytes, a, full, k, work.row(place));
    }
  }
  pipeline.producer_tail(stage);  // peers arrive at this block's barriers until then
}

template <class Tile, class Epilogue>
ZELLIGE_CALL void gemm_multiply(const TmaDescriptor& d_map, const GemmWork<Tile>& work,
                                const PipelineTmaAsync<Tile::Stages>& pipeline, const Epilogue& epilogue) {
  using Element = typename Tile::Element;
  using Output = typename Tile::Output;
  const int warpgroup = threadIdx.x / 128 - 1, thread = threadIdx.x % 128, lane = thread % 32;
  const auto sA = shared<unsigned char>("A", 0, Tile::Stages * Tile::a_bytes);
  const auto sB = shared<unsigned char>("B", Tile::Stages * Tile::a_bytes, Tile::Stages * Tile::b_bytes);
  const int row_offset = Tile::TileM == 128 ? 64 * warpgroup : 0;
  const int column_offset = Tile::TileM == 128 ? 0 : Tile::columns * warpgroup;
  const auto slabs = shared<Output>("D", Tile::slabs_offset + warpgroup * 2 * Tile::slab, Tile::slab);
  const auto release = [&](const PipelineState<Tile::Stages>& s) {
    if constexpr (Tile::ClusterM > 1) {
      if (lane < Tile::ClusterM) pipeline.consumer_release(s, lane);
    } else {
      if (lane == 0) pipeline.consumer_release(s);
    }
  };
  PipelineState<Tile::Stages> stage;
  float d[Tile::columns / 2];
  int slab = 0;
  for (int t = work.cluster_id; t < work.order.tiles(); t += work.clusters) {
    const auto place = work.order(t);
    auto previous = stage;
    for (int step = 0; step < work.steps; ++step, ++stage) {
      pipeline.consumer_wait(stage);
      const uint64_t a =
          smem_descriptor(sA + stage.index * Tile::a_bytes + row_offset * 128, 16, 1024, SwizzleMode::b128);
      const uint64_t b = smem_descriptor(sB + stage.index * Tile::b_bytes + column_offset * 128, 16, 1024,
                                         SwizzleMode::b128);
      wgmma_fence();
#pragma unroll
      for (int i = 0; i < 4; ++i)
        wgmma<Element>(d, advance(a, 32 * i), advance(b, 32 * i), step > 0 || i > 0);
      wgmma_commit();
      if (step > 0) {
        wgmma_wait<1>();
        release(previous);
      }
      previous = stage;
    }
    wgmma_wait<0>();
    release(previous);

    constexpr int columns = Tile::slab_columns;
    const int row = work.row(place) + row_offset, column = place.column * Tile::TileN + column_offset;
#pragma unroll
    for (int j = 0; j < Tile::columns; j += columns, slab ^= 1) {
      const auto out = slabs + slab * (64 * columns);
      float* x = d + j / 2;
#pragma unroll
      for (int i = 0; i < columns / 2; i += 2) {
        const int r = row + thread / 32 * 16 + lane / 4 + i % 4 * 4,
                  c = column + j + i / 4 * 8 + lane % 4 * 2;
        if (r < work.m && c < work.n) {
          const Vec<float, 2> y = epilogue(Vec<float, 2>{x[i], x[i + 1]}, r, c);
          x[i] = y[0];
          x[i + 1] = y[1];
        }
      }
      if (thread == 0) tma_store_wait_read<1>();  // the store before last has left this slab
      named_barrier_sync(1 + warpgroup, 128);
      write_slab<Output, columns>(out, x);
      fence_proxy_async_shared();
      named_barrier_sync(1 + warpgroup, 128);
      if (thread == 0) {
        tma_store_2d(d_map, out, column + j, row);
        tma_store_commit();
      }
    }
  }
  if (thread == 0) tma_store_wait_read<0>();
}

template <class Tile, class Epilogue>
__global__ __launch_bounds__(384, 1) void gemm_sm90(const __grid_constant__ TmaDescriptor a,
                                                    const __grid_constant__ TmaDescriptor b,
                                                    const __grid_constant__ TmaDescriptor d, GemmShape shape,
                                                    Epilogue epilogue) {
  const auto pipeline = PipelineTmaAsync<Tile::Stages>::at(Tile::barriers_offset);
  const GemmWork<Tile> work(shape);
  griddep_launch_dependents();
  if (threadIdx.x == 0) {
    prefetch_tma_descriptor(a), prefetch_tma_descriptor(b);
    pipeline.init(8 * Tile::ClusterM);  // warps
    fence_mbarrier_init();
  }
  if constexpr (Tile::ClusterM > 1)
    cluster_sync();
  else
    __syncthreads();
  if (threadIdx.x < 128) {
    register_dealloc<40>();
    if (threadIdx.x == 0) gemm_load(a, b, work, pipeline);
    __syncwarp();
  } else {
    register_alloc<232>();
    gemm_multiply(d, work, pipeline, epilogue);
  }
  if constexpr (Tile::ClusterM > 1) cluster_sync();  // nobody leaves while others write here
}

}  // namespace zellige::kernels
