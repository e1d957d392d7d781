// Floats of 4 and 6 bits, and the scales of blocks: each code is a number that converts to itself; any other number becomes
// a nearest one, of two with equal distances the even one.
#include <gtest/gtest.h>

#include <cmath>
#include <zellige/atom/narrow_number.hpp>
#include <zellige/tensor.hpp>

namespace zellige {
namespace {

template <class T>
void converts_to_nearest(int codes, float step, float end) {
  for (int code = 0; code < codes; ++code) {
    T const x = T::bitcast(uint8_t(code));
    EXPECT_EQ(T(float(x)).bits, code);
  }
  for (float value = -end; value <= end; value += step) {
    T const got(value);
    float const distance = std::fabs(float(got) - value);
    for (int code = 0; code < codes; ++code) {
      float const other = std::fabs(float(T::bitcast(uint8_t(code))) - value);
      ASSERT_GE(other, distance) << value << " " << code;
      if (other == distance && float(T::bitcast(uint8_t(code))) != float(got)) {
        ASSERT_EQ(got.bits % 2, 0) << value;
      }
    }
  }
  EXPECT_EQ(float(T(INFINITY)), float(T::bitcast(uint8_t(codes / 2 - 1))));
  EXPECT_EQ(float(T(NAN)), float(T::bitcast(uint8_t(codes / 2 - 1))));
}
TEST(NarrowNumbers, ConvertToTheNearest) {
  converts_to_nearest<float_e2m1_t>(16, 0x1p-6f, 8);
  converts_to_nearest<float_e2m3_t>(64, 0x1p-7f, 9);
  converts_to_nearest<float_e3m2_t>(64, 0x1p-7f, 32);
}
TEST(NarrowNumbers, ScalesArePowersOfTwoThatRoundUp) {
  for (int code = 0; code < 255; ++code) {
    float const power = float(float_ue8m0_t::bitcast(uint8_t(code)));
    EXPECT_EQ(power, std::ldexp(1.0f, code - 127));
    EXPECT_EQ(float_ue8m0_t(power).bits, code);
    if (code < 254) {
      EXPECT_EQ(float_ue8m0_t(power * 1.25f).bits, code + 1);
    }
  }
  EXPECT_TRUE(std::isnan(float(float_ue8m0_t::bitcast(255))));
  EXPECT_EQ(float_ue8m0_t(INFINITY).bits, 255);
  for (int code = 0; code < 127; ++code)
    EXPECT_EQ(float_ue4m3_t(-float(float_ue4m3_t::bitcast(uint8_t(code)))).bits, code);
  EXPECT_EQ(float(float_ue4m3_t(1e9f)), 448);
}
TEST(NarrowNumbers, TensorsPackThem) {
  unsigned char bytes[6] = {};
  auto const fours = make_tensor(recast_ptr<float_e2m1_t>(bytes), _4{});
  fours(1) = float_e2m1_t(-6.0f);
  fours(2) = float_e2m1_t(0.5f);
  EXPECT_EQ(bytes[0], 0xf0);
  EXPECT_EQ(bytes[1], 0x01);
  auto const sixes = make_tensor(recast_ptr<float_e3m2_t>(bytes), _8{});
  sixes(7) = float_e3m2_t(28.0f);
  EXPECT_EQ(bytes[5], 0x7c);
  EXPECT_EQ(float(float_e3m2_t(sixes(7))), 28);
}

}  // namespace
}  // namespace zellige
