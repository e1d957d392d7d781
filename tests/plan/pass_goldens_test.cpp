// What each pass decides for each graph that is interesting to it, as text.
#include <gtest/gtest.h>

#include "golden.hpp"
#include "graphs.hpp"

namespace zellige::plan {
namespace {

struct Case {
  const GoldenGraph* graph;
  Pass pass;
};

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const GoldenGraph& g : golden_graphs())
    for (Pass pass : g.passes) result.push_back({&g, pass});
  return result;
}

std::string name_of(const Case& c) { return fmt::format("{}_{}", name(c.pass), c.graph->name); }

class PassGolden : public testing::TestWithParam<Case> {};

TEST_P(PassGolden, IsWhatThePassDecides) {
  const auto& [graph, pass] = GetParam();
  expect_golden(name_of(GetParam()) + ".txt",
                print_pass(pass, plan_until(graph->graph(), target::find("sm_80"), pass)));
}

INSTANTIATE_TEST_SUITE_P(Passes, PassGolden, testing::ValuesIn(cases()),
                         [](const auto& c) { return name_of(c.param); });

// The passes run here are those of make_plan, in its order.
TEST(Passes, TogetherMakeThePlan) {
  for (const GoldenGraph& g : golden_graphs()) {
    const target::Target& target = target::find("sm_90a");
    const Plan whole = make_plan(g.graph(), target), stepwise = plan_until(g.graph(), target, Pass::agents);
    EXPECT_EQ(print(whole), print(stepwise)) << g.name;
    for (Pass pass : all_passes())
      EXPECT_EQ(print_pass(pass, whole), print_pass(pass, stepwise)) << g.name << " " << name(pass);
  }
}

// Planning is a function: the same graph gives the same plan.
TEST(Passes, DecideTheSameTwice) {
  for (const GoldenGraph& g : golden_graphs())
    EXPECT_EQ(print(make_plan(g.graph(), target::find("sm_80"))),
              print(make_plan(g.graph(), target::find("sm_80"))))
        << g.name;
}

}  // namespace
}  // namespace zellige::plan
