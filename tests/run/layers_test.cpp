// Parts of transformers as graphs of unfused operators: at the sizes of examples/layers they are planned and
// emitted, at small sizes (tests/run/layers, made by the same program) they run on the emulator and are
// right. So are those of other models: some of examples/parts at the sizes of tests/run/parts, all of them
// with ZELLIGE_ALL=1.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "json/json.hpp"
#include "run/run.hpp"

namespace zellige::run {
namespace {

namespace fs = std::filesystem;

std::vector<graph::KernelGraph> graphs_of(const char* folder, std::size_t count) {
  std::set<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(ZELLIGE_SOURCE_DIR) / folder))
    if (entry.path().extension() == ".json") files.insert(entry.path());
  std::vector<graph::KernelGraph> graphs;
  for (const fs::path& file : files)
    for (graph::KernelGraph& g : json::load(file.string())) graphs.push_back(std::move(g));
  EXPECT_EQ(graphs.size(), count) << folder;
  return graphs;
}

TEST(Layers, ArePlannedAtTheirRealSizes) {
  for (const graph::KernelGraph& g : graphs_of("examples/layers", 15))
    for (const char* target : {"sm_80", "sm_90a"})
      EXPECT_NO_THROW(test::transpile(g, target::find(target))) << g.name << " for " << target;
}

TEST(Layers, AreRightAtSmallSizes) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (const graph::KernelGraph& g : graphs_of("tests/run/layers", 9)) {
    const RunResult r = run(g, {.on = Machine::emulator, .target = "sm_90a", .workers = 2}, cache);
    EXPECT_TRUE(r.status == Status::correct || r.status == Status::borderline) << g.name << ": " << r.reason;
  }
}

TEST(Parts, AreRightAtSmallSizes) {
  const std::set<std::string_view> some{"sinks",         "latent_decode", "text_cross",           "prime_decode",
                                        "qk_norm_qkv",   "vit_mlp",       "capped_cross_entropy", "mask_of_numbers",
                                        "sliding_window"};
  constexpr std::int64_t max_elements = 1 << 18;  // of an input: the reference of larger ones takes 10 s each
  const toolchain::Cache cache = toolchain::Cache::temporary();
  int run_here = 0;
  for (const graph::KernelGraph& g : graphs_of("tests/run/parts", 49)) {
    const bool small =
        std::ranges::all_of(g.inputs, [&](int input) { return graph::size(g.tensors[input].shape) <= max_elements; });
    if (!(small && some.count(g.name)) && !test::all_cases()) continue;
    ++run_here;
    const RunResult r =
        run(g, {.on = Machine::emulator, .target = "sm_90a", .compile = {.fuse = true}, .workers = 2}, cache);
    EXPECT_TRUE(r.status == Status::correct || r.status == Status::borderline) << g.name << ": " << r.reason;
  }
  EXPECT_GE(run_here, 8);
}

}  // namespace
}  // namespace zellige::run
