// The linear layers on few rows of examples/kernels under C names, for bench/kernels.py.
#include <cstdlib>

#include "launch.hpp"
#include "../../examples/kernels/linear_sm90.hpp"

using namespace zellige;
using namespace zellige::bench;
using namespace zellige::kernels;

namespace {

constexpr auto type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
const auto lines = CU_TENSOR_MAP_L2_PROMOTION_NONE;
const bool early = getenv("EARLY") ? atoi(getenv("EARLY")) : 1;

/// [K / 64][rows][64] of a K-contiguous matrix.
TmaDescriptor chunked(const void* data, int rows, int k, unsigned box_rows, unsigned chunks) {
  return descriptor(data, type, {64, cuuint64_t(rows), cuuint64_t(k / 64)}, {cuuint64_t(k) * 2, 128}, {64, box_rows, chunks},
                    CU_TENSOR_MAP_SWIZZLE_128B, lines);
}

template <class L>
int linear(const void* w, const void* v, const void* x, void* y, LinearShape s, int blocks, void* stream) {
  const auto weights = [&](const void* data) {
    if (L::weights == Weights::nk) return chunked(data, s.n, s.k, 64, L::Chunks);
    return descriptor(data, type, {cuuint64_t(s.n), cuuint64_t(s.k)}, {cuuint64_t(s.n) * 2}, {L::columns, 64 * L::Chunks},
                      L::gated ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B, lines);
  };
  return launch(linear_sm90<L>, blocks, L::threads, L::shared_bytes, 1, early, stream, weights(w), weights(v),
                chunked(x, s.rows, s.k, L::Rows, L::Chunks), static_cast<half_t*>(y), s);
}

template <int Rows, int Chunks>
int choose(int work, const void* w, const void* v, const void* x, void* y, LinearShape s, int blocks, void* stream) {
  switch (work) {
    case 0: return linear<FewRows<half_t, Weights::nk, Work::product, Rows, Chunks>>(w, v, x, y, s, blocks, stream);
    case 1: return linear<FewRows<half_t, Weights::kn, Work::rms_norm, Rows, Chunks>>(w, v, x, y, s, blocks, stream);
    case 2: return linear<FewRows<half_t, Weights::kn, Work::gated, Rows, Chunks>>(w, v, x, y, s, blocks, stream);
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace

/// chunks: 2 or 4, the stage's depth in 64 of K.
extern "C" int zellige_linear(int work, int chunks, const void* w, const void* v, const void* x, void* y, int rows, int n,
                              int k, int blocks, void* stream) {
  const LinearShape s{rows, n, k};
  if (chunks == 4)
    return rows <= 8 ? choose<8, 4>(work, w, v, x, y, s, blocks, stream) : choose<16, 4>(work, w, v, x, y, s, blocks, stream);
  return rows <= 8 ? choose<8, 2>(work, w, v, x, y, s, blocks, stream) : choose<16, 2>(work, w, v, x, y, s, blocks, stream);
}
