// The launchers that bench times the row kernels through: raw device pointers, sizes, a stream. They return a
// cudaError_t. `variant` picks one of several blockings.
#include <cuda_runtime.h>

#include "../../examples/kernels/decode_attention.hpp"
#include "../../examples/kernels/gemm_ragged.hpp"
#include "../../examples/kernels/gemm_sm80.hpp"
#include "../../examples/kernels/norm.hpp"
#include "../../examples/kernels/softmax.hpp"
#include "../../examples/kernels/transpose.hpp"

using namespace zellige;
using namespace zellige::kernels;

namespace {

int grid(int rows, int blocks_per_sm) { return blocks_per_sm == 0 ? rows : min(rows, 132 * blocks_per_sm); }

template <int Threads, int Chunks, int Blocks>
void softmax_as(const void* x, void* y, int rows, int columns, int persistent, cudaStream_t s) {
  softmax<half_t, 8, Threads, Chunks, false, Blocks><<<grid(rows, persistent), Threads, 8 * Threads / 32, s>>>(
      static_cast<const half_t*>(x), static_cast<half_t*>(y), rows, columns, columns, columns);
}
template <Norm Kind, int Threads, int Chunks, int Blocks>
void norm_as(const void* x, const void* w, const void* b, void* y, int rows, int columns, int persistent, cudaStream_t s) {
  norm<Kind, half_t, 8, Threads, Chunks, false, Blocks><<<grid(rows, persistent), Threads, 16 * Threads / 32, s>>>(
      static_cast<const half_t*>(x), static_cast<const half_t*>(w), static_cast<const half_t*>(b), static_cast<half_t*>(y), rows,
      columns, columns, columns, 1e-5f);
}
template <int Threads, int Chunks, int Stages, int Blocks>
void softmax_stream_as(const void* x, void* y, int rows, int columns, cudaStream_t s) {
  const auto kernel = softmax_stream<half_t, Threads, Chunks, Stages, Blocks>;
  constexpr int bytes = SoftmaxStream<half_t, Threads, Chunks, Stages>::bytes;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<grid(rows, Blocks), Threads, bytes, s>>>(static_cast<const half_t*>(x), static_cast<half_t*>(y), rows, columns, columns,
                                                    columns);
}
template <Norm Kind, int Threads, int Chunks, int Stages, int Blocks>
void norm_stream_as(const void* x, const void* w, const void* b, void* y, int rows, int columns, cudaStream_t s) {
  const auto kernel = norm_stream<Kind, half_t, Threads, Chunks, Stages, Blocks>;
  constexpr int bytes = NormStream<half_t, Threads, Chunks, Stages>::bytes;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<grid(rows, Blocks), Threads, bytes, s>>>(static_cast<const half_t*>(x), static_cast<const half_t*>(w),
                                                    static_cast<const half_t*>(b), static_cast<half_t*>(y), rows, columns, columns,
                                                    columns, 1e-5f);
}
template <int Rows, int Slabs, int Stages, int Threads, int Blocks, bool Down = false>
void transpose_as(const void* x, void* y, int rows, int columns, cudaStream_t s) {
  const auto kernel = transpose<half_t, Rows, Slabs, Stages, Threads, true, Down>;
  constexpr int bytes = Rows * 128 * Slabs * Stages;
  const int tiles = (columns + 64 * Slabs - 1) / (64 * Slabs) * ((rows + Rows - 1) / Rows);
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  kernel<<<grid(tiles, Blocks), Threads, bytes, s>>>(static_cast<const half_t*>(x), static_cast<half_t*>(y), rows, columns, columns,
                                                     rows);
}
template <class T, int BM, int BN, int Stages, bool AlongK>
int gemm_ragged_as(const void* a, long lda, const void* b, long ldb, void* c, long ldc, int m, int n, int k, cudaStream_t s) {
  const auto kernel = gemm_ragged<T, BM, BN, Stages, AlongK, Identity>;
  constexpr int bytes = GemmRagged<BM, BN, Stages, AlongK>::bytes;
  static const cudaError_t prepared = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  if (prepared != cudaSuccess) return prepared;
  kernel<<<dim3((n + BN - 1) / BN, (m + BM - 1) / BM), 256, bytes, s>>>(static_cast<const T*>(a), lda, static_cast<const T*>(b),
                                                                       ldb, static_cast<T*>(c), ldc, m, n, k, Identity{});
  return cudaGetLastError();
}
template <class T, int D, int Rows, int Warps, int Stages>
int decode_as(const void* q, const void* k, const void* v, void* o, void* partial, void* counters, int batches, int heads_q,
              int heads_kv, int keys, int splits, float scale, cudaStream_t s) {
  using Plan = DecodePlan<T, D, Rows, Warps, Stages>;
  static const cudaError_t prepared =
      cudaFuncSetAttribute(decode_attention<Plan>, cudaFuncAttributeMaxDynamicSharedMemorySize, Plan::bytes);
  if (prepared != cudaSuccess) return prepared;
  const int groups = (heads_q / heads_kv + Rows - 1) / Rows;
  const DecodeShape shape{heads_q, heads_kv, keys, D, static_cast<int64_t>(keys) * D, static_cast<int64_t>(keys) * D * heads_kv,
                          scale};
  decode_attention<Plan><<<dim3(splits, heads_kv * groups, batches), Plan::threads, Plan::bytes, s>>>(
      static_cast<const T*>(q), static_cast<const T*>(k), static_cast<const T*>(v), static_cast<T*>(o), static_cast<float*>(partial),
      static_cast<unsigned*>(counters), shape);
  return cudaGetLastError();
}
template <class Tile>
int gemm_sm80_as(const void* a, long lda, const void* b, long ldb, void* c, long ldc, int m, int n, int k, cudaStream_t s) {
  using T = typename Tile::Element;
  const auto kernel = gemm_sm80<Tile, Identity>;
  static const cudaError_t prepared = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, Tile::bytes);
  if (prepared != cudaSuccess) return prepared;
  kernel<<<dim3((n + Tile::n - 1) / Tile::n, (m + Tile::m - 1) / Tile::m), Tile::threads, Tile::bytes, s>>>(
      static_cast<const T*>(a), lda, static_cast<const T*>(b), ldb, static_cast<T*>(c), ldc, m, n, k, Identity{});
  return cudaGetLastError();
}

}  // namespace

