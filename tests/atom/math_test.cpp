// Divisor against an exact division, for the smallest and largest float32 numbers and divisors.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
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

}  // namespace
