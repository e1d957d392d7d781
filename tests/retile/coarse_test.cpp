// The coarse estimate, from the tiles of a custom operator alone, against the fine one, from its plan. Both fill KernelWork
// in, and time_of() makes the time: what differs is what a plan knows. The numbers that are held here are those reached
// (docs/reference/costs.md); ZELLIGE_COARSE=1 prints the kernels that are off.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>

#include "../all_cases.hpp"
#include "cost/cost_estimate.hpp"
#include "cost/estimate.hpp"
#include "fuse/fuse.hpp"
#include "graph/mugraphs.hpp"
#include "json/load.hpp"

namespace zellige::plan {
namespace {

/// Returns a graph of operator `op` of `g` alone.
graph::KernelGraph alone(const graph::KernelGraph& g, const graph::KernelOp& op) {
  graph::KernelGraph a;
  a.name = g.name;
  std::map<int, int> at;
  const auto tensor = [&](int t) {
    const auto [found, is_new] = at.insert({t, static_cast<int>(a.tensors.size())});
    if (is_new) a.tensors.push_back(g.tensors[static_cast<std::size_t>(t)]), a.tensors.back().memory = -1;
    return found->second;
  };
  graph::KernelOp copy = op;
  for (int& t : copy.inputs) {
    t = tensor(t);
    if (std::ranges::find(a.inputs, t) == a.inputs.end()) a.inputs.push_back(t);
  }
  for (int& t : copy.outputs) t = tensor(t);
  a.outputs = copy.outputs;
  a.ops.push_back(std::move(copy));
  return a;
}

/// Returns the graphs of the files of a folder, in the order of their names.
std::vector<graph::KernelGraph> graphs_of(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".json") files.push_back(entry.path().string());
  std::ranges::sort(files);
  std::vector<graph::KernelGraph> graphs;
  for (const std::string& file : files)
    for (graph::KernelGraph& g : graph::load(file)) graphs.push_back(std::move(g));
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
        add(alone(g, g.ops[i]), fmt::format("{} op {} on {}", g.name, i, target.name), target);
  }
  /// Expects that of the kernels at least the share `near` is within 25%; that those fit that are expected to, and no
  /// others; and that the ones on warpgroups are expected there, and at most `mistaken` others.
  void expect(double near, int mistaken) {
    std::ranges::sort(ratios_);
    const auto at = [&](double share) {
      return ratios_[static_cast<std::size_t>(share * static_cast<double>(ratios_.size() - 1))];
    };
    const auto within = std::ranges::count_if(ratios_, [](double r) { return r >= 0.75 && r <= 1.25; });
    const double share = static_cast<double>(within) / static_cast<double>(ratios_.size());
    fmt::print(
        "{} kernels, {:.0f}% within 25%; coarse / fine {:.2f} at 5%, {:.2f} median, {:.2f} at 95%; {} on "
        "warpgroups\n",
        ratios_.size(), 100 * share, at(0.05), at(0.5), at(0.95), on_groups_);
    EXPECT_GE(share, near);
    EXPECT_EQ(misfits_, 0);
    EXPECT_EQ(missed_groups_, 0);
    EXPECT_LE(mistaken_groups_, mistaken);
  }

 private:
  void add(const graph::KernelGraph& a, const std::string& name, const target::Target& target) {
    const KernelCost coarse = estimate(a, 0, target);
    const bool fits = coarse.us < 1e6;
    CostEstimate fine;
    try {
      fine = estimate_cost(make_plan(a, target, {.registers_proved = false}), target);
    } catch (const Fault&) {
      throw;
    } catch (const Error& e) {
      misfits_ += fits;
      if (fits && told_) fmt::print("{}: {}\n", name, e.what());
      return;
    }
    misfits_ += !fits;
    if (!fits || fine.kernels.size() != 1) return;
    const KernelCost& k = fine.kernels[0];
    ratios_.push_back(coarse.us / k.us);
    on_groups_ += k.warp_specialized;
    missed_groups_ += k.warp_specialized && !coarse.warp_specialized;
    mistaken_groups_ += coarse.warp_specialized && !k.warp_specialized;
    if (told_ && (std::abs(ratios_.back() - 1) > 0.25 || k.warp_specialized != coarse.warp_specialized))
      fmt::print("{}: {:.1f} us coarse, {:.1f} fine; on warpgroups {} and {}\n{}{}", name, coarse.us, k.us,
                 coarse.warp_specialized, k.warp_specialized, print(CostEstimate{.kernels = {coarse}}), print(fine));
  }

  const bool told_ = std::getenv("ZELLIGE_COARSE") != nullptr;
  std::vector<double> ratios_;
  int misfits_ = 0;  // kernels that are estimated to fit and do not, or the reverse
  int on_groups_ = 0, missed_groups_ = 0, mistaken_groups_ = 0;
};

/// Adds the graphs of a folder, fused or as they are, for both targets; by default every seventh.
void add_folder(Compared& all, const std::filesystem::path& folder, bool fused) {
  std::size_t number = 0;
  for (const graph::KernelGraph& g : graphs_of(folder))
    for (const char* name : {"sm_80", "sm_90a"})
      if (number++ % test::every(7) == 0) {
        const target::Target& target = target::find(name);
        all.add(fused ? fuse::optimize(g, target).graph : g, target);
      }
}

TEST(CoarseEstimate, OfSavedGraphsIsNearTheFineOne) {
  const std::string lora = graph::test::mugraph_file("lora.json");
  if (lora.empty()) GTEST_SKIP() << "the saved graphs are not here: ZELLIGE_MUGRAPHS names their folder";
  Compared all;
  add_folder(all, std::filesystem::path(lora).parent_path(), false);
  all.expect(0.8, 4);
}

TEST(CoarseEstimate, OfFusedOperatorsIsNearTheFineOne) {
  Compared all;
  const std::filesystem::path examples = std::filesystem::path(ZELLIGE_SOURCE_DIR) / "examples";
  for (const auto& folder : {examples, examples / "layers", examples / "parts"}) add_folder(all, folder, true);
  all.expect(0.7, 11);
}

}  // namespace
}  // namespace zellige::plan
