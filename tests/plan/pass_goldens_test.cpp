// The decisions of each pass for each relevant graph, printed.
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
                print_pass(pass, make_plan(graph->graph(), target::find(graph->target))));
}

INSTANTIATE_TEST_SUITE_P(Passes, PassGolden, testing::ValuesIn(cases()),
                         [](const auto& c) { return name_of(c.param); });

// Planning is a function: the same graph gives the same plan.
TEST(Passes, DecideTheSameTwice) {
  for (const GoldenGraph& g : golden_graphs())
    EXPECT_EQ(print(make_plan(g.graph(), target::find(g.target))),
              print(make_plan(g.graph(), target::find(g.target))))
        << g.name;
}

}  // namespace
}  // namespace zellige::plan
