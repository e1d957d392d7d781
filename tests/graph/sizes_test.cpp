// Sizes and extents (graph/sizes.hpp): laws against evaluation at values, and whole messages.
#include "graph/sizes.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace zellige::graph {
namespace {

const std::vector<NamedSize> sizes{{.name = "T", .min = 1, .max = 64},
                                   {.name = "P", .min = 0, .max = 50, .multiple = 5},
                                   {.name = "B", .min = 3, .max = 3},
                                   {.name = "rows_2", .min = 7, .max = 31, .multiple = 4}};

template <class Work>
std::string message(const Work& work) {
  const auto error = refused(work);
  return error ? error->what() : "no error";
}

SizeValues random_values(std::mt19937_64& random) {
  SizeValues values;
  for (const NamedSize& s : sizes)
    values[s.name] =
        s.multiple * std::uniform_int_distribution(s.minimum() / s.multiple, s.greatest() / s.multiple)(random);
  return values;
}

/// A random text, and what it is at values, computed in another way than by normal forms.
struct RandomText {
  std::string text;
  std::function<std::int64_t(const SizeValues&)> value;
};

RandomText random_text(std::mt19937_64& random, int depth, bool subtract = true) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  if (depth == 0 || below(4) == 0) {
    if (below(3) == 0) {
      const std::int64_t n = below(9);
      return {std::to_string(n), [n](const SizeValues&) { return n; }};
    }
    const std::string name = sizes[static_cast<std::size_t>(below(4))].name;
    return {name, [name](const SizeValues& v) { return v.at(name); }};
  }
  const RandomText a = random_text(random, depth - 1, subtract), b = random_text(random, depth - 1, subtract);
  const std::string blank(static_cast<std::size_t>(below(2)), ' ');
  const int op = below(subtract ? 3 : 2);
  const std::string text = "(" + a.text + blank + "+*-"[op] + blank + b.text + ")";
  return {text, [a, b, op](const SizeValues& v) {
            const std::int64_t x = a.value(v), y = b.value(v);
            return op == 0 ? x + y : op == 1 ? x * y : x - y;
          }};
}

TEST(Sizes, TextsMeanWhatTheySay) {
  std::mt19937_64 random(60);
  for (int i = 0; i < 2000; ++i) {
    const RandomText t = random_text(random, 3);
    const SymbolicExtent e = parse_extent(t.text, sizes);
    EXPECT_EQ(parse_extent(to_string(e), sizes), e) << t.text;
    EXPECT_EQ(to_string(parse_extent(to_string(e), sizes)), to_string(e)) << t.text;
    for (int k = 0; k < 5; ++k) {
      const SizeValues v = random_values(random);
      EXPECT_EQ(evaluate(e, v), t.value(v)) << t.text;
      EXPECT_LE(e.low(), t.value(v)) << t.text;
      EXPECT_GE(e.high(), t.value(v)) << t.text;
    }
  }
}

TEST(Sizes, BoundsOfSumsWithoutMinusAreValues) {
  std::mt19937_64 random(61);
  SizeValues minimum, greatest;
  for (const NamedSize& s : sizes) minimum[s.name] = s.minimum(), greatest[s.name] = s.greatest();
  for (int i = 0; i < 500; ++i) {
    const RandomText t = random_text(random, 3, false);
    const SymbolicExtent e = parse_extent(t.text, sizes);
    EXPECT_EQ(e.low(), t.value(minimum)) << t.text;
    EXPECT_EQ(e.high(), t.value(greatest)) << t.text;
    EXPECT_EQ(e.planned(), t.value(greatest)) << t.text;
  }
}

TEST(Sizes, EqualFormsAreEqualAtAllValues) {
  std::mt19937_64 random(62);
  for (int i = 0; i < 3000; ++i) {
    const RandomText a = random_text(random, 2), b = random_text(random, 2);
    const bool same = parse_extent(a.text, sizes) == parse_extent(b.text, sizes);
    bool seen = true;
    for (int k = 0; k < 20 && seen; ++k) {
      const SizeValues v = random_values(random);
      seen = a.value(v) == b.value(v);
    }
    EXPECT_EQ(same, seen) << a.text << " and " << b.text << ", at 20 values";
  }
}

