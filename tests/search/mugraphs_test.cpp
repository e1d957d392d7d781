// All 314 muGraphs against their programs: the 124 outside qknorm are equal to theirs, none of the 190 of
// qknorm is.
#include "graph/mugraphs.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "json/json.hpp"
#include "programs.hpp"
#include "rewrite.hpp"
#include "search/equal.hpp"
#include "search/given_sizes.hpp"
#include "search/match.hpp"
#include "search/shrink.hpp"

namespace zellige::search {
namespace {

class Mugraphs : public testing::TestWithParam<int> {};

TEST_P(Mugraphs, AreTold) {
  const test::Program program = test::programs()[static_cast<std::size_t>(GetParam())];
  const std::string path = graph::test::mugraph_file(program.file + ".json");
  if (path.empty()) GTEST_SKIP() << program.file << ".json is not here: set ZELLIGE_MUGRAPHS to the folder that has it";
  const std::vector<graph::KernelGraph> graphs = json::load(path);
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
    if (e.answer == Answer::equal && e.log2_chance) EXPECT_LE(*e.log2_chance, -40) << g.name;
    ++methods[e.method];
    seconds += e.seconds;
    slowest = std::max(slowest, e.seconds);
    if (e.log2_chance) chance = std::max(chance, *e.log2_chance);
  }
  std::printf("%-15s %3zu candidates: %s, by", program.file.c_str(), graphs.size(),
              program.equal ? "all equal" : "all different");
  for (const auto& [method, count] : methods) std::printf(" %s %d", method.c_str(), count);
  std::printf("; %.1f ms a pair, %.1f ms at most, chance 2^%.0f\n", 1e3 * seconds / static_cast<double>(graphs.size()),
              1e3 * slowest, chance);
}

/// A candidate after one edit is what float64 says of the small sizes: another program, or the same.
TEST_P(Mugraphs, AreRefusedAfterAnEdit) {
  const test::Program program = test::programs()[static_cast<std::size_t>(GetParam())];
  const std::string path = graph::test::mugraph_file(program.file + ".json");
  if (path.empty()) GTEST_SKIP() << program.file << ".json is not here: set ZELLIGE_MUGRAPHS to the folder that has it";
  if (!program.equal) GTEST_SKIP() << "its candidates are not what they were searched for";
  EqualOptions options;
  options.given_sizes = false;
  int different = 0, same = 0, undecided = 0, left = 40;
  test::Rng rng(static_cast<std::uint64_t>(GetParam()) + 1);
  for (const graph::KernelGraph& g : json::load(path)) {
    graph::KernelGraph changed = g;
    const std::string what = test::change_one(changed, rng, [&](auto& level, std::size_t at) {
      if constexpr (std::is_same_v<std::decay_t<decltype(level)>, graph::BlockGraph>)
        if (const std::string maps = test::edit_maps(level.ops[at], rng); !maps.empty()) return maps;
      return test::edit(level, at, rng);
    });
    const auto whole = test::settled(changed);
    if (what.empty() || !whole) continue;
    try {
      const Pairing pairing = match(program.graph, *whole);
      const SmallPair small = shrink({program.graph, *whole, pairing});
      const double truth = given_sizes({small.a, small.b, pairing}, 7).distance;
      const Equality e = equal(program.graph, *whole, options);
      if (truth > 1e-6)
        EXPECT_EQ(name(e.answer), "different") << g.name << ": " << what << ", " << truth << " from each other";
      if (truth < 1e-12) EXPECT_NE(name(e.answer), "different") << g.name << ": " << what;
      undecided += e.answer == Answer::undecided;
      different += e.answer == Answer::different, same += e.answer == Answer::equal;
    } catch (const Error&) {
      continue;  // another shape
    }
    if (--left == 0) break;
  }
  EXPECT_LE(undecided, 2);
  std::printf("%-15s after an edit: %d different, %d equal, %d undecided\n", program.file.c_str(), different, same,
              undecided);
}

INSTANTIATE_TEST_SUITE_P(Files, Mugraphs, testing::Range(0, 8),
                         [](const auto& info) { return test::programs()[static_cast<std::size_t>(info.param)].file; });

}  // namespace
}  // namespace zellige::search
