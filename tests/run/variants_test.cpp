// Programs with sizes that have variants: a launch runs the one that variant_at() says, each is right on the emulator about the ends of
// its range and at random values of it, and no range can have values for which its kernels are not proved.
#include "manifest/variants.hpp"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <random>
#include <set>

#include "graph/sized_graph.hpp"
#include "ir/ir.hpp"
#include "json/json.hpp"
#include "json/json_text.hpp"
#include "plan/at_sizes.hpp"
#include "plan/estimate.hpp"
#include "predict/predict.hpp"
#include "run/compile.hpp"
#include "sized_run.hpp"
#include "variants/parts.hpp"

namespace zellige::run {
namespace {

constexpr const char* linear = R"({"zellige_graph": 1, "name": "linear",
  "sizes": {"T": {"min": 1, "max": 2048, "typical": [1, 16, 300]}},
  "inputs": [{"name": "x", "dtype": "f16", "shape": ["T", 256]}, {"name": "w", "dtype": "f16", "shape": [256, 128]}],
  "operators": [{"op": "matmul", "inputs": ["x", "w"], "outputs": ["y"]}], "outputs": ["y"]})";

constexpr const char* rows_of_keys = R"({"zellige_graph": 1, "name": "rows_of_keys",
  "sizes": {"R": {"min": 1, "max": 64}, "K": {"min": 1, "max": 2048, "typical": [100, 256]}},
  "inputs": [{"name": "x", "dtype": "f16", "shape": ["R", "K"]}],
  "operators": [{"op": "softmax", "inputs": ["x"], "outputs": ["y"], "dim": 1}], "outputs": ["y"]})";

constexpr const char* norm = R"({"zellige_graph": 1, "name": "norm",
  "sizes": {"T": {"min": 8, "max": 4096, "multiple": 8, "typical": [64]}},
  "inputs": [{"name": "x", "dtype": "f16", "shape": ["T", 512]}],
  "operators": [{"op": "rms_norm", "inputs": ["x"], "outputs": ["y"]}], "outputs": ["y"]})";

graph::KernelGraph graph_of(const char* text) { return json::from_json(json::parse_json(text, "graph"), "graph"); }

emit::EmittedProgram program_of(const char* text, const char* target) {
  return compile(graph_of(text), target::find(target), {.fuse = true}).program;
}

graph::SizeValues by_name(const manifest::Manifest& m, const Values& values) {
  graph::SizeValues all;
  for (std::size_t i = 0; i < values.size(); ++i) all[m.sizes[i].name] = values[i];
  return all;
}

/// The least and the greatest value of a range, and others next to them and at random, each a value of the whole program.
std::set<std::int64_t> values_about(const tile::Size& range, const tile::Size& whole, std::mt19937& random) {
  std::set<std::int64_t> all;
  const auto add = [&](std::int64_t v) {
    v = v / whole.multiple * whole.multiple;
    if (v >= whole.low && v <= whole.high) all.insert(v);
  };
  for (const std::int64_t end : {range.low, range.high})
    for (const std::int64_t by : {-whole.multiple, std::int64_t{0}, whole.multiple}) add(end + by);
  add(std::uniform_int_distribution(range.low, range.high)(random));
  return all;
}

TEST(Variants, AreRightAboutTheEndsOfTheirRangesAndWithin) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  std::mt19937 random(60);
  for (const char* text : {linear, rows_of_keys, norm})
    for (const char* target : {"sm_80", "sm_90a"}) {
      const graph::KernelGraph g = graph_of(text);
      const emit::EmittedProgram p = program_of(text, target);
      ASSERT_EQ(p.variants.size(), p.manifest.variants.size());
      std::map<const manifest::Manifest*, int> launched;
      for (const manifest::Manifest* of : manifest::programs_of(p.manifest)) {
        const tile::SizeList& range = of->range.empty() ? p.manifest.sizes : of->range;
        std::vector<Values> all{{}};
        for (std::size_t i = 0; i < range.size(); ++i) {
          std::vector<Values> more;
          const std::set<std::int64_t> about = values_about(range[i], p.manifest.sizes[i], random);
          for (const Values& v : all)
            for (const std::int64_t n : i > 0 || range.size() == 1 ? about : std::set{*about.begin(), *about.rbegin()})
              more.push_back(v), more.back().push_back(n);
          all = std::move(more);
        }
        for (const Values& values : all) {
          SCOPED_TRACE(fmt::format("{} on {} at {}", g.name, target, fmt::format("{}", fmt::join(values, ", "))));
          ++launched[&manifest::variant_at(p.manifest, values)];
          expect_right(g, p, values, cache, 0.005);
        }
      }
      EXPECT_EQ(launched.size(), p.variants.size() + 1) << g.name << " on " << target;
    }
}

TEST(Variants, OfALinearLayerEndAtItsTypicalValues) {
  const emit::EmittedProgram p = program_of(linear, "sm_90a");
  ASSERT_GE(p.variants.size(), 1U);
  EXPECT_LE(p.variants.size(), 7U);
  const Values few{16}, all{2048};
  EXPECT_NE(&manifest::variant_at(p.manifest, few), &p.manifest);
  EXPECT_EQ(&manifest::variant_at(p.manifest, all), &p.manifest);
  for (std::size_t i = 1; i < p.manifest.variants.size(); ++i)
    EXPECT_LE(p.manifest.variants[i - 1].range[0].high, p.manifest.variants[i].range[0].high);
}

