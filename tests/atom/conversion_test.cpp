// The 16-bit and tf32 conversions against definitions in double: every bit pattern one way, every rounding
// boundary and random floats the other way.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>
#include <zellige/atom.hpp>
#include <zellige/atom/float8.hpp>

namespace zellige {
namespace {

// The value of sign, biased exponent and mantissa, from the definition of the formats.
double decode(unsigned bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
  const int exponent = static_cast<int>(bits >> mantissa_bits & ((1u << exponent_bits) - 1));
  const double sign = bits >> (mantissa_bits + exponent_bits) ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1)
    return mantissa ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(mantissa, 1 - bias - mantissa_bits);
  return sign * std::ldexp(mantissa + (1u << mantissa_bits), exponent - bias - mantissa_bits);
}

// Nearest-even by search: all finite magnitudes in ascending order are 0 .. infinity-1, with a phantom where
// infinity is.
unsigned nearest_even(float x, int exponent_bits, int mantissa_bits) {
  const unsigned sign = std::signbit(x) ? 1u << (exponent_bits + mantissa_bits) : 0;
  const unsigned infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  const double magnitude = std::fabs(static_cast<double>(x));
  const auto value = [&](unsigned bits) {
    return bits == infinity ? std::ldexp(1.0, 1 << (exponent_bits - 1)) : decode(bits, exponent_bits, mantissa_bits);
  };
  if (magnitude >= value(infinity)) return sign | infinity;
  unsigned low = 0, high = infinity;  // value(low) <= magnitude < value(high)
  while (high - low > 1) (value((low + high) / 2) <= magnitude ? low : high) = (low + high) / 2;
  const double below = magnitude - value(low), above = value(high) - magnitude;
  return sign | (below < above || (below == above && low % 2 == 0) ? low : high);
}

template <class T>
void widening_is_exact(int exponent_bits, int mantissa_bits) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    const float got = T::bitcast(static_cast<uint16_t>(bits));
    const double expected = decode(bits, exponent_bits, mantissa_bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
      ASSERT_EQ(T(got).bits, 0x7fff) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(got), expected) << bits;
      ASSERT_EQ(std::signbit(got), std::signbit(expected)) << bits;
      ASSERT_EQ(T(got).bits, bits);
    }
  }
}
TEST(Half, WideningIsExactAndInvertible) { widening_is_exact<half_t>(5, 10); }
TEST(Bfloat16, WideningIsExactAndInvertible) { widening_is_exact<bfloat16_t>(8, 7); }

// Around every midpoint of neighbours, and at random.
template <class T>
void rounds_to_nearest_even(int exponent_bits, int mantissa_bits) {
  std::vector<float> samples;
  const unsigned infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
  for (unsigned bits = 0; bits < infinity; ++bits) {
    const double next = bits + 1 == infinity ? std::ldexp(1.0, 1 << (exponent_bits - 1))
                                             : decode(bits + 1, exponent_bits, mantissa_bits);
    const float middle = static_cast<float>((decode(bits, exponent_bits, mantissa_bits) + next) / 2);
    for (float x : {std::nextafter(middle, 0.0f), middle, std::nextafter(middle, INFINITY)}) {
      samples.push_back(x);
      samples.push_back(-x);
    }
  }
  std::mt19937 random(7);
  for (int i = 0; i < 300000; ++i) samples.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (int i = 0; i < 300000; ++i) samples.push_back(std::normal_distribution<float>(0, 1e-4f)(random));
  for (float x : {INFINITY, -INFINITY, 0.0f, -0.0f}) samples.push_back(x);
  for (float x : samples) {
    if (std::isnan(x)) {
      ASSERT_EQ(T(x).bits, 0x7fff);
    } else {
      ASSERT_EQ(T(x).bits, nearest_even(x, exponent_bits, mantissa_bits)) << std::hexfloat << x;
    }
  }
}
TEST(Half, RoundsToNearestEven) { rounds_to_nearest_even<half_t>(5, 10); }
TEST(Bfloat16, RoundsToNearestEven) { rounds_to_nearest_even<bfloat16_t>(8, 7); }

