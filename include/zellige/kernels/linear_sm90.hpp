// Computes linear layers of 1 to 16 rows on Hopper: Y = X W, optionally with an RMSNorm of X or a gated activation.
// Streaming the weights takes most of the time. The operands are swapped (Y^T = W^T X^T): 64 columns of weights are
// wgmma's M dimension, the rows of X (8 or 16) its N dimension, and the accumulator is the transpose of Y.
//
//   using Layer = FewRows<half_t, Weights::kn, LinearWork::rms_norm, /*Rows=*/16>;
//   linear_sm90<Layer><<<96, Layer::threads, Layer::shared_bytes>>>(w, w, x, y, {rows, n, k});
//
//   LinearWork::product    Y = X W
//   LinearWork::rms_norm   Y = (X / rms(X)) W; sums the squares of X while multiplying, then scales the result
//   LinearWork::gated      Y = silu(X W) * (X V); a tile has 32 columns of each of W and V
//   Weights::nk      W is N x K, K-contiguous
//   Weights::kn      W is K x N, N-contiguous
//
// The arguments are TMA descriptors of W, V and X (see descriptors.hpp) and the address of Y. The second one, V, is
// unused unless the work is gated. N must be a multiple of 8, K of 64.
#pragma once
#include <zellige/atom/access.hpp>
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/atom/math.hpp>
#include <zellige/atom/named_barrier.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/block/fragment_wgmma.hpp>
#include <zellige/block/reduce.hpp>
#include <zellige/block/ring.hpp>
#include <zellige/block/roles.hpp>
#include <zellige/block/slab.hpp>

