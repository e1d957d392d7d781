// Casts between all dtypes, against the results of NumPy and ml_dtypes for the same numbers (casts.py wrote
// casts.tsv), and the cases that those leave undefined.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "graph/elementwise.hpp"

namespace zellige::graph {
namespace {

double cast(DType from, double x, DType to, bool saturate = false) {
  return apply(OpKind::cast, {.dtype = to, .saturate = saturate}, &x, from);
}

DType dtype_of(const std::string& text) {
  for (DType d : all_dtypes())
    if (name(d) == text) return d;
  fail("{} is no dtype", text);
}

TEST(Cast, IsNumPys) {
  std::ifstream file(std::string(ZELLIGE_SOURCE_DIR) + "/tests/graph/casts.tsv");
  int lines = 0, numbers = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    std::istringstream words(line);
    std::string from, to, pair;
    words >> from >> to;
    const DType a = dtype_of(from), b = dtype_of(to);
    for (; words >> pair; ++numbers) {
      const std::size_t colon = pair.find(':');
      const double x = from_bits(a, static_cast<std::uint32_t>(std::stoul(pair.substr(0, colon), nullptr, 16)));
      const double expected = from_bits(b, static_cast<std::uint32_t>(std::stoul(pair.substr(colon + 1), nullptr, 16)));
      const double y = cast(a, x, b);
      if (expected != expected) {
        ASSERT_TRUE(y != y) << from << " " << x << " to " << to << ": " << y;
        ASSERT_TRUE(std::isnan(from_bits(b, to_bits(b, y))));
        continue;
      }
      ASSERT_EQ(y, expected) << from << " " << x << " to " << to;
      ASSERT_EQ(to_bits(b, y), to_bits(b, expected)) << from << " " << x << " to " << to;
      ASSERT_EQ(from_bits(b, to_bits(b, y)), expected) << from << " " << x << " to " << to;
    }
  }
  EXPECT_EQ(lines, 49);
  EXPECT_GT(numbers, 9000);
}

TEST(Cast, ToIntegersOfWhatNoneHolds) {
  EXPECT_EQ(cast(DType::f32, 3e9, DType::int32), 2147483647);
  EXPECT_EQ(cast(DType::f32, -INFINITY, DType::int32), -2147483648.0);
  EXPECT_EQ(cast(DType::f32, NAN, DType::int32), 0);
  EXPECT_EQ(cast(DType::f32, 3e9, DType::int8), -1);  // the lower bits of 2147483647
  EXPECT_EQ(cast(DType::f32, NAN, DType::int8), 0);
  EXPECT_EQ(cast(DType::f32, NAN, DType::boolean), 1);
  EXPECT_EQ(cast(DType::f32, 0.25, DType::boolean), 1);
  EXPECT_EQ(cast(DType::f32, -0.0, DType::boolean), 0);
  EXPECT_EQ(cast(DType::f32, -1, DType::uint8), 255);
  EXPECT_EQ(cast(DType::f32, 1e30, DType::int64), 0x1p63 - 1024);  // the greatest that a float64 holds
}

TEST(Cast, SaturatesWhereToldTo) {
  for (DType d : all_dtypes()) {
    if (d == DType::boolean) continue;  // any number is one
    const double maximum = format(d).greatest, minimum = format(d).lowest;
    for (double x : std::vector<double>{1e39, INFINITY}) {
      if (x < maximum) continue;  // float64 has it
      EXPECT_EQ(cast(DType::f32, x, d, true), maximum) << name(d);
      EXPECT_EQ(cast(DType::f32, -x, d, true), minimum) << name(d);
    }
    if (is_integer(d))
      EXPECT_EQ(cast(DType::f32, NAN, d, true), 0);
    else
      EXPECT_TRUE(std::isnan(cast(DType::f32, NAN, d, true))) << name(d);
    EXPECT_EQ(cast(DType::f32, 1.5, d, true), cast(DType::f32, 1.5, d));
  }
  EXPECT_EQ(cast(DType::int32, 200, DType::int8, true), 127);
  EXPECT_EQ(cast(DType::int32, 300, DType::uint8, true), 255);
  EXPECT_EQ(cast(DType::int32, -7, DType::uint8, true), 0);
  EXPECT_EQ(cast(DType::int64, 0x1p40 + 5, DType::int32), 5);  // the lower bits
  EXPECT_EQ(cast(DType::int64, 0x1p40 + 5, DType::int32, true), 2147483647);
  EXPECT_EQ(cast(DType::int32, -129, DType::int8, true), -128);
  EXPECT_EQ(cast(DType::int32, 1 << 20, DType::e4m3, true), 448);
}

TEST(Integers, WrapAsTwosComplement) {
  const auto of = [](OpKind kind, DType d, double x, double y, Attributes a = {}) {
    const double in[] = {x, y, y};
    return apply(kind, a, in, d);
  };
  EXPECT_EQ(of(OpKind::add, DType::int32, 2147483647, 1), -2147483648.0);
  EXPECT_EQ(of(OpKind::mul, DType::int32, 2147483647, 2147483647),
            1);  // 2^62 - 2^32 + 1, which no float64 holds
  EXPECT_EQ(of(OpKind::mul, DType::int32, 16777217, 1), 16777217);
  EXPECT_EQ(of(OpKind::neg, DType::int32, -2147483648.0, 0), -2147483648.0);
  EXPECT_EQ(of(OpKind::abs, DType::int8, -128, 0), -128);
  EXPECT_EQ(of(OpKind::sub, DType::int8, -128, 1), 127);
  EXPECT_EQ(of(OpKind::mul_scalar, DType::int8, 100, 0, {.scalar = 3}), 44);
  EXPECT_EQ(of(OpKind::maximum, DType::int32, 16777217, 16777216), 16777217);
}

}  // namespace
}  // namespace zellige::graph
