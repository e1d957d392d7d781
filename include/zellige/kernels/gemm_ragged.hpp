// Computes a GEMM of unaligned operands, C = epilogue(A B): any size, any pitch, 2-byte alignment. A is row-major, B
// row-major (K x N) or, with AlongK, column-major (N x K in memory).
//
//   // 32 x 32 tiles, 4 stages, AlongK = false
//   gemm_ragged<half_t, 32, 32, 4, false><<<dim3(ceil_div(N, 32), ceil_div(M, 32)), 256,
//                                           GemmRagged<32, 32, 4, false>::bytes>>>(
//       A, lda, B, ldb, C, ldc, M, N, K, Identity{});
//
// Elements are not realigned: cp.async copies whole aligned 16-byte chunks of 8 elements to shared memory (RaggedRows).
// Warp w of the eight warps multiplies only those k with k mod 8 = w:
//   A, and B with AlongK   elements k, k + 8, ... of a row have the same position in consecutive chunks; the warp
//                          gathers its fragments from these positions
//   row-major B            rows k, k + 8, ... begin at the same offset within their first chunks. The warp multiplies
//                          whole chunks, 8 columns more than the tile has, and its results are shifted by the offset
// The warps' results are added in shared memory, and the epilogue of the sums is stored to C.
#pragma once
#include <zellige/atom/griddepcontrol.hpp>
#include <zellige/block/epilogue.hpp>
#include <zellige/block/ragged.hpp>

