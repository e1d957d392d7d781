// Attention against double precision: causal or not, grouped heads, lengths that no tile divides.
#include "hopper_trial.hpp"

namespace zellige {
namespace {

using namespace kernels;

template <class A>
void check(const AttentionShape& s, unsigned blocks) {
  using E = typename A::Element;
  constexpr int D = A::HeadDim;
  Device<E> q("Q", std::size_t(s.heads) * s.queries * D), k("K", std::size_t(s.kv_heads) * s.keys * D),
      v("V", std::size_t(s.kv_heads) * s.keys * D), o("O", std::size_t(s.heads) * s.queries * D);
  q.random(1), k.random(2), v.random(3);
  const AttentionTensors<A> t(s);
  const auto report =
      launch_hopper<attention_sm90<A>>(blocks, A::threads, A::shared_bytes, 1,
                                       {map_of(t.q, q), map_of(t.k, k), map_of(t.v, v), map_of(t.o, o, true), s});
  EXPECT_EQ(all_messages(report), "");
  EXPECT_TRUE(report.complete);
  for (int h = 0; h < s.heads; ++h) {
    const int g = h / (s.heads / s.kv_heads);
    for (int i = 0; i < s.queries; i += 7) {
      const int seen = A::Causal ? std::min(s.keys, i + 1 + s.keys - s.queries) : s.keys;
      std::vector<double> p(seen);
      double largest = -1e300, sum = 0;
      for (int j = 0; j < seen; ++j) {
        for (int e = 0; e < D; ++e) p[j] += q[(h * s.queries + i) * D + e] * k[(g * s.keys + j) * D + e];
        largest = std::max(largest, p[j] *= s.scale);
      }
      for (double& x : p) sum += x = std::exp(x - largest);
      for (int e = 0; e < D; e += 5) {
        double want = 0;
        for (int j = 0; j < seen; ++j) want += p[j] / sum * v[(g * s.keys + j) * D + e];
        ASSERT_TRUE(near(o[(h * s.queries + i) * D + e], want, 1e-2, 1e-2))
            << "head " << h << ", query " << i << ", " << e;
      }
    }
  }
}

TEST(AttentionSm90, OneTileOfKeys) { check<Attention<bfloat16_t, 64, 64, false>>({128, 64, 1, 1, 0.125f}, 1); }
TEST(AttentionSm90, RaggedLengths) { check<Attention<half_t, 128, 64, false>>({150, 200, 1, 1, 0.1f}, 2); }
TEST(AttentionSm90, Causal) { check<Attention<bfloat16_t, 64, 128, true>>({300, 300, 1, 1, 0.125f}, 2); }
TEST(AttentionSm90, CausalWithEarlierKeys) { check<Attention<half_t, 64, 64, true>>({130, 290, 1, 1, 0.125f}, 1); }
TEST(AttentionSm90, GroupedHeads) { check<Attention<half_t, 64, 64, false>>({128, 128, 4, 2, 0.125f}, 3); }

}  // namespace
}  // namespace zellige
