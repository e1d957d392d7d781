// Graphs over ranks with sizes that are known at launch: one program for all their values.
#include <gtest/gtest.h>

#include "../all_cases.hpp"
#include "graph/sized_graph.hpp"
#include "json/json.hpp"
#include "launches.hpp"
#include "ranks.hpp"
#include "ranks/emulated_symmetric.hpp"
#include "ranks/run_ranks.hpp"
#include "ranks/segments.hpp"
#include "run/run.hpp"

namespace zellige::ranks {
namespace {

using graph::KernelGraph;
using run::Collectives, run::RunResult, run::Status;

KernelGraph read_graph(const std::string& text, const std::string& file) {
  return json::from_json(json::parse_json(text, file), "g");
}

/// A graph of T rows with all collectives, along rows and columns.
KernelGraph every_collective(int ranks) {
  const std::string text = fmt::format(
      R"({{"zellige_graph": 1, "name": "g", "ranks": {0}, "sizes": {{"T": {{"min": 1, "max": 96}}}},
    "inputs": [{{"name": "a", "dtype": "bf16", "shape": ["T", 16]}}, {{"name": "b", "dtype": "bf16", "shape": ["{0} * T", 16]}},
               {{"name": "w", "dtype": "bf16", "shape": [16, 16]}}],
    "operators": [{{"op": "matmul", "inputs": ["a", "w"], "outputs": ["p"]}}, {{"op": "all_reduce", "inputs": ["p"], "outputs": ["s"]}},
      {{"op": "add", "inputs": ["s", "a"], "outputs": ["r"]}}, {{"op": "rms_norm", "inputs": ["r"], "outputs": ["n"]}},
      {{"op": "all_gather", "dim": 0, "inputs": ["n"], "outputs": ["g0"]}}, {{"op": "mul", "inputs": ["g0", "b"], "outputs": ["m"]}},
      {{"op": "reduce_scatter", "dim": 0, "inputs": ["m"], "outputs": ["y0"]}},
      {{"op": "all_gather", "dim": 1, "inputs": ["n"], "outputs": ["g1"]}},
      {{"op": "reduce_scatter", "dim": 1, "inputs": ["g1"], "outputs": ["y1"]}}, {{"op": "add", "inputs": ["y0", "y1"], "outputs": ["y"]}},
      {{"op": "all_to_all", "dims": [0, 1], "inputs": ["b"], "outputs": ["z"]}},
      {{"op": "broadcast", "root": 1, "inputs": ["a"], "outputs": ["c"]}}, {{"op": "all_reduce_max", "inputs": ["a"], "outputs": ["d"]}},
      {{"op": "add", "inputs": ["c", "d"], "outputs": ["e"]}}],
    "outputs": ["y", "z", "e"]}})",
      ranks);
  return read_graph(text, "g.json");
}

/// The same program is right at the ends of the sizes and at random values, with the bits of one that is made for the value.
TEST(RankSizes, ProgramIsRightAtAllValues) {
  test::Rng rng(62);
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (const int ranks : test::all_cases() ? std::vector{2, 4} : std::vector{2}) {
    const KernelGraph g = every_collective(ranks);
    std::vector<std::int64_t> values{1, 96};
    for (int i = 0; i < (test::all_cases() ? 40 : 2); ++i) values.push_back(rng.between(2, 95));
    for (std::size_t i = 0; i < values.size(); ++i) {
      constexpr Collectives ways[] = {Collectives::one_shot, Collectives::fused, Collectives::nccl,
                                      Collectives::two_shots};
      const std::int64_t t = values[i];
      const RunResult r = run_ranks(
          g, {.compile = {.fuse = true}, .sizes = {{"T", t}}, .workers = 1, .collectives = ways[i % 4]}, cache);
      EXPECT_EQ(name(r.status), name(Status::correct)) << t << " rows on " << ranks << ": " << r.reason;
      for (const std::string& note : r.notes) EXPECT_EQ(note.find("alone"), std::string::npos) << note;
    }
  }
}

/// All-reduces in kernels of ours: launches of other values of T follow one another, in the windows of the largest number, and have the bits
/// of the host.
TEST(RankSizes, LaunchesOfOtherSizesShareTheWindows) {
  test::Rng rng(63);
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (int i = 0; i < (test::all_cases() ? 8 : 2); ++i) {
    const int ranks = i % 4 < 2 ? 2 : 4;
    const std::int64_t columns = rng.between(1, 90);
    const KernelGraph g = read_graph(
        fmt::format(R"({{"zellige_graph": 1, "name": "g", "ranks": {}, "sizes": {{"T": {{"min": 1, "max": 300}}}},
          "inputs": [{{"name": "x", "dtype": "bf16", "shape": ["T", {}]}}],
          "operators": [{{"op": "all_reduce", "inputs": ["x"], "outputs": ["y"]}}], "outputs": ["y"]}})",
                    ranks, columns),
        "g.json");
    const RankProgram p = compile_over_ranks(g, target::find(i % 2 ? "sm_80" : "sm_90a"), {.fuse = true}, cache,
                                             i % 2 ? run::Collectives::two_shots : run::Collectives::one_shot);
    ASSERT_EQ(p.steps.size(), 1u);
    ASSERT_TRUE(p.steps[0].by_symmetric) << notes_of(p).back();
    EmulatedSymmetric symmetric(p.steps[0], ranks, cache);
    for (unsigned launch = 0; launch < 6; ++launch) {
      const std::int64_t t = launch == 0 ? 300 : launch == 1 ? 1 : rng.between(1, 300);
      const RankProgram at = at_values(p, {{"T", t}});
      std::vector<std::vector<run::Bytes>> memory = test::integers(rng, at.graph), expected = memory;
      const run::EmulatedRun ran = symmetric.run(at.steps[0], memory, launch);
      ASSERT_TRUE(ran.findings.empty()) << ran.findings[0].message;
      collective_on_host(at.graph, at.graph.ops[0], expected);
      for (int r = 0; r < ranks; ++r)
        EXPECT_EQ(memory[r][at.graph.outputs[0]], expected[r][at.graph.outputs[0]]) << t << " x " << columns;
    }
  }
}

