// Translation validation of the lowering: what the tile programs of a plan compute, interpreted in float64, is what the graph says.
#include <gtest/gtest.h>

#include <filesystem>

#include "all_cases.hpp"
#include "generate.hpp"
#include "graph/mugraphs.hpp"
#include "interpret/difference.hpp"
#include "json/json.hpp"
#include "plan/graphs.hpp"
#include "reference/cut.hpp"
#include "reference/inputs.hpp"
#include "run/compile.hpp"
#include "target/target.hpp"

namespace zellige::plan {
namespace {

/// Returns what differs between the planned graph and the graph; "" if nothing does.
std::string differs(const graph::KernelGraph& g, const char* target, bool fuse, std::uint64_t seed = 1) {
  emit::EmittedProgram made;
  try {
    made = run::compile(g, target::find(target), {.fuse = fuse}).program;
  } catch (const Fault&) {
    throw;
  } catch (const Error&) {
    return "";  // the graph is refused
  }
  const reference::RandomInputs inputs = reference::random_inputs(g, seed);
  const auto found = interpret::difference(planned(made.plan), g, inputs.arrays);
  return found ? fmt::format("{} on {}: {}: {}", g.name, target,
                             made.plan.kernels.at(std::max(0, found->by.kernel)).name(), found->text(made.plan.program))
               : "";
}

TEST(Lowering, OfTheGoldenGraphsComputesTheGraph) {
  const std::vector<GoldenGraph>& all = golden_graphs();
  for (std::size_t i = 0; i < all.size(); i += test::every(6))
    EXPECT_EQ(differs(all[i].graph(), all[i].target.c_str(), i % 2), "") << all[i].name;
}

/// Expects that the programs of each graph of at most `max_work` operations in the JSON files of a folder compute it.
void expect_of_files(const std::filesystem::path& folder, double max_work, std::size_t every) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::ranges::sort(files);
  std::size_t n = 0;
  for (const auto& file : files)
    for (const graph::KernelGraph& g : json::load(file.string()))
      if (reference::work(g) <= max_work && n++ % every == 0)
        EXPECT_EQ(differs(g, n / every % 2 ? "sm_80" : "sm_90a", n / every % 4 < 2), "") << file;
  EXPECT_GT(n, 2u) << folder;
}

TEST(Lowering, OfTheExamplesComputesTheGraph) {
  expect_of_files(ZELLIGE_SOURCE_DIR "/examples", test::all_cases() ? 2e9 : 3e8, 1);
}

TEST(Lowering, OfTheSearchedGraphsComputesTheGraph) {
  const std::string one = graph::test::mugraph_file("lora.json");
  if (one.empty()) GTEST_SKIP() << "the saved graphs are not here: ZELLIGE_MUGRAPHS names their folder";
  expect_of_files(std::filesystem::path(one).parent_path(), test::all_cases() ? 2e9 : 1e9, test::every(40));
}

/// Expects of each graph of the seeds from 1 on that its programs compute it; of one alone with ZELLIGE_SEED=N.
void expect_of_seeds(graph::KernelGraph (*draw)(std::uint64_t), std::uint64_t few, std::uint64_t many) {
  const char* one = std::getenv("ZELLIGE_SEED");
  const std::uint64_t first = one ? std::strtoull(one, nullptr, 10) : 1, last = test::all_cases() ? many : few;
  for (std::uint64_t seed = first; seed <= (one ? first : last); ++seed) try {
      EXPECT_EQ(differs(draw(seed), seed % 2 ? "sm_80" : "sm_90a", seed % 4 < 2), "") << seed;
    } catch (const Fault& e) {
      ADD_FAILURE() << seed << ": " << e.what();
    }
}

/// The operands end within rows of what is stored.
TEST(Lowering, OfAConcatenationInAnotherShapeComputesTheGraph) {
  for (const std::vector<std::int64_t>& extents : {std::vector<std::int64_t>{9, 3}, {3, 9}, {3, 4, 5}, {6, 6}}) {
    graph::Builder b("joined");
    std::vector<graph::TensorHandle> parts;
    for (const std::int64_t n : extents) parts.push_back(b.input(fmt::format("x{}", parts.size()), {1, n}));
    b.output(reshape(concat(parts, 1), {2, 6}), "y");
    EXPECT_EQ(differs(b.build(), "sm_80", false), "");
  }
}

TEST(Lowering, OfRandomGraphsComputesTheGraph) { expect_of_seeds(random_graphs::random_graph, 20, 300); }

TEST(Lowering, OfRandomGraphsOfTheKernelLevelComputesTheGraph) {
  expect_of_seeds(random_graphs::random_unfused, 30, 500);
}

}  // namespace
}  // namespace zellige::plan
