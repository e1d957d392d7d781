// Attention forward for Hopper: O = softmax(Q K^T scale) V, head dimension 64 or 128, causal or not, grouped heads.
// Two warpgroups take 64 query rows each and play ping-pong: one multiplies while the other takes exponentials.
// P never leaves the registers: the accumulator of Q K^T, rounded, is the first operand of P V.
//
//   using A = Attention<bfloat16_t, /*HeadDim=*/128, /*KeysPerTile=*/128, /*Causal=*/true>;
//   attention_sm90<A><<<132, A::threads, A::shared_bytes>>>(q, k, v, o, {queries, keys, heads, kv_heads, scale});
//
// Descriptors of rank 4, [heads][HeadDim / 64][rows][64] with the 128-byte swizzle: boxes of 64 rows (q, o) or
// KeysPerTile rows (k, v), all HeadDim / 64 slabs in one. `heads` counts batches too; query head h reads key head
// h / (heads / kv_heads).
#pragma once
#include <zellige/atom/convert.hpp>
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/setmaxnreg.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/atom/wgmma.hpp>
#include <zellige/block/online_softmax.hpp>
#include <zellige/block/pipeline.hpp>
#include <zellige/block/slab.hpp>
#include <zellige/layout/integer.hpp>

namespace zellige::kernels {

template <class Element_, int HeadDim_, int Keys_, bool Causal_>
struct Attention {
  using Element = Element_;
  static constexpr int HeadDim = HeadDim_, Keys = Keys_, slabs = HeadDim / 64, threads = 384;
  static constexpr bool Causal = Causal_;
  static constexpr int q_bytes = 64 * HeadDim * 2,
                       kv_bytes = Keys * HeadDim * 2;  // of a warpgroup; of a stage
  static constexpr int k_offset = 2 * q_bytes, v_offset = k_offset + 2 * kv_bytes,
                       barriers_offset = v_offset + 2 * kv_bytes;
  static constexpr int shared_bytes = barriers_offset + 3 * PipelineTmaAsync<2>::bytes;
  static_assert(HeadDim == 64 || HeadDim == 128, "Attention: head dimension 64 or 128");
  static_assert(Keys % 16 == 0 && Keys <= 256, "Attention: a multiple of 16 keys, at most 256");
};

struct AttentionShape {
  int queries, keys, heads, kv_heads;
  float scale;  // of the scores
};

/// What producer and consumers agree on.
template <class A>
struct AttentionWork {
  AttentionShape s;
  int row_tiles;
  PipelineTmaAsync<2> k, v, q;  // q: a stage a warpgroup

