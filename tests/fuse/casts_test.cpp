// Casts that saturate are kept by the rewrites, also those to the same dtype and those of a cast's result: infinities become
// the greatest numbers, as the reference of the given graph has them. From a bug report.
#include <cmath>
#include <limits>

#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "run/emulate_graph.hpp"

namespace zellige::fuse {
namespace {

using graph::DType;
using graph::TensorHandle;

constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_unchanged(const graph::KernelGraph& g, const std::vector<reference::Array>& inputs, const char* target) {
  const std::vector<reference::Array> expected = reference::run_reference(g, inputs);
  const std::vector<std::vector<double>> found =
      run::emulate_graph(optimize(g, target::find(target)).graph, inputs, target);
  for (std::size_t o = 0; o < expected.size(); ++o)
    for (std::size_t i = 0; i < found[o].size(); ++i) {
      const double x = found[o][i], y = expected[o].values[i];
      EXPECT_TRUE(std::isnan(y) ? std::isnan(x) : x == y)
          << target << ", output " << o << ", element " << i << ": found " << x << ", expected " << y;
    }
}

TEST(Casts, OfInfinitiesThatSaturateGiveTheGreatestNumbers) {
  const reference::Array x{{2, 4}, {infinity, -infinity, std::nan(""), 0x1.8p127, -0x1.8p127, 40000, 1, -0.0}};
  graph::Builder b("casts");
  const TensorHandle twice = b.input("x", {2, 4}, DType::f32) * 2.0;
  int count = 0;
  for (const DType first : {DType::f32, DType::f16, DType::bf16})
    for (const bool saturates : {false, true})
      for (const bool again : {false, true})
        b.output(cast(cast(twice, first, saturates), DType::f32, again), fmt::format("y{}", count++));
  const graph::KernelGraph g = b.build();
  expect_unchanged(g, {x}, "sm_80");
  expect_unchanged(g, {x}, "sm_90a");
}

TEST(Casts, OfAnExponentialThatSaturatesToItsOwnDtypeIsFinite) {
  reference::Array x = reference::make_array({8, 8});
  x.values[0] = 100;
  x.values[63] = infinity;
  graph::Builder b("sat");
  b.output(cast(exp(b.input("x", {8, 8}, DType::f32)), DType::f32, true), "y");
  const graph::KernelGraph g = b.build();
  EXPECT_EQ(reference::run_reference(g, {x})[0].values[0], graph::format(DType::f32).greatest);
  expect_unchanged(g, {x}, "sm_80");
}

}  // namespace
}  // namespace zellige::fuse
