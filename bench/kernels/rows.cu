// C entries of the row kernels, the small GEMMs and decode attention: device pointers, sizes, a stream. Each
// selects the blocking that was fastest on an H200, accepts any size, and returns a cudaError_t. All kernels
// wait for the previous one themselves, so they are launched with PDL.
#include <zellige/kernels/decode_attention.hpp>
#include <zellige/kernels/gemm_ragged.hpp>
#include <zellige/kernels/gemm_sm80.hpp>
#include <zellige/kernels/norm.hpp>
#include <zellige/kernels/softmax.hpp>
#include <zellige/kernels/transpose.hpp>

#include "launch.hpp"

using namespace zellige;
using namespace zellige::kernels;

namespace {

using bench::launch;

constexpr int up(int a, int b) { return (a + b - 1) / b; }
bool aligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 16 == 0; }

/// Calls f.template operator()<V, Threads, Chunks, Long>() with a blocking for rows of `columns` f16 columns.
template <class F>
int with_row_blocking(bool vectors, int columns, F f) {
  if (!vectors) return f.template operator()<1, 256, 4, true>();
  if (columns <= 2048) return f.template operator()<8, 256, 1, false>();
  if (columns <= 8192) return f.template operator()<8, 512, 2, false>();
  return f.template operator()<8, 512, 2, true>();
}

template <Norm Kind>
int norm_of(const half_t* x, const half_t* gamma, const half_t* beta, half_t* y, int rows, int columns, float epsilon,
            void* s) {
  const bool vectors = columns % 8 == 0 && aligned(x) && aligned(y) && aligned(gamma) && aligned(beta);
  return with_row_blocking(vectors, columns, [=]<int V, int Threads, int Chunks, bool Long> {
    return launch(norm<Kind, half_t, V, Threads, Chunks, Long, 4>, rows, Threads, Threads, 1, true, s, x, gamma, beta,
                  y, rows, columns, columns, columns, epsilon);
  });
}

template <class T, int BM, int BN, int Stages, bool AlongK>
int ragged(const T* a, long lda, const T* b, long ldb, T* c, long ldc, int m, int n, int k, void* s) {
  using Plan = GemmRagged<BM, BN, Stages, AlongK>;
  return launch(gemm_ragged<T, BM, BN, Stages, AlongK, Identity>, dim3(up(n, BN), up(m, BM)), Plan::threads,
                Plan::bytes, 1, true, s, a, lda, b, ldb, c, ldc, m, n, k, Identity{});
}
template <class T, bool AlongK>
int gemm(const void* a_, long lda, const void* b_, long ldb, void* c_, long ldc, int m, int n, int k, void* s) {
  const T *a = static_cast<const T*>(a_), *b = static_cast<const T*>(b_);
  T* c = static_cast<T*>(c_);
  if (lda % 8 == 0 && ldb % 8 == 0 && aligned(a) && aligned(b) && up(m, 128) * up(n, 128) >= 32) {
    using Tile = GemmSm80<T, 128, 128, 64, 3, 2, 4, AlongK>;
    return launch(gemm_sm80<Tile, Identity>, dim3(up(n, Tile::n), up(m, Tile::m)), Tile::threads, Tile::bytes, 1, true,
                  s, a, lda, b, ldb, c, ldc, m, n, k, Identity{});
  }
  if (up(m, 32) * up(n, 32) > 264) return ragged<T, 64, 64, 3, AlongK>(a, lda, b, ldb, c, ldc, m, n, k, s);
  return ragged<T, 32, 32, 4, AlongK>(a, lda, b, ldb, c, ldc, m, n, k, s);
}

struct Decode {
  const bfloat16_t *q, *k, *v;
  bfloat16_t* o;
  float* scratch;
  unsigned* counters;
  int batch;
  DecodeShape shape;
};
template <class Plan>
int decode(const Decode& d, int units, int splits, void* s) {
  return launch(decode_attention<Plan>, dim3(splits, units / d.batch, d.batch), Plan::threads, Plan::bytes,
                splits == 1 ? 1 : Plan::cluster, true, s, d.q, d.k, d.v, d.o, d.scratch, d.counters, d.shape);
}
/// About 64 or 128 blocks, as clusters that need no scratch memory if 2, 4 or 8 splits suffice.
template <int D>
int decode_of(const Decode& d, void* s) {
  const int units = d.batch * d.shape.heads_kv * up(d.shape.heads_q / d.shape.heads_kv, 8);
  using Wide = DecodePlan<bfloat16_t, D, 8, 8, 3, 1>;
  if (units >= 128 || d.shape.keys < 512) return decode<Wide>(d, units, 1, s);
  if (units >= 64) return decode<DecodePlan<bfloat16_t, D, 8, 4, 3, 2>>(d, units, 2, s);
  if (units >= 32) return decode<DecodePlan<bfloat16_t, D, 8, 4, 3, 4>>(d, units, 4, s);
  if (units >= 8) return decode<DecodePlan<bfloat16_t, D, 8, 4, 3, 8>>(d, units, 8, s);
  int splits = 8;
  while (2 * splits * units <= 64 && 2 * splits * 64 <= d.shape.keys) splits *= 2;
  if constexpr (D == 64)
    return decode<DecodePlan<bfloat16_t, D, 8, 4, 3, 4>>(d, units, splits, s);
  else
    return decode<Wide>(d, units, splits, s);
}

}  // namespace