/// f16, columns at most 8192 and a multiple of 8.
extern "C" int rows_softmax(int variant, const void* x, void* y, int rows, int columns, cudaStream_t s) {
  switch (variant) {
    case 0: softmax_as<512, 2, 2>(x, y, rows, columns, 0, s); break;
    case 1: softmax_as<256, 4, 4>(x, y, rows, columns, 0, s); break;
    case 2: softmax_stream_as<256, 4, 3, 4>(x, y, rows, columns, s); break;
    case 3: softmax_stream_as<256, 4, 4, 3>(x, y, rows, columns, s); break;
    case 4: softmax_stream_as<512, 2, 6, 2>(x, y, rows, columns, s); break;
    case 5: softmax_stream_as<512, 2, 4, 3>(x, y, rows, columns, s); break;
    case 6: softmax_stream_as<1024, 1, 6, 2>(x, y, rows, columns, s); break;
    case 7: softmax_stream_as<1024, 1, 13, 1>(x, y, rows, columns, s); break;
    default: return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}
extern "C" int rows_rms(int variant, const void* x, const void* w, void* y, int rows, int columns, cudaStream_t s) {
  switch (variant) {
    case 0: norm_as<Norm::rms, 512, 2, 2>(x, w, w, y, rows, columns, 0, s); break;
    case 1: norm_as<Norm::rms, 256, 4, 4>(x, w, w, y, rows, columns, 0, s); break;
    case 2: norm_stream_as<Norm::rms, 256, 4, 3, 4>(x, w, w, y, rows, columns, s); break;
    case 3: norm_stream_as<Norm::rms, 256, 4, 4, 3>(x, w, w, y, rows, columns, s); break;
    case 4: norm_stream_as<Norm::rms, 512, 2, 6, 2>(x, w, w, y, rows, columns, s); break;
    case 5: norm_stream_as<Norm::rms, 512, 2, 4, 3>(x, w, w, y, rows, columns, s); break;
    case 6: norm_stream_as<Norm::rms, 1024, 1, 6, 2>(x, w, w, y, rows, columns, s); break;
    case 7: norm_stream_as<Norm::rms, 1024, 1, 13, 1>(x, w, w, y, rows, columns, s); break;
    default: return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}
extern "C" int rows_layer(int variant, const void* x, const void* w, const void* b, void* y, int rows, int columns, cudaStream_t s) {
  switch (variant) {
    case 0: norm_as<Norm::layer, 512, 2, 2>(x, w, b, y, rows, columns, 0, s); break;
    case 1: norm_as<Norm::layer, 256, 4, 4>(x, w, b, y, rows, columns, 0, s); break;
    case 2: norm_stream_as<Norm::layer, 256, 4, 3, 4>(x, w, b, y, rows, columns, s); break;
    case 3: norm_stream_as<Norm::layer, 256, 4, 4, 3>(x, w, b, y, rows, columns, s); break;
    case 4: norm_stream_as<Norm::layer, 512, 2, 6, 2>(x, w, b, y, rows, columns, s); break;
    case 5: norm_stream_as<Norm::layer, 512, 2, 4, 3>(x, w, b, y, rows, columns, s); break;
    case 6: norm_stream_as<Norm::layer, 1024, 1, 6, 2>(x, w, b, y, rows, columns, s); break;
    case 7: norm_stream_as<Norm::layer, 1024, 1, 13, 1>(x, w, b, y, rows, columns, s); break;
    default: return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}
extern "C" int rows_transpose(int variant, const void* x, void* y, int rows, int columns, cudaStream_t s) {
  switch (variant) {
    case 0: transpose_as<128, 2, 1, 128, 0>(x, y, rows, columns, s); break;
    case 1: transpose_as<128, 2, 2, 256, 3>(x, y, rows, columns, s); break;
    case 2: transpose_as<128, 2, 3, 256, 2>(x, y, rows, columns, s); break;
    case 3: transpose_as<128, 1, 4, 256, 3>(x, y, rows, columns, s); break;
    case 4: transpose_as<64, 2, 4, 256, 3>(x, y, rows, columns, s); break;
    case 5: transpose_as<64, 4, 2, 256, 3>(x, y, rows, columns, s); break;
    case 6: transpose_as<256, 1, 2, 256, 3>(x, y, rows, columns, s); break;
    case 7: transpose_as<128, 4, 3, 512, 1>(x, y, rows, columns, s); break;
    case 8: transpose_as<128, 2, 2, 256, 3, true>(x, y, rows, columns, s); break;
    case 9: transpose_as<128, 2, 3, 512, 2>(x, y, rows, columns, s); break;
    default: return cudaErrorInvalidValue;
  }
  return cudaGetLastError();
}
/// A row-major; B row-major (along_k 0) or column-major (1). Pitches in elements.
extern "C" int rows_gemm_ragged(int variant, int bf16, int along_k, const void* a, long lda, const void* b, long ldb, void* c,
                                long ldc, int m, int n, int k, cudaStream_t s) {
  switch (variant * 4 + bf16 * 2 + along_k) {
    case 0: return gemm_ragged_as<half_t, 32, 32, 4, false>(a, lda, b, ldb, c, ldc, m, n, k, s);
    case 1: return gemm_ragged_as<half_t, 32, 32, 4, true>(a, lda, b, ldb, c, ldc, m, n, k, s);
    case 2: return gemm_ragged_as<bfloat16_t, 32, 32, 4, false>(a, lda, b, ldb, c, ldc, m, n, k, s);
    case 3: return gemm_ragged_as<bfloat16_t, 32, 32, 4, true>(a, lda, b, ldb, c, ldc, m, n, k, s);
    case 4: return gemm_ragged_as<half_t, 64, 64, 3, false>(a, lda, b, ldb, c, ldc, m, n, k, s);
    case 5: return gemm_ragged_as<half_t, 64, 64, 3, true>(a, lda, b, ldb, c, ldc, m, n, k, s);
    default: return cudaErrorInvalidValue;
  }
}
/// f16; q (batches, heads_q, dim), k and v (batches, heads_kv, keys, dim). partial: splits * batches * heads_q * (dim + 2) *
/// 16 floats suffice.
extern "C" int rows_decode(int variant, const void* q, const void* k, const void* v, void* o, void* partial, void* counters,
                           int batches, int heads_q, int heads_kv, int keys, int dim, int splits, float scale, cudaStream_t s) {
#define ZELLIGE_DECODE(rows, warps, stages)                                                                                   \
  return dim == 64                                                                                                            \
             ? decode_as<half_t, 64, rows, warps, stages>(q, k, v, o, partial, counters, batches, heads_q, heads_kv, keys, splits, \
                                                          scale, s)                                                           \
             : decode_as<half_t, 128, rows, warps, stages>(q, k, v, o, partial, counters, batches, heads_q, heads_kv, keys,   \
                                                           splits, scale, s)
  switch (variant) {
    case 0: ZELLIGE_DECODE(8, 4, 4);
    case 1: ZELLIGE_DECODE(8, 4, 3);
    case 2: ZELLIGE_DECODE(8, 8, 3);
    case 3: ZELLIGE_DECODE(16, 4, 3);
    case 4: ZELLIGE_DECODE(8, 8, 2);
    default: return cudaErrorInvalidValue;
  }
#undef ZELLIGE_DECODE
}
extern "C" int rows_gemm_sm80(int variant, int along_k, const void* a, long lda, const void* b, long ldb, void* c, long ldc, int m,
                              int n, int k, cudaStream_t s) {
  switch (variant * 2 + along_k) {
    case 0: return gemm_sm80_as<GemmSm80<half_t, 128, 128, 64, 3, 2, 4, false>>(a, lda, b, ldb, c, ldc, m, n, k, s);
    case 1: return gemm_sm80_as<GemmSm80<half_t, 128, 128, 64, 3, 2, 4, true>>(a, lda, b, ldb, c, ldc, m, n, k, s);
    case 2: return gemm_sm80_as<GemmSm80<half_t, 128, 256, 64, 3, 2, 4, false>>(a, lda, b, ldb, c, ldc, m, n, k, s);
    case 3: return gemm_sm80_as<GemmSm80<half_t, 128, 256, 64, 3, 2, 4, true>>(a, lda, b, ldb, c, ldc, m, n, k, s);
    default: return cudaErrorInvalidValue;
  }
}
