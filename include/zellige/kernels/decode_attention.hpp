// Computes decode attention, o = softmax(scale q K^T) V for one query token per head over a KV cache, in one launch
// (split KV, as FlashDecoding). heads_q / heads_kv query heads share keys and values (grouped-query attention).
//
//   // head dim, query heads per block (8 or 16), warps, stages, cluster
//   using Plan = DecodePlan<half_t, 128, 8, 4, 3, 8>;
//   decode_attention<Plan><<<dim3(splits, heads_kv * groups, batches), Plan::threads, Plan::bytes>>>(
//       q, k, v, o, partial, counters, shape);             // launched with clusters of 8 x 1 x 1
//
// A group is the set of query heads that a block computes: up to 8 or 16 of those that share a key head. `groups` is
// the number of groups per key head. The keys are split over `splits` blocks, a multiple of the cluster size, and over
// the warps of a block. A warp streams 16 keys and values at a time through its own cp.async ring and multiplies with
// mma.sync, whose rows are the query heads.
//
// The results of the warps are combined in shared memory, then those of a cluster's blocks in distributed shared
// memory. If several clusters compute a group, each cluster writes its result to `partial` (Plan::partial floats per
// cluster and group), and the block that is last to increment the group's counter combines these results. All
// counters must be 0 at the start, and are 0 again at the end. With a single cluster per group, `partial` and
// `counters` are unused.
#pragma once
#include <zellige/atom/atomic.hpp>
#include <zellige/atom/cluster.hpp>
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/block.hpp>
#include <zellige/block/online_softmax.hpp>
#include <zellige/layout/composed.hpp>

