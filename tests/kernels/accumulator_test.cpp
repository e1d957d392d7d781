// Coordinates of accumulators, which come from the instructions' layouts, against PTX ISA's figures.
#include <gtest/gtest.h>

#include <zellige/block/accumulator.hpp>

#include "../atom/wgmma_elements.hpp"

namespace zellige {
namespace {

template <int N>
void check_warpgroup() {
  using D = Accumulator<WgmmaOf<half_t, N>>;
  static_assert(D::rows == 64 && D::columns == N && D::registers == N / 2);
  for (int t = 0; t < 128; ++t) {
    for (int i = 0; i < D::registers; ++i) {
      const auto [row, column] = D::at(i, t);
      const auto e = wgmma_element(t, i);
      ASSERT_EQ(row, e.row) << "thread " << t << ", register " << i;
      ASSERT_EQ(column, e.column) << "thread " << t << ", register " << i;
      ASSERT_EQ(D::row(D::half(i), t), row) << "thread " << t << ", register " << i;
    }
  }
}

TEST(Accumulator, OfAWarpgroup) {
  check_warpgroup<8>();
  check_warpgroup<40>();
  check_warpgroup<176>();
  check_warpgroup<256>();
}
TEST(Accumulator, OfAWarp) {
  using D = Accumulator<SM80_16x8x16_F32F16F16F32_TN>;
  static_assert(D::rows == 16 && D::columns == 8 && D::registers == 4);
  for (int t = 0; t < 32; ++t) {
    for (int i = 0; i < 4; ++i) {
      const auto [row, column] = D::at(i, t);
      ASSERT_EQ(row, t / 4 + i / 2 * 8) << "lane " << t << ", register " << i;
      ASSERT_EQ(column, t % 4 * 2 + i % 2) << "lane " << t << ", register " << i;
      ASSERT_EQ(D::row(D::half(i), t), row) << "lane " << t << ", register " << i;
    }
  }
}

}  // namespace
}  // namespace zellige
