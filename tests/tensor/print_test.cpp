// print, print_tensor, pretty_print and <<: their output, which is the same for strings, printf and
// streams.
#include <gtest/gtest.h>

#include <sstream>
#include <vector>
#include <zellige/numeric/int.hpp>
#include <zellige/tensor/debug.hpp>
#include <zellige/tensor/print.hpp>
#include <zellige/tensor/zip.hpp>

namespace zellige {
namespace {

template <class F>
std::string printed(F f) {
  std::fflush(stdout);
  testing::internal::CaptureStdout();
  f();
  std::fflush(stdout);
  return testing::internal::GetCapturedStdout();
}
std::string without_addresses(std::string s) {
  for (std::size_t at; (at = s.find("0x")) != std::string::npos;) {
    std::size_t end = at + 2;
    while (end < s.size() && std::isxdigit(static_cast<unsigned char>(s[end]))) ++end;
    s.replace(at, end - at, "*");
  }
  return s;
}
template <class T>
std::string streamed(T const& x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

TEST(Printing, StreamsTakeTensors) {
  EXPECT_EQ(streamed(make_tensor(counting_iterator<int>(7), Layout<_1, _0>{})), "_1:_0\n        7\n");
  EXPECT_EQ(streamed(make_identity_tensor(make_shape(2, 2))),
            "(2,2):(_1@0,_1@1)\n        (0,0)        (0,1)\n        (1,0)        (1,1)\n");
  float x[] = {0.5f, 100000.f, 1e9f, -3.25f};
  EXPECT_EQ(streamed(make_tensor(x, Shape<_2, _2>{})), "(_2,_2):(_1,_2)\n      0.5    1e+09\n   100000    -3.25\n");
  EXPECT_EQ(table_text(make_tensor(x, Shape<_2, _2>{}), true, true), streamed(make_tensor(x, Shape<_2, _2>{})));
}
TEST(Printing, PointersOfEveryKind) {
  alignas(256) static int x[4] = {};
  EXPECT_EQ(without_addresses(printed([] { print(&x[0]); })), "ptr[32b](*)");
  EXPECT_EQ(without_addresses(printed([] { print(make_gmem_ptr(&x[0])); })), "gmem_ptr[32b](*)");
  EXPECT_EQ(without_addresses(printed([] { print(make_rmem_ptr(&x[0])); })), "rmem_ptr[32b](*)");
  EXPECT_EQ(without_addresses(printed([] { print(make_smem_ptr(&x[0], Swizzle<3, 4, 3>{})); })),
            "Sw<3,4,3>_smem_ptr[32b](*)");
  EXPECT_EQ(without_addresses(printed([] { print(make_gmem_ptr<int4b_t>(&x[0]) + 3); })), "gmem_subptr[4b](*.4)");
  EXPECT_EQ(without_addresses(printed([] { print(make_smem_ptr<sparse_elem<2, int>>(static_cast<void*>(x))); })),
            "smem_sparse<2>_ptr[16b](*)");
  EXPECT_EQ(printed([] { print(make_tmem_ptr<float>(0x00100020u)); }), "tmem_[32b](0x0010.0020)");
  EXPECT_EQ(printed([] { print(counting_iterator<int>(3)); }), "counting_iter(3)");
  EXPECT_EQ(printed([] { print(make_inttuple_iter(3, _2{})); }), "ArithTuple(3,_2)");
}
TEST(Printing, TextPrintAndTableAgree) {
  static double x[] = {1.5, -2e10, 3, 4, 5, 6};
  auto const t = make_tensor(x, make_shape(2, _3{}));
  EXPECT_EQ(printed([&] { print(t); }), to_text(t));
  EXPECT_EQ(printed([&] { print_tensor(t); }), table_text(t, false, true));
  EXPECT_EQ(printed([&] { print_tensor(t, false); }),
            "  1.500e+00  3.000e+00  5.000e+00\n -2.000e+10  4.000e+00  6.000e+00\n");
  EXPECT_EQ(printed([] { pretty_print(true), pretty_print(5), pretty_print(7LL), pretty_print(1.5f); }),
            "  1    5    7  1.50e+00");
  EXPECT_EQ(printed([] { pretty_print(make_coord(1, _2{})), pretty_print(uint1b_t(1)), pretty_print(int4b_t(-3)); }),
            "  (1,_2)  1   -3");
  EXPECT_EQ(printed([] { print("%d of %s", 3, "four"); }), "3 of four");
}
TEST(Printing, RanksUpToFour) {
  auto const t = make_tensor(counting_iterator<int>(0), make_shape(2, 2, 2, 2));
  EXPECT_EQ(printed([&] { print_tensor(t, false); }),
            "    0    2\n    1    3\n----------\n    4    6\n    5    7\n==========\n"
            "    8   10\n    9   11\n----------\n   12   14\n   13   15\n");
  EXPECT_EQ(printed([] { print_tensor(make_tensor(counting_iterator<int>(4), _2{})); }),
            "counting_iter(4) o _2:_1:\n    4\n    5\n");
  EXPECT_EQ(streamed(make_tensor(counting_iterator<int>(0), make_shape(1, 2, 2))),
            "(1,2,2):(_1,1,2)\n        0        1\n------------------\n        2        3\n");
  EXPECT_EQ(printed([] { print_tensor(make_tensor(counting_iterator<int>(4), Shape<_2, _1, _1, _1, _1>{})); }),
            "counting_iter(4) o (_2,_1,_1,_1,_1):(_1,_0,_0,_0,_0):\n");
}
TEST(Printing, PackedElementsAndZips) {
  auto t = make_tensor<int4b_t>(Shape<_2, _2>{});
  for (int i = 0; i < 4; ++i) t(i) = int4b_t(2 * i - 3);
  EXPECT_EQ(printed([&] { print_tensor(t, false); }), "   -3    1\n   -1    3\n");
  EXPECT_EQ(streamed(t), "(_2,_2):(_1,_2)\n       -3        1\n       -1        3\n");
  auto const z = make_zip_tensor(make_tensor(counting_iterator<int>(1), _2{}), make_identity_tensor(_2{}));
  EXPECT_EQ(printed([&] { print(z(1)); }), "(2,1)");
}
TEST(Debugging, OnTheHostEveryThreadIsTheOne) {
  EXPECT_TRUE(thread0() && block0() && thread(3, 2) && thread(5) && block(9));
  EXPECT_EQ(printed([] { bfprint<1, 3, 4>(0xa5u); }), "|1|010|0101|\n");
  EXPECT_EQ(printed([] { print_bits(static_cast<unsigned char>(0xa5)); }), "10100101");
}

}  // namespace
}  // namespace zellige
