// The attention of include/zellige/kernels under a C name, for bench/kernels.py.
#include <zellige/kernels/descriptors.hpp>

#include "launch.hpp"

using namespace zellige;
using namespace zellige::bench;
using namespace zellige::kernels;

namespace {

template <class A>
int attention(const void* q, const void* k, const void* v, void* o, AttentionShape s, int blocks, void* stream) {
  const AttentionTensors<A> t(s);
  return launch(attention_sm90<A>, blocks, A::threads, A::shared_bytes, 1, true, stream, make_tma_descriptor(t.q, q),
                make_tma_descriptor(t.k, k), make_tma_descriptor(t.v, v), make_tma_descriptor(t.o, o), s);
}

}  // namespace

/// bfloat16. heads and kv_heads include the batches.
extern "C" int zellige_attention(int head_dim, int keys_per_tile, int causal, const void* q, const void* k,
                                 const void* v, void* o, int queries, int keys, int heads, int kv_heads, float scale,
                                 int blocks, void* stream) {
  const AttentionShape s{queries, keys, heads, kv_heads, scale};
  return guarded([&]() -> int {
#define ZELLIGE_CASE(D, N, C)                             \
  if (head_dim == D && keys_per_tile == N && causal == C) \
    return attention<Attention<bfloat16_t, D, N, C>>(q, k, v, o, s, blocks, stream);
    ZELLIGE_CASE(128, 128, 0)
    ZELLIGE_CASE(128, 128, 1)
    ZELLIGE_CASE(128, 176, 0)
    ZELLIGE_CASE(64, 128, 0)
    ZELLIGE_CASE(64, 128, 1)
#undef ZELLIGE_CASE
    return cudaErrorInvalidValue;
  });
}
