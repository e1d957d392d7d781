// Searches continue without the plans that the verifier rejects, and report each; a search without another
// plan is an internal error.
#include <gtest/gtest.h>

#include <algorithm>

#include "emit/emit.hpp"
#include "fuse/custom.hpp"
#include "graph/builder.hpp"
#include "injected.hpp"
#include "run/run.hpp"
#include "run/tune.hpp"
#include "tiling/choose_tilings.hpp"

namespace zellige {
namespace {

using graph::Builder;
using graph::KernelGraph;
using graph::TensorHandle;
using tile::TilePrograms;
using verify::test::InjectedRejection;

const target::Target& sm_90a = target::find("sm_90a");

std::string failure(const std::function<void()>& work) {
  try {
    work();
  } catch (const Rejected& e) {
    return e.what();
  }
  return "no rejection";
}

TensorHandle times(Builder& b, const TensorHandle& x, const TensorHandle& w) {
  return b
      .custom({{32}, {128}, 16},
              [&](graph::BlockBuilder& t) {
                t.store(accum(matmul(t.load(x, {.loop = 1}), t.load(w, {.x = 1, .loop = 0}))), {.x = 1});
              })
      .at(0);
}

/// A custom operator, whose grid and loop may be others.
KernelGraph tiled() {
  Builder b("tiled");
  b.output(times(b, b.input("X", {16, 1024}), b.input("W", {1024, 4096})), "Y");
  return b.build();
}
constexpr const char* own_tiles = "32x16 ";

KernelGraph two_tiled() {
  Builder b("tiled");
  const TensorHandle first = times(b, b.input("X", {16, 1024}), b.input("W", {1024, 2048}));
  b.output(times(b, first, b.input("V", {2048, 1024})), "Y");
  return b.build();
}

/// The operators that are not views: an elementwise kernel's tensors may be reshaped to one dimension.
std::int64_t computed(const KernelGraph& g) {
  return std::ranges::count_if(g.ops, [](const auto& op) { return op.kind != graph::OpKind::reshape; });
}

KernelGraph unfused() {
  Builder b("plain");
  const TensorHandle X = b.input("X", {64, 64}), Y = b.input("Y", {64, 64});
  b.output(exp(X + Y) * X, "Z");
  return b.build();
}

/// The grid of the only kernel, and how many there are.
std::string kernels(const TilePrograms& p) {
  std::string text;
  for (const tile::TileProgram& k : p.kernels) text += fmt::format("{}x{} ", k.grid.count(), k.loop);
  return text;
}

class Rejections : public testing::Test {
 protected:
  void SetUp() override {
    if (kernel::stops_at_rejections) GTEST_SKIP() << "this build stops at the first rejection";
  }
};

TEST_F(Rejections, TilingsGoOnWithoutARejectedOne) {
  const plan::PlanOptions selected{.tiles = plan::TilingPolicy::automatic};
  std::string best;
  {
    const InjectedRejection none([](const TilePrograms&, int) { return false; });
    best = kernels(tiling::choose_tilings(tiled(), sm_90a, selected).plan.program);
    EXPECT_EQ(none.calls(), 1) << "only the plan that is taken is proved";
  }
  ASSERT_NE(best, own_tiles);
  // As many plans are dropped as are rejected; equal messages are told once.
  for (int rejected = 1; rejected <= 2; ++rejected) {
    const InjectedRejection first([=](const TilePrograms&, int call) { return call <= rejected; });
    const tiling::Tiled t = tiling::choose_tilings(tiled(), sm_90a, selected);
    EXPECT_EQ(t.plan.rejected, kernel::Rejections{"tiled_k0: a rejection was injected"});
    EXPECT_EQ(first.rejected(), rejected);
  }
  const InjectedRejection without_both(
      [&](const TilePrograms& p, int) { return kernels(p) == best || kernels(p) == own_tiles; });
  const std::string other = kernels(tiling::choose_tilings(tiled(), sm_90a, selected).plan.program);
  EXPECT_NE(other, best);
  EXPECT_NE(other, own_tiles);
  const InjectedRejection everything([](const TilePrograms&, int) { return true; });
  EXPECT_EQ(failure([&] { tiling::choose_tilings(tiled(), sm_90a, selected); }), "tiled_k0: a rejection was injected");
}

TEST_F(Rejections, FusionGoesOnWithoutARejectedGroup) {
  const std::size_t operators = unfused().ops.size();
  const InjectedRejection none([](const TilePrograms&, int) { return false; });
  ASSERT_EQ(computed(fuse::optimize(unfused(), sm_90a).graph), 1);
  ASSERT_EQ(operators, 3u);
  // Groups have custom operators, whose blocks load several nodes; a plan of all three operators in one kernel is rejected.
  const auto all_in_one = [](const TilePrograms& p, int) {
    return p.kernels.size() == 1 && p.inputs.size() == 2 && p.kernels[0].nodes.size() > 5;
  };
  const InjectedRejection groups(all_in_one);
  const fuse::Optimized o = fuse::optimize(unfused(), sm_90a);
  EXPECT_GT(computed(o.graph), 1);
  EXPECT_GT(groups.rejected(), 0);
  ASSERT_EQ(o.rejected.size(), 1u);
  EXPECT_EQ(o.rejected[0], "plain_k0: a rejection was injected");
}

TEST_F(Rejections, FusionFailsWhereTheProofRejectsEveryPlan) {
  const InjectedRejection everything([](const TilePrograms&, int) { return true; });
  EXPECT_EQ(failure([&] { fuse::optimize(unfused(), sm_90a); }), "plain_k0: a rejection was injected");
}

TEST_F(Rejections, AGroupTakesTheOperatorWhosePlanAloneIsRejected) {
  int single = 0;
  const InjectedRejection the_first([&](const TilePrograms&, int call) { return call == 1 && ++single; });
  const fuse::Optimized o = fuse::optimize(unfused(), sm_90a);
  EXPECT_EQ(single, 1);
  EXPECT_EQ(computed(o.graph), 1);
  EXPECT_EQ(o.rejected, kernel::Rejections{"plain_k0: a rejection was injected"});
}

/// Two groups that cannot be one: what plans alone is rejected where both are planned together.
TEST_F(Rejections, WhatIsRejectedInOneKernelIsDecomposed) {
  Builder b("two");
  const TensorHandle X = b.input("X", {64, 64}), Y = b.input("Y", {48, 80});
  b.output(exp(X) * X, "Z"), b.output(exp(Y) * Y, "W");
  const KernelGraph g = b.build();
  const auto both_fused = [](const TilePrograms& p, int) { return p.inputs.size() == 2 && p.kernels.size() == 2; };
  const InjectedRejection together(both_fused);
  const fuse::Optimized o = fuse::optimize(g, sm_90a);
  EXPECT_EQ(computed(o.graph), 3);
  EXPECT_EQ(o.rejected, kernel::Rejections{"two_k0: a rejection was injected"});
}

TEST_F(Rejections, CustomOperatorsAreKeptOrDecomposedAsTheProofAllows) {
  const auto is_custom = [](const KernelGraph& g) {
    return std::ranges::any_of(g.ops,
                               [](const auto& op) { return op.kind == graph::OpKind::custom && op.block->loop == 16; });
  };
  {
    const InjectedRejection none([](const TilePrograms&, int) { return false; });
    ASSERT_TRUE(is_custom(fuse::optimize(tiled(), sm_90a, fuse::Custom::kept).graph));
  }
  {  // the kept one is the only plan whose kernel has the graph's own loop
    const InjectedRejection kept([](const TilePrograms& p, int) { return kernels(p) == own_tiles; });
    const fuse::Optimized o = fuse::optimize(tiled(), sm_90a, fuse::Custom::cheaper);
    EXPECT_FALSE(is_custom(o.graph));
    EXPECT_EQ(o.rejected, kernel::Rejections{"tiled_k0: a rejection was injected"});
  }
  {
    const InjectedRejection separate([](const TilePrograms& p, int) { return kernels(p) != own_tiles; });
    const fuse::Optimized o = fuse::optimize(tiled(), sm_90a, fuse::Custom::cheaper);
    EXPECT_TRUE(is_custom(o.graph));
    EXPECT_EQ(o.rejected, kernel::Rejections{"tiled_k0: a rejection was injected"});
  }
  const InjectedRejection everything([](const TilePrograms&, int) { return true; });
  for (const fuse::Custom custom : {fuse::Custom::cheaper, fuse::Custom::decomposed, fuse::Custom::kept})
    EXPECT_EQ(failure([&] { fuse::optimize(tiled(), sm_90a, custom); }), "tiled_k0: a rejection was injected");
}

TEST_F(Rejections, TuningGoesOnWithoutARejectedTiling) {
  const run::MeasureProgram measure = [](const emit::EmittedProgram&) { return std::vector<double>{10}; };
  std::size_t all = 0;
  {
    const InjectedRejection none([](const TilePrograms&, int) { return false; });
    const run::Tuned t = run::tune(tiled(), sm_90a, {}, 4, measure, "a GPU", toolchain::Cache::temporary());
    EXPECT_TRUE(t.rejected.empty());
    all = t.tried.size();
    ASSERT_GT(all, 2u);
  }
  const InjectedRejection second([](const TilePrograms&, int call) { return call == 2; });
  const run::Tuned t = run::tune(tiled(), sm_90a, {}, 4, measure, "a GPU", toolchain::Cache::temporary());
  EXPECT_EQ(t.rejected, kernel::Rejections{"tiled_k0: a rejection was injected"});
  EXPECT_EQ(t.tried.size(), all - 1);
}

/// The best measured tiles of each operator are finally planned together. Here each is tried with other tiles
/// only of the other operator.
TEST_F(Rejections, TuningGoesOnWithoutTheBestTogether) {
  bool measuring = false;
  const run::MeasureProgram each = [&](const emit::EmittedProgram& p) {
    measuring = true;
    const retile::Tiling& t = p.manifest.tiling;
    return std::vector<double>{10.0 + (t.at(0).grid.x == 128 ? 0 : 5) + (t.at(1).block.x == 256 ? 0 : 5)};
  };
  const InjectedRejection last([&](const TilePrograms&, int) { return measuring; });
  const run::Tuned t = run::tune(two_tiled(), sm_90a, {}, 8, each, "a GPU", toolchain::Cache::temporary());
  EXPECT_EQ(last.rejected(), 1);
  EXPECT_EQ(t.rejected, kernel::Rejections{"tiled_k0: a rejection was injected"});
}

run::RunResult run_unfused(const KernelGraph& g, const toolchain::Cache& cache) {
  return run::run(g, {.target = "sm_90a", .compile = {.fuse = true}}, cache);
}

TEST_F(Rejections, TheRunIsRightAndTells) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const InjectedRejection first([](const TilePrograms& p, int) {
    return p.kernels.size() == 1 && p.inputs.size() == 2 && p.kernels[0].nodes.size() > 5;
  });
  const run::RunResult r = run_unfused(unfused(), cache);
  EXPECT_EQ(run::name(r.status), "correct") << r.reason;
  EXPECT_EQ(r.rejected, std::vector<std::string>{"plain_k0: a rejection was injected"});
  EXPECT_NE(run::to_json(r).find(R"("rejected":["plain_k0: a rejection was injected"])"), std::string::npos);
  EXPECT_EQ(run::parse_result(run::to_json(r)).rejected, r.rejected);
}

TEST(Rejection, OfTheOnlyPlanFailsTheRun) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  const InjectedRejection everything([](const TilePrograms&, int) { return true; });
  const run::RunResult r = run_unfused(unfused(), cache);
  EXPECT_EQ(run::name(r.status), "failed");
  EXPECT_EQ(r.reason, "Zellige's own plan is wrong, rejected by the proof: plain_k0: a rejection was injected");
  EXPECT_EQ(r.rejected, std::vector<std::string>{"plain_k0: a rejection was injected"});
}

