// Computes attention (forward) on Hopper: O = softmax(scale Q K^T) V, as FlashAttention-3 does. The head dimension is
// 64 or 128; causal masks and grouped query heads are supported. A producer warpgroup loads by TMA; two consumer
// warpgroups compute 64 query rows each and alternate (ping-pong): one runs wgmma while the other computes
// exponentials. The rounded exponentials P stay in registers, as the A operand of P V.
//
//   using A = Attention<bfloat16_t, /*HeadDim=*/128, /*KeysPerTile=*/128, /*Causal=*/true>;
//   attention_sm90<A><<<132, A::threads, A::shared_bytes>>>(q, k, v, o, {queries, keys, heads, kv_heads, scale});
//
// q, k, v and o are TMA descriptors of rank-4 tensors [heads][HeadDim / 64][rows][64] with the 128-byte swizzle, which
// descriptors.hpp describes. A box has 64 rows (q, o) or KeysPerTile rows (k, v) of one head, over the whole head
// dimension. `heads` is the number of query heads times the number of batches; query head h reads key head
// h / (heads / kv_heads).
#pragma once
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/block/fragment_wgmma.hpp>
#include <zellige/block/online_softmax.hpp>
#include <zellige/block/ring.hpp>
#include <zellige/block/roles.hpp>
#include <zellige/block/slab.hpp>
#include <zellige/block/tile_scheduler.hpp>
#include <zellige/layout/integer.hpp>

namespace zellige::kernels {

/// Configuration of attention_sm90. Keys_ is the number of keys per tile. Members with `offset` in their name are bytes
/// of shared memory.
template <class Element_, int HeadDim_, int Keys_, bool Causal_>
struct Attention {
  using Element = Element_;
  static constexpr int HeadDim = HeadDim_, Keys = Keys_, slabs = HeadDim / 64, threads = 384;
  static constexpr bool Causal = Causal_;
  using QRing = Ring<2, Tiles<64 * HeadDim * 2>>;  // one stage per warpgroup
  using KvRing = Ring<2, Tiles<Keys * HeadDim * 2>>;
  static constexpr int k_offset = QRing::tiles_bytes, v_offset = k_offset + KvRing::tiles_bytes,
                       barriers_offset = v_offset + KvRing::tiles_bytes;
  static constexpr int shared_bytes = barriers_offset + 3 * KvRing::barriers_bytes;
  static_assert(HeadDim == 64 || HeadDim == 128, "Attention: head dimension 64 or 128");
  static_assert(Keys % 16 == 0 && Keys <= 256, "Attention: a multiple of 16 keys, at most 256");
};

/// Run-time sizes: `queries` and `keys` are per head; `heads` and `kv_heads` are the numbers of query heads and of key
/// heads, each times the number of batches.
struct AttentionShape {
  int queries, keys, heads, kv_heads;
  float scale;  // factor of the scores Q K^T
};

/// The problem's sizes, the order of tiles and the shared-memory rings of Q, K and V, for producer and consumers.
template <class A>
struct AttentionWork {
  AttentionShape s;
  HeadOrder<A::Causal> order;
  typename A::KvRing k, v;
  typename A::QRing q;