TEST(Variants, ForMultiplesOf8CopyWholeVectors) {
  const emit::EmittedProgram p = program_of(rows_of_keys, "sm_90a");
  const Values odd{64, 2047}, even{64, 2040};
  const manifest::Manifest &whole = manifest::variant_at(p.manifest, odd),
                           &aligned = manifest::variant_at(p.manifest, even);
  EXPECT_EQ(&whole, &p.manifest);
  ASSERT_NE(&aligned, &p.manifest);
  EXPECT_EQ(aligned.range[1].multiple, 8);
}

/// One program is what a user asks for, and what --tiling gives.
TEST(Variants, AreNoMoreThanTheOptionsAllow) {
  for (const int n : {1, 2, 3}) {
    const Compiled made = compile(graph_of(linear), target::find("sm_90a"), {.fuse = true, .variants = n});
    EXPECT_LE(made.program.variants.size(), static_cast<std::size_t>(n - 1));
  }
  const emit::EmittedProgram p = program_of(linear, "sm_80");
  CompileOptions replayed{.fuse = true, .plan = tiling_options(manifest::to_json(p.manifest), target::find("sm_80"))};
  EXPECT_TRUE(compile(graph_of(linear), target::find("sm_80"), replayed).program.variants.empty());
}

TEST(Variants, AreReadAsTheyAreWritten) {
  for (const char* text : {linear, rows_of_keys}) {
    const emit::EmittedProgram p = program_of(text, "sm_90a");
    const std::string manifest = manifest::to_json(p.manifest);
    const manifest::Manifest read = manifest::parse_manifest(manifest, "m");  // without what its kernels cost
    EXPECT_EQ(manifest::to_json(manifest::parse_manifest(manifest::to_json(read), "m")), manifest::to_json(read));
    ASSERT_EQ(read.variants.size(), p.manifest.variants.size());
    for (std::size_t v = 0; v < read.variants.size(); ++v) {
      EXPECT_EQ(manifest::text_of(read.variants[v].range), manifest::text_of(p.manifest.variants[v].range));
      EXPECT_EQ(read.variants[v].sized, p.manifest.variants[v].sized);
      EXPECT_EQ(read.variants[v].tensors, p.manifest.variants[v].tensors);
    }
    const std::string ir = ir::print(p);
    const emit::EmittedProgram again = ir::compile(ir, "p.ir").program;
    EXPECT_EQ(ir::print(again), ir);
    EXPECT_EQ(again.source, p.source);
    EXPECT_EQ(manifest::to_json(again.manifest), manifest);
  }
}

/// Returns the message of the error; "" if there is none.
template <class Work>
std::string message(const Work& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Variants, HaveNoRangeThatIsWiderThanTheirProof) {
  const emit::EmittedProgram p = program_of(linear, "sm_90a");
  const auto why = [&](const auto& change) {
    manifest::Manifest wrong = p.manifest;
    change(wrong);
    const std::string error = message([&] { manifest::check_variants(wrong); });
    EXPECT_EQ(message([&] { manifest::unsealed_manifest(manifest::to_json(wrong), "m"); }), error);
    return error;
  };
  EXPECT_EQ(why([](manifest::Manifest&) {}), "");
  for (std::size_t i = 0; i < p.manifest.variants.size(); ++i) {
    const tile::Size range = p.manifest.variants[i].range[0];
    if (range.low == range.high) {
      EXPECT_EQ(
          why([&](manifest::Manifest& m) { ++m.variants[i].range[0].high; }),
          fmt::format("program linear, variant {}: expected one value of T, which its kernels have as a constant, "
                      "found T from {} to {}",
                      i + 1, range.low, range.high + 1));
      EXPECT_EQ(why([&](manifest::Manifest& m) { ++m.variants[i].range[0].low, ++m.variants[i].range[0].high; }),
                fmt::format("program linear, variant {}: expected {} as the extent of dimension 0 of x, as the whole "
                            "program has, found {}",
                            i + 1, range.low + 1, range.low));
      continue;
    }
    EXPECT_EQ(why([&](manifest::Manifest& m) { ++m.variants[i].range[0].high; }),
              fmt::format("program linear, variant {}: expected values of T from {} to {}, for which its kernels are "
                          "proved, found T from {} to {}",
                          i + 1, range.low, range.high, range.low, range.high + 1));
  }
  EXPECT_EQ(why([](manifest::Manifest& m) { m.variants.back().range[0].low = 0; }),
            fmt::format("program linear, variant {}: expected values of T from 1 to 2048, as the whole program has, "
                        "found T from 0 to {}",
                        p.variants.size(), p.manifest.variants.back().range[0].high));
  manifest::Manifest without = p.manifest;
  without.variants[0].range.clear();
  EXPECT_EQ(message([&] { manifest::check_variants(without); }),
            "program linear, variant 1: expected the range of 1 sizes, found 0");
  EXPECT_EQ(message([&] { manifest::unsealed_manifest(manifest::to_json(without), "m"); }),
            "m.variants[0]: expected a field range, found none");
}

