// What the passes decide of each graph: its plan as printed, in golden/NAME.ir.
#include <gtest/gtest.h>

#include "../unfused.hpp"
#include "golden.hpp"
#include "graphs.hpp"
#include "ir/ir.hpp"
#include "plan/plan.hpp"

namespace zellige::plan {
namespace {

std::string text_of(const GoldenGraph& g) {
  const Plan plan = test::make_plan(g.graph(), target::find(g.target));
  return ir::print(plan) + ir::consequences(plan);
}

class PassGolden : public testing::TestWithParam<GoldenGraph> {};

TEST_P(PassGolden, IsWhatThePassesDecide) { expect_golden(GetParam().name + ".ir", text_of(GetParam())); }

// Planning is a function: the same graph gives the same plan.
TEST_P(PassGolden, IsDecidedTheSameTwice) { EXPECT_EQ(text_of(GetParam()), text_of(GetParam())); }

INSTANTIATE_TEST_SUITE_P(Graphs, PassGolden, testing::ValuesIn(golden_graphs()),
                         [](const auto& c) { return c.param.name; });

}  // namespace
}  // namespace zellige::plan
