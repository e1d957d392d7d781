// Each normalisation rule: its result on a graph, which is proved equal, and the graphs that its condition
// excludes.
#include <gtest/gtest.h>

#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "rules/table.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::KernelGraph;
using graph::OpKind;
using graph::TensorHandle;

/// The kinds of the operators, in order.
std::string kinds(const KernelGraph& g) {
  std::string all;
  for (const graph::KernelOp& op : g.ops) all += (all.empty() ? "" : " ") + std::string(graph::name(op.kind));
  return all;
}

void expect_form(const KernelGraph& g, const std::string& expected) {
  const KernelGraph made = rewritten(rewrite::graph_rules, rules::Level::normal, g);
  EXPECT_EQ(kinds(made), expected) << kinds(g);
  graph::validate(made);
  EXPECT_EQ(search::equal(g, made).answer, search::Answer::equal) << kinds(g);
}

TensorHandle norm_of(TensorHandle x) { return sqrt(sum(square(x), 1, true)); }

TEST(FuseNormalize, Broadcast) {
  Builder b("g");
  const TensorHandle x = b.input("x", {4, 6});
  b.output(x / expand(norm_of(x), {4, 6}), "y");
  expect_form(b.build(), "square sum sqrt div");

  Builder alone("alone");  // no other operand has the result's shape
  const TensorHandle n = norm_of(alone.input("x", {4, 6}));
  alone.output(expand(n, {4, 6}) + expand(n, {4, 6}), "y");
  expect_form(alone.build(), "square sum sqrt expand add");
}

TEST(FuseNormalize, ReshapeAfter) {
  Builder b("g");
  const TensorHandle x = b.input("x", {4, 2, 3}), w = b.input("w", {6}), v = b.input("v", {6});
  b.output(reshape(x * rsqrt(square(x)), {4, 6}) * w + v, "y");
  expect_form(b.build(), "square rsqrt mul reshape mul reshape add reshape");

  Builder split("split");  // a reshape that splits stays where it is
  split.output(reshape(relu(split.input("x", {4, 6})), {4, 2, 3}) * split.input("w", {2, 3}), "y");
  expect_form(split.build(), "reshape relu mul");

  Builder kept("kept");  // of a tensor that has the merged shape by itself
  const TensorHandle z = kept.input("z", {4, 6});
  kept.output(reshape(relu(kept.input("x", {4, 2, 3}) * 2.0), {4, 6}) * z, "y");
  expect_form(kept.build(), "mul_scalar relu reshape mul");
}

TEST(FuseNormalize, ViewOfAnInput) {
  Builder b("g");
  b.output(square(reshape(relu(b.input("x", {4, 6})), {4, 2, 3})), "y");
  expect_form(b.build(), "reshape relu square");
}

TEST(FuseNormalize, KeptDimensions) {
  Builder b("g");
  b.output(sum(square(b.input("x", {4, 6})), 1) * 2.0, "y");
  expect_form(b.build(), "square sum mul_scalar reshape");

  Builder given("given");  // the caller gets it as it is
  given.output(sum(square(given.input("x", {4, 6})), 1), "y");
  expect_form(given.build(), "square sum");
}

TEST(FuseNormalize, WhatIsComputedTwiceIsComputedOnce) {
  Builder b("g");
  const TensorHandle x = b.input("x", {4, 6});
  b.output(relu(x) + square(relu(x)), "y");
  expect_form(b.build(), "relu square add");

  Builder both("both");  // outputs are the caller's, each its own
  const TensorHandle z = both.input("x", {4, 6});
  both.output(relu(z), "y"), both.output(relu(z), "z");
  expect_form(both.build(), "relu relu");
}

/// A convolution's result in channels-last.
constexpr std::int64_t n = 2, c = 4, h = 3, w = 5;
TensorHandle channels_last(Builder& b, const std::string& name) {
  return b.input(name, {n, c, h, w}, graph::DType::f16, {c * h * w, 1, w * c, c});
}

void expect_in_memory_order(const KernelGraph& g, const std::string& expected) {
  const KernelGraph made = rewrite::in_memory_order(g).value_or(g);
  EXPECT_EQ(kinds(made), expected) << kinds(g);
  graph::validate(made);
  EXPECT_EQ(search::equal(g, made).answer, search::Answer::equal) << kinds(g);
}

TEST(FuseMemoryOrder, AChainOfOneLayout) {
  Builder b("g");
  const TensorHandle x = channels_last(b, "x"), scale = reshape(b.input("s", {c}), {1, c, 1, 1});
  b.output(relu(x * rsqrt(scale + 1.0)) + channels_last(b, "y"), "z", {c * h * w, 1, w * c, c});
  expect_in_memory_order(b.build(), "permute reshape add rsqrt mul relu permute add permute");
}

TEST(FuseMemoryOrder, ReductionsAlongItsDimensions) {
  for (const int dim : {0, 1, 2, 3}) {
    Builder b("g");
    b.output(mean(square(channels_last(b, "x")), dim, true), "y");
    expect_in_memory_order(b.build(), "permute square mean permute");
  }
}

TEST(FuseMemoryOrder, ConcatenationsAlongEachDimension) {
  for (const int dim : {0, 1, 2, 3}) {
    Builder b("g");
    b.output(relu(concat(channels_last(b, "x"), channels_last(b, "y"), dim)), "z");
    expect_in_memory_order(b.build(), "permute permute concat relu permute");
  }
}

TEST(FuseMemoryOrder, OtherLayoutsAreKept) {
  Builder mixed("mixed");
  mixed.output(channels_last(mixed, "x") + mixed.input("y", {n, c, h, w}), "z");
  expect_in_memory_order(mixed.build(), "add");
  Builder rows("rows");
  rows.output(relu(rows.input("x", {n, c, h, w})), "y");
  expect_in_memory_order(rows.build(), "relu");
  Builder gaps("gaps");
  gaps.output(relu(gaps.input("x", {n, c, h, w}, graph::DType::f16, {2 * c * h * w, 1, w * c, c})), "y");
  expect_in_memory_order(gaps.build(), "relu");
}

}  // namespace
}  // namespace zellige::fuse
