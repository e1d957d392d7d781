// Operands of matmuls whose lines are not aligned: read where they are, or from copies with aligned lines, by expected time.
#include <gtest/gtest.h>

#include <algorithm>

#include "fuse/separate.hpp"
#include "graph/builder.hpp"
#include "lower/lower.hpp"
#include "plan/estimate.hpp"

namespace zellige::plan {
namespace {

const target::Target& h200() { return target::find("sm_90a"); }

/// A product of m x k and k x n numbers, as a custom operator.
graph::KernelGraph product(std::int64_t m, std::int64_t n, std::int64_t k) {
  graph::Builder b("product");
  b.output(matmul(b.input("A", {m, k}), b.input("B", {k, n}, graph::DType::f16, {1, k})), "Y");
  return fuse::separate(b.build(), h200());
}

bool copies(const Plan& plan) {
  return std::ranges::any_of(plan.kernels, [](const kernel::Kernel& k) { return k.program.name.ends_with("_copy"); });
}

// Both ways are legal, as the rules of lower/align.hpp say: A is read by 32 blocks. A copy of 19 KB would take a launch more.
TEST(Lines, OfFewRowsAreReadWhereTheyAre) {
  const graph::KernelGraph g = product(8, 512, 1204);
  EXPECT_FALSE(lower::lower_operators(g, h200(), {}).copies.empty());
  EXPECT_FALSE(copies(sketch(g, h200())));
  EXPECT_FALSE(copies(make_plan(g, h200())));
}

// wgmma needs aligned lines, and many rows are multiplied four times as fast by it.
TEST(Lines, OfManyRowsAreCopied) {
  const graph::KernelGraph g = product(4096, 4096, 2049);
  EXPECT_TRUE(copies(sketch(g, h200())));
  EXPECT_TRUE(copies(make_plan(g, h200())));
}

TEST(Lines, OfAlignedOperandsLeaveNoChoice) {
  EXPECT_TRUE(lower::lower_operators(product(8, 512, 1208), h200(), {}).copies.empty());
}

}  // namespace
}  // namespace zellige::plan