namespace zellige::kernels {

/// Layout of the weights in memory: row-major N x K (nk), or row-major K x N (kn).
enum class Weights { nk, kn };
/// What the kernel computes: X W, (X / rms(X)) W, or silu(X W) * (X V).
enum class LinearWork { product, rms_norm, gated };

/// Configuration of linear_sm90 for up to Rows_ rows, which is 8 or 16. A stage holds 64 * Chunks_ values of K. Members
/// with `offset` in their name are bytes of shared memory.
template <class Element_, Weights weights_, LinearWork work_, int Rows_, int Chunks_ = 4>
struct FewRows {
  using Element = Element_;
  static constexpr Weights weights = weights_;
  static constexpr LinearWork work = work_;
  static constexpr int Rows = Rows_, Chunks = Chunks_;
  static constexpr bool gated = work == LinearWork::gated;
  static constexpr int columns = gated ? 32 : 64;  // columns of Y per tile
  static constexpr int threads = 256;
  static constexpr int w_bytes = 8192 * Chunks, x_bytes = Rows * 128 * Chunks;
  static constexpr int Stages = 200 * 1024 / (w_bytes + x_bytes);
  using Loads = Ring<Stages, Tiles<w_bytes, x_bytes>>;
  // out: the tile of Y; extra: 1 / rms of the rows, or the accumulators of X V.
  static constexpr int out_offset = Loads::tiles_bytes;
  static constexpr int extra_offset = out_offset + 16 * 128;
  static constexpr int barriers_offset = extra_offset + 64 * Rows * 4;
  static constexpr int shared_bytes = barriers_offset + Loads::barriers_bytes;
  static_assert(Rows == 8 || Rows == 16, "FewRows: tiles of 8 or 16 rows");
  static_assert(!gated || weights == Weights::kn, "FewRows: gated weights are K x N");
};

/// Run-time sizes: X is rows x k, Y is rows x n.
struct LinearShape {
  int rows, n, k;
};

/// Runs the producer: loads the weights and X for each of the block's tiles. Called by one thread. The first loads of
/// weights are issued before the kernel that produces X has ended, because no kernel writes the weights.
template <class L>
ZELLIGE_CALL void linear_load(const TmaDescriptor& w, const TmaDescriptor& v, const TmaDescriptor& x,
                              const LinearShape& s, const typename L::Loads& ring) {
  using Stage = typename L::Loads::Stage;
  const auto load_w = [&](const Stage& stage, int column, int k) {
    const auto full = ring.acquire(stage);
    const auto tile = ring.tile(stage, 0);
    if constexpr (L::weights == Weights::nk)
      tma_load_hint_3d(tile, w, full, CacheHint::evict_first, 0, column, k / 64);
    else
      tma_load_hint_2d(tile, w, full, CacheHint::evict_first, column, k);
    if constexpr (L::gated) tma_load_hint_2d(tile + L::w_bytes / 2, v, full, CacheHint::evict_first, column, k);
  };
  const auto load_x = [&](const Stage& stage, int k) {
    tma_load_hint_3d(ring.tile(stage, 1), x, ring.full_barrier(stage), CacheHint::evict_last, 0, 0, k / 64);
  };
  constexpr int step = 64 * L::Chunks;
  auto stage = ring.first_empty();
  const int first = blockIdx.x * L::columns,
            early = first < s.n ? (s.k < step * L::Stages ? s.k : step * L::Stages) : 0;
  auto next_stage = stage;
  for (int k = 0; k < early; k += step, ++next_stage) load_w(next_stage, first, k);
  griddep_wait();
  for (int column = first; column < s.n; column += gridDim.x * L::columns) {
    for (int k = 0; k < s.k; k += step, ++stage) {
      if (column > first || k >= early) load_w(stage, column, k);
      load_x(stage, k);
    }
  }
}

/// Runs the consumer: computes and stores each of the block's tiles of Y. Called by one warpgroup.
template <class L>
ZELLIGE_CALL void linear_multiply(gmem<typename L::Element> y, const LinearShape& s, const typename L::Loads& ring) {
  using Element = typename L::Element;
  const int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
  const auto out = shared_tile<Element>("Y", L::out_offset, 16 * 64, slab_layout<L::Rows, true>());
  const auto extra = shared<float>("extra", L::extra_offset, 64 * L::Rows);
  const auto weights = [](any_pointer tile) {
    if constexpr (L::weights == Weights::nk)
      return k_major<64>(tile);
    else if constexpr (L::gated)
      return mn_major<64, 64 * L::Chunks, SwizzleMode::b64>(tile);  // W's 32 columns and V's
    else
      return mn_major<64, 64 * L::Chunks>(tile);
  };
  const auto release = [&](const auto& s) {
    if constexpr (L::work == LinearWork::rms_norm) __syncwarp();  // all lanes have read their squares
    ring.release(s);
  };
  auto stage = ring.first();
  WarpgroupFragment<L::Rows> d;  // Y's transpose
  for (int column = blockIdx.x * L::columns; column < s.n; column += gridDim.x * L::columns) {
    float squares = 0;  // of row thread / (128 / Rows), this thread's share
    auto previous = stage;
    for (int k = 0; k < s.k; k += 64 * L::Chunks, ++stage) {
      ring.wait(stage);
      const auto x_tile = ring.tile(stage, 1);
      issue_wgmma<Element, 4 * L::Chunks>(d, weights(ring.tile(stage, 0)), k_major<L::Rows>(x_tile), k > 0);
      wgmma_commit();
      if constexpr (L::work ==
                    LinearWork::rms_norm) {  // the sum of squares does not depend on the order of a row's elements
        constexpr int share = 128 / L::Rows;
        const auto line = recast<const Element>(x_tile) + thread / share * 64;
#pragma unroll
        for (int c = 0; c < 8 * L::Chunks / share; ++c) {
          const int chunk = thread % share + c * share;
          const Vec<Element, 8> e = load<8>(line + chunk / 8 * (L::Rows * 64) + chunk % 8 * 8);
#pragma unroll
          for (int i = 0; i < 8; ++i) squares += square(static_cast<float>(e[i]));
        }
      }
      if (k > 0) {
        wgmma_wait<1>();
        release(previous);
      }
      previous = stage;
    }
    wgmma_wait<0>();
    release(previous);

    if constexpr (L::work == LinearWork::rms_norm) {
      constexpr int share = 128 / L::Rows;
      squares = sum_lanes<share>(squares);
      if (thread % share == 0) extra[thread / share] = rsqrt(squares / s.k);
      named_barrier_sync(1, 128);
#pragma unroll
      for (int i = 0; i < d.pairs; ++i)
#pragma unroll
        for (int v = 0; v < 2; ++v) d.pair(i)[v] *= extra[d.at(i, warp, lane).n + v];
    }
    if constexpr (L::gated) {  // warps 0 and 1 hold silu's operand, 2 and 3 the factor of the same columns
#pragma unroll
      for (int i = 0; i < d.pairs; ++i)
#pragma unroll
        for (int v = 0; v < 2; ++v)
          if (warp >= 2) extra[(2 * i + v) * 64 + thread % 64] = d.pair(i)[v];
      named_barrier_sync(1, 128);
#pragma unroll
      for (int i = 0; i < d.pairs; ++i)
#pragma unroll
        for (int v = 0; v < 2; ++v)
          if (warp < 2) d.pair(i)[v] = silu(d.pair(i)[v]) * extra[(2 * i + v) * 64 + thread];
    }
    if (16 * warp < L::columns) store_columns<Element, L::Rows, true>(out, d, 0, thread);
    named_barrier_sync(1, 128);
    const int row = thread / 8, chunk = thread % 8;
    if (row < s.rows && row < L::Rows && 8 * chunk < L::columns && column + 8 * chunk < s.n)
      store(y + static_cast<int64_t>(row) * s.n + column + 8 * chunk, load<8>(out(8 * chunk, row)));
    named_barrier_sync(1, 128);
  }
}

/// Computes Y = X W, with an RMSNorm or a gate if L::work says so. Launch with L::threads threads and L::shared_bytes
/// bytes of dynamic shared memory; blocks loop over tiles of L::columns columns of Y. v, the weights of the gate, is
/// unused unless L::work is gated.
template <class L>
__global__ __launch_bounds__(256, 1) void linear_sm90(const __grid_constant__ TmaDescriptor w,
                                                      const __grid_constant__ TmaDescriptor v,
                                                      const __grid_constant__ TmaDescriptor x,
                                                      gmem<typename L::Element> y, LinearShape shape) {
  const auto ring = L::Loads::at(0, L::barriers_offset, {"W", "X"});
  griddep_launch_dependents();
  if (threadIdx.x == 128) {
    ring.init(4);  // warps
    fence_mbarrier_init();
  }
  __syncthreads();
  roles(consumer<4>([&] { linear_multiply<L>(y, shape, ring); }),
        producer<4>([&] { linear_load<L>(w, v, x, shape, ring); }));
}

}  // namespace zellige::kernels
