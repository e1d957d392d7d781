// A mask's -inf is neither an overflow nor an uncertainty.
#include "reference/masked.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "graph/builder.hpp"
#include "reference/judge.hpp"

namespace zellige::graph {
namespace {

/// softmax(Q K + M) V without the maximum; M has a -inf wherever the column index exceeds the row index.
struct Attention {
  KernelGraph graph;
  std::vector<reference::Array> inputs;
};

Attention causal(bool inside) {
  Builder b("causal");
  const TensorHandle Q = b.input("Q", {8, 16}), K = b.input("K", {16, 8}), V = b.input("V", {8, 4}),
                     M = b.input("M", {8, 8});
  if (inside) {
    b.output(b.custom({.block = {32}},
                      [&](BlockBuilder& t) {
                        const TileHandle e = exp(matmul(t.load(Q), t.load(K)) + t.load(M));
                        t.store(matmul(e, t.load(V)) / accum_red_sum(e), {});
                      })
                 .at(0),
             "O");
  } else {
    const TensorHandle e = exp(matmul(Q, K) + M);
    b.output(matmul(e, V) / reduction(e, 1), "O");
  }
  Attention a{b.build(), {}};
  for (int t : a.graph.inputs) {
    a.inputs.push_back(reference::make_array(a.graph.tensors[t].shape));
    for (std::size_t i = 0; i < a.inputs.back().values.size(); ++i)
      a.inputs.back().values[i] = static_cast<double>((i * 37) % 17) / 16 - 0.5;
  }
  for (std::size_t i = 0; i < 64; ++i) a.inputs[3].values[i] = i % 8 > i / 8 ? -INFINITY : 0;
  return a;
}

TEST(Masked, MinusInfinityOfAMaskIsNoMagnitude) {
  for (const bool inside : {false, true}) {
    Attention a = causal(inside);
    reference::ReferenceOptions options;
    options.limit = 8192, options.exp_limit = 4, options.tile_limit = reference::finite_limit;
    EXPECT_TRUE(reference::run(a.graph, a.inputs, options).within(8192)) << inside;
    a.inputs[3].values[0] = INFINITY;  // no mask does that
    EXPECT_FALSE(reference::run(a.graph, a.inputs, options).within(8192)) << inside;
    a.inputs[3].values[0] = 0;
    for (double& v : a.inputs[0].values) v *= 100;  // nor does one excuse a large score
    EXPECT_FALSE(reference::run(a.graph, a.inputs, options).within(8192)) << inside;
  }
}

TEST(Masked, GoesThroughSumsAndEndsAtExpAndProducts) {
  const KernelGraph g = causal(false).graph;
  const auto named = [&](reference::Mask which, const std::vector<reference::Mask>& inputs) {
    const std::vector<reference::Mask> mask = reference::masked(g, inputs);
    std::set<std::string_view> kinds;
    for (const KernelOp& op : g.ops)
      if (mask[op.outputs[0]] == which) kinds.insert(name(op.kind));
    return kinds;
  };
  using enum reference::Mask;
  using Names = std::set<std::string_view>;
  EXPECT_EQ(named(infinity, {none, none, none, infinity}), Names{"add"});
  EXPECT_EQ(named(nan, {none, none, none, infinity}), (Names{"exp", "matmul", "reduction", "div"}));
  EXPECT_EQ(named(infinity, {infinity, none, none, none}), Names{}) << "a product";
  EXPECT_EQ(named(nan, {none, none, nan, none}), (Names{"matmul", "div"})) << "of V";
  EXPECT_EQ(named(none, {none, none, none, none}), (Names{"matmul", "add", "exp", "reduction", "div"}));
}

// A mask that the graph itself makes: where, with -inf for the other operand.
TEST(Masked, AScalarMinusInfinityIsAMask) {
  Builder b("g");
  const TensorHandle C = b.input("C", {4, 4}), X = b.input("X", {4, 4});
  const TensorHandle s = where(C, X, -static_cast<double>(INFINITY)), p = exp(s);
  b.output(p, "P");
  const KernelGraph g = b.build();
  std::vector<reference::Array> inputs{reference::make_array({4, 4}), reference::make_array({4, 4})};
  inputs[0].values[5] = 1;
  reference::ReferenceOptions options;
  options.limit = 8192, options.exp_limit = 4;
  EXPECT_TRUE(reference::run(g, inputs, options).within(8192));
  EXPECT_EQ(reference::run_reference(g, inputs).at(0).values[5], 1);
  EXPECT_EQ(reference::run_reference(g, inputs).at(0).values[6], 0);
}

// An overflow in the middle of a graph is reported: log of 0 is -inf, and not a mask.
TEST(Masked, AnOverflowIsNoMask) {
  Builder b("g");
  const TensorHandle X = b.input("X", {4, 4});
  b.output(log(relu(X)) + X);
  std::vector<reference::Array> inputs{reference::make_array({4, 4})};
  EXPECT_FALSE(reference::run(b.build(), inputs).within(8192));
}

// After a mask, rounding has the same bounds as without one: an injected fault is still found.
TEST(Masked, ErrorsAreFiniteAfterAMask) {
  for (const bool inside : {false, true}) {
    const Attention a = causal(inside);
    reference::ReferenceOptions options;
    options.errors = true;
    const reference::Reference r = reference::run(a.graph, a.inputs, options);
    const int o = a.graph.outputs[0];
    for (double e : r.errors[o].values) EXPECT_LT(e, 0.01);
    reference::Judge judge(a.graph, a.inputs, r);
    EXPECT_TRUE(judge.compare(o, r.tensors[o]).correct);
    reference::Array found = r.tensors[o];
    found.values[9] += 0.05;
    const reference::Comparison c = judge.compare(o, found);
    EXPECT_FALSE(c.correct);
    EXPECT_FALSE(c.explained);
  }
}

// The row of a softmax that is masked as a whole is 0/0 here as in PyTorch: NaN agrees with NaN, and with nothing else.
TEST(Masked, AWhollyMaskedRowIsNaN) {
  Attention a = causal(false);
  for (std::size_t i = 16; i < 24; ++i) a.inputs[3].values[i] = -INFINITY;
  const reference::Reference r = reference::run(a.graph, a.inputs);
  const int o = a.graph.outputs[0];
  EXPECT_TRUE(std::isnan(r.tensors[o].values[2 * 4 + 1]));
  EXPECT_FALSE(std::isnan(r.tensors[o].values[3 * 4 + 1]));
  reference::Judge judge(a.graph, a.inputs, r);
  EXPECT_TRUE(judge.compare(o, r.tensors[o]).correct);
  EXPECT_TRUE(r.within(8192)) << "no scale of the inputs would change it";
  reference::Array found = r.tensors[o];
  for (std::size_t i = 8; i < 12; ++i) found.values[i] = 0;  // as an attention that tests for it would
  const reference::Comparison c = judge.compare(o, found);
  EXPECT_FALSE(c.correct);
  EXPECT_FALSE(c.explained);
  EXPECT_EQ(c.wrong, 4);
}

}  // namespace
}  // namespace zellige::graph
