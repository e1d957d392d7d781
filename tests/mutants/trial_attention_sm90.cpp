#include <zellige/kernels/descriptors.hpp>

#include "trial.hpp"

namespace mutants {
namespace {

using namespace kernels;

template <class A>
Outcome attention(AttentionShape s, unsigned blocks) {
  using E = typename A::Element;
  constexpr int D = A::HeadDim;
  Tensor<E> q("Q", std::size_t(s.heads) * s.queries * D), k("K", std::size_t(s.kv_heads) * s.keys * D),
      v("V", std::size_t(s.kv_heads) * s.keys * D), o("O", std::size_t(s.heads) * s.queries * D);
  q.random(1, 3.0f), k.random(2, 3.0f), v.random(3);
  const AttentionTensors<A> t(s);
  return launch<attention_sm90<A>>({{blocks}, {A::threads}, A::shared_bytes},
                                   {map_of(t.q, q), map_of(t.k, k), map_of(t.v, v), map_of(t.o, o, true), s},
                                   {&o.buffer});
}

}  // namespace

std::vector<Trial> trials() {
  return {{"two tiles of rows a block",
           [] {
             return attention<Attention<half_t, 64, 32, false>>({150, 100, 2, 1, 0.125f}, 2);
           }},
          {"causal",
           [] {
             return attention<Attention<bfloat16_t, 64, 64, true>>({300, 330, 1, 1, 0.125f}, 1);
           }},
          {"head dimension 128", [] {
             return attention<Attention<half_t, 128, 16, false>>({64, 40, 1, 1, 0.125f}, 1);
           }}};
}

}  // namespace mutants
