// Integers that do not fit: layouts over run-time ints and over static numbers give the number that 128 bits give, or
// refuse with two numbers.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>
#include <zellige/layout.hpp>
#include <zellige/layout/runtime.hpp>

namespace zellige {
namespace {

using Signed128 = __int128;
constexpr Signed128 int_max = 2147483647;
bool fits(Signed128 v) { return v <= int_max && v >= -int_max - 1; }

// Extents and strides around the limits of an int, among small ones.
int draw(std::mt19937& g, bool signs) {
  static constexpr int some[] = {0,     1,     2,     3,     7,       255,     256,        1000,      4096,
                                 46340, 46341, 65535, 65536, 1 << 20, 1 << 30, 2147483646, 2147483647};
  const int v = some[g() % std::size(some)];
  return signs && g() % 4 == 0 ? -v : v;
}
struct Drawn {
  int s[3], d[3], c[3];
};
Drawn draw_layout(std::mt19937& g) {
  Drawn l;
  for (int i = 0; i < 3; ++i)
    l.s[i] = draw(g, false), l.d[i] = draw(g, true), l.c[i] = l.s[i] ? int(g() % unsigned(l.s[i])) : 0;
  return l;
}

// Returns the result of `call` as text, "refused" if it throws LayoutError.
template <class Call>
std::string answer(Call call) {
  try {
    return std::to_string(static_cast<long long>(call()));
  } catch (const LayoutError& e) {
    EXPECT_NE(std::string(e.what()).find("does not fit"), std::string::npos) << e.what();
    return "refused";
  }
}
/// Expects the exact number, or a refusal: always if it does not fit, and of one that fits only if a term does not.
void expect(const std::string& found, Signed128 exact, bool terms_fit, const char* what) {
  const std::string right = fits(exact) ? std::to_string(static_cast<long long>(exact)) : "refused";
  EXPECT_TRUE(found == right || (found == "refused" && !terms_fit)) << what << ": " << found << ", not " << right;
}

TEST(Overflow, SizeCosizeAndIndexOfIntsAreExactOrRefused) {
  std::mt19937 g(58);
  int refused = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    const Drawn r = draw_layout(g);
    const auto l =
        make_layout(make_shape(r.s[0], make_shape(r.s[1], r.s[2])), make_stride(r.d[0], make_stride(r.d[1], r.d[2])));
    Signed128 size_of = 1, last = 0, at = 0;
    bool last_fits = true, at_fits = true;
    for (int i = 0; i < 3; ++i) {
      size_of *= r.s[i];
      const Signed128 reach = (Signed128(r.s[i]) - 1) * (r.d[i] < 0 ? -Signed128(r.d[i]) : Signed128(r.d[i])),
                      step = Signed128(r.c[i]) * r.d[i];
      last += reach, at += step;
      last_fits = last_fits && fits(reach), at_fits = at_fits && fits(step);
    }
    // Sums of the inner mode come first.
    const Signed128 inner = Signed128(r.c[1]) * r.d[1] + Signed128(r.c[2]) * r.d[2];
    const Signed128 inner_last = last - (Signed128(r.s[0]) - 1) * (r.d[0] < 0 ? -Signed128(r.d[0]) : Signed128(r.d[0]));
    const std::string size_message = answer([&] { return size(l); });
    const Signed128 inner_size = Signed128(r.s[1]) * r.s[2];
    expect(size_message, size_of, fits(inner_size), "size");
    refused += size_message == "refused";
    expect(answer([&] { return cosize(l); }), last + 1, last_fits && fits(inner_last) && fits(last), "cosize");
    expect(answer([&] { return l(r.c[0], make_coord(r.c[1], r.c[2])); }), at, at_fits && fits(inner), "index");
  }
  EXPECT_GT(refused, 1000);
}

TEST(Overflow, ALinearCoordinateIsExactOrRefused) {
  std::mt19937 g(59);
  for (int trial = 0; trial < 20000; ++trial) {
    const Drawn r = draw_layout(g);
    if (r.s[0] == 0 || r.s[1] == 0) continue;
    const auto l = make_layout(make_shape(r.s[0], r.s[1]), make_stride(r.d[0], r.d[1]));
    const int i = draw(g, false);
    const Signed128 a = Signed128(i % r.s[0]) * r.d[0], b = Signed128(i / r.s[0]) * r.d[1];
    expect(answer([&] { return l(i); }), a + b, fits(a) && fits(b), "index");
  }
}

TEST(Overflow, CompactStridesAreExactOrRefused) {
  std::mt19937 g(60);
  for (int trial = 0; trial < 20000; ++trial) {
    const Drawn r = draw_layout(g);
    const Signed128 second = r.s[0], third = second * r.s[1];
    expect(answer([&] { return get<2>(make_layout(make_shape(r.s[0], r.s[1], r.s[2])).stride()); }), third, true,
           "stride");
    expect(answer([&] { return get<0>(make_layout(make_shape(r.s[2], r.s[1], r.s[0]), LayoutRight{}).stride()); }),
           third, true, "stride");
    expect(answer([&] { return get<1>(make_layout(make_shape(r.s[0], r.s[1])).stride()); }), second, true, "stride");
  }
}

TEST(Overflow, QuotientsAndMultiplesAreExactOrRefused) {
  std::mt19937 g(61);
  for (int trial = 0; trial < 20000; ++trial) {
    const int a = draw(g, false), b = std::max(draw(g, false), 1), c = std::max(draw(g, false), 1);
    const Signed128 up = (Signed128(a) + b - 1) / b;
    expect(answer([&] { return ceil_div(a, b); }), up, true, "ceil_div");
    expect(answer([&] { return round_up(a, b); }), up * b, true, "round_up");
    expect(answer([&] { return product(make_shape(a, b)); }), Signed128(a) * b, true, "product");
    expect(answer([&] { return inner_product(make_shape(a, b), make_shape(c, 1)); }), Signed128(a) * c + b,
           fits(Signed128(a) * c), "inner_product");
    expect(answer([&] { return sum(make_shape(a, b)); }), Signed128(a) + b, true, "sum");
    expect(answer([&] { return lcm(b, c); }), Signed128(b) / std::gcd(b, c) * c, true, "lcm");
  }
}

TEST(Overflow, NumbersOf64BitsAmongThemMakeTheResultOneOf64Bits) {
  EXPECT_EQ(size(make_layout(make_shape(65536, int64_t(65536)))), 4294967296);
  EXPECT_EQ(make_layout(make_shape(65536, 65536), make_stride(int64_t(65536), 1))(65535, 65535),
            int64_t(65535) * 65536 + 65535);
  static_assert(is_same_v<decltype(size(make_layout(make_shape(2, 3)))), int>);
}

TEST(Overflow, StaticNumbersBecomeOf64BitsWhereAnIntDoesNotHoldThem) {
  static_assert(is_same_v<decltype(Int<65536>{} * Int<65536>{}), C<4294967296LL>>);
  static_assert(is_same_v<decltype(Int<2147483647>{} + Int<1>{}), C<2147483648LL>>);
  static_assert(is_same_v<decltype(Int<-2147483647>{} - Int<2>{}), C<-2147483649LL>>);
  static_assert(is_same_v<decltype(Int<32768>{} * Int<65535>{}), Int<2147450880>>);
  static_assert(is_same_v<decltype(Int<-65536>{} * Int<32768>{}), Int<-2147483647 - 1>>);
  static_assert(is_same_v<decltype(size(Layout<Shape<_65536, _65536>>{})), C<4294967296LL>>);
  static_assert(decltype(cosize(Layout<Shape<_65536, _65536>>{}))::value == 4294967296);
  static_assert(is_same_v<decltype(Layout<Shape<_4, _4>, Stride<C<1073741824>, _1>>{}(_3{}, _3{})), C<3221225475LL>>);
}

TEST(Overflow, ARefusalNamesBothNumbers) {
  const auto l = make_layout(make_shape(65536, 65536));
  const auto message_of = [](auto call) -> std::string {
    try {
      call();
    } catch (const LayoutError& e) {
      return e.what();
    }
    return "";
  };
  const std::string more = "; an int64_t among the numbers makes it one of 64 bits";
  EXPECT_EQ(message_of([&] { size(l); }), "the result of 65536 and 65536 does not fit the 32 bits of an int" + more);
  EXPECT_EQ(message_of([&] { l(65535, 65535); }),
            "the result of 65535 and 65536 does not fit the 32 bits of an int" + more);
  EXPECT_EQ(message_of([&] { round_up(2147483647, 1073741824); }),
            "the result 2147483648 does not fit an int, whose largest value is 2147483647" + more);
  EXPECT_EQ(message_of([&] { size(make_layout(make_shape(int64_t(1) << 40, int64_t(1) << 40))); }),
            "the result of 1099511627776 and 1099511627776 does not fit 64 bits");
}

}  // namespace
}  // namespace zellige
