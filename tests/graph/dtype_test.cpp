#include "graph/dtype.hpp"

#include <gtest/gtest.h>

#include <random>

namespace zellige::graph {
namespace {

/// All finite values of a 16-bit format from 0 up, by its bits.
std::vector<double> ladder(DType dtype) {
  std::vector<double> values;
  const std::uint32_t infinity = dtype == DType::f16 ? 0x7c00 : 0x7f80;
  for (std::uint32_t bits = 0; bits < infinity; ++bits) values.push_back(from_bits(dtype, bits));
  return values;
}

class Narrow : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(DType, Narrow, testing::Values(DType::f16, DType::bf16),
                         [](const auto& info) { return std::string(name(info.param)); });

TEST_P(Narrow, EveryBitPatternComesBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double x = from_bits(GetParam(), bits);
    if (x != x) {
      EXPECT_TRUE(std::isnan(round_to(GetParam(), x)));
      continue;
    }
    ASSERT_EQ(to_bits(GetParam(), x), bits);
    ASSERT_EQ(round_to(GetParam(), x), x);
  }
}

TEST_P(Narrow, ValuesRiseWithTheirBits) {
  const std::vector<double> values = ladder(GetParam());
  EXPECT_EQ(values[0], 0);
  for (std::size_t i = 1; i < values.size(); ++i) ASSERT_LT(values[i - 1], values[i]);
  EXPECT_EQ(values.back(), format(GetParam()).greatest);
}

// Between neighbours a < b: their middle goes to the one with an even last bit, anything nearer to a to a.
TEST_P(Narrow, RoundsToNearestTiesToEven) {
  const std::vector<double> values = ladder(GetParam());
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const double a = values[i], b = values[i + 1], middle = a + (b - a) / 2;
    for (double sign : {1.0, -1.0}) {
      ASSERT_EQ(round_to(GetParam(), sign * middle), sign * (i % 2 == 0 ? a : b)) << a << " " << b;
      ASSERT_EQ(round_to(GetParam(), sign * std::nextafter(middle, 0)), sign * a);
      ASSERT_EQ(round_to(GetParam(), sign * std::nextafter(middle, INFINITY)), sign * b);
    }
  }
}

TEST_P(Narrow, OverflowsFromHalfAStepAboveTheGreatest) {
  const Format f = format(GetParam());
  const std::vector<double> values = ladder(GetParam());
  const double step = f.greatest - values[values.size() - 2], edge = f.greatest + step / 2;
  EXPECT_EQ(round_to(GetParam(), std::nextafter(edge, 0)), f.greatest);
  EXPECT_EQ(round_to(GetParam(), edge), INFINITY);
  EXPECT_EQ(round_to(GetParam(), -edge), -INFINITY);
  EXPECT_EQ(round_to(GetParam(), INFINITY), INFINITY);
}

TEST(Float32, AgreesWithTheProcessor) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000000; ++i) {
    const double x = std::bit_cast<double>(random());
    if (std::fabs(x) > 1e39 || x != x) continue;
    ASSERT_EQ(round_to(DType::f32, x), static_cast<double>(static_cast<float>(x))) << x;
  }
  for (int i = 0; i < 1000000; ++i) {  // around the subnormals, which the loop above rarely draws
    const double x = std::ldexp(static_cast<double>(random() >> 11) * 0x1p-53, -120 - static_cast<int>(random() % 32));
    ASSERT_EQ(round_to(DType::f32, x), static_cast<double>(static_cast<float>(x))) << x;
  }
}

// 1 + 2^-11 + 2^-40 is above the middle of two f16; rounded to f32 first it would be the middle, and then go
// down.
TEST(Float16, IsNotRoundedTwice) {
  EXPECT_EQ(round_to(DType::f16, 1 + 0x1p-11 + 0x1p-40), 1 + 0x1p-10);
  EXPECT_EQ(round_to(DType::bf16, 1 + 0x1p-8 + 0x1p-40), 1 + 0x1p-7);
}

TEST(Float16, KeepsTheSignOfZero) {
  EXPECT_TRUE(std::signbit(round_to(DType::f16, -0.0)));
  EXPECT_TRUE(std::signbit(round_to(DType::f16, -1e-30)));
  EXPECT_EQ(to_bits(DType::f16, -0.0), 0x8000u);
}

TEST(Integers, EachOfTheirNumbersComesBack) {
  for (DType d : {DType::int8, DType::uint8, DType::int16})
    for (double x = format(d).lowest; x <= format(d).greatest; ++x)
      ASSERT_EQ(from_bits(d, to_bits(d, x)), x) << name(d);
  for (double x : {0.0, 1.0, -1.0, 0x1p31, -0x1p40 - 1, 0x1p53, -0x1p63, 0x1p63 - 1024})
    EXPECT_EQ(from_bits(DType::int64, to_bits(DType::int64, x)), x);
  EXPECT_EQ(to_bits(DType::boolean, 7), 1u);
  EXPECT_EQ(to_bits(DType::int16, -2), 0xfffeu);
}

}  // namespace
}  // namespace zellige::graph
