// Computes a GEMM on Ampere and later, C = epilogue(A B): cp.async fills a ring of stages in shared memory, ldmatrix
// and mma.sync read it. A is row-major, B row-major (K x N) or, with AlongK, column-major (N x K in memory). Any M, N
// and K.
//
//   // tile of 128 x 128 x 64, 3 stages, 2 x 4 warps along M and N, AlongK = false
//   using Tile = GemmSm80<half_t, 128, 128, 64, 3, 2, 4, false>;
//   gemm_sm80<Tile><<<dim3(ceil_div(N, 128), ceil_div(M, 128)), Tile::threads, Tile::bytes>>>(
//       A, lda, B, ldb, C, ldc, M, N, K, Identity{});
//
// Requires pitches that are multiples of 8 elements, and operands that start at multiples of 16 bytes; gemm_ragged.hpp
// does not.
#pragma once
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/block.hpp>
#include <zellige/block/epilogue.hpp>
#include <zellige/block/store_fragment.hpp>
#include <zellige/layout/composed.hpp>

namespace zellige::kernels {

/// Configuration of gemm_sm80: the block's tile, the number of stages, the warps along M and N, and AlongK, which is
/// true for a column-major B.
template <class T, int TileM, int TileN, int TileK, int Stages, int WarpsM, int WarpsN, bool AlongK>
struct GemmSm80 {
  using Element = T;
  static constexpr int m = TileM, n = TileN, k = TileK, stages = Stages, threads = 32 * WarpsM * WarpsN;
  static constexpr bool along_k = AlongK;
  static constexpr int a_size = TileM * TileK, b_size = TileN * TileK, bytes = 2 * Stages * (a_size + b_size);
  static_assert(TileK == 64 && TileN % 64 == 0 && TileM % 16 == 0,
                "GemmSm80: lines of 64 elements, the swizzle's span");
  using Accumulators = Fragment<1, TileM, TileN, 1, WarpsM, WarpsN>;
  // Layouts of A (batch, m, k) and B (batch, k, n) before the swizzle, which spreads eight rows of 64 elements, 128
  // bytes, over the banks. A row-major B is stored in slabs of 64 columns.
  using ALayout = Layout<Shape<_1, Int<TileM>, _64>, Stride<_0, _64, _1>>;
  using BLayout =
      conditional_t<AlongK, Layout<Shape<_1, _64, Int<TileN>>, Stride<_0, _1, _64>>,
                    Layout<Shape<_1, _64, Shape<_64, Int<TileN / 64>>>, Stride<_0, _64, Stride<_1, _4096>>>>;
};

/// Computes C = epilogue(A B), one Tile::m x Tile::n tile per block. lda, ldb and ldc are pitches in elements.
template <class Tile, class Epilogue>
__global__ void __launch_bounds__(Tile::threads)
    gemm_sm80(gmem<const typename Tile::Element> A, int64_t lda, gmem<const typename Tile::Element> B, int64_t ldb,
              gmem<typename Tile::Element> C, int64_t ldc, int M, int N, int K, Epilogue epilogue) {
  using T = typename Tile::Element;
  constexpr int stages = Tile::stages, threads = Tile::threads;
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32;
  const int m0 = static_cast<int>(blockIdx.y) * Tile::m, n0 = static_cast<int>(blockIdx.x) * Tile::n;
  const auto sA =
      shared_ring<T, stages>("A", 0, stages * Tile::a_size, composition(Swizzle<3, 3, 3>{}, typename Tile::ALayout{}));
  const auto sB = shared_ring<T, stages>("B", 2 * stages * Tile::a_size, stages * Tile::b_size,
                                         composition(Swizzle<3, 3, 3>{}, typename Tile::BLayout{}));

  // Copies 16 bytes at a time, with zeros beyond the last row and column.
  const auto load_stage = [&](int stage, int k0) {
#pragma unroll
    for (int i = tid; i < Tile::a_size / 8; i += threads) {
      const int r = i / 8, k = k0 + i % 8 * 8;
      const int valid = m0 + r < M ? edge(K - k, 8) : 0;
      cp_async<16>(sA.shift(stage * Tile::a_size)(0, r, i % 8 * 8), valid ? A + (m0 + r) * lda + k : A, 2 * valid);
    }
#pragma unroll
    for (int i = tid; i < Tile::b_size / 8; i += threads) {
      if constexpr (Tile::along_k) {
        const int r = i / 8, k = k0 + i % 8 * 8;
        const int valid = n0 + r < N ? edge(K - k, 8) : 0;
        cp_async<16>(sB.shift(stage * Tile::b_size)(0, i % 8 * 8, r), valid ? B + (n0 + r) * ldb + k : B, 2 * valid);
      } else {
        const int r = i / (Tile::n / 8), n = i % (Tile::n / 8) * 8;
        const int valid = k0 + r < K ? edge(N - n0 - n, 8) : 0;
        cp_async<16>(sB.shift(stage * Tile::b_size)(0, r, n), valid ? B + (k0 + r) * ldb + n0 + n : B, 2 * valid);
      }
    }
    cp_async_commit();
  };

  griddep_launch_dependents();
  griddep_wait();
  const int tiles = (K + Tile::k - 1) / Tile::k;
#pragma unroll
  for (int s = 0; s < stages - 1; ++s) {
    if (s < tiles)
      load_stage(s, s * Tile::k);
    else
      cp_async_commit();
  }
  typename Tile::Accumulators d;
  d.clear();
  int stage = 0, next = stages - 1;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    cp_async_wait<stages - 2>();
    __syncthreads();
    if (tile + stages - 1 < tiles)
      load_stage(next, (tile + stages - 1) * Tile::k);
    else
      cp_async_commit();
    multiply<T, Tile::k, true, Tile::along_k>(d, sA.shift(stage * Tile::a_size), sB.shift(stage * Tile::b_size), warp,
                                              lane);
    stage = stage + 1 == stages ? 0 : stage + 1;
    next = next + 1 == stages ? 0 : next + 1;
  }

  store_fragment(d, epilogue, C, ldc, {m0, n0, M, N}, warp, lane);
}

}  // namespace zellige::kernels
