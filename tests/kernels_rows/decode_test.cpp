// Decode attention against double precision: groups, splits, clusters, the last block's sum.
#include <zellige/kernels/decode_attention.hpp>

#include "kernel_trial.hpp"

namespace zellige {
namespace {

using kernels::decode_attention;
using kernels::DecodePlan;
using kernels::DecodeShape;

struct Attention {
  int batches, heads_q, heads_kv, keys, splits;
  int gap = 0;  // elements between keys
};

template <class Plan>
void check(const Attention& s, float spread = 1.0f) {
  using T = typename Plan::Element;
  constexpr int D = Plan::head_dim;
  const int group = s.heads_q / s.heads_kv, units = s.heads_kv * int(ceil_div(group, Plan::rows));
  const int64_t key = D + s.gap, head = s.keys * key, batch = s.heads_kv * head;
  Device<T> q("q", s.batches * s.heads_q * D), k("k", s.batches * batch), v("v", s.batches * batch), o("o", q.count);
  q.random(1, spread), k.random(2, spread), v.random(3);
  Device<float> partial("partial", s.batches * units * s.splits / Plan::cluster * Plan::partial + 1);
  Device<unsigned> counters("counters", s.batches * units);
  counters.fill(0);
  const DecodeShape shape{s.heads_q, s.heads_kv, s.keys, key, head, batch, 0.125f};
  emulate::LaunchConfig config;
  config.grid = {unsigned(s.splits), unsigned(units), unsigned(s.batches)}, config.block = {Plan::threads};
  config.cluster = {s.splits == 1 ? 1u : Plan::cluster, 1, 1}, config.shared_bytes = Plan::bytes;
  config.parameters = {q.in(), k.in(), v.in(), o.out(), partial.out(), counters.out(), shape};
  EXPECT_EQ(all_messages(trial(kernel_entry<decode_attention<Plan>>, config)), "");
  for (unsigned i = 0; i < counters.count; ++i) EXPECT_EQ(counters.data()[i], 0u);
  for (int b = 0; b < s.batches; ++b)
    for (int h = 0; h < s.heads_q; ++h) {
      const int64_t cache = b * batch + h / group * head, row = (b * s.heads_q + h) * D;
      std::vector<double> p(s.keys);
      double maximum = -1e30, sum = 0;
      for (int i = 0; i < s.keys; ++i) {
        double x = 0;
        for (int d = 0; d < D; ++d) x += q[row + d] * k[cache + i * key + d];
        p[i] = 0.125 * x, maximum = std::max(maximum, p[i]);
      }
      for (double& x : p) x = std::exp(x - maximum), sum += x;
      for (int d = 0; d < D; ++d) {
        double want = 0;
        for (int i = 0; i < s.keys; ++i) want += p[i] / sum * v[cache + i * key + d];
        ASSERT_TRUE(near(o[row + d], want, 2e-3, 2e-3)) << b << "," << h << "," << d;
      }
    }
}

TEST(Decode, OneBlock) { check<DecodePlan<half_t, 64, 8, 2, 3>>({1, 1, 1, 64, 1}); }
TEST(Decode, FewerKeysThanATile) { check<DecodePlan<half_t, 64, 8, 2, 3>>({1, 1, 1, 5, 1}); }
TEST(Decode, MoreTilesThanStages) { check<DecodePlan<half_t, 64, 8, 1, 3>>({1, 2, 1, 137, 1}); }
TEST(Decode, Groups) { check<DecodePlan<half_t, 64, 8, 2, 3>>({2, 12, 4, 90, 1}); }
TEST(Decode, GroupsOfMoreThanEight) { check<DecodePlan<half_t, 64, 8, 2, 2>>({1, 12, 1, 50, 1}); }
TEST(Decode, SixteenRows) { check<DecodePlan<half_t, 64, 16, 2, 3>>({1, 13, 1, 75, 1}); }
TEST(Decode, HeadDim128) { check<DecodePlan<bfloat16_t, 128, 8, 2, 3>>({1, 4, 2, 70, 2}, 0.5f); }
TEST(Decode, Splits) { check<DecodePlan<half_t, 64, 8, 2, 3>>({1, 4, 2, 300, 5}); }
TEST(Decode, SplitsWithoutKeys) { check<DecodePlan<half_t, 64, 8, 2, 3>>({1, 2, 1, 33, 7}); }
TEST(Decode, LargeLogits) { check<DecodePlan<half_t, 64, 8, 2, 3>>({1, 2, 1, 200, 3}, 4.0f); }
TEST(Decode, PaddedKeys) { check<DecodePlan<half_t, 64, 8, 2, 3>>({2, 2, 2, 61, 2, 8}); }
TEST(Decode, OneCluster) { check<DecodePlan<half_t, 64, 8, 2, 3, 4>>({1, 3, 1, 300, 4}); }
TEST(Decode, Clusters) { check<DecodePlan<half_t, 64, 8, 1, 2, 2>>({1, 6, 2, 210, 6}); }
TEST(Decode, ClustersOfSixteenRows) { check<DecodePlan<half_t, 128, 16, 2, 2, 2>>({1, 12, 1, 160, 4}, 0.5f); }

}  // namespace
}  // namespace zellige
