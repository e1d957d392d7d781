// A progress callback of fusion sees the progress, and may end the search at any point.
#include "rewrite/watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "json/json.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::TensorHandle;

graph::KernelGraph mlp() {
  Builder b("mlp");
  const TensorHandle x = b.input("x", {64, 256}), up = b.input("up", {256, 512}), down = b.input("down", {512, 256});
  b.output(x + matmul(silu(matmul(rms_norm(x, 1e-5), up)), down), "y");
  return b.build();
}

Optimized watched(const graph::KernelGraph& g, const rewrite::Watch& watch) {
  candidate::CostCache none;
  return optimize(g, target::find("sm_90a"), none, watch);
}

double estimate_cost(const Optimized& o) {
  double us = 0;
  for (const FusedKernel& k : o.kernels) us += k.estimated_us;
  return us;
}

TEST(Watch, SeesPhasesInTheirOrder) {
  const graph::KernelGraph g = mlp();
  std::vector<std::string> phases;
  const std::thread::id caller = std::this_thread::get_id();
  watched(g, [&](const rewrite::Progress& p) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_LE(p.done, p.of) << p.phase;
    if (phases.empty() || phases.back() != p.phase) phases.emplace_back(p.phase);
    return true;
  });
  EXPECT_EQ(phases, (std::vector<std::string>{"operators estimated", "groups grown", "kernels planned"}));
}

TEST(Reasons, OmittedChangeNoKernelAndPlanNothing) {
  const graph::KernelGraph g = mlp();
  const auto unfused_operators = [](const Optimized& o) {
    return std::ranges::count_if(
        o.notes, [](const std::string& note) { return note.find(" are not fused: ") != std::string::npos; });
  };
  candidate::CostCache with, without;
  const Optimized told = optimize(g, target::find("sm_90a"), with),
                  left = optimize(g, target::find("sm_90a"), without, {}, Reasons::omitted);
  EXPECT_GT(unfused_operators(told), 0);
  EXPECT_EQ(unfused_operators(left), 0);
  EXPECT_EQ(json::to_json(left.graph), json::to_json(told.graph));
  EXPECT_EQ(left.work.plans, told.work.plans);
  EXPECT_LE(without.added().size(), with.added().size());
}

// While kernels are planned on all cores, how often who watches is called hangs on what share of them its own thread gets: a later
// point may not come at all.
TEST(Watch, MayEndTheSearchAtAnyPoint) {
  const graph::KernelGraph g = mlp();
  std::size_t calls = 0;
  bool ended = false;
  const auto ended_at = [&](std::size_t last) {
    calls = 0, ended = false;
    return watched(g, [&](const rewrite::Progress&) {
      EXPECT_FALSE(ended) << "called again after the end at " << last;
      ended = calls++ == last;
      return !ended;
    });
  };
  const Optimized whole = ended_at(1'000'000);
  const std::size_t all = calls;
  ASSERT_GT(all, 10u);
  std::size_t ends = 0;
  for (std::size_t last = 0; last < all; last += std::max<std::size_t>(1, all / 12)) {
    const Optimized o = ended_at(last);
    ends += ended;
    EXPECT_NO_THROW(graph::validate(o.graph)) << last;
    EXPECT_GE(estimate_cost(o) * 1.001, estimate_cost(whole)) << last;
    EXPECT_LE(o.work.plans, whole.work.plans) << last;
    std::size_t operators = 0;
    for (const FusedKernel& k : o.kernels) operators += k.operators.size();
    EXPECT_EQ(operators, g.ops.size()) << last;
    const bool noted = std::ranges::any_of(
        o.notes, [](const std::string& note) { return note.find("the search was ended with") == 0; });
    EXPECT_EQ(noted, ended) << last;
    if (!ended) EXPECT_EQ(o.kernels.size(), whole.kernels.size()) << last;
  }
  EXPECT_GE(ends, 6u) << "of " << all << " calls";
  EXPECT_EQ(ended_at(0).kernels.size(), g.ops.size()) << "nothing was planned";
  EXPECT_LT(whole.kernels.size(), g.ops.size());
}

}  // namespace
}  // namespace zellige::fuse
