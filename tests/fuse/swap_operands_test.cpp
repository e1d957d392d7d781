// Matmuls with small M and swapped operands: the same values, on warpgroups, and only if
// that pays.
#include <gtest/gtest.h>

#include <algorithm>

#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "fuse/assemble.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "json/json.hpp"
#include "plan/plan.hpp"
#include "run/run.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::KernelGraph;
using graph::OpKind;
using graph::TensorHandle;

constexpr std::int64_t wide = 98 * 64;  // columns: this number of blocks of 64 saturates an H200's DRAM

TensorHandle gated(Builder& b, std::int64_t rows, std::int64_t columns = wide) {
  const TensorHandle x = b.input("X", {rows, 128});
  return silu(matmul(x, b.input("G", {128, columns}))) * matmul(x, b.input("U", {128, columns}));
}

/// Kernels of the whole graph whose first part has swapped operands.
std::vector<candidate::GroupKernel> swapped_kernels(const KernelGraph& g) {
  std::vector<int> ops;
  for (std::size_t i = 0; i < g.ops.size(); ++i) ops.push_back(static_cast<int>(i));
  std::string why;
  std::vector<candidate::GroupKernel> found = candidate::kernels_of(g, ops, target::find("sm_90a"), why);
  EXPECT_FALSE(found.empty()) << g.name << ": " << why;
  std::erase_if(found, [](const candidate::GroupKernel& k) {
    return std::ranges::none_of(k.parts[0].block->ops,
                                [](const graph::BlockOp& op) { return op.kind == OpKind::permute; });
  });
  return found;
}

KernelGraph fused(const KernelGraph& g, const candidate::GroupKernel& k) {
  return assemble(g, {{k.ops, {k}, 0}}).graph;
}

/// `on`: with the instruction that the source names.
KernelGraph one_swapped(const KernelGraph& g, const std::string& on) {
  const std::vector<candidate::GroupKernel> found = swapped_kernels(g);
  const auto by_warpgroups = std::ranges::find_if(found, [&](const candidate::GroupKernel& k) {
    return test::transpile(fused(g, k), target::find("sm_90a")).source.find(on) != std::string::npos;
  });
  EXPECT_NE(by_warpgroups, found.end()) << g.name;
  return by_warpgroups == found.end() ? g : fused(g, *by_warpgroups);
}

void expect_right(const KernelGraph& h) {
  EXPECT_NO_THROW(graph::validate(h)) << h.name;
  const run::RunResult r =
      run::run(h, {.on = run::Machine::emulator, .target = "sm_90a"}, toolchain::Cache::standard());
  EXPECT_EQ(r.status, run::Status::correct) << h.name << ": " << r.reason;
}

void expect_swapped(const KernelGraph& g) {
  const KernelGraph h = one_swapped(g, "on wgmma m64n16k16");
  const search::Equality e = search::equal(g, h);
  EXPECT_EQ(search::name(e.answer), "equal") << search::describe(e, g.name, "swapped") << json::to_json(h);
  expect_right(h);
}

TEST(SwapOperands, TwoProductsOfTheSameRows) {
  Builder b("gated");
  b.output(gated(b, 16), "Y");
  expect_swapped(b.build());
}

TEST(SwapOperands, OperandsOfTheEpilogueAreTransposedToo) {
  Builder b("with_others");
  b.output((gated(b, 16) * b.input("row", {1, wide}) + b.input("R", {16, wide})) * b.input("column", {16, 1}), "Y");
  expect_swapped(b.build());
}

TEST(SwapOperands, OddRowsAreCutInSixteens) {
  Builder b("odd");
  b.output(gated(b, 72), "Y");
  expect_right(one_swapped(b.build(), "on wgmma m64n80k16"));
}

/// A product of 192 or 304 rows a block, with a residual of as many: their ring and the residual together exceed shared
/// memory, so that the ring has fewer stages than fit without it.
TEST(SwapOperands, ManyRowsLeaveRoomForTheirResidual) {
  for (const auto& [rows, on] : {std::pair<std::int64_t, const char*>{384, "on wgmma m64n192k16"},
                                 std::pair<std::int64_t, const char*>{304, "on wgmma m64n152k16"}}) {
    Builder b("residual");
    const TensorHandle x = b.input("X", {rows, 1024}), w = b.input("W", {1024, 64 * 64});
    b.output(matmul(x, w) + b.input("R", {rows, 64 * 64}), "Y");
    const KernelGraph g = one_swapped(b.build(), on);
    const plan::Plan plan = test::make_plan(g, target::find("sm_90a"));
    const kernel::Kernel& k = plan.kernels.at(0);
    EXPECT_TRUE(k.notes.empty()) << k.notes.at(0);
    std::int64_t stage = 0, others = 0;
    for (const kernel::SmemTensor& t : k.tensors)
      (t.stages > 1 ? stage : others) += t.stages > 1 ? t.stage_step : t.bytes();
    EXPECT_GE(k.stages(), 2);
    EXPECT_GT((k.stages() + 1) * stage + others / 2, target::find("sm_90a").shared_per_block) << "as many as fit";
  }
}

TEST(SwapOperands, OnlyWhereItPays) {
  for (const std::int64_t rows : {1, 8, 12, 64, 128}) {
    Builder b("rows");
    b.output(gated(b, rows), "Y");
    EXPECT_TRUE(swapped_kernels(b.build()).empty()) << rows << " rows";
  }
  Builder few("few_blocks");
  few.output(gated(few, 16, 64 * 64), "Y");
  EXPECT_TRUE(swapped_kernels(few.build()).empty()) << "64 blocks draw half of what memory gives";
}

TEST(SwapOperands, WhatIsNoElementwiseEpilogueIsLeft) {
  Builder b("norm_in_the_loop");
  b.output(matmul(rms_norm(b.input("X", {16, 128})), b.input("W", {128, wide})), "Y");
  EXPECT_TRUE(swapped_kernels(b.build()).empty()) << "the loop squares and adds, too";
}

}  // namespace
}  // namespace zellige::fuse
