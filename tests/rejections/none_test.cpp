// The verifier rejects no plan of the planner: over the examples, the saved graphs and random graphs, for
// an architecture of each kind, fused and unfused.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "../all_cases.hpp"
#include "../loaded.hpp"
#include "graph/builder.hpp"
#include "graph/mugraphs.hpp"
#include "json/json.hpp"
#include "random/generate.hpp"
#include "run/compile.hpp"

namespace zellige {
namespace {

constexpr const char* targets[] = {"sm_80", "sm_90a", "sm_100a", "sm_120a"};

/// The results for the plans of some graphs: the verifier's messages, and the number of graphs refused
/// otherwise.
struct Tally {
  std::size_t graphs = 0;
  int plans = 0;
  std::vector<std::string> refused;
  kernel::Rejections rejected;

  void plan(const graph::KernelGraph& g, const target::Target& target, bool fuse, const char* tiling) {
    ++plans;
    try {
      run::compile(g, target, {.fuse = fuse, .plan = run::tiling_options(tiling, target), .rejected = &rejected});
    } catch (const Rejected& e) {
      kernel::add(rejected, e.what());
    } catch (const Fault&) {
      throw;
    } catch (const Error& e) {
      refused.emplace_back(e.what());
    }
  }
  /// For all targets, fused and unfused; without ZELLIGE_ALL fused for one and unfused for the next, in rotation.
  void all_ways(const graph::KernelGraph& g) {
    const std::size_t first = graphs++;
    for (std::size_t i = 0; i < std::size(targets); ++i)
      for (const bool fuse : {false, true})
        if (test::all_cases() || i == (first + !fuse) % std::size(targets))
          plan(g, target::find(targets[i]), fuse, fuse ? "" : "given");
  }
  std::string told() const {
    std::string text;
    for (const std::string& sentence : rejected) text += "rejected: " + sentence + "\n";
    for (const std::string& sentence : refused) text += "refused: " + sentence + "\n";
    return text;
  }
};

/// The maximum number of graphs per file; $ZELLIGE_REJECTION_GRAPHS: per file, and per kind of random graph;
/// 0: all of a file.
int max_files() {
  const char* given = std::getenv("ZELLIGE_REJECTION_GRAPHS");
  return given ? std::atoi(given) : test::all_cases() ? 3 : 2;
}

std::size_t add_file(Tally& t, const std::filesystem::path& file, int max_graphs) {
  std::size_t n = 0;
  for (const json::Loaded& l : json::load_each(file.string())) {
    if (max_graphs > 0 && n == static_cast<std::size_t>(max_graphs)) break;
    if (l.error.empty()) t.all_ways(l.graph), ++n;
  }
  return n;
}

std::vector<std::filesystem::path> graphs_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// If two stages do not fit, the matmul is planned in another way: with one, producer and consumer would
/// deadlock.
TEST(NoRejection, OfAProductWhoseRingHasRoomForOneStage) {
  graph::Builder b("deep");
  const graph::TensorHandle A = b.input("A", {128, 1024}), B = b.input("B", {1024, 256});
  b.output(b.custom({.grid = {1}, .block = {256}, .loop = 4},
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(A, {.loop = 1}), t.load(B, {.loop = 0}))));
                    })[0],
           "C");
  Tally t;
  t.plan(b.build(), target::find("sm_90a"), false, "given");
  EXPECT_TRUE(t.rejected.empty()) << t.told();
}

TEST(NoRejection, OfAnExample) {
  Tally t;
  const std::filesystem::path examples = std::filesystem::path(ZELLIGE_SOURCE_DIR) / "examples";
  for (const auto& folder : {examples, examples / "parts", examples / "layers"})
    for (const auto& file : graphs_in(folder)) EXPECT_GT(add_file(t, file, max_files()), 0u) << file;
  EXPECT_TRUE(t.rejected.empty() && t.refused.empty()) << t.told();
}

TEST(NoRejection, OfASavedGraph) {
  const std::string lora = graph::test::mugraph_file("lora.json");
  if (lora.empty()) GTEST_SKIP() << "the saved graphs are not here: set ZELLIGE_MUGRAPHS to the folder that has them";
  Tally t;
  const std::filesystem::path saved = std::filesystem::path(lora).parent_path();
  for (const auto& file : graphs_in(saved)) EXPECT_GT(add_file(t, file, max_files()), 0u) << file;
  if (const auto faults = saved.parent_path() / "faults"; std::filesystem::exists(faults))
    for (const auto& file : graphs_in(faults)) EXPECT_GT(add_file(t, file, max_files()), 0u) << file;
  EXPECT_TRUE(t.rejected.empty()) << t.told();
  // Unfused, some of them need more shared memory than sm_80 has.
  EXPECT_LE(t.refused.size() * 20, static_cast<std::size_t>(t.plans)) << t.told();
}

TEST(NoRejection, OfARandomGraph) {
  Tally t;
  const int count = max_files() > 0 ? 4 * max_files() : 2000;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = static_cast<std::uint64_t>(i) + 1;
    const bool unfused = i % 2 == 0;
    const graph::KernelGraph g = unfused      ? random_graphs::random_unfused(seed)
                                 : i % 4 == 1 ? random_graphs::random_graph(seed)
                                              : random_graphs::random_product(seed);
    const target::Target& target = target::find(targets[static_cast<std::size_t>(i) / 4 % std::size(targets)]);
    t.plan(g, target, unfused || i % 4 == 3, unfused ? "" : "given");
  }
  EXPECT_TRUE(t.rejected.empty()) << t.told();
  EXPECT_LE(t.refused.size() * 50, static_cast<std::size_t>(count) + 49) << t.told();
}

}  // namespace
}  // namespace zellige