TEST(Tfloat32, RoundsToNearestTiesAway) {
  std::mt19937 random(8);
  for (int i = 0; i < 300000; ++i) {
    const float x = std::bit_cast<float>(static_cast<uint32_t>(i % 3 ? random() : random() & ~0xfffu));
    if (!std::isfinite(x)) continue;
    const float got = tfloat32_t(x);
    int exponent;
    std::frexp(x, &exponent);
    const double unit = std::ldexp(1.0, std::max(exponent, -125) - 11);  // of the 11 significant bits
    const double expected = std::copysign(std::floor(std::fabs(double(x)) / unit + 0.5) * unit, x);
    if (std::fabs(expected) >= 0x1p128)
      ASSERT_TRUE(std::isinf(got));
    else
      ASSERT_EQ(static_cast<double>(got), expected) << std::hexfloat << x;
  }
  EXPECT_EQ(static_cast<float>(tfloat32_t::bitcast(0x3f801fffu)),
            1.0f);  // an MMA does not see the low 13 bits
  EXPECT_TRUE(std::isnan(static_cast<float>(tfloat32_t(NAN))));
}

TEST(Convert, PairsPutTheFirstInTheLowHalf) {
  EXPECT_EQ(pack<half_t>(1.0f, -2.0f), 0xc0003c00u);
  EXPECT_EQ(pack<bfloat16_t>(1.0f, -2.0f), 0xc0003f80u);
  EXPECT_EQ(unpack<half_t>(0xc0003c00u)[0], 1.0f);
  EXPECT_EQ(unpack<bfloat16_t>(0xc0003f80u)[1], -2.0f);
  EXPECT_EQ(convert<half_t>(65520.0f).bits, 0x7c00);
  EXPECT_EQ(convert<float>(0.1f), 0.1f);
}

TEST(Vec, IsAlignedForOneAccessAndKeepsItsBytes) {
  static_assert(sizeof(Vec<half_t, 8>) == 16 && alignof(Vec<half_t, 8>) == 16);
  static_assert(sizeof(Vec<half_t, 2>) == 4 && alignof(Vec<half_t, 2>) == 4);
  static_assert(sizeof(Vec<float, 3>) == 12 && alignof(Vec<float, 3>) == 4);
  static_assert(sizeof(Vec<half_t, 1>) == 2 && alignof(Vec<float, 8>) == 16);
  Vec<half_t, 4> v{{half_t(1), half_t(2), half_t(3), half_t(4)}};
  EXPECT_EQ(word(v, 0), 0x40003c00u);
  EXPECT_EQ(word(v, 1), 0x44004200u);
  EXPECT_EQ(static_cast<float>((bit_cast<Vec<half_t, 4>>(words(v)))[2]), 3.0f);
}