/// A product of rows that a size decides adds over ranks at its end.
TEST(RankSizes, ProductsAddAtTheirEnd) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const KernelGraph g = read_graph(R"({"zellige_graph": 1, "name": "g", "ranks": 2, "sizes": {"T": {"max": 200}},
    "inputs": [{"name": "a", "dtype": "bf16", "shape": ["T", 64]}, {"name": "b", "dtype": "bf16", "shape": [64, 128]}],
    "operators": [{"op": "matmul", "inputs": ["a", "b"], "outputs": ["p"]}, {"op": "all_reduce", "inputs": ["p"], "outputs": ["y"]}],
    "outputs": ["y"]})",
                                   "g.json");
  const RankProgram p = compile_over_ranks(g, target::find("sm_80"), {.fuse = true}, cache, Collectives::fused);
  EXPECT_EQ(notes_of(p),
            (std::vector<std::string>{"2 ranks, each with 1 kernel and 0 collectives",
                                      "ranks exchange tiles in 1 of the kernels, in place of a collective"}));
  for (const std::int64_t t : test::all_cases() ? std::vector{1, 7, 64, 65, 200} : std::vector{65}) {
    const RunResult r = run_ranks(
        g, {.compile = {.fuse = true}, .sizes = {{"T", t}}, .workers = 1, .collectives = Collectives::fused}, cache);
    EXPECT_EQ(name(r.status), name(Status::correct)) << t << ": " << r.reason;
  }
}

/// The kernels between collectives have the sizes on which they depend.
TEST(RankSizes, SegmentsHaveTheSizesThatTheyNeed) {
  const KernelGraph g = read_graph(R"({"zellige_graph": 1, "name": "g", "ranks": 2,
    "sizes": {"P": {"max": 8}, "T": {"max": 8}},
    "inputs": [{"name": "x", "dtype": "f32", "shape": ["T", 4]}, {"name": "y", "dtype": "f32", "shape": ["P", 4]}],
    "operators": [{"op": "relu", "inputs": ["x"], "outputs": ["a"]}, {"op": "all_gather", "dim": 0, "inputs": ["a"], "outputs": ["b"]},
                  {"op": "concat", "dim": 0, "inputs": ["b", "y"], "outputs": ["c"]}, {"op": "relu", "inputs": ["c"], "outputs": ["z"]}],
    "outputs": ["z"]})",
                                   "g.json");
  const std::vector<Segment> all = segments(g);
  ASSERT_EQ(all.size(), 3u);
  const auto shape = [](const KernelGraph& k, int t) { return to_string(extents(k).at(static_cast<std::size_t>(t))); };
  EXPECT_EQ(sizes_of(all[0].kernels).size(), 1u);
  EXPECT_EQ(shape(all[0].kernels, all[0].kernels.outputs[0]), "(T, 4)");
  EXPECT_EQ(sizes_of(all[2].kernels).size(), 2u);
  EXPECT_EQ(shape(all[2].kernels, all[2].kernels.outputs[0]), "(P + 2 * T, 4)");
}

/// Ranks divide a dimension for all values, or the graph is refused.
TEST(RankSizes, RanksDivideExtentsForAllValues) {
  const auto refusal = [](const char* rows) -> std::string {
    try {
      read_graph(fmt::format(R"({{"zellige_graph": 1, "name": "g", "ranks": 2, "sizes": {{"T": {{"max": 8}}}},
        "inputs": [{{"name": "x", "dtype": "f32", "shape": ["{}", 4]}}],
        "operators": [{{"op": "reduce_scatter", "dim": 0, "inputs": ["x"], "outputs": ["y"]}}], "outputs": ["y"]}})",
                             rows),
                 "g.json");
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  };
  EXPECT_EQ(refusal("4 * T"), "");
  EXPECT_EQ(refusal("T"),
            "graph g, operator 0 (reduce_scatter): expected 2 ranks to divide dimension 0 for all sizes, as they do 2 "
            "* N, found T");
}

}  // namespace
}  // namespace zellige::ranks