TEST(Variants, OfMultiplesAreOfNoOtherValues) {
  const emit::EmittedProgram p = program_of(rows_of_keys, "sm_90a");
  for (std::size_t i = 0; i < p.manifest.variants.size(); ++i) {
    if (p.manifest.variants[i].range[1].multiple != 8) continue;
    manifest::Manifest wrong = p.manifest;
    wrong.variants[i].range[1].multiple = 4;
    EXPECT_NE(message([&] { manifest::check_variants(wrong); }).find("in steps of 8, for which its kernels are proved"),
              std::string::npos);
  }
}

/// A range that is widened in the .ir is refused, or proved for all of it.
TEST(Variants, OfIrHaveNoRangeThatIsWiderThanTheirProof) {
  std::string ir = ir::print(program_of(linear, "sm_90a"));
  const std::size_t at = ir.find("range T from 1 to ", ir.find("_Tto"));
  ASSERT_NE(at, ir.npos);
  const std::size_t end = ir.find('\n', at);
  const std::string high = ir.substr(at + 18, end - at - 18);
  ir.replace(at, end - at, "range T from 1 to " + std::to_string(std::stoi(high) + 1));
  EXPECT_NE(message([&] { ir::compile(ir, "p.ir"); }).find("for which its kernels are proved, found T from 1 to "),
            std::string::npos);
}

TEST(Variants, TakeAMicrosecondToFind) {
  const emit::EmittedProgram p = program_of(rows_of_keys, "sm_90a");
  constexpr int calls = 20000;
  std::size_t found = 0;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) {
    const std::int64_t values[] = {1 + i % 64, 1 + i % 2048};
    found += manifest::variant_at(p.manifest, values).kernels.size();
  }
  const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
  EXPECT_GE(found, static_cast<std::size_t>(calls));
  EXPECT_LT(took.count() / calls, 1.0);
}

/// What a program with sizes is expected to take and to execute at some values is what the same kernels do that are compiled for these
/// constants.
TEST(Variants, HaveCostsAndCountersOfConstantPrograms) {
  std::mt19937 random(61);
  for (const char* text : {linear, norm}) {
    const emit::EmittedProgram p = program_of(text, "sm_90a");
    const graph::KernelGraph g = graph_of(text);
    const target::Target& target = target::find("sm_90a");
    const tile::Size& s = p.manifest.sizes[0];
    const std::int64_t step = p.plan.kernels[0].program.grid.y > 1 ? 128 : s.multiple;  // rows of a tile
    int same = 0;
    for (int i = 0; i < 40; ++i) {
      const Values values{std::uniform_int_distribution<std::int64_t>(1, s.high / step)(random) * step};
      SCOPED_TRACE(fmt::format("{} at {}", g.name, values[0]));
      const plan::Plan at = plan::at_sizes(p.plan, values);
      const graph::KernelGraph constants = graph::at(g, by_name(p.manifest, values));
      emit::EmittedProgram literal;
      retile::Tiling tiling = p.manifest.tiling;
      if (tiling.size() == at.kernels.size() && !tiling[0].product)
        for (std::size_t k = 0; k < tiling.size(); ++k) tiling[k].grid = at.kernels[k].program.grid;
      try {
        literal =
            compile(constants, target, {.fuse = true, .plan = {.tiles = plan::TilingPolicy::fixed, .tiling = tiling}})
                .program;
      } catch (const Error&) {  // tiles that a graph of fewer rows does not have
        continue;
      }
      if (literal.plan.kernels.size() != at.kernels.size()) continue;
      bool equal = true;
      for (std::size_t k = 0; k < at.kernels.size(); ++k) {
        const kernel::Kernel &a = at.kernels[k], &b = literal.plan.kernels[k];
        equal = equal && a.program.grid.count() == b.program.grid.count() && a.threads == b.threads &&
                a.shared_bytes == b.shared_bytes && a.blocks == b.blocks;
      }
      if (!equal) continue;
      ++same;
      for (std::size_t k = 0; k < at.kernels.size(); ++k)
        EXPECT_EQ(predict::predict(at.kernels[k]), predict::predict(literal.plan.kernels[k]));
      EXPECT_NEAR(plan::estimate_cost(at, target).us, literal.cost.us, 0.02 * literal.cost.us);
    }
    EXPECT_GE(same, 5) << g.name;
  }
}

TEST(Variants, EndAtTypicalValuesAndAtPowersBetweenThem) {
  const graph::NamedSize rows{.name = "T", .max = 8192, .typical = {1, 512}};
  EXPECT_EQ(variants::ends_of(rows, false), (std::vector<std::int64_t>{1, 512}));
  EXPECT_EQ(variants::ends_of(rows, true), (std::vector<std::int64_t>{1, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096}));
  EXPECT_EQ(variants::ends_of({.name = "T", .max = 100, .multiple = 12}, false), (std::vector<std::int64_t>{24}));
}

}  // namespace
}  // namespace zellige::run
