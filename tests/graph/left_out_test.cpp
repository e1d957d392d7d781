// A program with excess precision is checked against the graph without the elided roundings, with exactly
// their tolerance.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/builder.hpp"
#include "reference/inputs.hpp"
#include "reference/judge.hpp"
#include "reference/omit_roundings.hpp"

namespace zellige::graph {
namespace {

/// Y = (X + 1000) - 1000, whose T = X + 1000 is a multiple of 0.5 in f16; V shows T from another side.
KernelGraph coarse() {
  Builder b("coarse");
  const TensorHandle X = b.input("X", {32, 64});
  b.output(permute(X + 1000.0, {1, 0}) + -1000.0, "Y");
  KernelGraph g = b.build();
  g.tensors[g.ops[0].outputs[0]].name = "T", g.tensors[g.ops[1].outputs[0]].name = "V";
  return g;
}

/// The same, with T made by a custom operator.
KernelGraph coarse_in_blocks() {
  Builder b("coarse_in_blocks");
  const TensorHandle X = b.input("X", {32, 64});
  const TensorHandle T =
      b.custom({.grid = {2}}, [&](BlockBuilder& t) { t.store(t.load(X, {.x = 0}) + 1000.0, {.x = 0}); })[0];
  b.output(permute(T, {1, 0}) + -1000.0, "Y");
  KernelGraph g = b.build();
  g.tensors[g.ops[0].outputs[0]].name = "T", g.tensors[g.ops[1].outputs[0]].name = "V";
  return g;
}

int tensor(const KernelGraph& g, std::string_view name) {
  for (std::size_t t = 0; t < g.tensors.size(); ++t)
    if (g.tensors[t].name == name) return static_cast<int>(t);
  return -1;
}

std::vector<bool> all_but(const KernelGraph& g, std::string_view name) {
  std::vector<bool> stored(g.tensors.size(), true);
  if (!name.empty()) stored[tensor(g, name)] = false;
  return stored;
}

TEST(OmittedRoundings, IsTheRoundingOfWhatNobodyStores) {
  const KernelGraph g = coarse();
  const KernelGraph e = reference::omit_roundings(g, all_but(g, "T"));
  EXPECT_EQ(e.tensors[tensor(e, "T")].dtype, DType::f32);
  EXPECT_EQ(e.tensors[tensor(e, "V")].dtype, DType::f32) << "a view has its operand's";
  EXPECT_EQ(e.tensors[tensor(e, "Y")].dtype, DType::f16) << "an output is stored";
  EXPECT_EQ(e.tensors[tensor(e, "X")].dtype, DType::f16);
  EXPECT_FALSE(reference::same_roundings(g, e));
  EXPECT_TRUE(reference::same_roundings(g, reference::omit_roundings(g, all_but(g, ""))));
  EXPECT_TRUE(reference::same_roundings(g, reference::omit_roundings(g, all_but(g, "Y"))))
      << "an output is stored, whoever says what";
}

struct Judged {
  KernelGraph given, exact = reference::omit_roundings(given, all_but(given, "T"));
  reference::RandomInputs inputs = reference::random_inputs(given, 1);
  reference::Reference without = reference::run(exact, inputs.arrays);
  int y = tensor(given, "Y");
  reference::Judge strict{given, inputs.arrays, inputs.reference};
  reference::Judge fused{exact, inputs.arrays, without, 0, &given, &inputs.reference};

  explicit Judged(KernelGraph g = coarse()) : given(std::move(g)) {}