// Each function against the same formula in long double.
TEST(Math, IsAccurateToOneMillionth) {
  std::mt19937 random(9);
  const auto near = [](float got, long double expected) {
    ASSERT_LE(std::fabs(got - expected), 1e-6L * std::fabs(expected) + 1e-37L) << static_cast<double>(expected);
  };
  for (int i = 0; i < 20000; ++i) {
    const float x = std::normal_distribution<float>(0, i % 2 ? 1.0f : 6.0f)(random);
    const long double e = std::exp(-static_cast<long double>(x));
    near(zellige::exp(x), 1 / e);
    const float top = x + std::fabs(std::normal_distribution<float>(0, 4.0f)(random));
    const long double below = std::exp(0.125L * x - static_cast<long double>(top));
    ASSERT_LE(std::fabs(zellige::exp_below(x, 0.125f, top) - below),
              1e-6L * (1 + std::fabs(x) + std::fabs(top)) * below + 1e-37L)
        << x << " " << top;
    near(zellige::sigmoid(x), 1 / (1 + e));
    near(zellige::silu(x), x / (1 + e));
    near(zellige::log(std::fabs(x)), std::log(std::fabs(static_cast<long double>(x))));
    near(zellige::sqrt(std::fabs(x)), std::sqrt(std::fabs(static_cast<long double>(x))));
    near(zellige::tanh(x), std::tanh(static_cast<long double>(x)));
    near(zellige::erf(x), std::erf(static_cast<long double>(x)));
    near(zellige::pow(std::fabs(x), 1.5f), std::pow(std::fabs(static_cast<long double>(x)), 1.5L));
    // x / sqrt(2) is rounded before the complement, whose relative slope grows with x^2.
    const long double gelu = x * 0.5L * std::erfc(-x / std::sqrt(2.0L));
    ASSERT_LE(std::fabs(zellige::gelu(x) - gelu), 1e-6L * std::fabs(gelu) * (1 + 0.5L * x * x) + 1e-37L) << x;
  }
  // A masked score counts as nothing, even before the first maximum.
  EXPECT_EQ(exp_below(-infinity, 0.125f, -3.4028234664e38f), 0.0f);
  EXPECT_EQ(exp_below(-infinity, 1.0f, 3.0f), 0.0f);
  EXPECT_TRUE(std::isnan(exp_below(infinity, 1.0f, infinity)));
  EXPECT_EQ(relu(-1.0f), 0.0f);
  EXPECT_EQ(clamp(5.0f, -1.0f, 2.0f), 2.0f);
  EXPECT_EQ(silu(-200.0f), 0.0f);
  EXPECT_TRUE(std::isnan(relu(NAN)) && std::isnan(zellige::max(1.0f, NAN)) && std::isnan(zellige::min(NAN, 1.0f)));
}

// Arithmetic on narrow numbers is float's, rounded once; no implicit conversion from float.
template <class T>
void arithmetic_is_rounded_once() {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_default_constructible_v<T>);
  unsigned state = 12345;
  const auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return T((float(state >> 8) / 16777216.0f - 0.5f) * 8);
  };
  for (int i = 0; i < 20000; ++i) {
    const T a = next(), b = next(), c = next();
    const float x = a, y = b, z = c;
    const auto same = [](T got, float want) { return got.bits == T(want).bits; };
    T h = a * b;
    ASSERT_TRUE(same(h, x * y));
    h = a * b + c;
    ASSERT_TRUE(same(h, x * y + z));
    T sum = a + b - c;
    ASSERT_TRUE(same(sum, x + y - z));
    T negative = -a;
    ASSERT_TRUE(same(negative, -x));
    if (y != 0) {
      T quotient = a / b;
      ASSERT_TRUE(same(quotient, x / y));
    }
    h = a;
    h += b;
    ASSERT_TRUE(same(h, x + y));
    h = a, h -= 0.5f;
    ASSERT_TRUE(same(h, x - 0.5f));
    h = a, h *= b * c;
    ASSERT_TRUE(same(h, x * (y * z)));
    h = 0.1f, ++h;
    ASSERT_TRUE(same(h, float(T(0.1f)) + 1));
    static_assert(std::is_same_v<decltype(true ? a : 0.0f), float> && std::is_same_v<decltype(a * 2.0f), float>);
    ASSERT_EQ(a < b, x < y);
  }
}
TEST(NarrowFloats, ArithmeticIsRoundedOnce) {
  arithmetic_is_rounded_once<half_t>();
  arithmetic_is_rounded_once<bfloat16_t>();
  arithmetic_is_rounded_once<tfloat32_t>();
  arithmetic_is_rounded_once<float_e4m3_t>();
  arithmetic_is_rounded_once<float_e5m2_t>();
}

}  // namespace
}  // namespace zellige