namespace zellige::kernels {

/// Run-time sizes, and the strides of the KV cache in elements. q and o are contiguous.
struct DecodeShape {
  int heads_q, heads_kv, keys;
  int64_t key_stride, head_stride, batch_stride;
  float scale;
};

/// Configuration of decode_attention. Rows_ is the number of query heads per block, padded to 8 or 16.
template <class T, int HeadDim, int Rows_, int Warps_, int Stages_, int Cluster_ = 1>
struct DecodePlan {
  using Element = T;
  static constexpr int head_dim = HeadDim, rows = Rows_, warps = Warps_, stages = Stages_, cluster = Cluster_;
  static constexpr int threads = 32 * warps;
  static constexpr int tile = 16 * head_dim;      // elements of 16 keys, a warp's step
  static constexpr int ring = stages * 2 * tile;  // elements of keys and values in a warp's ring
  static constexpr int sums = rows * head_dim,
                       partial = sums + 2 * rows;  // floats of a partial result: accumulators; per row, maximum and sum
  static constexpr int results = 4 * (warps + 1) * partial;  // bytes: each warp's result, then the block's
  static constexpr int bytes = (2 * warps * ring > results ? 2 * warps * ring : results) + 16;
  static_assert(head_dim == 64 || head_dim == 128);
  static_assert(rows == 8 || rows == 16);
};

/// Adds up `parts` partial results of attention over different keys; part(w) points to the w-th. In each row, a partial
/// result has the weight 2^(its maximum - the largest maximum of all). A chunk is 4 adjacent columns of a row; each
/// thread of the block computes some of the chunks with numbers `from` to `to` - 1. For each chunk, it calls take(row,
/// column, x, maximum, total): x has the four weighted sums, maximum is the row's largest score, and total is the row's
/// sum of exponentials.
template <class Plan, class Part, class Take>
ZELLIGE_CALL void combine(int parts, Part part, int from, int to, Take take) {
  for (int i = from + static_cast<int>(threadIdx.x); i < to; i += Plan::threads) {
    const int r = i / (Plan::head_dim / 4), column = i % (Plan::head_dim / 4) * 4;
    float row_max = -infinity, total = 0;
#pragma unroll 8
    for (int w = 0; w < parts; ++w) row_max = max_number(row_max, part(w)[Plan::sums + 2 * r]);
    Vec<float, 4> x{};
#pragma unroll 8
    for (int w = 0; w < parts; ++w) {
      const Vec<float, 4> y = load<4>(part(w) + (r * Plan::head_dim + column));
      const Vec<float, 2> st = load<2>(part(w) + (Plan::sums + 2 * r));
      const float weight = st[1] > 0 ? zellige::exp2(st[0] - row_max) : 0.0f;  // 0: no keys
      total = zellige::fma(weight, st[1], total);
#pragma unroll
      for (int j = 0; j < 4; ++j) x[j] = zellige::fma(weight, y[j], x[j]);
    }
    take(r, column, x, row_max, total);
  }
}

/// Computes o = softmax(scale q K^T) V for one query token per head. `partial` and `counters` are workspace in global
/// memory; the head of decode_attention.hpp gives their sizes and the launch configuration.
template <class Plan>
__global__ void __launch_bounds__(Plan::threads)
    decode_attention(gmem<const typename Plan::Element> q, gmem<const typename Plan::Element> k,
                     gmem<const typename Plan::Element> v, gmem<typename Plan::Element> o, gmem<float> partial,
                     gmem<unsigned> counters, DecodeShape shape) {
  using T = typename Plan::Element;
  constexpr int D = Plan::head_dim, Rows = Plan::rows, Warps = Plan::warps, Stages = Plan::stages;
  constexpr int chunks = D / 8, lines = Rows / 8;  // chunks of 8 elements per row; rows per thread
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, g = lane / 4, c = lane % 4;
  const int split = blockIdx.x, splits = gridDim.x, group = shape.heads_q / shape.heads_kv;
  const int groups = (group + Rows - 1) / Rows, head = static_cast<int>(blockIdx.y) / groups;
  const int first_row = static_cast<int>(blockIdx.y) % groups * Rows, rows = at_most(group - first_row, Rows);
  const int64_t heads = static_cast<int64_t>(blockIdx.z) * shape.heads_q + head * group + first_row;
  const int64_t cache = blockIdx.z * shape.batch_stride + head * shape.head_stride;
  const int share = (shape.keys + 16 * splits - 1) / (16 * splits) * 16;
  const int begin = split * share, end = at_most(begin + share, shape.keys);

  const auto ring = shared_ring<T, 2 * Stages * Warps>("ring", 0, Warps * Plan::ring,
                                                       composition(Swizzle < 3, 3, D == 64 ? 3 : 4 > {},
                                                                   Layout<Shape<_16, Int<D>>, Stride<Int<D>, _1>>{}))
                        .shift(warp * Plan::ring);
  const auto load_tile = [&](int stage, int key0) {
#pragma unroll
    for (int i = 0; i < chunks / 2; ++i) {
      const int r = (lane + 32 * i) / chunks, column = (lane + 32 * i) % chunks * 8;
      const bool exists = key0 + r < end;
      const int64_t at = cache + (exists ? key0 + r : 0) * shape.key_stride + column;
      cp_async<16>(ring.shift(2 * stage * Plan::tile)(r, column), k + at, exists ? 16 : 0);
      cp_async<16>(ring.shift((2 * stage + 1) * Plan::tile)(r, column), v + at, exists ? 16 : 0);
    }
  };
  griddep_launch_dependents();
  griddep_wait();
#pragma unroll
  for (int s = 0; s < Stages - 1; ++s) {
    const int key0 = begin + 16 * (warp + s * Warps);
    if (key0 < end) load_tile(s, key0);
    cp_async_commit();
  }

  // Loads q as the A operand: query heads are its rows, the head dimension is K.
  uint32_t fq[D / 16][4] = {};
#pragma unroll
  for (int i = 0; i < lines; ++i)
    if (g + 8 * i < rows)
#pragma unroll
      for (int s = 0; s < D / 16; ++s) {
        const gmem<const T> at = q + ((heads + g + 8 * i) * D + 16 * s + 2 * c);
        fq[s][i] = bit_cast<uint32_t>(load_once<2>(at)), fq[s][i + 2] = bit_cast<uint32_t>(load_once<2>(at + 8));
      }

  const float scale = shape.scale * 1.4426950408889634f;  // exponentials are powers of 2
  Fragment<1, Rows, D> out;
  out.clear();
  using Scores = Fragment<1, Rows, 16>;
  OnlineSoftmax<Scores, lines> softmax;
  int stage = 0;
  for (int key0 = begin + 16 * warp; key0 < end; key0 += 16 * Warps) {
    cp_async_wait<Stages - 2>();
    __syncwarp();
    const int next_key = key0 + 16 * Warps * (Stages - 1);
    if (next_key < end) load_tile(stage == 0 ? Stages - 1 : stage - 1, next_key);
    cp_async_commit();
    const auto keys = ring.shift(2 * stage * Plan::tile), values = ring.shift((2 * stage + 1) * Plan::tile);

    Scores s, odd;  // two accumulators each, which halve the dependency chain of the mma
    s.clear(), odd.clear();
#pragma unroll
    for (int step = 0; step < D / 16; ++step) {
      uint32_t b[4];
      ldmatrix_x4(b, keys(lane / 16 * 8 + lane % 8, step * 16 + lane / 8 % 2 * 8));
      const uint32_t b0[2] = {b[0], b[1]}, b1[2] = {b[2], b[3]};
      mma_m16n8k16<T>(step % 2 ? odd.d[0] : s.d[0], fq[step], b0);
      mma_m16n8k16<T>(step % 2 ? odd.d[1] : s.d[1], fq[step], b1);
    }
#pragma unroll
    for (int i = 0; i < s.pairs; ++i)
#pragma unroll
      for (int v = 0; v < 2; ++v) {
        const bool exists = key0 + s.at(i, 0, lane).n + v < end;
        s.pair(i)[v] = exists ? (s.pair(i)[v] + odd.pair(i)[v]) * scale : -infinity;
      }
    float factor[lines];
    softmax.step(s, 1.0f, factor);
    scale_rows(out, factor);
    uint32_t p[4] = {};  // the pairs of 16 columns are the registers of A
#pragma unroll
    for (int i = 0; i < s.pairs; ++i)
      if (s.line(i) < lines) p[i] = pack<T>(s.pair(i)[0], s.pair(i)[1]);
#pragma unroll
    for (int j = 0; j < D / 8; j += 2) {
      uint32_t b[4];
      ldmatrix_x4_trans(b, values(lane % 16, 8 * j + lane / 16 * 8));
      const uint32_t b0[2] = {b[0], b[1]}, b1[2] = {b[2], b[3]};
      mma_m16n8k16<T>(out.d[j], p, b0);
      mma_m16n8k16<T>(out.d[j + 1], p, b1);
    }
    stage = stage + 1 == Stages ? 0 : stage + 1;
  }

  // Combines the warps' results, then the block's.
  cp_async_wait<0>();
  __syncthreads();
  const smem<float> results = shared<float>("results", 0, Plan::results / 4);
  const smem<float> own = results + warp * Plan::partial, block = results + Warps * Plan::partial;
#pragma unroll
  for (int i = 0; i < lines; ++i) {
    const float total = softmax.total(i);
    if (c == 0) store(own + (Plan::sums + 2 * (g + 8 * i)), Vec<float, 2>{{softmax.max[i], total}});
#pragma unroll
    for (int j = 0; j < D / 8; ++j)
      store(own + ((g + 8 * i) * D + 8 * j + 2 * c), Vec<float, 2>{{out.d[j][2 * i], out.d[j][2 * i + 1]}});
  }
  __syncthreads();

  const auto finish = [&](int r, int column, Vec<float, 4> x, float, float total) {
#pragma unroll
    for (int j = 0; j < 4; ++j) x[j] /= total;
    write<4>(o + ((heads + r) * D + column), x);
  };
  const auto keep = [&](gmem<float> to) {  // or smem
    return [=](int r, int column, Vec<float, 4> x, float row_max, float total) {
      store(to + (r * D + column), x);
      if (column == 0) store(to + (Plan::sums + 2 * r), Vec<float, 2>{{row_max, total}});
    };
  };
  const auto of_warp = [&](int w) { return results + w * Plan::partial; };
  const int pieces = rows * D / 4;
  if (splits == 1) return combine<Plan>(Warps, of_warp, 0, pieces, finish);

  const int clusters = splits / Plan::cluster;
  const int64_t unit = static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  const gmem<float> parts = partial + unit * clusters * Plan::partial,
                    mine = parts + split / Plan::cluster * Plan::partial;
  if constexpr (Plan::cluster == 1) {
    combine<Plan>(Warps, of_warp, 0, pieces, keep(mine));
  } else {
    combine<Plan>(Warps, of_warp, 0, pieces, keep(block));
    cluster_sync();
    const int rank = cluster_ctarank(), each = (pieces + Plan::cluster - 1) / Plan::cluster;
    const int from = rank * each, to = at_most(from + each, pieces);
    const auto of_block = [&](int w) { return mapa(block, w); };
    if (clusters == 1)
      combine<Plan>(Plan::cluster, of_block, from, to, finish);
    else
      combine<Plan>(Plan::cluster, of_block, from, to, keep(mine));
    cluster_sync();  // no block exits while others read its results
    if (clusters == 1) return;
  }
  const auto of_cluster = [&](int w) { return parts + w * Plan::partial; };
  const smem<unsigned> arrived = shared<unsigned>("arrived", Plan::bytes - 16, 1);
  __syncthreads();
  if (tid == 0) arrived[0] = atomic_increment(counters + unit, splits - 1);
  __syncthreads();
  if (arrived[0] == static_cast<unsigned>(splits - 1)) combine<Plan>(clusters, of_cluster, 0, pieces, finish);
}

}  // namespace zellige::kernels