  /// Y without the roundings, each element moved by `step` times what they take away on average.
  reference::Array moved(double step) {
    reference::Array y = without.tensors[this->y];
    double sum = 0;
    for (std::size_t i = 0; i < y.values.size(); ++i)
      sum += std::pow(y.values[i] - inputs.reference.tensors[this->y].values[i], 2);
    const double rms = std::sqrt(sum / static_cast<double>(y.values.size()));
    for (std::size_t i = 0; i < y.values.size(); ++i) y.values[i] += (i % 2 ? step : -step) * rms;
    return y;
  }
};

TEST(OmittedRoundings, AResultWithoutTheRoundingIsCorrect) {
  Judged j;
  EXPECT_TRUE(j.fused.compare(j.y, j.without.tensors[j.y]).correct);
  EXPECT_TRUE(j.fused.compare(j.y, j.inputs.reference.tensors[j.y]).correct) << "and one with it";
  EXPECT_FALSE(j.strict.compare(j.y, j.without.tensors[j.y]).correct) << "with the roundings, it is not";
}

TEST(OmittedRoundings, NoMoreThanTheRoundingIsExcused) {
  Judged j;
  EXPECT_TRUE(j.fused.compare(j.y, j.moved(0.9)).correct);
  const reference::Comparison other = j.fused.compare(j.y, j.moved(1.5));
  EXPECT_FALSE(other.correct);
  EXPECT_TRUE(other.explained) << "another rounding in its place might do that: " << reference::to_string(other);
  const reference::Comparison far = j.fused.compare(j.y, j.moved(8));
  EXPECT_FALSE(far.correct || far.explained) << "four times what a rounding takes away";
  reference::Array one = j.without.tensors[j.y];
  one.values[77] += 10;
  const reference::Comparison element = j.fused.compare(j.y, one);
  EXPECT_FALSE(element.correct || element.explained) << "one element";
  EXPECT_EQ(element.wrong, 1);
  one.values[77] = NAN;
  EXPECT_FALSE(j.fused.compare(j.y, one).correct);
}

TEST(OmittedRoundings, OfACustomOperatorAreExcusedAsOthersAre) {
  Judged j(coarse_in_blocks());
  EXPECT_TRUE(j.fused.compare(j.y, j.without.tensors[j.y]).correct);
  EXPECT_TRUE(j.fused.compare(j.y, j.inputs.reference.tensors[j.y]).correct) << "and one with it";
  EXPECT_TRUE(j.fused.compare(j.y, j.moved(0.9)).correct);
  const reference::Comparison far = j.fused.compare(j.y, j.moved(8));
  EXPECT_FALSE(far.correct || far.explained) << "four times what a rounding takes away";
  reference::Array one = j.without.tensors[j.y];
  one.values[77] += 10;
  const reference::Comparison element = j.fused.compare(j.y, one);
  EXPECT_FALSE(element.correct || element.explained) << "one element";
}

/// T = X * 1.25 * 2 * 0.4004 is the next f16 after 1, three roundings away from it; if it is above 1, Y is X,
/// else it is Z.
TEST(OmittedRoundings, AComparisonMayGoEitherWayWithinTheRounding) {
  Builder b("choice");
  const TensorHandle X = b.input("X", {4, 64}), Z = b.input("Z", {4, 64});
  const TensorHandle t = X * 1.25 * 2.0 * 0.400390625;
  b.output(where(gt(t, 1.0), X, Z), "Y");
  const KernelGraph g = b.build();
  std::vector<bool> stored(g.tensors.size(), true);
  for (int i = 0; i < 4; ++i) stored[g.ops[i].outputs[0]] = false;
  const KernelGraph exact = reference::omit_roundings(g, stored);
  ASSERT_EQ(exact.tensors[g.ops[3].outputs[0]].dtype, DType::f32) << "of the comparison, too";
  const std::vector<reference::Array> inputs{{{4, 64}, std::vector<double>(256, 1.0)},
                                             {{4, 64}, std::vector<double>(256, -0.25)}};
  const reference::Reference rounded = reference::run(g, inputs), without = reference::run(exact, inputs);
  const int y = g.outputs[0];
  ASSERT_EQ(without.tensors[y].values[5], 1.0);
  reference::Judge judge(exact, inputs, without, 0, &g, &rounded);
  reference::Array one = without.tensors[y];
  one.values[5] = -0.25;
  const reference::Comparison other = judge.compare(y, one);
  EXPECT_TRUE(!other.correct && other.explained) << reference::to_string(other);
  one.values[5] = -2;
  EXPECT_FALSE(judge.compare(y, one).explained) << "beyond both";
}

TEST(OmittedRoundings, WhatOverflowedOnlyWithTheRoundingMayBeFinite) {
  const reference::Array exact{{2, 2}, {1, 2, 3, 4}}, rounded{{2, 2}, {1, INFINITY, NAN, 4}};
  EXPECT_TRUE(reference::compare(exact, exact, DType::f16, nullptr, &rounded).correct);
  EXPECT_FALSE(reference::compare(rounded, exact, DType::f16, nullptr, &rounded).correct)
      << "no number where there is one";
  reference::Array off = exact;
  off.values[1] *= 1.01;
  EXPECT_FALSE(reference::compare(off, exact, DType::f16, nullptr, &rounded).correct) << "nothing is added there";
}

}  // namespace
}  // namespace zellige::graph