  ZELLIGE_CALL explicit AttentionWork(const AttentionShape& shape)
      : s(shape), row_tiles((shape.queries + 127) / 128) {
    constexpr unsigned at = A::barriers_offset, each = PipelineTmaAsync<2>::bytes;
    k = PipelineTmaAsync<2>::at(at, "k full", "k empty");
    v = PipelineTmaAsync<2>::at(at + each, "v full", "v empty");
    q = PipelineTmaAsync<2>::at(at + 2 * each, "q full", "q empty");
  }
  struct Place {
    int row, head;  // row -1: nothing to do
  };
  /// How many tiles each block is asked to take.
  ZELLIGE_CALL int turns() const {
    const int units = (A::Causal ? (row_tiles + 1) / 2 : row_tiles) * s.heads, blocks = gridDim.x;
    return (units + blocks - 1) / blocks * (A::Causal ? 2 : 1);
  }
  /// This block's tile. Causal: a long one and the short one that makes up for it, from both ends of a head.
  ZELLIGE_CALL Place operator()(int turn) const {
    const int per_head = A::Causal ? (row_tiles + 1) / 2 : row_tiles;
    const int unit = (A::Causal ? turn / 2 : turn) * gridDim.x + blockIdx.x, head = unit / per_head,
              r = unit % per_head;
    if (head >= s.heads || (A::Causal && turn % 2 && 2 * r + 1 == row_tiles)) return {-1, 0};
    return {(A::Causal && turn % 2 == 0 ? row_tiles - 1 - r : r) * 128, head};
  }
  /// Tiles of keys that the rows from `row` on see. Causal: the last query sees the last key.
  ZELLIGE_CALL int key_tiles(int row) const {
    int keys = s.keys;
    if constexpr (A::Causal) {
      const int seen = row + 128 + s.keys - s.queries;
      keys = seen < keys ? seen : keys;
    }
    return (keys + A::Keys - 1) / A::Keys;
  }
};

template <class A>
ZELLIGE_CALL void attention_load(const TmaDescriptor& q_map, const TmaDescriptor& k_map,
                                 const TmaDescriptor& v_map, const AttentionWork<A>& work) {
  const auto sQ = shared<unsigned char>("Q", 0, 2 * A::q_bytes);
  const auto sK = shared<unsigned char>("K", A::k_offset, 2 * A::kv_bytes);
  const auto sV = shared<unsigned char>("V", A::v_offset, 2 * A::kv_bytes);
  auto stage = producer_start<2>();
  unsigned q_phase = 1;
  griddep_wait();
  const auto load_v = [&](const PipelineState<2>& s, int j, int head) {
    work.v.producer_acquire(s, A::kv_bytes);
    tma_load_hint_4d(sV + s.index * A::kv_bytes, v_map, work.v.full_barrier(s), CacheHint::evict_last, 0,
                     j * A::Keys, 0, head);
  };
  for (int turn = 0; turn < work.turns(); ++turn) {
    const auto [row, head] = work(turn);
    if (row < 0) continue;
    const int kv_head = head / (work.s.heads / work.s.kv_heads);
    auto before = stage;
    for (int j = work.key_tiles(row) - 1, last = j; j >= 0; --j, ++stage) {
      work.k.producer_acquire(stage, A::kv_bytes);
      tma_load_hint_4d(sK + stage.index * A::kv_bytes, k_map, work.k.full_barrier(stage),
                       CacheHint::evict_last, 0, j * A::Keys, 0, kv_head);
      if (j == last) {
        for (int w = 0; w < 2; ++w) {
          work.q.producer_acquire({w, q_phase}, A::q_bytes);
          tma_load_hint_4d(sQ + w * A::q_bytes, q_map, work.q.full + w, CacheHint::evict_first, 0,
                           row + 64 * w, 0, head);
        }
        q_phase ^= 1;
      } else {
        load_v(before, j + 1, kv_head);
      }
      before = stage;
    }
    load_v(before, 0, kv_head);
  }
}

template <class A>
ZELLIGE_CALL void attention_multiply(const TmaDescriptor& o_map, const AttentionWork<A>& work) {
  using Element = typename A::Element;
  constexpr int Keys = A::Keys;
  const int w = threadIdx.x / 128 - 1, thread = threadIdx.x % 128, lane = thread % 32;
  const auto sQ = shared<unsigned char>("Q", 0, 2 * A::q_bytes) + w * A::q_bytes;
  const auto sK = shared<unsigned char>("K", A::k_offset, 2 * A::kv_bytes);
  const auto sV = shared<unsigned char>("V", A::v_offset, 2 * A::kv_bytes);
  const float scale = work.s.scale * 1.44269504f;  // exp(x) = exp2(x log2 e)
  const auto release = [&](const auto& pipeline, const auto& s) {
    lane == 0 ? pipeline.consumer_release(s) : void();
  };
  const auto my_turn = [&] { named_barrier_sync(2 + w, 256); };
  const auto your_turn = [&] { named_barrier_arrive(3 - w, 256); };
  PipelineState<2> stage;
  unsigned q_phase = 0;
  float o[A::HeadDim / 2], s[Keys / 2], factor[2];
  uint32_t p[Keys / 16][4];
  const auto scores = [&](const PipelineState<2>& at) {
    const uint64_t q = smem_descriptor(sQ, 16, 1024, SwizzleMode::b128);
    const uint64_t k = smem_descriptor(sK + at.index * A::kv_bytes, 16, 1024, SwizzleMode::b128);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < A::HeadDim / 16; ++i)
      wgmma<Element>(s, advance(q, i / 4 * 8192 + i % 4 * 32), advance(k, i / 4 * (Keys * 128) + i % 4 * 32),
                     i > 0);
    wgmma_commit();
  };
  const auto accumulate = [&](const PipelineState<2>& at, bool first) {
    const uint64_t v = smem_descriptor(sV + at.index * A::kv_bytes, Keys * 128, 1024, SwizzleMode::b128);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < Keys / 16; ++i)
      wgmma<Element, Major::MN>(o, p[i], advance(v, i * 2048), i > 0 || !first);
    wgmma_commit();
  };
  const auto round_p = [&] {
#pragma unroll
    for (int i = 0; i < Keys / 4; ++i) p[i / 4][i % 4] = pack<Element>(s[2 * i], s[2 * i + 1]);
  };
  if (w == 1) your_turn();
  for (int turn = 0; turn < work.turns(); ++turn) {
    const auto [tile_row, head] = work(turn);
    if (tile_row < 0) continue;
    const int row = tile_row + 64 * w, first_row = row + thread / 32 * 16 + lane / 4,
              n = work.key_tiles(tile_row);
    const auto mask = [&](int j) {
      int limit[2] = {work.s.keys - j * Keys, work.s.keys - j * Keys};
      if constexpr (A::Causal) {
        const int seen = first_row + 1 + work.s.keys - work.s.queries - j * Keys;
        limit[0] = seen < limit[0] ? seen : limit[0];
        limit[1] = seen + 8 < limit[1] ? seen + 8 : limit[1];
      }
#pragma unroll
      for (int i = 0; i < Keys / 2; ++i)
        if (i / 4 * 8 + lane % 4 * 2 + i % 2 >= limit[i / 2 % 2]) s[i] = -__builtin_inff();
    };
    OnlineSoftmax<Keys / 2> softmax;
    mbarrier_wait(work.q.full + w, q_phase);
    work.k.consumer_wait(stage);
    my_turn();
    scores(stage);
    your_turn();
    wgmma_wait<0>();
    release(work.k, stage);
    mask(n - 1);
    softmax.template step<true>(s, scale, factor);
    round_p();
    auto before = stage;
    ++stage;
    const auto go_on = [&](int j, auto masked) {
      work.k.consumer_wait(stage);
      my_turn();
      scores(stage);
      work.v.consumer_wait(before);
      accumulate(before, j == n - 2);
      your_turn();
      wgmma_wait<1>();
      release(work.k, stage);
      if constexpr (masked) mask(j);
      softmax.template step<masked>(s, scale, factor);
      wgmma_wait<0>();
      release(work.v, before);
      round_p();
#pragma unroll
      for (int i = 0; i < A::HeadDim / 2; ++i) o[i] *= factor[i / 2 % 2];
      before = stage;
      ++stage;
    };
    int j = n - 2;
    if constexpr (A::Causal)
      for (; j >= 0 && (j + 1) * Keys > row + 1 + work.s.keys - work.s.queries; --j) go_on(j, true_type{});
    for (; j >= 0; --j) go_on(j, false_type{});
    work.v.consumer_wait(before);
    accumulate(before, n == 1);
    softmax.finish(factor);
    wgmma_wait<0>();
    release(work.v, before);
#pragma unroll
    for (int i = 0; i < A::HeadDim / 2; ++i) o[i] *= factor[i / 2 % 2];
    const auto out =
        shared<Element>("Q", w * A::q_bytes, 64 * A::HeadDim);  // its own rows of Q are done with
#pragma unroll
    for (int i = 0; i < A::slabs; ++i) write_slab<Element, 64>(out + i * 4096, o + 32 * i);
    fence_proxy_async_shared();
    named_barrier_sync(4 + w, 128);
    if (thread == 0) {
      tma_store_4d(o_map, out, 0, row, 0, head);
      tma_store_commit();
      tma_store_wait_read<0>();
      mbarrier_arrive(work.q.empty + w);
    }
    q_phase ^= 1;
  }
  if (w == 0) my_turn();  // takes what the other gave last
}

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
  if (threadIdx.x < 128) {
    register_dealloc<40>();
    if (threadIdx.x == 0) attention_load(q, k, v, work);
  } else {
    register_alloc<232>();
    attention_multiply(o, work);
  }
}

}  // namespace zellige::kernels
