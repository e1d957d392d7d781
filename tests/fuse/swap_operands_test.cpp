// Matmuls with small M and swapped operands: the same values, on warpgroups, and only if
// that pays.
#include <gtest/gtest.h>

#include <algorithm>

#include "emit/emit.hpp"
#include "fuse/assemble.hpp"
#include "graph/builder.hpp"
#include "graph/validate.hpp"
#include "json/json.hpp"
#include "run/run.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::KernelGraph;
using graph::OpKind;
using graph::Tensor;

constexpr std::int64_t wide = 98 * 64;  // columns: this number of blocks of 64 saturates an H200's DRAM

Tensor gated(Builder& b, std::int64_t rows, std::int64_t columns = wide) {
  const Tensor x = b.input("X", {rows, 128});
  return silu(matmul(x, b.input("G", {128, columns}))) * matmul(x, b.input("U", {128, columns}));
}

/// Kernels of the whole graph whose first part has swapped operands.
std::vector<Kernel> swapped_kernels(const KernelGraph& g) {
  std::vector<int> ops;
  for (std::size_t i = 0; i < g.ops.size(); ++i) ops.push_back(static_cast<int>(i));
  std::string why;
  std::vector<Kernel> found = kernels_of(g, ops, target::find("sm_90a"), why);
  EXPECT_FALSE(found.empty()) << g.name << ": " << why;
  std::erase_if(found, [](const Kernel& k) {
    return std::ranges::none_of(k.parts[0].block->ops,
                                [](const graph::BlockOp& op) { return op.kind == OpKind::permute; });
  });
  return found;
}

KernelGraph fused(const KernelGraph& g, const Kernel& k) { return assemble(g, {{k.ops, {k}, 0}}).graph; }

/// `on`: with the instruction that the source names.
KernelGraph one_swapped(const KernelGraph& g, const std::string& on) {
  const std::vector<Kernel> found = swapped_kernels(g);
  const auto by_warpgroups = std::ranges::find_if(found, [&](const Kernel& k) {
    return emit::transpile(fused(g, k), target::find("sm_90a")).source.find(on) != std::string::npos;
  });
  EXPECT_NE(by_warpgroups, found.end()) << g.name;
  return by_warpgroups == found.end() ? g : fused(g, *by_warpgroups);
}

void expect_right(const KernelGraph& h) {
  EXPECT_NO_THROW(graph::validate(h)) << h.name;
  const run::RunResult r = run::run(h, {.on = run::Engine::emulator, .target = "sm_90a"}, run::Cache::standard());
  EXPECT_EQ(r.status, run::Status::correct) << h.name << ": " << r.reason;
}

void expect_swapped(const KernelGraph& g) {
  const KernelGraph h = one_swapped(g, "on wgmma m64n16k16");
  const search::Equality e = search::equal(g, h);
  EXPECT_EQ(search::name(e.answer), "equal") << search::describe(e, g.name, "swapped") << graph::to_json(h);
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
