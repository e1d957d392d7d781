// The complete emitted code of two examples' kernels.
#include <gtest/gtest.h>

#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "golden.hpp"
#include "graphs.hpp"

namespace zellige::plan {
namespace {

TEST(EmittedText, Lora) { expect_golden("lora.cu", test::transpile(example("lora"), target::find("sm_80")).source); }

TEST(EmittedText, HopperMatmul) {
  for (const GoldenGraph& g : golden_graphs())
    if (g.name == "hopper_matmul" || g.name == "hopper_attention" || g.name == "hopper_split_k" ||
        g.name == "hopper_turned")
      expect_golden(std::string(g.name) + ".cu", test::transpile(g.graph(), target::find(g.target)).source);
}

TEST(EmittedText, Attention) {
  expect_golden("attention.cu", test::transpile(example("attention"), target::find("sm_80")).source);
}

}  // namespace
}  // namespace zellige::plan