  ZELLIGE_CALL explicit AttentionWork(const AttentionShape& shape)
      : s(shape), order{(shape.queries + 127) / 128, shape.heads} {
    constexpr unsigned at = A::barriers_offset, each = A::KvRing::barriers_bytes;
    k = A::KvRing::at(A::k_offset, at, {"K"}, "k full", "k empty");
    v = A::KvRing::at(A::v_offset, at + each, {"V"}, "v full", "v empty");
    q = A::QRing::at(0, at + 2 * each, {"Q"}, "q full", "q empty");
  }
  ZELLIGE_CALL int iterations() const { return order.iterations(gridDim.x); }
  /// Returns the tile (of 128 query rows) and the head that this block computes in iteration number `iteration`. The
  /// tile is -1 if the block has nothing to compute in this iteration.
  ZELLIGE_CALL auto operator()(int iteration) const { return order(iteration, blockIdx.x, gridDim.x); }
  /// Returns how many key tiles the 128 query rows from `row` on attend to. With Causal, the last query attends to all
  /// keys, the query before it to all but the last key, and so on.
  ZELLIGE_CALL int key_tiles(int row) const {
    int keys = s.keys;
    if constexpr (A::Causal) {
      const int seen = row + 128 + s.keys - s.queries;
      keys = seen < keys ? seen : keys;
    }
    return (keys + A::Keys - 1) / A::Keys;
  }
};

/// Runs the producer: loads Q once per query tile, and the tiles of K and V from the last to the first. Called by one
/// thread.
template <class A>
ZELLIGE_CALL void attention_load(const TmaDescriptor& q_map, const TmaDescriptor& k_map, const TmaDescriptor& v_map,
                                 const AttentionWork<A>& work) {
  auto stage = work.k.first_empty();
  unsigned q_phase = 1;
  griddep_wait();
  const auto load = [&](const auto& ring, const RingStage<2>& s, const TmaDescriptor& map, CacheHint hint, int row,
                        int head) {
    const auto full = ring.acquire(s);
    tma_load_hint_4d(ring.tile(s), map, full, hint, 0, row, 0, head);
  };
  for (int iteration = 0; iteration < work.iterations(); ++iteration) {
    const auto [tile, head] = work(iteration);
    if (tile < 0) continue;
    const int row = 128 * tile, kv_head = head / (work.s.heads / work.s.kv_heads);
    auto before = stage;
    for (int j = work.key_tiles(row) - 1, last = j; j >= 0; --j, ++stage) {
      load(work.k, stage, k_map, CacheHint::evict_last, j * A::Keys, kv_head);
      if (j == last) {
        for (int w = 0; w < 2; ++w) load(work.q, {w, q_phase}, q_map, CacheHint::evict_first, row + 64 * w, head);
        q_phase ^= 1;
      } else {
        load(work.v, before, v_map, CacheHint::evict_last, (j + 1) * A::Keys, kv_head);
      }
      before = stage;
    }
    load(work.v, before, v_map, CacheHint::evict_last, 0, kv_head);
  }
}

/// Runs a consumer: computes and stores the calling warpgroup's 64 rows of O, for each of the block's query tiles.
/// Called by all threads of both consumer warpgroups.
template <class A>
ZELLIGE_CALL void attention_multiply(const TmaDescriptor& o_map, const AttentionWork<A>& work) {
  using Element = typename A::Element;
  constexpr int Keys = A::Keys;
  const int w = threadIdx.x / 128 - 1, thread = threadIdx.x % 128, warp = thread / 32, lane = thread % 32;
  const float scale = work.s.scale * 1.44269504f;  // exp(x) = exp2(x log2 e)
  const auto my_turn = [&] { named_barrier_sync(2 + w, 256); };
  const auto your_turn = [&] { named_barrier_arrive(3 - w, 256); };
  auto stage = work.k.first();
  RingStage<2> q_stage{w, 0};
  WarpgroupFragment<A::HeadDim> o;
  WarpgroupFragment<Keys> s;
  float factor[s.lines];
  Operand<Element, decltype(s)> p;
  const auto scores = [&](const RingStage<2>& at) {
    issue_wgmma<Element, A::HeadDim / 16>(s, k_major<64>(work.q.tile(q_stage)), k_major<Keys>(work.k.tile(at)), false);
    wgmma_commit();
  };
  const auto accumulate = [&](const RingStage<2>& at, bool first) {
    issue_wgmma<Element, Keys / 16>(o, p, mn_major<A::HeadDim, Keys>(work.v.tile(at)), !first);
    wgmma_commit();
  };
  const auto round_p = [&] {
#pragma unroll
    for (int i = 0; i < s.pairs; ++i) p.put(i, s.pair(i)[0], s.pair(i)[1]);
  };
  if (w == 1) your_turn();
  for (int iteration = 0; iteration < work.iterations(); ++iteration) {
    const auto [tile, head] = work(iteration);
    if (tile < 0) continue;
    const int row = 128 * tile + 64 * w, n = work.key_tiles(128 * tile);
    const auto mask = [&](int j) {
      int limit[2] = {work.s.keys - j * Keys, work.s.keys - j * Keys};
      if constexpr (A::Causal) {
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const int seen = row + s.line_at(h, warp, lane).m + 1 + work.s.keys - work.s.queries - j * Keys;
          limit[h] = seen < limit[h] ? seen : limit[h];
        }
      }
#pragma unroll
      for (int i = 0; i < s.pairs; ++i)
#pragma unroll
        for (int v = 0; v < 2; ++v)
          if (s.at(i, warp, lane).n + v >= limit[s.line(i)]) s.pair(i)[v] = -infinity;
    };
    OnlineSoftmax<decltype(s)> softmax;
    work.q.wait(q_stage);
    work.k.wait(stage);
    my_turn();
    scores(stage);
    your_turn();
    wgmma_wait<0>();
    work.k.release(stage);
    mask(n - 1);
    softmax.step(s, scale, factor);
    round_p();
    auto before = stage;
    ++stage;
    const auto go_on = [&](int j, auto masked) {
      work.k.wait(stage);
      my_turn();
      scores(stage);
      work.v.wait(before);
      accumulate(before, j == n - 2);
      your_turn();
      wgmma_wait<1>();
      work.k.release(stage);
      if constexpr (masked) mask(j);
      softmax.step(s, scale, factor);
      wgmma_wait<0>();
      work.v.release(before);
      round_p();
      scale_rows(o, factor);
      before = stage;
      ++stage;
    };
    int j = n - 2;
    if constexpr (A::Causal)
      for (; j >= 0 && (j + 1) * Keys > row + 1 + work.s.keys - work.s.queries; --j) go_on(j, true_type{});
    for (; j >= 0; --j) go_on(j, false_type{});
    work.v.wait(before);
    accumulate(before, n == 1);
    softmax.finish(factor);
    wgmma_wait<0>();
    work.v.release(before);
    scale_rows(o, factor);
    // The warpgroup has finished reading its rows of Q; the output slabs of 64 columns, one after another,
    // reuse their memory.
    const auto out = shared_tile<Element>("Q", w * A::QRing::stage_bytes, 64 * A::HeadDim, slab_layout<64>());
#pragma unroll
    for (int i = 0; i < A::slabs; ++i) store_columns<Element, 64>(out.shift(i * 4096), o, 64 * i, thread);
    fence_proxy_async_shared();
    named_barrier_sync(4 + w, 128);
    if (thread == 0) {
      tma_store_4d(o_map, out.data, 0, row, 0, head);
      tma_store_commit();
      tma_store_wait_read<0>();
      mbarrier_arrive(work.q.empty + w);
    }
    q_stage.phase ^= 1;
  }
  if (w == 0) my_turn();  // completes the other warpgroup's last hand-over
}

/// Computes O = softmax(scale Q K^T) V. Launch with one block per SM, A::threads threads and A::shared_bytes bytes of
/// dynamic shared memory.
template <class A>
__global__ __launch_bounds__(384, 1) void attention_sm90(const __grid_constant__ TmaDescriptor q,
                                                         const __grid_constant__ TmaDescriptor k,
                                                         const __grid_constant__ TmaDescriptor v,
                                                         const __grid_constant__ TmaDescriptor o,
                                                         AttentionShape shape) {
  const AttentionWork<A> work(shape);
  griddep_launch_dependents();
  if (threadIdx.x == 0) {
    work.k.init(8), work.v.init(8),
        work.q.init(1);  // released by each warp; q by each warpgroup's first thread
    fence_mbarrier_init();
  }
  __syncthreads();
  roles(producer<4, 40>([&] { attention_load(q, k, v, work); }),
        consumer<8, 232>([&] { attention_multiply(o, work); }));
}

}  // namespace zellige::kernels
