// Computes linear layers of 17 to 128 rows on Hopper: Y = epilogue(X W^T), where X is rows x K and W is N x K, both
// K-contiguous. With so few rows, reading the weights takes most of the time. linear_sm90.hpp is for 1 to 16 rows,
// gemm_sm90.hpp for more than 128.
//
//   using Layer = ManyRows<half_t, /*Rows=*/128>;
//   linear_rows_sm90<Layer><<<128, Layer::threads, Layer::shared_bytes>>>(w, x, y, {rows, n, k}, Identity{});
//
// The operands are swapped (Y^T = W X^T): 64 rows of W are the M dimension of wgmma, the rows of X its N dimension.
// One warpgroup then reads 6 KB of shared memory per 64 x 128 x 16 step; without the swap, two warpgroups would read
// 8 KB. The accumulator is the transpose of Y; stmatrix transposes it again.
//
// W and X have separate shared-memory rings, because their latencies differ. W streams from DRAM, and its first loads
// are issued before the kernel that produces X has ended. X comes from the L2; hiding its latency takes eight stages.
//
// w, x and y are TMA descriptors, which descriptors.hpp describes: W in boxes of 64 rows x 64 columns, X and Y in boxes
// of Rows x 64, all with the 128-byte swizzle. N and K must be multiples of 8.
#pragma once
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/atom/tma.hpp>
#include <zellige/block/apply_epilogue.hpp>
#include <zellige/block/fragment_wgmma.hpp>
#include <zellige/block/ring.hpp>
#include <zellige/block/roles.hpp>
#include <zellige/block/slab.hpp>
#include <zellige/kernels/linear_sm90.hpp>

namespace zellige::kernels {

/// Configuration of linear_rows_sm90 for up to Rows_ rows, which is 64 or 128. Members with `offset` or `barriers` in
/// their name are bytes of shared memory.
template <class Element_, int Rows_>
struct ManyRows {
  using Element = Element_;
  static constexpr int Rows = Rows_, threads = 256;
  static constexpr int XStages = Rows == 128 ? 8 : 12, WStages = Rows == 128 ? 10 : 14;
  using XRing = Ring<XStages, Tiles<Rows * 128>>;
  using WRing = Ring<WStages, Tiles<64 * 128>>;
  static constexpr int w_offset = XRing::tiles_bytes, out_offset = w_offset + WRing::tiles_bytes;
  static constexpr int x_barriers = out_offset + Rows * 128, w_barriers = x_barriers + XRing::barriers_bytes;
  static constexpr int shared_bytes = w_barriers + WRing::barriers_bytes;
  static_assert(sizeof(Element) == 2 && (Rows == 64 || Rows == 128), "ManyRows: 16-bit elements, 64 or 128 rows");
  static_assert(shared_bytes <= 227 * 1024, "ManyRows: the rings must fit a multiprocessor");
};

/// Runs the producer of W: loads the weights of the block's tiles. Called by one thread. Does not wait for the previous
/// kernel, because no kernel writes the weights.
template <class L>
ZELLIGE_CALL void stream_weights(const TmaDescriptor& w, const LinearShape& s, const typename L::WRing& ring) {
  auto stage = ring.first_empty();
  for (int column = blockIdx.x * 64; column < s.n; column += gridDim.x * 64) {
    for (int k = 0; k < s.k; k += 64, ++stage) {
      const auto full = ring.acquire(stage);
      tma_load_hint_2d(ring.tile(stage), w, full, CacheHint::evict_first, k, column);
    }
  }
}

/// Runs the producer of X: loads all of X once per tile of 64 columns of Y, after the previous kernel has ended. Called
/// by one thread. Every block reads X, so it is loaded with the hint to keep it in the L2 (evict_last).
template <class L>
ZELLIGE_CALL void load_rows(const TmaDescriptor& x, const LinearShape& s, const typename L::XRing& ring) {
  auto stage = ring.first_empty();
  griddep_wait();
  for (int column = blockIdx.x * 64; column < s.n; column += gridDim.x * 64) {
    for (int k = 0; k < s.k; k += 64, ++stage) {
      const auto full = ring.acquire(stage);
      tma_load_hint_2d(ring.tile(stage), x, full, CacheHint::evict_last, k, 0);
    }
  }
}

/// Runs the consumer: computes and stores each of the block's tiles of 64 columns of Y. Called by one warpgroup.
template <class L, class Epilogue>
ZELLIGE_CALL void multiply_rows(const TmaDescriptor& y, const LinearShape& s, const typename L::XRing& xs,
                                const typename L::WRing& ws, const Epilogue& epilogue) {
  using Element = typename L::Element;
  const int thread = threadIdx.x;
  auto out = Slabs<Element, L::Rows, 1, true>::at("Y", L::out_offset, 1);
  auto x_stage = xs.first();
  auto w_stage = ws.first();
  WarpgroupFragment<L::Rows> d;  // Y's transpose
  for (int column = blockIdx.x * 64; column < s.n; column += gridDim.x * 64) {
    auto x_previous = x_stage;
    auto w_previous = w_stage;
    const auto release = [&] { xs.release(x_previous), ws.release(w_previous); };
    for (int k = 0; k < s.k; k += 64, ++x_stage, ++w_stage) {
      ws.wait(w_stage);
      xs.wait(x_stage);
      issue_wgmma<Element, 4>(d, k_major<64>(ws.tile(w_stage)), k_major<L::Rows>(xs.tile(x_stage)), k > 0);
      wgmma_commit();
      if (k > 0) {
        wgmma_wait<1>();
        release();
      }
      x_previous = x_stage;
      w_previous = w_stage;
    }
    wgmma_wait<0>();
    release();

    apply_transposed(epilogue, d, thread, {0, column, s.rows, s.n});
    out.store(d, 0, thread, [&](smem<Element> slab) { tma_store_2d(y, slab, column, 0); });
  }
  out.drain(thread);
}

/// Computes Y = epilogue(X W^T). Launch with L::threads threads and L::shared_bytes bytes of dynamic shared memory;
/// blocks loop over tiles of 64 columns of Y.
template <class L, class Epilogue>
__global__ __launch_bounds__(256, 1) void linear_rows_sm90(const __grid_constant__ TmaDescriptor w,
                                                           const __grid_constant__ TmaDescriptor x,
                                                           const __grid_constant__ TmaDescriptor y, LinearShape shape,
                                                           Epilogue epilogue) {
  const auto xs = L::XRing::at(0, L::x_barriers, {"X"}, "x full", "x empty");
  const auto ws = L::WRing::at(L::w_offset, L::w_barriers, {"W"}, "w full", "w empty");
  griddep_launch_dependents();
  if (threadIdx.x == 128) {
    prefetch_tma_descriptor(w), prefetch_tma_descriptor(x);
    xs.init(4), ws.init(4);  // warps
    fence_mbarrier_init();
  }
  __syncthreads();
  roles(consumer<4>([&] { multiply_rows<L>(y, shape, xs, ws, epilogue); }),
        producer<1>([&] { stream_weights<L>(w, shape, ws); }), producer<3>([&] { load_rows<L>(x, shape, xs); }));
}

}  // namespace zellige::kernels
