// What print, print_layout and print_latex write is byte for byte what CuTe 4.2 writes.
#include <gtest/gtest.h>

#include <cute/tensor.hpp>

using namespace cute;

namespace {

/// Returns what `action` prints to the standard output.
template <class Action>
std::string printed(Action const& action) {
  testing::internal::CaptureStdout();
  action();
  return testing::internal::GetCapturedStdout();
}
template <class T>
std::string print_of(T const& x) {
  return printed([&] { print(x); });
}
template <class T>
std::string pretty_print_of(T const& x) {
  return printed([&] { pretty_print(x); });
}

TEST(CompatPrint, FractionsOfEveryType) {
  EXPECT_EQ(print_of(half_t(1.5f)), "1.500000");
  EXPECT_EQ(print_of(bfloat16_t(-2.f)), "-2.000000");
  EXPECT_EQ(print_of(tfloat32_t(3.f)), "3.000000");
  EXPECT_EQ(print_of(float_e4m3_t(4.f)), "4.000000");
  EXPECT_EQ(print_of(float_e5m2_t(5.f)), "5.000000");
  EXPECT_EQ(print_of(1.25f) + print_of(1.25), "1.2500001.250000");
  half_t const h(1.5f);
  EXPECT_EQ(print_of(h * h), "2.250000") << "a product that is not yet rounded";
  EXPECT_EQ(print_of(make_tuple(h, _2{})), "(1.500000,_2)");
}

TEST(CompatPrint, IntegersOfEveryWidth) {
  EXPECT_EQ(print_of(int4_t(-3)) + print_of(uint4_t(3)) + print_of(int2_t(-1)), "-33-1");
  EXPECT_EQ(print_of(uint2_t(2)) + print_of(uint1_t(1)) + print_of(bin1_t(1)), "211");
  EXPECT_EQ(print_of(int8_t(-65)) + print_of(uint8_t(65)) + print_of(char(65)), "-6565A");
  EXPECT_EQ(print_of(short(-3)) + print_of(7u) + print_of(-3L) + print_of(3ull), "-37-33");
  EXPECT_EQ(print_of(make_tuple(int4_t(-3), 2)), "(-3,2)");
  array_subbyte<int4_t, 4> packed;
  packed.clear();
  packed[1] = int4_t(-5);
  EXPECT_EQ(print_of(packed[1]), "-5") << "an element of a packed array";
  EXPECT_EQ(pretty_print_of(int4_t(-3)) + pretty_print_of(uint1_t(1)), "   -3  1");
}

}  // namespace
