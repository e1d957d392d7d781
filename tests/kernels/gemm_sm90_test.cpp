// The warp-specialised GEMM against double precision: tiles, clusters, ragged edges, epilogues.
#include "hopper_trial.hpp"

namespace zellige {
namespace {

using namespace kernels;

template <class Tile>
struct Trial {
  using E = typename Tile::Element;
  GemmShape s;
  Device<E> a, b;
  Device<typename Tile::Output> d;

  explicit Trial(const GemmShape& shape)
      : s(shape), a("A", std::size_t(s.m) * s.k), b("B", std::size_t(s.n) * s.k), d("D", std::size_t(s.m) * s.n) {
    a.random(1), b.random(2);
  }
  std::vector<emulate::LaunchParameter> parameters() {
    const GemmTensors<Tile> t(s);
    return {map_of(t.a, a), map_of(t.b, b), map_of(t.d, d, true), s, Identity{}};
  }
  emulate::EmulationReport run(unsigned blocks) {
    return launch_hopper<gemm_sm90<Tile, Identity>>(blocks, Tile::threads, Tile::shared_bytes, Tile::ClusterM,
                                                    parameters());
  }
  double product(int m, int n) {
    double sum = 0;
    for (int k = 0; k < s.k; ++k) sum += a[m * s.k + k] * b[n * s.k + k];
    return sum;
  }
  void check(const emulate::EmulationReport& report) {
    EXPECT_EQ(all_messages(report), "");
    EXPECT_TRUE(report.complete);
    for (int m = 0; m < s.m; ++m)
      for (int n = 0; n < s.n; ++n) ASSERT_TRUE(near(d[m * s.n + n], product(m, n), 8e-3, 1e-4 * s.k)) << m << "," << n;
  }
};

TEST(GemmSm90, OneTile) {
  Trial<GemmTile<half_t, half_t, 64, 2>> t({128, 64, 128, 1});
  t.check(t.run(1));
}
TEST(GemmSm90, RaggedEdgesAndSeveralTilesABlock) {
  Trial<GemmTile<bfloat16_t, bfloat16_t, 64, 3>> t({200, 136, 200, 2});
  t.check(t.run(2));
}
TEST(GemmSm90, ClusterSharesB) {
  Trial<GemmTile<half_t, half_t, 128, 2, 2>> t({300, 136, 192, 1});
  t.check(t.run(4));
}
TEST(GemmSm90, ClusterOfFourWithUnevenSlices) {
  Trial<GemmTile<half_t, half_t, 40, 2, 4>> t({130, 80, 72, 1});
  t.check(t.run(4));
}
TEST(GemmSm90, FewRowsHalfTheColumnsEach) {
  Trial<GemmTile<half_t, half_t, 128, 2, 2, 64>> t({96, 192, 320, 1});
  t.check(t.run(4));
}
TEST(GemmSm90, EightBitFloats) {
  Trial<GemmTile<float_e4m3_t, bfloat16_t, 64, 2>> t({128, 64, 256, 1});
  t.check(t.run(1));
}
using BiasTile = GemmTile<half_t, half_t, 64, 2>;
// A functor with pointers is made from the kernel's parameters.
void with_residual(TmaDescriptor a, TmaDescriptor b, TmaDescriptor d, GemmShape s, gmem<const half_t> bias,
                   gmem<const half_t> residual) {
  gemm_sm90<BiasTile, BiasActivateAdd<half_t, Silu>>(a, b, d, s, {bias, residual, s.n});
}

TEST(GemmSm90, BiasActivationAndResidual) {
  Trial<BiasTile> t({120, 72, 64, 1});
  Device<half_t> bias("bias", 72), residual("residual", 120 * 72);
  bias.random(3), residual.random(4);
  auto p = t.parameters();
  p.back() = bias.in();
  p.push_back(residual.in());
  const auto report = launch_hopper<with_residual>(2, BiasTile::threads, BiasTile::shared_bytes, 1, p);
  EXPECT_EQ(all_messages(report), "");
  for (int m = 0; m < 120; ++m) {
    for (int n = 0; n < 72; ++n) {
      const double x = t.product(m, n) + bias[n];
      ASSERT_TRUE(near(t.d[m * 72 + n], x / (1 + std::exp(-x)) + residual[m * 72 + n], 2e-3, 1e-2)) << m << "," << n;
    }
  }
}
TEST(GemmSm90, SizesThatTmaCannotAddressAreRefused) {
  const GemmTensors<GemmTile<half_t, half_t, 64, 2>> t({128, 64, 100, 1});
  EXPECT_NE(tma_descriptor_error(t.a, 0).find("200"), std::string::npos) << tma_descriptor_error(t.a, 0);
}

}  // namespace
}  // namespace zellige
