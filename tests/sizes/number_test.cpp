// Numbers of sizes against brute force: normal forms, values, bounds, divisors and comparisons for all values of small ranges.
#include "tile/number.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "graph/error.hpp"
#include "tile/view.hpp"

namespace zellige::tile {
namespace {

const SizeList three{{.name = "T", .low = 64, .high = 8192, .multiple = 64},
                     {.name = "B", .low = 1, .high = 16},
                     {.name = "P", .low = 0, .high = 4096}};
const SymbolicNumber T = SymbolicNumber::of(three, 0), B = SymbolicNumber::of(three, 1),
                     P = SymbolicNumber::of(three, 2);

TEST(SymbolicNumber, HasOneNormalFormForProductsSumsAndQuotients) {
  EXPECT_EQ((T * B).text(), "B*T");
  EXPECT_EQ(B * T, T * B);
  EXPECT_EQ((T + P).text(), "P+T");
  EXPECT_EQ((T * B * 128 + 64).text(), "128*B*T+64");
  EXPECT_EQ((P * -2 + 1).text(), "1-2*P");
  EXPECT_EQ((P * B + P * -1 + -3).text(), "B*P-P-3");
  EXPECT_EQ((T + P) * B, B * P + T * B);
  EXPECT_EQ(ceil_div(T, 64) * 64, T);
  EXPECT_EQ(ceil_div(T * B, 64) * 64, B * T);
  EXPECT_EQ(ceil_div(T * 8, 64).text(), "ceil(T/8)");
  EXPECT_EQ(ceil_div(T + P, 64).text(), "ceil(P/64)+ceil(T/64)");  // T is a multiple
  EXPECT_EQ(ceil_div(B + P, 64).text(), "ceil((B+P)/64)");
  EXPECT_EQ(ceil_div(B * 2 + P * 4 + 1, 8).text(), "ceil((B+2*P+1)/4)");
  EXPECT_EQ(ceil_div(B + 64, 64), ceil_div(B, 64) + 1);
  EXPECT_EQ(ceil_div(ceil_div(P, 4), 8), ceil_div(P, 32));
  EXPECT_EQ(ceil_div(P, 64) * B, B * ceil_div(P, 64));
  EXPECT_EQ(T + P + T * -1, P);
  EXPECT_TRUE((T + T * -1 + 5).is_constant());
  EXPECT_EQ((T * B).size(), -1);
  EXPECT_EQ(ceil_div(P * 3 + 1, 64).size(), 2);
}

TEST(SymbolicNumber, KnowsItsRangeAndWhatDividesIt) {
  EXPECT_EQ((T * B).low(), 64);
  EXPECT_EQ((T * B).high(), 131072);
  EXPECT_EQ((T * B * 128).divisor(), 8192);
  EXPECT_EQ((T * 2 + 96).divisor(), 32);
  EXPECT_EQ(ceil_div(T * B, 64).divisor(), 1);
  EXPECT_EQ((T + P * -1).low(), 64 - 4096);
  EXPECT_EQ((ceil_div(P, 64) * 64 + P * -1).high(), 63);
  EXPECT_EQ((ceil_div(T + P, 128) * B).high(), 16 * 96);
  const SizeList large{{.name = "A", .low = 1, .high = std::int64_t{1} << 31}};
  const SymbolicNumber a = SymbolicNumber::of(large, 0);
  EXPECT_EQ((a * a * a).high(), std::numeric_limits<std::int64_t>::max());  // no bound within 64 bits
  EXPECT_THROW((a * a * a).at({std::int64_t{1} << 31}), Error);
}

TEST(SymbolicNumber, AddsSizesThatAreComputedOfOthers) {
  SizeList sizes = three;
  EXPECT_EQ(size_of(sizes, T), 0);
  const int rows = size_of(sizes, T * B), keys = size_of(sizes, T + P);
  EXPECT_EQ(rows, 3);
  EXPECT_EQ(size_of(sizes, B * T), rows);
  EXPECT_EQ(sizes[3].name, "B*T");
  EXPECT_EQ(sizes[3].multiple, 64);
  EXPECT_EQ(SymbolicNumber::of(sizes, keys), P + T);
  EXPECT_EQ(all_values(sizes, {128, 3, 7}), (ValuesBySize{128, 3, 7, 384, 135}));
  const auto thrown = [&](const ValuesBySize& given) -> std::string {
    try {
      all_values(sizes, given);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(thrown({100, 3, 7}), "T is 100: a multiple of 64 from 64 to 8192 is right");
  EXPECT_EQ(thrown({64, 17, 7}), "B is 17: a multiple of 1 from 1 to 16 is right");
  EXPECT_EQ(thrown({64, 3}), "2 values are given, and P is one more size");
  EXPECT_EQ(thrown({64, 3, 7, 1}), "4 values are given, for 3 sizes");
}

/// A number, with its value by another road.
struct Made {
  SymbolicNumber number;
  std::function<std::int64_t(const ValuesBySize&)> value;
};

Made made(std::mt19937& random, const SizeList& sizes, int depth) {
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  switch (depth == 0 ? below(2) : below(6)) {
    case 0: {
      const std::int64_t c = below(40) - 20;
      return {c, [c](const ValuesBySize&) { return c; }};
    }
    case 1: {
      const auto i = static_cast<std::size_t>(below(static_cast<unsigned>(sizes.size())));
      return {SymbolicNumber::of(sizes, static_cast<int>(i)), [i](const ValuesBySize& v) { return v[i]; }};
    }
    case 2: {
      const Made a = made(random, sizes, depth - 1), b = made(random, sizes, depth - 1);
      return {a.number + b.number, [=](const ValuesBySize& v) { return a.value(v) + b.value(v); }};
    }
    case 3: {
      const Made a = made(random, sizes, depth - 1), b = made(random, sizes, depth - 1);
      return {a.number * b.number, [=](const ValuesBySize& v) { return a.value(v) * b.value(v); }};
    }
    case 4: {
      const Made a = made(random, sizes, depth - 1);
      const std::int64_t f = below(9) - 3;
      return {a.number * f, [=](const ValuesBySize& v) { return a.value(v) * f; }};
    }
    default: {
      const Made a = made(random, sizes, depth - 1);
      const std::int64_t d = 1 + below(12);
      const auto up = [d](std::int64_t n) { return n > 0 ? (n + d - 1) / d : n / d; };
      return {ceil_div(a.number, d), [=](const ValuesBySize& v) { return up(a.value(v)); }};
    }
  }
}

std::vector<ValuesBySize> all_of(const SizeList& sizes) {
  std::vector<ValuesBySize> all{{}};
  for (const Size& s : sizes) {
    std::vector<ValuesBySize> longer;
    for (const ValuesBySize& v : all)
      for (std::int64_t n = s.low; n <= s.high; n += s.multiple) {
        longer.push_back(v);
        longer.back().push_back(n);
      }
    all = std::move(longer);
  }
  return all;
}

TEST(SymbolicNumber, SaysOfAllValuesOnlyWhatHolds) {
  std::mt19937 random(60);
  const auto below = [&](unsigned n) { return static_cast<std::int64_t>(random() % n); };
  int decided = 0, equal = 0;
  for (int round = 0; round < 3000; ++round) {
    SizeList sizes;
    for (const char* name : {"T", "B", "P"}) {
      const std::int64_t multiple = std::int64_t{1} << below(4), low = below(5) * multiple;
      sizes.push_back({.name = name, .low = low, .high = low + (1 + below(5)) * multiple, .multiple = multiple});
    }
    const Made a = made(random, sizes, 4), b = made(random, sizes, 3);
    bool always = true, never = true, same = true;
    std::int64_t minimum = std::numeric_limits<std::int64_t>::max(), largest = -minimum, divisor = 0;
    for (const ValuesBySize& v : all_of(sizes)) {
      const std::int64_t x = a.value(v), y = b.value(v);
      ASSERT_EQ(a.number.at(v), x) << a.number.text();
      (x <= y ? never : always) = false;
      same = same && x == y;
      minimum = std::min(minimum, x), largest = std::max(largest, x), divisor = std::gcd(divisor, x);
    }
    EXPECT_LE(a.number.low(), minimum) << a.number.text();
    EXPECT_GE(a.number.high(), largest) << a.number.text();
    if (a.number.divisor() == 0)
      EXPECT_EQ(divisor, 0) << a.number.text();
    else
      EXPECT_EQ(divisor % a.number.divisor(), 0) << a.number.text();
    const std::optional<bool> answer = less_equal(a.number, b.number);
    EXPECT_TRUE(!answer || (*answer ? always : never)) << a.number.text() << ", " << b.number.text();
    EXPECT_TRUE(a.number != b.number || same) << a.number.text() << ", " << b.number.text();
    decided += answer ? 1 : 0;
    equal += a.number == b.number ? 1 : 0;
  }
  EXPECT_GT(decided, 1500);
  EXPECT_GT(equal, 10);
}

TEST(SymbolicNumber, DecidesWhatTilesAsk) {
  for (const std::int64_t tile : {16, 48, 64, 128}) {
    for (const SymbolicNumber& n : {T, B, P, T * B, T + P, B * P}) {
      const SymbolicNumber reach = ceil_div(n, tile) * tile;
      EXPECT_EQ(less_equal(n, reach), true) << reach.text();
      EXPECT_EQ(less_equal(reach, n + (tile - 1)), true) << reach.text();
      EXPECT_EQ(less_equal(reach, n) == true, n.divisor() % tile == 0) << reach.text();
      EXPECT_EQ(less_equal(n + 1, n), false);
      EXPECT_EQ(less_equal((n + -1) * 128 + 128, n * 128), true);
    }
  }
}

}  // namespace
}  // namespace zellige::tile
