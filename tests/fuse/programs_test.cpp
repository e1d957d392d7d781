// What comes out computes what went in: the programs of the muGraphs, and the parts of models at small sizes.
#include "search/programs.hpp"

#include <gtest/gtest.h>

#include "fuse/fuse.hpp"
#include "graph/load.hpp"
#include "graph/validate.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

void expect_equal(const graph::KernelGraph& g, std::string_view target) {
  const Optimized o = optimize(g, target::find(target));
  EXPECT_NO_THROW(graph::validate(o.graph)) << g.name;
  EXPECT_LT(o.kernels.size(), g.ops.size()) << g.name;
  const search::Equality e = search::equal(g, o.graph, {.given_sizes = false});
  EXPECT_EQ(search::name(e.answer), "equal") << search::describe(e, g.name, g.name + " fused");
}

TEST(Fuse, ProgramsOfTheMuGraphs) {
  for (const auto& p : search::test::programs()) expect_equal(p.graph, "sm_90a");
}

TEST(Fuse, PartsOfModels) {
  const char* target = "sm_80";
  for (const char* name : {"gpt_mlp", "llama_decode", "norm_gated_mlp", "plain_attention",
                           "residual_rms_norm", "rms_qkv_rope", "cross_entropy"}) {
    expect_equal(graph::load(fmt::format("{}/tests/run/layers/{}.json", ZELLIGE_SOURCE_DIR, name)).at(0),
                 target);
    target = target == std::string("sm_80") ? "sm_90a" : "sm_80";
  }
}

}  // namespace
}  // namespace zellige::fuse
