// Sizes that are known at launch, around the kernels: expressions of them, and the code of the host.
#include <gtest/gtest.h>

#include <random>

#include "../manifest/chain.hpp"
#include "../thrown.hpp"
#include "emit/host_text.hpp"

namespace zellige::emit {
namespace {

using test::thrown;
using tile::SizeExpression;
using tile::SizeList;

const SizeList two{{.name = "T", .low = 1, .high = 100}, {.name = "S", .low = 2, .high = 64, .multiple = 2}};

/// A random expression, and its value for some sizes.
struct Made {
  SizeExpression e;
  std::int64_t value;
};
Made random_expression(std::mt19937& random, const std::vector<std::int64_t>& values, int depth) {
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  const int kind = depth == 0 ? below(2) : below(7);
  if (kind == 0) {
    const std::int64_t n = below(20);
    return {n, n};
  }
  if (kind == 1) {
    const int size = below(2);
    return {SizeExpression::of(two, size), values[static_cast<std::size_t>(size)]};
  }
  const Made a = random_expression(random, values, depth - 1), b = random_expression(random, values, depth - 1);
  const std::int64_t n = 1 + below(9);
  switch (kind) {
    case 2:
      return {a.e + b.e, a.value + b.value};
    case 3:
      return {a.e * b.e, a.value * b.value};
    case 4:
      return {larger(a.e, b.e), std::max(a.value, b.value)};
    case 5:
      return {a.e - b.e, a.value - b.value};
    default:
      return {ceil_div(larger(a.e, 0), n), tile::ceil_div(std::max<std::int64_t>(a.value, 0), n)};
  }
}

TEST(SizeExpression, IsWhatItsTextSays) {
  std::mt19937 random(3);
  for (int i = 0; i < 3000; ++i) {
    const std::vector<std::int64_t> values{1 + static_cast<std::int64_t>(random() % 100),
                                           2 * (1 + static_cast<std::int64_t>(random() % 32))};
    const Made made = random_expression(random, values, 3);
    ASSERT_EQ(made.e.at(values), made.value) << made.e.text(two);
    const SizeExpression parsed = SizeExpression::parse(made.e.text(two), two);
    ASSERT_EQ(parsed.at(values), made.value) << made.e.text(two);
    ASSERT_EQ(SizeExpression::parse(parsed.text(two), two), parsed);
  }
}

TEST(SizeExpression, PrintsAsThisInC) {
  const auto code = [](const char* text) {
    return SizeExpression::parse(text, two).code(
        [](int size) { return "n" + two[static_cast<std::size_t>(size)].name; });
  };
  EXPECT_EQ(code("T"), "nT");
  EXPECT_EQ(code("4*ceil(T/64)+1"), "4 * ((nT + 63) / 64) + 1");
  EXPECT_EQ(code("ceil(T/8)*S"), "(nT + 7) / 8 * nS");
  EXPECT_EQ(code("max(T, S - 3) * (T + S)"), "larger(nT, nS - 3) * (nT + nS)");
  EXPECT_EQ(code("T - (S - 1)"), "nT - (nS - 1)");
}

TEST(SizeExpression, SaysWhereItsTextIsNone) {
  const auto why = [](const std::string& text) { return thrown([&] { SizeExpression::parse(text, two); }); };
  EXPECT_EQ(why("T + U"), "expected an integer, or the name of a size, at character 5 of \"T + U\", found U");
  EXPECT_EQ(why("ceil(T/0)"), "expected an integer of at least 1 at character 8 of \"ceil(T/0)\", found 0");
  EXPECT_EQ(why("(T"), "expected +, -, * or ) at character 3 of \"(T\", found its end");
  EXPECT_EQ(why("T T"), "expected +, - or *, or the end, at character 3 of \"T T\", found T");
  EXPECT_EQ(why(std::string(40, '(')).substr(0, 47), "expected at most 16 parentheses in one another ");
  EXPECT_EQ(why("9999999999 * 9999999999"),
            "an expression of sizes has a value of more than 62 bits, of 9999999999 and 9999999999");
}

TEST(SizedHost, TakesSizesFirst) {
  const EmittedProgram p = test::chain(512, 8);
  const auto has = [&](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), text.npos) << part << " is not in\n" << text;
  };
  has(p.source,
      "cudaError_t launch_chain(int64_t nT, void* const* inputs, void* const* outputs, void* workspace, cudaStream_t "
      "stream)");
  has(p.source, "/// nT: T, from 8 to 512, a multiple of 8\n");
  has(p.source, "if (nT < 8 || nT > 512 || nT % 8 != 0) return cudaErrorInvalidValue;\n");
  has(p.source, "static_cast<int>(nT)");
  has(c_header(p.manifest),
      "const char* run_chain(int64_t nT, const void* p_x, void* p_y, void* workspace, struct CUstream_st* stream);");
  has(c_header(p.manifest), "#include <stdint.h>\n");
  has(c_header(p.manifest), "// p_x: input x, f16 (nT, 96), strides (96, 1) in elements, 192 * nT bytes\n");
  has(cuda_definition(p.manifest), "launch_chain(nT, inputs, outputs, workspace, stream)");
  has(cuda_definition(p.manifest), "expected T to be a multiple of 8, found %lld");
}

}  // namespace
}  // namespace zellige::emit