TEST(Rejection, StopsTheSearchOfABuildWithAssertions) {
  kernel::Rejections kept;
  const Rejected plan("k: wrong");
  EXPECT_THROW(kernel::drop(plan, kept, true), Rejected);
  EXPECT_TRUE(kept.empty());
  kernel::drop(plan, kept, false), kernel::drop(plan, kept, false);
  EXPECT_EQ(kept, kernel::Rejections{"k: wrong"});
  if (!kernel::stops_at_rejections) return;
  const InjectedRejection second([](const TilePrograms&, int call) { return call == 2; });
  EXPECT_THROW(tiling::choose_tilings(tiled(), sm_90a, {.tiles = plan::TilingPolicy::automatic}), Rejected);
  EXPECT_THROW(fuse::optimize(unfused(), sm_90a), Rejected);
}

TEST(Rejection, IsToldInOneLine) {
  EXPECT_EQ(kernel::told(kernel::Rejections{"k0: a"}),
            "1 of Zellige's own plans rejected by the proof and dropped, the result is of another plan: k0: a");
  EXPECT_EQ(kernel::told(kernel::Rejections{"k0: a", "k0: b", "k1: c"}),
            "3 of Zellige's own plans rejected by the proof and dropped, the result is of another plan: k0: a "
            "(and 2 more)");
}

}  // namespace
}  // namespace zellige