/// y = softmax of each row of x, f16.
extern "C" int zellige_softmax(const void* x, void* y, int rows, int columns, void* s) {
  const auto* from = static_cast<const half_t*>(x);
  auto* to = static_cast<half_t*>(y);
  return with_row_blocking(columns % 8 == 0 && aligned(x) && aligned(y), columns,
                           [=]<int V, int Threads, int Chunks, bool Long> {
                             return launch(softmax<half_t, V, Threads, Chunks, Long, 4>, rows, Threads, Threads / 2, 1,
                                           true, s, from, to, rows, columns, columns, columns);
                           });
}

/// kind 0: RMSNorm, 1: LayerNorm, f16. gamma and, for LayerNorm, beta are both null or both set.
extern "C" int zellige_norm(int kind, const void* x, const void* gamma, const void* beta, void* y, int rows,
                            int columns, float epsilon, void* s) {
  const auto *from = static_cast<const half_t*>(x), *g = static_cast<const half_t*>(gamma),
             *b = static_cast<const half_t*>(beta);
  auto* to = static_cast<half_t*>(y);
  if (kind == 0) return (g ? norm_of<Norm::rms> : norm_of<Norm::plain_rms>)(from, g, g, to, rows, columns, epsilon, s);
  if (kind != 1 || !g != !b) return cudaErrorInvalidValue;
  return (g ? norm_of<Norm::layer> : norm_of<Norm::plain_layer>)(from, g, b, to, rows, columns, epsilon, s);
}

/// y (columns x rows) = the transpose of x (rows x columns), 16-bit elements.
extern "C" int zellige_transpose(const void* x, void* y, int rows, int columns, void* s) {
  const auto* from = static_cast<const half_t*>(x);
  auto* to = static_cast<half_t*>(y);
  if (rows % 8 == 0 && columns % 8 == 0 && aligned(x) && aligned(y))
    return launch(transpose<half_t, 128, 4, 256, true>, dim3(up(columns, 256), up(rows, 128)), 256, 65536, 1, true, s,
                  from, to, rows, columns, columns, rows);
  return launch(transpose<half_t, 64, 1, 128, false>, dim3(up(columns, 64), up(rows, 64)), 128, 8192, 1, true, s, from,
                to, rows, columns, columns, rows);
}

/// C (m x n) = A (m x k) B, type 0: f16, 1: bf16. B is k x n or, with b_along_k, n x k in memory; pitches in
/// elements.
extern "C" int zellige_gemm_any(int type, int b_along_k, const void* a, long lda, const void* b, long ldb, void* c,
                                long ldc, int m, int n, int k, void* s) {
  switch (type * 2 + b_along_k) {
    case 0:
      return gemm<half_t, false>(a, lda, b, ldb, c, ldc, m, n, k, s);
    case 1:
      return gemm<half_t, true>(a, lda, b, ldb, c, ldc, m, n, k, s);
    case 2:
      return gemm<bfloat16_t, false>(a, lda, b, ldb, c, ldc, m, n, k, s);
    case 3:
      return gemm<bfloat16_t, true>(a, lda, b, ldb, c, ldc, m, n, k, s);
    default:
      return cudaErrorInvalidValue;
  }
}

/// o = softmax(scale q K^T) V for one token per sequence, bf16: q and o (batch, heads, head_dim), k and v
/// (batch, kv_heads, keys, head_dim), head_dim 64 or 128. scratch: 512 * (head_dim + 2) floats. counters: 64,
/// which must be 0 and are 0 afterwards.
extern "C" int zellige_decode(const void* q, const void* k, const void* v, void* o, void* scratch, void* counters,
                              int batch, int heads, int kv_heads, int keys, int head_dim, float scale, void* s) {
  if (kv_heads <= 0 || heads % kv_heads != 0 || keys <= 0) return cudaErrorInvalidValue;
  const auto head = static_cast<int64_t>(keys) * head_dim;
  const Decode d{static_cast<const bfloat16_t*>(q),
                 static_cast<const bfloat16_t*>(k),
                 static_cast<const bfloat16_t*>(v),
                 static_cast<bfloat16_t*>(o),
                 static_cast<float*>(scratch),
                 static_cast<unsigned*>(counters),
                 batch,
                 {heads, kv_heads, keys, head_dim, head, head * kv_heads, scale}};
  if (head_dim == 64) return decode_of<64>(d, s);
  return head_dim == 128 ? decode_of<128>(d, s) : cudaErrorInvalidValue;
}
