// The fusion of the model parts in examples/layers and of the muGraphs' programs, with the reasons:
// tests/fuse/golden.
#include "plan/golden.hpp"

#include <gtest/gtest.h>

#include "../loaded.hpp"
#include "../same_values.hpp"
#include "fuse/fuse.hpp"
#include "json/json.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"
#include "search/programs.hpp"

namespace zellige::fuse {
namespace {

void expect_as_before(const std::string& name, const Optimized& o) {
  std::string text;
  for (const std::string& note : o.notes) text += note + "\n";
  const std::string path = fmt::format("{}/tests/fuse/golden/{}.txt", ZELLIGE_SOURCE_DIR, name);
  const std::string json = json::to_json(o.graph);
  text += json + "\n";
  const std::vector<json::Loaded> again = json::load_text(json, name, name);
  EXPECT_EQ(again.at(0).error, "") << name;
  EXPECT_EQ(json::to_json(again.at(0).graph), json) << name;
  if (updating_goldens()) return write_file(path, text);
  EXPECT_EQ(text, read_file(path)) << path << "; where the change is meant, ZELLIGE_UPDATE_GOLDENS=1";
}

TEST(FuseGoldens, Programs) {
  for (const auto& p : search::test::programs()) {
    const Optimized o = optimize(p.graph, target::find("sm_90a"));
    expect_as_before(p.file, o);
    const search::Equality e = search::equal(p.graph, o.graph, {.given_sizes = false});
    EXPECT_NE(search::name(e.answer), "different") << search::describe(e, p.file, p.file + " fused");
    // A kernel may hold numbers of its sizes, such as that of the elements of a part; then small sizes decide nothing.
    if (e.answer == search::Answer::undecided) test::expect_same_values(p.graph, o.graph);
  }
}

TEST(FuseGoldens, PartsOfModels) {
  for (const char* name :
       {"gpt_mlp", "llama_decode", "llama_prefill", "norm_gated_mlp", "plain_attention", "plain_attention_causal",
        "residual_rms_norm", "rms_qkv_rope", "cross_entropy", "norm_gated_mlp_b16"}) {
    const graph::KernelGraph g = json::load(fmt::format("{}/examples/layers/{}.json", ZELLIGE_SOURCE_DIR, name)).at(0);
    expect_as_before(name, optimize(g, target::find("sm_90a")));
  }
}

}  // namespace
}  // namespace zellige::fuse
