// The linear layers with small M of include/zellige/kernels under C names, for bench/kernels.py.
#include <zellige/kernels/descriptors.hpp>

#include "launch.hpp"

using namespace zellige;
using namespace zellige::bench;
using namespace zellige::kernels;

namespace {

template <class L>
int linear(const void* w, const void* v, const void* x, void* y, LinearShape s, int blocks, void* stream) {
  const LinearTensors<L> t(s);
  return launch(linear_sm90<L>, blocks, L::threads, L::shared_bytes, 1, true, stream, make_tma_descriptor(t.w, w),
                make_tma_descriptor(t.v, v), make_tma_descriptor(t.x, x), static_cast<half_t*>(y), s);
}

template <int Rows, int Chunks>
int choose(int work, const void* w, const void* v, const void* x, void* y, LinearShape s, int blocks, void* stream) {
  switch (work) {
    case 0:
      return linear<FewRows<half_t, Weights::nk, LinearWork::product, Rows, Chunks>>(w, v, x, y, s, blocks, stream);
    case 1:
      return linear<FewRows<half_t, Weights::kn, LinearWork::rms_norm, Rows, Chunks>>(w, v, x, y, s, blocks, stream);
    case 2:
      return linear<FewRows<half_t, Weights::kn, LinearWork::gated, Rows, Chunks>>(w, v, x, y, s, blocks, stream);
    default:
      return cudaErrorInvalidValue;
  }
}

template <class L>
int linear_rows(const void* w, const void* x, void* y, LinearShape s, int blocks, void* stream) {
  const RowsTensors<L> t(s);
  return launch(linear_rows_sm90<L, Identity>, blocks, L::threads, L::shared_bytes, 1, true, stream,
                make_tma_descriptor(t.w, w), make_tma_descriptor(t.x, x), make_tma_descriptor(t.y, y), s, Identity{});
}

}  // namespace

/// 17 to 128 rows; type 0: f16, 1: bf16.
extern "C" int zellige_linear_rows(int type, const void* w, const void* x, void* y, int rows, int n, int k, int blocks,
                                   void* stream) {
  const LinearShape s{rows, n, k};
  return guarded([&]() -> int {
    if (rows < 1 || rows > 128 || type < 0 || type > 1) return cudaErrorInvalidValue;
    if (rows <= 64)
      return type == 0 ? linear_rows<ManyRows<half_t, 64>>(w, x, y, s, blocks, stream)
                       : linear_rows<ManyRows<bfloat16_t, 64>>(w, x, y, s, blocks, stream);
    return type == 0 ? linear_rows<ManyRows<half_t, 128>>(w, x, y, s, blocks, stream)
                     : linear_rows<ManyRows<bfloat16_t, 128>>(w, x, y, s, blocks, stream);
  });
}

/// chunks: 2 or 4, the stage's depth in 64 of K.
extern "C" int zellige_linear(int work, int chunks, const void* w, const void* v, const void* x, void* y, int rows,
                              int n, int k, int blocks, void* stream) {
  const LinearShape s{rows, n, k};
  return guarded([&] {
    if (chunks == 4)
      return rows <= 8 ? choose<8, 4>(work, w, v, x, y, s, blocks, stream)
                       : choose<16, 4>(work, w, v, x, y, s, blocks, stream);
    return rows <= 8 ? choose<8, 2>(work, w, v, x, y, s, blocks, stream)
                     : choose<16, 2>(work, w, v, x, y, s, blocks, stream);
  });
}
