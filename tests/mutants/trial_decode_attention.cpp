#include <zellige/kernels/decode_attention.hpp>

#include "trial.hpp"

namespace mutants {
namespace {

using kernels::decode_attention;
using kernels::DecodePlan;
using kernels::DecodeShape;

template <class Plan>
Outcome decode(int batches, int heads_q, int heads_kv, int keys, unsigned splits) {
  using T = typename Plan::Element;
  constexpr int D = Plan::head_dim;
  const int group = heads_q / heads_kv, units = heads_kv * int(ceil_div(group, Plan::rows));
  const int64_t head = keys * D, batch = heads_kv * head;
  Tensor<T> q("q", batches * heads_q * D), k("k", batches * batch), v("v", batches * batch), o("o", q.count);
  q.random(1, 3.0f), k.random(2, 3.0f), v.random(3);
  Tensor<float> partial("partial", batches * units * splits / Plan::cluster * Plan::partial + 1);
  Tensor<unsigned> counters("counters", batches * units);
  counters.zero();
  const DecodeShape shape{heads_q, heads_kv, keys, D, head, batch, 0.125f};
  return launch<decode_attention<Plan>>(
      {{splits, unsigned(units), unsigned(batches)}, {Plan::threads}, Plan::bytes, splits == 1 ? 1u : Plan::cluster},
      {q.in(), k.in(), v.in(), o.out(), partial.out(), counters.out(), shape}, {&o.buffer, &counters.buffer});
}

}  // namespace

std::vector<Trial> trials() {
  return {{"splits", [] { return decode<DecodePlan<half_t, 64, 8, 2, 3>>(1, 6, 2, 333, 3); }},
          {"clusters", [] { return decode<DecodePlan<half_t, 64, 8, 1, 2, 2>>(1, 12, 1, 210, 4); }},
          {"one cluster", [] { return decode<DecodePlan<bfloat16_t, 128, 16, 2, 2, 2>>(2, 13, 1, 150, 2); }},
          {"one block", [] { return decode<DecodePlan<half_t, 64, 8, 2, 3>>(1, 2, 2, 137, 1); }}};
}

}  // namespace mutants
