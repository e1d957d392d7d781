// Zellige's versions of CUTLASS's small headers, used without CUTLASS: conversions, division by a constant,
// arrays.
#include <cutlass/fast_math.h>
#include <cutlass/numeric_conversion.h>
#include <gtest/gtest.h>

#include <random>

namespace {

TEST(CompatCutlass, DivisionByAConstantNumber) {
  std::mt19937 random(1);
  std::uniform_int_distribution<int> any(0, 2147483647);
  for (int round = 0; round < 2000; ++round) {
    int const d = round < 300 ? round + 1 : any(random) >> (round % 31) | 1;
    cutlass::FastDivmod const by(d);
    for (int k = 0; k < 60; ++k) {
      int const near = int((2147483647ll / d - k) * d);  // the last multiples, and one less
      for (int n : {k, any(random), 2147483647 - k, near < 0 ? 0 : near, near < 1 ? 0 : near - 1}) {
        int q = -1, r = -1;
        by(q, r, n);
        ASSERT_EQ(q, n / d) << n << " / " << d;
        ASSERT_EQ(r, n % d) << n << " % " << d;
      }
    }
  }
}

TEST(CompatCutlass, ConversionsRound) {
  using cutlass::FloatRoundStyle;
  using cutlass::NumericConverter;
  EXPECT_EQ((NumericConverter<int, float>::convert(2.5f)), 2);
  EXPECT_EQ((NumericConverter<int, float>::convert(-3.5f)), -4);
  EXPECT_EQ((NumericConverter<int, float, FloatRoundStyle::round_toward_zero>::convert(-3.9f)), -3);
  EXPECT_EQ((NumericConverter<signed char, float>::convert(300.f)), 127);
  EXPECT_EQ((NumericConverter<signed char, float>::convert(-300.f)), -128);
  EXPECT_EQ((NumericConverter<unsigned char, float>::convert(-1.f)), 0);
  EXPECT_EQ((NumericConverter<float, cutlass::half_t>::convert(cutlass::half_t(0.1f))), float(cutlass::half_t(0.1f)));
  cutlass::Array<float, 5> f;
  for (int i = 0; i < 5; ++i) f[i] = 0.1f * float(i) - 70000.f * float(i == 3);
  auto const h = cutlass::NumericArrayConverter<cutlass::half_t, float, 5>{}(f);
  auto const b = cutlass::NumericArrayConverter<cutlass::bfloat16_t, float, 5>{}(f);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(float(h[i]), float(cutlass::half_t(f[i]))) << i;
    EXPECT_EQ(float(b[i]), float(cutlass::bfloat16_t(f[i]))) << i;
  }
}

TEST(CompatCutlass, ArraysComputeElementByElement) {
  cutlass::Array<float, 3> a, b;
  for (int i = 0; i < 3; ++i) a[i] = float(i + 1), b[i] = float(2 * i);
  auto c = a * b + 1.f - -a;
  c += a;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(c[i], float(i + 1) * float(2 * i) + 1 + 2 * float(i + 1)) << i;
  cutlass::Array<cutlass::half_t, 2> h;
  h[0] = 3.f, h[1] = 5.f;
  EXPECT_EQ(float((h / h)[1]), 1.f);
}

}  // namespace
