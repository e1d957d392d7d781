// Programs of one launch: refusals, and the requirements of a launch of
// several.
#include "kernel/launches.hpp"

#include <gtest/gtest.h>

#include "../unfused.hpp"
#include "graph/builder.hpp"
#include "plan/estimate.hpp"
#include "plan/plan.hpp"

namespace zellige::plan {
namespace {

using graph::TensorHandle;

/// Two operands, (8, 16) and (8, 48), in one launch.
Plan joined() {
  graph::Builder b("joined");
  const TensorHandle x = b.input("X", {8, 16}, graph::DType::f32), y = b.input("Y", {8, 48}, graph::DType::f32);
  b.output(concat(x, y, 1), "Z");
  return test::make_plan(b.build(), target::find("sm_90a"));
}

std::string message(const Plan& plan) {
  try {
    kernel::verify_launches(plan.kernels, plan.program);
  } catch (const Rejected& e) {
    return e.what();
  }
  return "";
}

tile::Node& store_of(kernel::Kernel& k) {
  return *std::ranges::find(k.program.nodes, tile::NodeKind::store, &tile::Node::kind);
}

TEST(Launches, OfAConcatenationAreOne) {
  const Plan plan = joined();
  ASSERT_EQ(plan.kernels.size(), 2u);
  ASSERT_EQ(kernel::launches(plan.kernels).size(), 1u);
  EXPECT_EQ(kernel::launches(plan.kernels)[0].count(), 2u);
  EXPECT_EQ(message(plan), "");
  EXPECT_EQ(estimate_cost(plan, target::find("sm_90a")).kernels.size(), 1u);
}

TEST(Launches, ProgramsThatWriteTheSameElementsAreRejected) {
  Plan plan = joined();
  store_of(plan.kernels[1]).view.cuts[1].offset = 15;
  EXPECT_EQ(message(plan),
            "joined_k0_1 writes elements of Z that joined_k0 writes in the same launch, whose blocks run in any "
            "order");
}

TEST(Launches, AProgramThatReadsWhatAnotherWritesIsRejected) {
  Plan plan = joined();
  for (tile::Node& n : plan.kernels[1].program.nodes)
    if (n.kind == tile::NodeKind::load) n.tensor = store_of(plan.kernels[0]).tensor;
  EXPECT_EQ(message(plan),
            "joined_k0_1 reads elements of Z that joined_k0 writes in the same launch, whose blocks run in any "
            "order");
}

TEST(Launches, ProgramsOfOtherThreadsAreRejected) {
  Plan plan = joined();
  plan.kernels[1].program.block = {512, 1, 1};
  EXPECT_EQ(message(plan), "joined_k0_1 has 512 threads a block, expected 128 as joined_k0 in the same launch");
}

TEST(Launches, ProgramsWhoseBlocksTakeSeveralTilesAreRejected) {
  Plan plan = joined();
  plan.kernels[1].blocks = 4;
  EXPECT_EQ(message(plan), "joined_k0_1 has blocks that take several tiles: it must have a launch of its own");
}

TEST(Launches, MoreThanALaunchHoldsAreSeveral) {
  graph::Builder b("many");
  std::vector<TensorHandle> x;
  for (std::size_t i = 0; i < kernel::max_programs + 1; ++i)
    x.push_back(b.input(fmt::format("x{}", i), {4}, graph::DType::f32));
  b.output(concat(x, 0), "y");
  const Plan plan = test::make_plan(b.build(), target::find("sm_80"));
  ASSERT_EQ(kernel::launches(plan.kernels).size(), 2u);
  EXPECT_EQ(kernel::launches(plan.kernels)[0].count(), kernel::max_programs);
}

}  // namespace
}  // namespace zellige::plan
