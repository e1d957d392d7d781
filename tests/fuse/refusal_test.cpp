// Groups that no rule fuses into one kernel: the whole reason, as in the notes.
#include <gtest/gtest.h>

#include "candidate/kernel.hpp"
#include "graph/builder.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::TensorHandle;

/// The reason for all operators of the graph in one kernel.
std::string why_not(Builder& b, const char* target = "sm_90a") {
  const graph::KernelGraph g = b.build();
  std::vector<int> ops;
  for (std::size_t i = 0; i < g.ops.size(); ++i) ops.push_back(static_cast<int>(i));
  std::string why;
  const std::vector<candidate::GroupKernel> kernels = candidate::kernels_of(g, ops, target::find(target), why);
  return kernels.empty() ? why : "";
}

/// x (64, 65536), whose rows do not fit in a block's shared memory together with
/// their weights.
TensorHandle wide(Builder& b) { return b.input("x", {64, 65536}); }
TensorHandle weights(Builder& b) { return b.input("w", {65536, 64}); }

TEST(FuseRefusals, AnOffsetDoesNotPassAProduct) {
  Builder b("g");
  const TensorHandle x = wide(b), w = weights(b);
  b.output(matmul(x - mean(x, 1, true), w), "Y");
  EXPECT_EQ(why_not(b), "sub (t3) would read inside the loop what is known after it");
}

TEST(FuseRefusals, AScaleDoesNotPassABend) {
  Builder b("g");
  const TensorHandle x = wide(b), w = weights(b);
  b.output(matmul(silu(rms_norm(x)), w), "Y");
  EXPECT_EQ(why_not(b), "silu (t3) would read inside the loop what is known after it");
}

TEST(FuseRefusals, ARunningMaximumOfASquare) {
  Builder b("g");
  const TensorHandle x = wide(b), w = weights(b);
  b.output(matmul(square(x - amax(x, 1, true)), w), "Y");
  EXPECT_EQ(why_not(b), "square (t4) would read inside the loop what is known after it");
}

TEST(FuseRefusals, DimensionsThatRunTogether) {
  Builder b("g");
  const TensorHandle y = exp(b.input("x", {64, 64}));
  b.output(matmul(y, y), "Y");
  EXPECT_EQ(why_not(b), "two dimensions of (64, 64) would run together");
}

TEST(FuseRefusals, ADimensionThatWasOmitted) {
  Builder b("g");
  const TensorHandle x = b.input("x", {64, 64});
  b.output(x - amax(x, 1), "Y");
  EXPECT_EQ(why_not(b), "t1 has lost a dimension that its readers count");
}

TEST(FuseRefusals, ResultsOfTheLoop) {
  Builder b("g");
  b.output(softmax(matmul(b.input("x", {4, 64}), b.input("w", {64, 262144})), 1), "Y");
  EXPECT_EQ(why_not(b), "no tiling of the kernel fits into shared memory");
}

TEST(FuseRefusals, AMaximumThatMayBeInfinite) {
  Builder b("g");
  const TensorHandle x = wide(b), w = weights(b);
  const TensorHandle m = amax(x, 1, true);
  b.output(matmul(x, w) * m, "Y");
  EXPECT_EQ(why_not(b), "the maximum t2 would be that of finite numbers");
}

}  // namespace
}  // namespace zellige::fuse
