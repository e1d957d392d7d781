// Saved graphs: accepted tilings equal the graph, by finite fields at small
// sizes.
#include "graph/mugraphs.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "../all_cases.hpp"
#include "json/json.hpp"
#include "random_block.hpp"
#include "retile/retile.hpp"
#include "search/equal.hpp"

namespace zellige::retile::test {
namespace {

class Saved : public testing::TestWithParam<const char*> {};

TEST_P(Saved, RetiledTheyAreEqual) {
  const std::string path = graph::test::mugraph_file(std::string(GetParam()) + ".json");
  if (path.empty()) GTEST_SKIP() << GetParam() << ".json is not here: set ZELLIGE_MUGRAPHS to the folder that has it";
  int taken = 0, refused = 0, count = 0;
  const std::vector<graph::KernelGraph> graphs = json::load(path);
  const bool all = zellige::test::all_cases();
  for (const graph::KernelGraph& g : graphs) {
    if (!all && graphs.size() > 40 && count++ % 8 != 0) continue;  // of many similar ones
    random_graphs::Rng rng(static_cast<std::uint64_t>(taken) + 5);
    for (int tries = 0, mine = 0; tries < 30 && mine < (all ? 3 : 1); ++tries) {
      Tiling tiling = tiling_of(g);
      for (OpTiling& o : tiling) {
        static const std::vector<std::int64_t> factors{1, 1, 2, 4};
        const auto scaled = [&](std::int64_t n) {
          const std::int64_t f = rng.pick(factors);
          return rng.chance(50) && n % f == 0 ? n / f : n > 1 ? n * f : n;
        };
        o.grid = {scaled(o.grid.x), scaled(o.grid.y), scaled(o.grid.z)};
        o.loop = scaled(o.loop);
      }
      if (tiling == tiling_of(g)) continue;
      try {
        const graph::KernelGraph h = retile(g, tiling);
        ++taken, ++mine;
        search::EqualOptions options;
        options.given_sizes = false;
        const search::Equality e = search::equal(g, h, options);
        EXPECT_EQ(e.answer, search::Answer::equal) << g.name << " to " << print(tiling) << ": " << e.why;
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  std::printf("%-15s %d retilings equal, %d refused\n", GetParam(), taken, refused);
  EXPECT_GT(taken, 3);
}

INSTANTIATE_TEST_SUITE_P(Files, Saved,
                         testing::Values("rmsnorm_bs1", "gated_mlp", "lora", "gqa_bs1", "mqa_bs1", "mha_bs1",
                                         "qknorm_gqa_bs1", "ntrans_bs1"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace zellige::retile::test
