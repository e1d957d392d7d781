// The estimate of a sketch (cost/estimate.hpp) against that of the plan: both are counted by the same functions, of the
// same decisions, but a sketch's buffers have no swizzles. The numbers that are held here are those reached
// (docs/reference/costs.md); ZELLIGE_COARSE=1 prints the kernels that differ by 5%.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "fuse/fuse.hpp"
#include "graph/error.hpp"
#include "graph/mugraphs.hpp"
#include "json/json.hpp"
#include "plan/estimate.hpp"

namespace zellige::plan {
namespace {

/// Returns the graphs of the files of a folder, in the order of their names.
std::vector<graph::KernelGraph> graphs_of(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  std::ranges::sort(files);
  std::vector<graph::KernelGraph> graphs;
  for (const std::string& file : files)
    for (graph::KernelGraph& g : json::load(file)) graphs.push_back(std::move(g));
  return graphs;
}

/// Both estimates of some kernels.
class Compared {
 public:
  /// Adds the custom operators of a graph.
  void add(const graph::KernelGraph& g, const target::Target& target) {
    for (std::size_t i = 0; i < g.ops.size(); ++i)
      if (g.ops[i].block && !std::ranges::any_of(g.ops[i].outputs, [&](int t) {
            return g.tensors[static_cast<std::size_t>(t)].memory >= 0;  // updates an input: not alone
          }))
        add(part_of(g, {static_cast<int>(i)}), fmt::format("{} op {} on {}", g.name, i, target.name), target);
  }
  /// Expects that all kernels are within 25%, at least the share `near` within 5%, and that a kernel has a sketch if and
  /// only if it has a plan, on warpgroups as well.
  void expect(double near) {
    ASSERT_FALSE(ratios_.empty());
    std::ranges::sort(ratios_);
    const auto at = [&](double share) {
      return ratios_[static_cast<std::size_t>(share * static_cast<double>(ratios_.size() - 1))];
    };
    const auto within = [&](double tolerance) {
      return static_cast<double>(
                 std::ranges::count_if(ratios_, [&](double r) { return std::abs(r - 1) <= tolerance; })) /
             static_cast<double>(ratios_.size());
    };
    fmt::print(
        "{} kernels, {} on warpgroups; {:.1f}% within 5%; sketch / plan {:.3f} to {:.3f}, {:.3f} at 5%, {:.3f} median, "
        "{:.3f} at 95%\n",
        ratios_.size(), on_groups_, 100 * within(0.05), at(0), at(1), at(0.05), at(0.5), at(0.95));
    EXPECT_EQ(within(0.25), 1);
    EXPECT_GE(within(0.05), near);
    EXPECT_EQ(misfits_, 0);
    EXPECT_EQ(other_groups_, 0);
  }

 private:
  void add(const graph::KernelGraph& a, const std::string& name, const target::Target& target) {
    predict::CostEstimate coarse, fine;
    const std::optional<Error> unsketched = refused([&] { coarse = estimate(a, target); }),
                               unplanned = refused([&] {
                                 fine = estimate_cost(test::make_plan(a, target, {.registers_proved = false}), target);
                               });
    if (unsketched || unplanned) {
      misfits_ += !unsketched || !unplanned;
      if (!unsketched || !unplanned) fmt::print("{}: {}\n", name, (unsketched ? unsketched : unplanned)->what());
      return;
    }
    ASSERT_EQ(coarse.kernels.size(), fine.kernels.size()) << name;
    ratios_.push_back(coarse.us / fine.us);
    for (std::size_t k = 0; k < fine.kernels.size(); ++k) {
      on_groups_ += fine.kernels[k].warp_specialized;
      other_groups_ += coarse.kernels[k].warp_specialized != fine.kernels[k].warp_specialized;
    }
    if (told_ && std::abs(ratios_.back() - 1) > 0.05)
      fmt::print("{}: {:.3f}\n{}{}", name, ratios_.back(), predict::print(coarse), predict::print(fine));
  }

  const bool told_ = std::getenv("ZELLIGE_COARSE") != nullptr;
  std::vector<double> ratios_;
  int misfits_ = 0;  // kernels with a sketch but no plan, or the reverse
  int on_groups_ = 0, other_groups_ = 0;
};

/// Adds the graphs of a folder, fused or as they are, for both targets; by default every thirteenth.
void add_folder(Compared& all, const std::filesystem::path& folder, bool fused) {
  std::size_t number = 0;
  for (const graph::KernelGraph& g : graphs_of(folder))
    for (const char* name : {"sm_80", "sm_90a"})
      if (number++ % test::every(13) == 0) {
        const target::Target& target = target::find(name);
        all.add(fused ? fuse::optimize(g, target).graph : g, target);
      }
}

TEST(CoarseEstimate, OfSavedGraphsIsThatOfThePlan) {
  const std::string lora = graph::test::mugraph_file("lora.json");
  if (lora.empty()) GTEST_SKIP() << "the saved graphs are not here: ZELLIGE_MUGRAPHS names their folder";
  Compared all;
  add_folder(all, std::filesystem::path(lora).parent_path(), false);
  all.expect(0.99);
}

TEST(CoarseEstimate, OfFusedOperatorsIsThatOfThePlan) {
  Compared all;
  const std::filesystem::path examples = std::filesystem::path(ZELLIGE_SOURCE_DIR) / "examples";
  for (const auto& folder : {examples, examples / "layers", examples / "parts"}) add_folder(all, folder, true);
  all.expect(0.9);
}

}  // namespace
}  // namespace zellige::plan