TEST(Sizes, NormalForm) {
  const auto form = [](const char* text) { return to_string(parse_extent(text, sizes)); };
  EXPECT_EQ(form("T"), "T");
  EXPECT_EQ(form("T + P"), "P + T");
  EXPECT_EQ(form("4*T"), "4 * T");
  EXPECT_EQ(form("B * (T + P) * 2 + 1 - 2 * T"), "2 * B * P + 2 * B * T - 2 * T + 1");
  EXPECT_EQ(form("-T + 8"), "-T + 8");
  EXPECT_EQ(form("T - T"), "0");
  EXPECT_EQ(form("0 * T + 12"), "12");
}

TEST(Sizes, OneValueIsAConstant) {
  EXPECT_EQ(parse_extent("B", sizes), SymbolicExtent(3));
  EXPECT_EQ(parse_extent("2 * B + 1", sizes).constant(), 7);
  EXPECT_EQ(parse_extent("T", sizes).constant(), std::nullopt);
  EXPECT_EQ(parse_extent("T - T", sizes).constant(), 0);
}

TEST(Sizes, ValuesAreMultiplesInTheRange) {
  EXPECT_EQ(sizes[3].minimum(), 8);
  EXPECT_EQ(sizes[3].greatest(), 28);
  EXPECT_EQ(message([] { check_value("run", sizes[3], 12); }), "no error");
  EXPECT_EQ(message([] { check_value("run", sizes[3], 32); }), "run: expected rows_2 from 7 to 31, found 32");
  EXPECT_EQ(message([] { check_value("run", sizes[3], 9); }), "run: expected rows_2 to be a multiple of 4, found 9");
}

TEST(Sizes, DeclarationsAreChecked) {
  const auto of = [](NamedSize s) { return message([&] { check_size("graph g", s); }); };
  EXPECT_EQ(of({.name = "T", .max = 8, .typical = {1, 8}}), "no error");
  EXPECT_EQ(
      of({.name = "2T", .max = 8}),
      "graph g: expected a size's name to be a letter or _, then letters, digits and _, 32 characters at most, found "
      "\"2T\"");
  EXPECT_EQ(of({.name = "T", .min = 9, .max = 8}),
            "graph g: expected size T to have 0 <= min <= max <= 2147483647, found min 9 and max 8");
  EXPECT_EQ(of({.name = "T", .min = 9, .max = 15, .multiple = 8}),
            "graph g: expected size T to have a multiple of at least 1 with a value from 9 to 15, found 8");
  EXPECT_EQ(of({.name = "T", .max = 8, .typical = {9}}), "graph g, a typical value: expected T from 1 to 8, found 9");
}

TEST(Sizes, MistakesInTexts) {
  const auto of = [](const char* text) { return message([&] { parse_extent(text, sizes); }); };
  EXPECT_EQ(of(""), "expected a size or an integer at character 1 of \"\", found its end");
  EXPECT_EQ(of("T + "), "expected a size or an integer at character 5 of \"T + \", found its end");
  EXPECT_EQ(of("T / 2"), "expected +, - or *, or the end, at character 3 of \"T / 2\", found /");
  EXPECT_EQ(of("4 T"), "expected +, - or *, or the end, at character 3 of \"4 T\", found T");
  EXPECT_EQ(of("(T + 1"), "expected +, -, * or ) at character 7 of \"(T + 1\", found its end");
  EXPECT_EQ(
      of("T * row_2"),
      "expected one of the sizes T, P, B, rows_2 at character 5 of \"T * row_2\", found row_2; did you mean rows_2?");
  EXPECT_EQ(of("3x"), "expected an integer of at most 1099511627776 at character 1 of \"3x\", found 3x");
  EXPECT_EQ(of("1099511627776 * 1099511627776"),
            "an extent of sizes does not fit into 64 bits: 1099511627776 * 1099511627776");
}

TEST(Sizes, ValuesMustBeGiven) {
  EXPECT_EQ(message([] {
              evaluate(parse_extent("T + P", sizes), {{"T", 3}});
            }),
            "P + T: expected a value of P, found none");
}

}  // namespace
}  // namespace zellige::graph
