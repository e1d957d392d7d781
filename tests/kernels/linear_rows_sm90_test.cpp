// The weight streams for up to 128 rows against double precision.
#include "hopper_trial.hpp"

namespace zellige {
namespace {

using namespace kernels;

// A functor with pointers is made from the kernel's parameters.
template <class L>
void with_bias(TmaDescriptor w, TmaDescriptor x, TmaDescriptor y, LinearShape s, gmem<const typename L::Element> bias) {
  linear_rows_sm90<L, BiasActivate<typename L::Element, Relu>>(w, x, y, s, {bias});
}

template <class L>
void check(const LinearShape& s, unsigned blocks) {
  using E = typename L::Element;
  Device<E> x("X", std::size_t(s.rows) * s.k), w("W", std::size_t(s.n) * s.k), bias("bias", s.n),
      y("Y", std::size_t(s.rows) * s.n);
  x.random(1), w.random(2, 0.1f), bias.random(3);
  const RowsTensors<L> t(s);
  const auto report = launch_hopper<with_bias<L>>(
      blocks, L::threads, L::shared_bytes, 1,
      {never_written(map_of(t.w, w)), map_of(t.x, x), map_of(t.y, y, true), s, never_written(bias.in())});
  EXPECT_EQ(all_messages(report), "");
  EXPECT_TRUE(report.complete);
  for (int r = 0; r < s.rows; ++r) {
    for (int n = 0; n < s.n; ++n) {
      double want = bias[n];
      for (int k = 0; k < s.k; ++k) want += x[r * s.k + k] * w[n * s.k + k];
      ASSERT_TRUE(near(y[r * s.n + n], std::max(want, 0.0), std::is_same_v<E, half_t> ? 2e-3 : 8e-3, 2e-3))
          << r << "," << n;
    }
  }
}

TEST(LinearRowsSm90, FullTile) { check<ManyRows<half_t, 128>>({128, 64, 128}, 1); }
TEST(LinearRowsSm90, EdgesAndSeveralTilesABlock) { check<ManyRows<half_t, 128>>({77, 136, 200}, 2); }
TEST(LinearRowsSm90, MoreStepsThanStages) { check<ManyRows<half_t, 64>>({33, 72, 1040}, 1); }
TEST(LinearRowsSm90, Bfloat16) { check<ManyRows<bfloat16_t, 64>>({64, 136, 72}, 1); }

}  // namespace
}  // namespace zellige
