// Automatic tilings: never of higher estimated cost, the same function, and right on the emulator.
#include <gtest/gtest.h>

#include <chrono>

#include "../all_cases.hpp"
#include "../same_values.hpp"
#include "../unfused.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/mugraphs.hpp"
#include "ir/ir.hpp"
#include "json/json.hpp"
#include "plan/estimate.hpp"
#include "retile/retile.hpp"
#include "run/run.hpp"
#include "search/equal.hpp"
#include "tiling/choose_tilings.hpp"

namespace zellige::plan {
namespace {

std::vector<graph::KernelGraph> saved(const std::string& file) {
  const std::string path = graph::test::mugraph_file(file + ".json");
  return path.empty() ? std::vector<graph::KernelGraph>{} : json::load(path);
}

class SelectedTiles : public testing::TestWithParam<const char*> {};

TEST_P(SelectedTiles, DoNotCostMoreAndAreEqual) {
  const std::vector<graph::KernelGraph> graphs = saved(GetParam());
  if (graphs.empty()) GTEST_SKIP() << GetParam() << ".json is not here: set ZELLIGE_MUGRAPHS to the folder that has it";
  const std::size_t step = test::every(std::max<std::size_t>(1, graphs.size() / 6));
  int selected = 0, all = 0;
  std::vector<double> ms;
  for (const char* name : {"sm_80", "sm_90a"}) {
    const target::Target& target = target::find(name);
    for (std::size_t i = 0; i < graphs.size(); i += step) {
      const graph::KernelGraph g = fuse::separate(graphs[i], target);
      const auto start = std::chrono::steady_clock::now();
      const tiling::Tiled t = tiling::choose_tilings(g, target, {.tiles = TilingPolicy::automatic});
      ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
      EXPECT_LE(t.cost.us, estimate_cost(test::make_plan(g, target), target).us) << g.name;
      ++all;
      if (retile::tiling_of(t.graph) == retile::tiling_of(g)) continue;
      ++selected;
      // Replaying the record gives the same tiling.
      const tiling::Tiled again =
          tiling::choose_tilings(g, target, {.tiles = TilingPolicy::fixed, .tiling = retile::tiling_of(t.graph)});
      Plan first_plan = t.plan;
      first_plan.program.notes = again.plan.program.notes;  // those of `t` say what it was selected from
      EXPECT_EQ(ir::print(again.plan), ir::print(first_plan)) << g.name;
      search::EqualOptions options;
      options.given_sizes = false;
      const search::Equality same = search::equal(g, t.graph, options);
      EXPECT_NE(same.answer, search::Answer::different) << g.name << ": " << same.why;
      // The sizes of two tilings may have no common small ones; then the values at the given sizes decide.
      if (same.answer == search::Answer::undecided) test::expect_same_values(g, t.graph);
    }
  }
  std::ranges::sort(ms);
  std::printf("%-15s %d of %d retiled; planned in %.0f ms, %.0f at most\n", GetParam(), selected, all,
              ms[ms.size() / 2], ms.back());
}

class Emulated : public testing::TestWithParam<const char*> {};

TEST_P(Emulated, AreRight) {
  const std::vector<graph::KernelGraph> graphs = saved(GetParam());
  if (graphs.empty()) GTEST_SKIP() << GetParam() << ".json is not here: set ZELLIGE_MUGRAPHS to the folder that has it";
  run::RunOptions options;
  options.target = "sm_90a";
  options.compile.plan.tiles = TilingPolicy::automatic;
  const run::RunResult r = run::run(graphs.front(), options, toolchain::Cache::temporary());
  EXPECT_EQ(r.status, run::Status::correct) << r.reason;
}

std::string name_of(const testing::TestParamInfo<const char*>& info) { return info.param; }

INSTANTIATE_TEST_SUITE_P(Files, SelectedTiles,
                         testing::Values("rmsnorm_bs1", "gated_mlp", "lora", "gqa_bs1", "mqa_bs1", "mha_bs1",
                                         "qknorm_gqa_bs1", "ntrans_bs1"),
                         name_of);

/// The others are attention, and take 14 to 40 s each.
std::vector<const char*> emulated_files() {
  std::vector<const char*> files{"rmsnorm_bs1", "gated_mlp", "lora", "ntrans_bs1"};
  if (test::all_cases()) files.insert(files.end(), {"gqa_bs1", "mqa_bs1", "mha_bs1", "qknorm_gqa_bs1"});
  return files;
}

INSTANTIATE_TEST_SUITE_P(Files, Emulated, testing::ValuesIn(emulated_files()), name_of);

// Partial results of blocks are adjacent in a separate dimension, and may be split differently: half the
// number of blocks have twice the iterations each, and the tensor between the kernels has half the parts.
TEST(Fused, KeysMayBeSplitOtherwise) {
  graph::Builder b("split_keys");
  const graph::TensorHandle p = exp(matmul(b.input("Q", {16, 64}), b.input("K", {64, 32768})));
  b.output(matmul(p, b.input("V", {32768, 64})) / sum(p, 1, true), "Y");
  const target::Target& target = target::find("sm_90a");
  const graph::KernelGraph g = fuse::optimize(b.build(), target).graph;
  retile::Tiling tiling = retile::tiling_of(g);
  ASSERT_EQ(tiling.size(), 2u);
  std::int64_t* split = nullptr;
  for (std::int64_t* extent : {&tiling[0].grid.x, &tiling[0].grid.y, &tiling[0].grid.z})
    if (*extent > 1 && *extent % 2 == 0) split = extent;
  ASSERT_NE(split, nullptr);
  *split /= 2, tiling[0].loop *= 2;
  const graph::KernelGraph h = retile::retile(g, tiling);
  EXPECT_EQ(retile::tiling_of(h), tiling);
  const auto parts = [](const graph::KernelGraph& of) { return of.tensors[of.ops[0].outputs[0]].shape.front(); };
  EXPECT_EQ(2 * parts(h), parts(g));
  EXPECT_EQ(search::equal(g, h).answer, search::Answer::equal);
  const run::RunResult r =
      run::run(h, {.on = run::Machine::emulator, .target = "sm_90a"}, toolchain::Cache::standard());
  // The partial results are f32, and checked as f32.
  EXPECT_TRUE(r.status == run::Status::correct || r.status == run::Status::borderline) << r.reason;
}

}  // namespace
}  // namespace zellige::plan
