// Sizes that are known at launch, around the kernels: expressions of them, the manifest that has them, the manifest of a launch,
// and the code of the host.
#include <gtest/gtest.h>

#include <random>

#include "../unfused.hpp"
#include "emit/host_text.hpp"
#include "emit/launch_sizes.hpp"
#include "graph/builder.hpp"
#include "run/storage.hpp"

namespace zellige::emit {
namespace {

using tile::SizeExpression;
using tile::SizeList;

const SizeList two{{.name = "T", .low = 1, .high = 100}, {.name = "S", .low = 2, .high = 64, .multiple = 2}};

template <class F>
std::string thrown(const F& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

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

EmittedProgram chain(std::int64_t high, std::int64_t multiple = 1) {
  graph::Builder b("chain");
  const graph::TensorHandle x = b.input("x", {high, 96}), one = softmax(x, 1), two = softmax(one, 1),
                            three = softmax(two, 1);
  b.output(softmax(three, 1), "y");
  plan::PlanOptions o{.blocks = {plan::Blocks::a_tile}};
  o.sizes = {{.name = "T", .low = multiple, .high = high, .multiple = multiple, .of = {{0, 0}}}};
  return test::transpile(b.build(), target::find("sm_80"), o);
}

TEST(SizedManifest, IsReadAsItIsWritten) {
  const Manifest m = chain(512).manifest;
  const std::string text = to_json(m);
  const std::string again = to_json(parse_manifest(text, "chain"));  // without the prices of kernels
  EXPECT_EQ(to_json(parse_manifest(again, "chain")), again);
  for (const char* part : {R"("name": "T")", R"("max": 512)", R"("multiple": 1)", R"("relations": [])",
                           R"("number": "T")", R"("ceil(T/)", R"("192*T")"})
    EXPECT_NE(text.find(part), text.npos) << part << " is not in\n" << text;
  EXPECT_EQ(parse_manifest(text, "chain").sized, m.sized);
}

TEST(SizedManifest, OfVersion2IsRead) {
  const graph::KernelGraph g = [] {
    graph::Builder b("plain");
    b.output(softmax(b.input("x", {8, 96}), 1), "y");
    return b.build();
  }();
  std::string text = to_json(test::transpile(g, target::find("sm_80")).manifest);
  const std::string version = R"("version": 3)";
  ASSERT_NE(text.find(version), text.npos);
  EXPECT_EQ(text.find("sizes"), text.npos);
  const auto with = [&](const char* other) {
    std::string changed = text;
    return changed.replace(text.find(version), version.size(), other);
  };
  EXPECT_EQ(unsealed_manifest(with(R"("version": 2)"), "m").tensors.size(), 2u);
  EXPECT_EQ(thrown([&] { unsealed_manifest(with(R"("version": 4)"), "m"); }), "m.version: expected 2 or 3, found 4");
}

TEST(SizedManifest, RefusesWhatIsNone) {
  const std::string text = to_json(chain(512).manifest);
  const auto why = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    EXPECT_NE(changed.find(from), changed.npos) << from;
    changed.replace(changed.find(from), from.size(), to);
    return thrown([&] { unsealed_manifest(changed, "m"); });
  };
  EXPECT_EQ(why(R"("min": 1)", R"("min": 600)"),
            "m.sizes[0]: expected multiples of 1 as min and max, the first not above the other, found 600 and 512");
  EXPECT_EQ(why(R"("number": "T")", R"("number": "U")"),
            "m.kernels[0].arguments[2].number: expected an expression of the sizes, found expected an integer, or the "
            "name of a size, at character 1 of \"U\", found U");
  EXPECT_EQ(why(R"("relations": [])", R"("relations": ["T"])"),
            "m.relations[0]: expected two expressions of sizes, as in T2 = T + P, found \"T\"");
}

TEST(SizedManifest, TensorsOfTheWorkspaceNeverOverlap) {
  const Manifest m = chain(512).manifest;
  std::int64_t before = 0;
  for (std::int64_t n = 1; n <= 512; ++n) {
    const std::int64_t sizes[] = {n};
    const Manifest launch = at_sizes(m, sizes);
    run::check(launch);  // that it is large enough, and that no two tensors which are needed at once overlap
    EXPECT_GE(launch.buffer_size, before);
    before = launch.buffer_size;
  }
  EXPECT_EQ(before, m.buffer_size);
  const std::int64_t one[] = {1};
  EXPECT_EQ(at_sizes(m, one).buffer_size, 2 * 256);
}

TEST(SizedManifest, RefusesSizesWithBothNumbers) {
  Manifest m = chain(512, 8).manifest;
  const auto why = [&](std::vector<std::int64_t> sizes) { return thrown([&] { at_sizes(m, sizes); }); };
  EXPECT_EQ(why({8}), "");
  EXPECT_EQ(why({520}), "program chain: expected T from 8 to 512, found 520");
  EXPECT_EQ(why({0}), "program chain: expected T from 8 to 512, found 0");
  EXPECT_EQ(why({12}), "program chain: expected T to be a multiple of 8, found 12");
  EXPECT_EQ(why({8, 8}), "program chain: expected 1 size, found 2");
  m.sizes.push_back({.name = "P", .low = 1, .high = 9});
  m.relations.push_back({SizeExpression::of(m.sizes, 0), SizeExpression::parse("4*P", m.sizes)});
  EXPECT_EQ(why({8, 2}), "");
  EXPECT_EQ(why({16, 3}), "program chain: expected T = 4*P, found 16 and 12");
}

TEST(SizedManifest, OfALaunchIsSetInPlace) {
  const Manifest m = chain(512).manifest;
  const std::int64_t some[] = {70}, others[] = {511};
  Manifest launch = at_sizes(m, some);
  set_sizes(launch, m, others);
  EXPECT_EQ(to_json(launch), to_json(at_sizes(m, others)));
  EXPECT_EQ(launch.kernels[0].constants.at(2), bytes_of(511, 4));
  EXPECT_EQ(launch.tensors[0].shape, (graph::Shape{511, 96}));
}

TEST(SizedHost, TakesSizesFirst) {
  const EmittedProgram p = chain(512, 8);
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
