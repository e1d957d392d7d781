// What becomes of the parts of models in examples/layers and of the muGraphs' programs, with the reasons: tests/fuse/golden.
#include "plan/golden.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "fuse/fuse.hpp"
#include "graph/json.hpp"
#include "graph/load.hpp"
#include "search/programs.hpp"

namespace zellige::fuse {
namespace {

void expect_as_before(const std::string& name, const graph::KernelGraph& g) {
  const Optimized o = optimize(g, target::find("sm_90a"));
  std::string text;
  for (const std::string& note : o.notes) text += note + "\n";
  const std::string path = fmt::format("{}/tests/fuse/golden/{}.txt", ZELLIGE_SOURCE_DIR, name);
  text += graph::to_json(o.graph) + "\n";
  if (updating_goldens()) return write_file(path, text);
  EXPECT_EQ(text, read_file(path)) << path << "; where the change is meant, ZELLIGE_UPDATE_GOLDENS=1";
}

TEST(FuseGoldens, Programs) {
  for (const auto& p : search::test::programs()) expect_as_before(p.file, p.graph);
}

TEST(FuseGoldens, PartsOfModels) {
  for (const char* name : {"gpt_mlp", "llama_decode", "llama_prefill", "norm_gated_mlp", "plain_attention",
                           "plain_attention_causal", "residual_rms_norm", "rms_qkv_rope", "cross_entropy"}) {
    const auto start = std::chrono::steady_clock::now();
    expect_as_before(name,
                     graph::load(fmt::format("{}/examples/layers/{}.json", ZELLIGE_SOURCE_DIR, name)).at(0));
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 10) << name;
  }
}

}  // namespace
}  // namespace zellige::fuse
