// The attention of examples/kernels under a C name, for bench/kernels.py.
#include "launch.hpp"
#include "../../examples/kernels/attention_sm90.hpp"

using namespace zellige;
using namespace zellige::bench;
using namespace zellige::kernels;

namespace {

template <class A>
int attention(const void* q, const void* k, const void* v, void* o, AttentionShape s, int blocks, void* stream) {
  const auto rows = [&](const void* data, int heads, int n, unsigned box) {
    return descriptor(data, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, {64, cuuint64_t(n), A::slabs, cuuint64_t(heads)},
                      {A::HeadDim * 2, 128, cuuint64_t(n) * A::HeadDim * 2}, {64, box, A::slabs, 1}, CU_TENSOR_MAP_SWIZZLE_128B);
  };
  return launch(attention_sm90<A>, blocks, A::threads, A::shared_bytes, 1, true, stream, rows(q, s.heads, s.queries, 64),
                rows(k, s.kv_heads, s.keys, A::Keys), rows(v, s.kv_heads, s.keys, A::Keys), rows(o, s.heads, s.queries, 64), s);
}

}  // namespace

/// bfloat16. heads and kv_heads count batches too.
extern "C" int zellige_attention(int head_dim, int keys_per_tile, int causal, const void* q, const void* k, const void* v, void* o,
                                 int queries, int keys, int heads, int kv_heads, float scale, int blocks,
                                 void* stream) {
  const AttentionShape s{queries, keys, heads, kv_heads, scale};
#define ZELLIGE_CASE(D, N, C) \
  if (head_dim == D && keys_per_tile == N && causal == C) return attention<Attention<bfloat16_t, D, N, C>>(q, k, v, o, s, blocks, stream);
  ZELLIGE_CASE(128, 128, 0)
  ZELLIGE_CASE(128, 128, 1)
  ZELLIGE_CASE(128, 176, 0)
  ZELLIGE_CASE(64, 128, 0)
  ZELLIGE_CASE(64, 128, 1)
  return cudaErrorInvalidValue;
}
