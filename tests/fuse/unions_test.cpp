// Kernels with more operators than grown groups have: two groups of a cover are tried as one.
#include <gtest/gtest.h>

#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "json/json.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::TensorHandle;

std::size_t kernels(const Optimized& o) {
  std::size_t parts = 0;
  for (const FusedKernel& k : o.kernels) parts += k.parts;
  return parts;
}

/// RMSNorm as torch writes it down: eight operators.
TensorHandle norm(const TensorHandle& x, const TensorHandle& weight) {
  const TensorHandle wide = cast(x, graph::DType::f32);
  const TensorHandle mean = graph::mean(square(wide), 1, true);
  return cast(wide * rsqrt(mean + 1e-6) * (cast(weight, graph::DType::f32) + 1.0), graph::DType::bf16);
}

// Three norms one after the other, with residuals between them (Gemma's layers have two such pairs), are 30 operators and one kernel.
TEST(Unions, NormsOneAfterTheOtherAreOneKernel) {
  Builder b("norms");
  const auto row = [&](const char* name) { return b.input(name, {1, 2304}, graph::DType::bf16); };
  const TensorHandle x = b.input("x", {512, 2304}, graph::DType::bf16),
                     y = b.input("y", {512, 2304}, graph::DType::bf16);
  const TensorHandle h = x + norm(y, row("u"));
  const TensorHandle g = h + norm(h, row("v"));
  b.output(g, "g");
  b.output(norm(g, row("w")), "z");
  const graph::KernelGraph graph = b.build();
  ASSERT_GT(graph.ops.size(), 25u);
  EXPECT_EQ(kernels(optimize(graph, target::find("sm_90a"))), 1u);
}

struct Model {
  const char* file;
  std::size_t max_kernels, max_groups, max_plans;
};
class Models : public testing::TestWithParam<Model> {};

TEST_P(Models, TwoLayers) {
  const std::string path = std::string(ZELLIGE_SOURCE_DIR) + "/tests/fuse/models/" + GetParam().file;
  const Optimized o = optimize(json::load(path).at(0), target::find("sm_90a"));
  EXPECT_LE(kernels(o), GetParam().max_kernels);
  EXPECT_LE(o.work.groups, GetParam().max_groups);
  EXPECT_LE(o.work.plans, GetParam().max_plans);
}

INSTANTIATE_TEST_SUITE_P(Gemma, Models,
                         testing::Values(Model{"gemma2_two_layers.json", 28, 4'000, 600},
                                         Model{"gemma3_two_layers.json", 24, 5'000, 800}),
                         [](const auto& info) { return std::string(info.param.file).substr(0, 6); });

}  // namespace
}  // namespace zellige::fuse
