// The weight streams for small M against double precision.
#include "hopper_trial.hpp"

namespace zellige {
namespace {

using namespace kernels;

template <class L>
void check(const LinearShape& s, unsigned blocks) {
  using E = typename L::Element;
  Device<E> x("X", std::size_t(s.rows) * s.k), w("W", std::size_t(s.n) * s.k), v("V", std::size_t(s.n) * s.k),
      y("Y", std::size_t(s.rows) * s.n);
  x.random(1), w.random(2, 0.1f), v.random(3, 0.1f);
  const LinearTensors<L> t(s);
  const auto report = launch_hopper<linear_sm90<L>>(
      blocks, L::threads, L::shared_bytes, 1,
      {never_written(map_of(t.w, w)), never_written(map_of(t.v, v)), map_of(t.x, x), y.out(), s});
  EXPECT_EQ(all_messages(report), "");
  EXPECT_TRUE(report.complete);
  const auto product = [&](Device<E>& weights, int r, int n) {
    double sum = 0;
    for (int k = 0; k < s.k; ++k)
      sum += x[r * s.k + k] * weights[L::weights == Weights::nk ? n * s.k + k : k * s.n + n];
    return sum;
  };
  for (int r = 0; r < s.rows; ++r) {
    double squares = 0;
    for (int k = 0; k < s.k; ++k) squares += x[r * s.k + k] * x[r * s.k + k];
    for (int n = 0; n < s.n; ++n) {
      double want = product(w, r, n);
      if (L::work == LinearWork::rms_norm) want /= std::sqrt(squares / s.k);
      if (L::work == LinearWork::gated) want = want / (1 + std::exp(-want)) * product(v, r, n);
      ASSERT_TRUE(near(y[r * s.n + n], want, 2e-3, 2e-3)) << r << "," << n;
    }
  }
}

TEST(LinearSm90, ProductOfSixteenRows) {
  check<FewRows<half_t, Weights::nk, LinearWork::product, 16, 2>>({16, 136, 320}, 2);
}
TEST(LinearSm90, ProductOfFiveRows) { check<FewRows<half_t, Weights::nk, LinearWork::product, 8, 4>>({5, 64, 192}, 1); }
TEST(LinearSm90, OneRow) { check<FewRows<half_t, Weights::kn, LinearWork::product, 8, 2>>({1, 72, 128}, 2); }
TEST(LinearSm90, RmsNorm) { check<FewRows<half_t, Weights::kn, LinearWork::rms_norm, 16, 2>>({11, 72, 256}, 2); }
TEST(LinearSm90, RmsNormOfTwoRows) { check<FewRows<half_t, Weights::kn, LinearWork::rms_norm, 8, 4>>({2, 64, 512}, 1); }
TEST(LinearSm90, Gated) { check<FewRows<half_t, Weights::kn, LinearWork::gated, 8, 2>>({8, 72, 256}, 2); }
TEST(LinearSm90, GatedSixteenRows) { check<FewRows<half_t, Weights::kn, LinearWork::gated, 16, 2>>({13, 32, 192}, 1); }

}  // namespace
}  // namespace zellige
