// All 314 muGraphs against their programs: the 124 outside qknorm are equal to theirs, none of the 190 of qknorm is.
#include <gtest/gtest.h>

#include <cstdlib>

#include "graph/load.hpp"
#include "graph/mugraphs.hpp"
#include "programs.hpp"
#include "search/equal.hpp"

namespace zellige::search {
namespace {

class Mugraphs : public testing::TestWithParam<int> {};

TEST_P(Mugraphs, AreTold) {
  const test::Program program = test::programs()[static_cast<std::size_t>(GetParam())];
  const std::string path = graph::test::mugraph_file(program.file + ".json");
  if (path.empty()) GTEST_SKIP() << program.file << ".json is not here: set ZELLIGE_MUGRAPHS to the folder that has it";
  const std::vector<graph::KernelGraph> graphs = graph::load(path);
  ASSERT_EQ(graphs.size(), program.candidates);
  EqualOptions options;
  options.given_sizes = std::getenv("ZELLIGE_EQUAL_GIVEN") != nullptr;  // minutes
  double seconds = 0, slowest = 0, chance = -1000;
  std::map<std::string, int> methods;
  for (const graph::KernelGraph& g : graphs) {
    const Equality e = equal(program.graph, g, options);
    EXPECT_EQ(name(e.answer), program.equal ? "equal" : "different") << g.name << ": " << e.why;
    EXPECT_TRUE(e.shrunk) << g.name;
    if (e.answer == Answer::different) EXPECT_TRUE(e.counterexample) << g.name;
    if (e.answer == Answer::equal && e.method == "field") EXPECT_LT(e.log2_chance, -40) << g.name;
    ++methods[e.method];
    seconds += e.seconds;
    slowest = std::max(slowest, e.seconds);
    if (e.method == "field") chance = std::max(chance, e.log2_chance);
  }
  std::printf("%-15s %3zu candidates: %s, by", program.file.c_str(), graphs.size(), program.equal ? "all equal" : "all different");
  for (const auto& [method, count] : methods) std::printf(" %s %d", method.c_str(), count);
  std::printf("; %.1f ms a pair, %.1f ms at most, chance 2^%.0f\n", 1e3 * seconds / static_cast<double>(graphs.size()), 1e3 * slowest, chance);
}

INSTANTIATE_TEST_SUITE_P(Files, Mugraphs, testing::Range(0, 8), [](const auto& info) {
  return test::programs()[static_cast<std::size_t>(info.param)].file;
});

}  // namespace
}  // namespace zellige::search
