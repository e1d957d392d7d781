// Divisor against an exact division, for the smallest and largest float32 numbers and divisors; gelu and gelu_tanh
// against the reference's bounds, over all exponents.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numbers>
#include <zellige/atom/math.hpp>

namespace {

TEST(Math, DivisorAgreesWithDivision) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const float extremes[] = {0.0f, 1e-45f, 3e-39f,  1.2e-38f, 1e-31f,   7e-4f, 1.0f,
                            3.0f, 1e29f,  1.3e30f, 3.4e38f,  infinity, NAN};
  for (const float x : extremes)
    for (const float d : extremes)
      for (const float sign : {1.0f, -1.0f}) {
        const float exact = x / (sign * d), found = x / zellige::Divisor(sign * d);
        SCOPED_TRACE(testing::Message() << x << " / " << sign * d);
        if (std::isnan(exact)) {
          EXPECT_TRUE(std::isnan(found));
        } else if (std::isinf(exact) || exact == 0) {
          EXPECT_EQ(exact, found);
          EXPECT_EQ(std::signbit(exact), std::signbit(found));
        } else {  // a subnormal quotient may be rounded twice
          const float unit = std::nextafter(std::abs(exact), infinity) - std::abs(exact);
          EXPECT_NEAR(exact, found, 2 * unit);
        }
      }
}

/// Calls visit(x) for numbers of every exponent and both signs, subnormals included.
template <class Visit>
void for_every_exponent(const Visit& visit) {
  constexpr unsigned step = 99991, end = 0x7f800000;  // a prime number of floats from one number to the next
  for (unsigned bits = 0; bits < end; bits += step)
    for (const unsigned sign : {0u, 0x80000000u}) visit(std::bit_cast<float>(bits | sign));
}

// The bounds are those of docs/reference/verdicts.md, in units of 2^-24 of the result; what is below 2^-126 may be 0.
TEST(Math, GelusAreWithinTheReferencesBounds) {
  for_every_exponent([](float x) {
    const double v = x, tiny = (1 + std::abs(v)) * 0x1p-126;
    const double exact = v * std::erfc(-v * std::sqrt(0.5)) / 2;
    const double units = 10 + (x < 0 ? 6 * v * v : 0);
    ASSERT_NEAR(zellige::gelu(x), exact, units * 0x1p-24 * std::abs(exact) + tiny) << x;
    const double twice = std::sqrt(8 / std::numbers::pi) * (v + 0.044715 * v * v * v);
    const double by_tanh = v / (1 + std::exp(-twice));
    const double its_units = 12 + (x < 0 ? 18 * std::abs(twice) : 0);
    ASSERT_NEAR(zellige::gelu_tanh(x), by_tanh, its_units * 0x1p-24 * std::abs(by_tanh) + tiny) << x;
  });
}

// The error grows by the roundings of the exponent of e^(-x^2 / 2) alone.
TEST(Math, GeluIsAccurateInTheTail) {
  for (float x = -12.5f; x < 0; x += 0x1p-12f) {
    const double v = x, exact = v * std::erfc(-v * std::sqrt(0.5)) / 2;
    ASSERT_NEAR(zellige::gelu(x), exact, (7 + 1.1 * v * v) * 0x1p-24 * std::abs(exact)) << x;
  }
}

TEST(Math, GelusOfSpecialNumbers) {
  constexpr float infinity = std::numeric_limits<float>::infinity(), largest = std::numeric_limits<float>::max();
  for (float (*f)(float) :
       {+[](float x) { return zellige::gelu(x); }, +[](float x) { return zellige::gelu_tanh(x); }}) {
    EXPECT_EQ(f(infinity), infinity);
    EXPECT_EQ(f(largest), largest);
    EXPECT_EQ(f(-largest), 0);
    EXPECT_EQ(f(14.0f), 14.0f);
    EXPECT_TRUE(std::isnan(f(NAN)));
    EXPECT_TRUE(std::isnan(f(-infinity)));  // as in PyTorch and the reference
    EXPECT_EQ(f(0.0f), 0);
    EXPECT_FALSE(std::signbit(f(0.0f)));
    EXPECT_TRUE(std::signbit(f(-0.0f)));
    EXPECT_EQ(f(0x1p-100f), 0x1p-101f);
    EXPECT_EQ(f(-0x1p-100f), -0x1p-101f);
  }
}

}  // namespace