namespace zellige::kernels {

/// Sizes of gemm_ragged's shared memory for tiles of M x N, in elements; `bytes` is the total in bytes.
template <int M, int N, int Stages, bool AlongK>
struct GemmRagged {
  static constexpr int threads = 256, k = 256, steps = k / 128;  // k of a stage; k16 steps of a warp in it
  static constexpr int line = k + 8;                             // a row along K: its chunks and one more
  static constexpr int window = AlongK ? N : N + 8;              // columns that a warp computes
  static constexpr int plane =
      (k / 8 * (N / 8 + 1) + 4) * 8;  // the rows of B with equal k mod 8; 4 chunks of padding against bank conflicts
  static constexpr int a_size = M * line, b_size = AlongK ? N * line : 8 * plane, stage = a_size + b_size;
  static constexpr int sums = 8 * M * window;  // float32, over the stages
  static constexpr int bytes = 2 * Stages * stage > 4 * sums ? 2 * Stages* stage : 4 * sums;
};

/// Starts the copy of `Lines` rows, from row0 on, of an operand that is contiguous along K: 33 chunks of 16 bytes per
/// row, from column k0 on. A warp copies every 8th row, because these rows have the same offset in their first chunks.
/// Elements from column K or row `rows` on become zero.
template <class Plan, int Lines, class T>
ZELLIGE_CALL void copy_lines(const RaggedRows<T>& from, smem<T> to, int row0, int rows, int k0, int K) {
  constexpr int mine = Lines / 8;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = row0 + warp;
  const int offset = from.offset(row, 0), r = warp + 8 * (lane % mine);
  const int bytes = 2 * edge(K - k0 + offset - 8 * lane, 8), last = 2 * edge(K - k0 + offset - Plan::k, 8);
  gmem<const T> line = from.line(row, 0) + (k0 + 8 * lane);
  const bool skip = lane == 0 && k0 == 0 && row < rows && from.reaches_back(row, 0);
#pragma unroll
  for (int j = 0; j < mine; ++j, line += 8 * from.pitch)
    if (j > 0 || !skip)
      cp_async<16>(to + ((warp + 8 * j) * Plan::line + 8 * lane), line, row + 8 * j < rows ? bytes : 0);
  if (lane < mine)
    cp_async<16>(to + (r * Plan::line + Plan::k), from.line(row0 + r, 0) + (k0 + Plan::k), row0 + r < rows ? last : 0);
  if (skip) from.copy_head(to + warp * Plan::line, row, 0, K);
}

/// Computes C = epilogue(A B), one BM x BN tile per block. lda, ldb and ldc are pitches in elements, of any value.
template <class T, int BM, int BN, int Stages, bool AlongK, class Epilogue>
__global__ void __launch_bounds__(256, 1) gemm_ragged(gmem<const T> A, int64_t lda, gmem<const T> B, int64_t ldb,
                                                      gmem<T> C, int64_t ldc, int M, int N, int K, Epilogue epilogue) {
  using Plan = GemmRagged<BM, BN, Stages, AlongK>;
  static_assert(BM % 16 == 0 && BN % 32 == 0 && BN <= 64);
  const int tid = threadIdx.x, warp = tid / 32, lane = tid % 32, g = lane / 4, q = lane % 4;
  const int m0 = static_cast<int>(blockIdx.y) * BM, n0 = static_cast<int>(blockIdx.x) * BN;
  const RaggedRows<T> a{A, lda}, b{B, ldb};
  const smem<T> sA = shared<T>("A", 0, Stages * Plan::a_size);
  const smem<T> sB = shared<T>("B", 2 * Stages * Plan::a_size, Stages * Plan::b_size);

  // Copies the stage's rows of a row-major B: 32 rows per warp, at a time the number for which its lanes have chunks.
  const auto copy_rows = [&](smem<T> to, int k0) {
    constexpr int chunks = BN / 8 + 1, at_once = 32 / chunks;
    const int c = lane % chunks;
#pragma unroll
    for (int j = 0; j < 32; j += at_once) {
      const int k = 32 * warp + j + lane / chunks, row = k0 + k;
      if (lane / chunks >= at_once || j + lane / chunks >= 32) continue;
      const int bytes = 2 * edge(N - n0 + b.offset(row, n0) - 8 * c, 8);
      const smem<T> place = to + (k % 8 * Plan::plane + (k / 8 * chunks + c) * 8);
      if (c == 0 && row < K && b.reaches_back(row, n0))
        b.copy_head(place, row, n0, N);
      else
        cp_async<16>(place, b.line(row, n0) + 8 * c, row < K ? bytes : 0);
    }
  };
  const auto load_stage = [&](int stage, int k0) {
    copy_lines<Plan, BM>(a, sA + stage * Plan::a_size, m0, M, k0, K);
    if constexpr (AlongK)
      copy_lines<Plan, BN>(b, sB + stage * Plan::b_size, n0, N, k0, K);
    else
      copy_rows(sB + stage * Plan::b_size, k0);
    cp_async_commit();
  };

  griddep_launch_dependents();
  griddep_wait();
  const int tiles = (K + Plan::k - 1) / Plan::k;
#pragma unroll 1
  for (int s = 0; s < Stages; ++s) {
    if (s < tiles)
      load_stage(s, s * Plan::k);
    else
      cp_async_commit();
  }

  // Addresses of this thread's fragment elements for k = warp; those for k = warp + 8 i are i chunks further.
  smem<T> lines_a[BM / 8], lines_b[AlongK ? BN / 8 : 1];
#pragma unroll
  for (int j = 0; j < BM / 8; ++j) lines_a[j] = sA + ((g + 8 * j) * Plan::line + a.offset(m0 + g + 8 * j, 0) + warp);
  if constexpr (AlongK) {
#pragma unroll
    for (int j = 0; j < BN / 8; ++j) lines_b[j] = sB + ((g + 8 * j) * Plan::line + b.offset(n0 + g + 8 * j, 0) + warp);
  }
  const auto pair = [](smem<T> line, int i) {
    return static_cast<uint32_t>(static_cast<T>(line[8 * i]).bits) |
           static_cast<uint32_t>(static_cast<T>(line[8 * i + 8]).bits) << 16;
  };

  constexpr int n_tiles = Plan::window / 8;
  float d[BM / 16][n_tiles][4] = {};
  int stage = 0;
#pragma unroll 1
  for (int tile = 0; tile < tiles; ++tile) {
    cp_async_wait<Stages - 1>();
    __syncthreads();
#pragma unroll
    for (int step = 0; step < Plan::steps; ++step) {
      uint32_t fb[n_tiles + 1][2];
      if constexpr (AlongK) {
#pragma unroll
        for (int j = 0; j < n_tiles; ++j) {
          fb[j][0] = pair(lines_b[j] + stage * Plan::b_size, 16 * step + 2 * q);
          fb[j][1] = pair(lines_b[j] + stage * Plan::b_size, 16 * step + 2 * q + 8);
        }
      } else {
        const smem<T> rows = sB + (stage * Plan::b_size + warp * Plan::plane + (16 * step + lane % 16) * n_tiles * 8);
#pragma unroll
        for (int j = 0; j + 1 < n_tiles; j += 2) {
          uint32_t r[4];
          ldmatrix_x4_trans(r, rows + (j + lane / 16) * 8);
          fb[j][0] = r[0], fb[j][1] = r[1], fb[j + 1][0] = r[2], fb[j + 1][1] = r[3];
        }
        ldmatrix_x2_trans(fb[n_tiles - 1], rows + (n_tiles - 1) * 8);
      }
#pragma unroll
      for (int i = 0; i < BM / 16; ++i) {
        const smem<T> top = lines_a[2 * i] + stage * Plan::a_size, bottom = lines_a[2 * i + 1] + stage * Plan::a_size;
        const int at = 16 * step + 2 * q;
        const uint32_t fa[4] = {pair(top, at), pair(bottom, at), pair(top, at + 8), pair(bottom, at + 8)};
#pragma unroll
        for (int j = 0; j < n_tiles; ++j) mma_m16n8k16<T>(d[i][j], fa, fb[j]);
      }
    }
    if (tile + Stages < tiles) {
      __syncthreads();
      load_stage(stage, (tile + Stages) * Plan::k);
    } else {
      cp_async_commit();
    }
    stage = stage + 1 == Stages ? 0 : stage + 1;
  }

  __syncthreads();
  const smem<float> sums = shared<float>("sums", 0, Plan::sums);
#pragma unroll
  for (int i = 0; i < BM / 16; ++i)
#pragma unroll
    for (int j = 0; j < n_tiles; ++j)
#pragma unroll
      for (int low = 0; low < 2; ++low)
        store(sums + ((warp * BM + 16 * i + 8 * low + g) * Plan::window + 8 * j + 2 * q),
              Vec<float, 2>{{d[i][j][2 * low], d[i][j][2 * low + 1]}});
  __syncthreads();
  const int n = tid % BN;
  int shift[8];  // the offset of column n in each warp's window
#pragma unroll
  for (int w = 0; w < 8; ++w) shift[w] = w * BM * Plan::window + n + (AlongK ? 0 : b.offset(w, n0));
#pragma unroll
  for (int m = tid / BN; m < BM; m += 256 / BN) {
    float x = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) x += sums[m * Plan::window + shift[w]];
    if (m0 + m < M && n0 + n < N) C[(m0 + m) * ldc + n0 + n] = T(epilogue(x, m0 + m, n0 + n));
  }
}

}  // namespace zellige::kernels
