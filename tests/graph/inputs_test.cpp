#include "reference/inputs.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "../random/part.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"

namespace zellige::graph {
namespace {

/// Returns the scales of the inputs in one line, such as "X0 x 1, X1 x 2^-3, X2 given".
std::string describe_scales(const KernelGraph& g, const reference::InputChoice& in) {
  std::string text;
  for (std::size_t i = 0; i < in.exponents.size(); ++i) {
    const std::string scale = in.given[i]            ? "given"
                              : in.exponents[i] == 0 ? "x 1"
                                                     : fmt::format("x 2^{}", in.exponents[i]);
    text += fmt::format("{}{} {}", i ? ", " : "", g.tensors[g.inputs[i]].name, scale);
  }
  return in.positive ? text + " (absolute values)" : text;
}

KernelGraph softmax_without_maximum(std::int64_t depth) {
  Builder b("attention");
  const TensorHandle Q = b.input("Q", {16, depth}), K = b.input("K", {depth, 64}), V = b.input("V", {64, 32});
  const TensorHandle P = exp(matmul(Q, K));
  b.output(matmul(P, V) / reduction(P, 1), "O");
  return b.build();
}

TEST(Inputs, AreTheSameForTheSameSeed) {
  const KernelGraph g = softmax_without_maximum(64);
  const reference::RandomInputs a = reference::random_inputs(g, 7), b = reference::random_inputs(g, 7),
                                c = reference::random_inputs(g, 8);
  EXPECT_EQ(a.arrays[1].values, b.arrays[1].values);
  EXPECT_NE(a.arrays[1].values, c.arrays[1].values);
  EXPECT_NE(a.arrays[0].values, a.arrays[1].values);
}

TEST(Inputs, AreBellShapedAndTheirRowsDiffer) {
  Builder b("g");
  b.output(exp(mul_scalar(b.input("X", {200, 512}, DType::f32), 1e-3)));
  const KernelGraph g = b.build();
  const reference::RandomInputs in = reference::random_inputs(g, 1);
  EXPECT_EQ(in.trials, 1);
  double minimum = INFINITY, greatest = 0;
  for (int row = 0; row < 200; ++row) {
    double sum = 0, squares = 0;
    for (int i = 0; i < 512; ++i) {
      const double v = in.arrays[0].values[row * 512 + i];
      ASSERT_EQ(round_to(DType::f32, v), v);
      sum += v;
      squares += v * v;
    }
    const double rms = std::sqrt(squares / 512);
    EXPECT_LT(std::fabs(sum / 512), rms * 0.3);
    minimum = std::min(minimum, rms);
    greatest = std::max(greatest, rms);
  }
  EXPECT_NEAR(minimum, 0.25, 0.06);
  EXPECT_NEAR(greatest, 4, 0.6);
}

// The scale is the greatest power of two at which all stays below the limits: here that of exp's argument.
TEST(Inputs, AreScaledNoMoreThanNeeded) {
  const KernelGraph g = softmax_without_maximum(64);
  reference::RandomInputs in = reference::random_inputs(g, 3);
  ASSERT_LT(in.exponents[0], 0);
  EXPECT_EQ(in.exponents[1], 0);
  EXPECT_EQ(in.exponents[2], 0);
  EXPECT_TRUE(in.reference.within(reference::magnitude_limit));
  EXPECT_LE(in.trials, 8);
  EXPECT_EQ(describe_scales(g, in), fmt::format("Q x 2^{}, K x 1, V x 1", in.exponents[0]));
  for (double& v : in.arrays[0].values) v *= 2;
  reference::ReferenceOptions options;
  options.limit = reference::magnitude_limit;
  options.exp_limit = reference::exponent_limit;
  EXPECT_FALSE(reference::run(g, in.arrays, options).within(reference::magnitude_limit));
}

// If no scale keeps exp's argument small (a norm is invariant to the scale of its operand), the limit is
// dropped.
TEST(Inputs, GiveUpTheLimitOfExponentsWhereNoScaleKeepsIt) {
  Builder c("h");
  const TensorHandle Z = c.input("Z", {4, 64});
  c.output(exp(mul_scalar(rms_norm(Z), 2)));  // up to 7
  const reference::RandomInputs in = reference::random_inputs(c.build(), 1);
  EXPECT_TRUE(in.reference.within(std::numeric_limits<double>::infinity()));
}

// A value that only a block sees must stay finite in float32.
TEST(Inputs, KeepWhatABlockComputesWithinFloat32) {
  Builder b("g");
  const TensorHandle X = b.input("X", {8, 16});
  const auto y = b.custom({.grid = {1}, .block = {32}}, [&](BlockBuilder& t) {
    const TileHandle x = t.load(X), e = exp(mul_scalar(x, 64));
    t.store(e / accum_red_sum(e), {});
  });
  b.output(y.at(0));
  const reference::RandomInputs in = reference::random_inputs(b.build(), 1);
  EXPECT_LT(in.exponents[0], 0);
}

TEST(Inputs, LogarithmsGetPositiveNumbers) {
  Builder b("g");
  const TensorHandle X = b.input("X", {8, 8});
  b.output(log(X) + sqrt(X));
  const reference::RandomInputs in = reference::random_inputs(b.build(), 1);
  EXPECT_TRUE(in.positive);
  for (double v : in.arrays[0].values) EXPECT_GE(v, 0);
}

// The limit on magnitudes is a preference: what cannot be that small at any scale is run as it is.
TEST(Inputs, TheLimitIsAPreference) {
  for (const DType dtype : {DType::f16, DType::f32}) {
    Builder b("sums");
    b.output(reduction(exp(b.input("X", {2, 16384}, dtype)), 1));
    const reference::RandomInputs in = reference::random_inputs(b.build(), 1);
    EXPECT_FALSE(in.reference.within(reference::magnitude_limit));
    EXPECT_TRUE(in.reference.within(65504));
  }
  Builder c("overflow");  // some sums exceed f16, and some do not
  const TensorHandle e = exp(clamp(rms_norm(c.input("X", {64, 64})) * 25.0, -80, 10));
  c.output(e / reduction(e, 1));
  const reference::RandomInputs some = reference::random_inputs(c.build(), 1);
  EXPECT_FALSE(some.reference.within(65504));
  Builder b("g");
  b.output(square(square(mul_scalar(b.input("X", {4, 8}, DType::f32), 1e12))));  // 1e33 at the least scale
  EXPECT_TRUE(reference::random_inputs(b.build(), 1).reference.within(0x1p127));
}

TEST(Inputs, SayWhenNoScaleHelps) {
  Builder b("g");
  const TensorHandle X = b.input("X", {8, 8});
  b.output(exp(X) / (X - X), "Y");
  try {
    reference::random_inputs(b.build(), 1);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "graph g: expected a scale of 2^-12 to 1 at which random inputs keep every tensor finite, "
                 "found none: "
                 "tensor Y is not finite; there is nothing to compare");
  }
}

// A matmul operand inside a block counts too, though nobody outside sees it.
TEST(Inputs, BlockOperandsCount) {
  Builder b("g");
  const TensorHandle X = b.input("X", {16, 64}), W = b.input("W", {64, 64});
  b.output(b.custom({.block = {64}}, [&](BlockBuilder& t) {
              const TileHandle w = t.load(W), big = mul_scalar(matmul(t.load(X), w), 1e6);
              t.store(mul_scalar(matmul(big, w), 1e-9));
            }).at(0));
  const KernelGraph g = b.build();
  const reference::RandomInputs in = reference::random_inputs(g, 1);
  EXPECT_LT(in.exponents[0] + in.exponents[1], 0);
  ASSERT_EQ(in.reference.operands.size(), 1u);
  EXPECT_LE(in.reference.operands[0].magnitude.greatest, reference::magnitude_limit);
  EXPECT_GT(in.reference.operands[0].magnitude.greatest, reference::magnitude_limit / 4);
}

// Scales found on tiles are those found on the whole, or one step below.
TEST(Inputs, AreSelectedOnPartsAsOnTheWhole) {
  Builder chain("chain");
  {
    const TensorHandle A = chain.input("A", {300, 400}), B = chain.input("B", {400, 400}),
                       C = chain.input("C", {400, 200});
    chain.output(matmul(A, matmul(B, C)));
  }
  for (const KernelGraph& g : {softmax_without_maximum(64), chain.build()}) {
    const reference::RandomInputs all = reference::random_inputs(g, 3);
    const reference::InputChoice part = reference::choose_inputs(g, 3);
    EXPECT_EQ(part.positive, all.positive);
    int lower = 0;
    for (std::size_t i = 0; i < all.exponents.size(); ++i) {
      EXPECT_LE(part.exponents[i], all.exponents[i]);
      lower += all.exponents[i] - part.exponents[i];
    }
    EXPECT_LE(lower, 1) << describe_scales(g, part) << ", not " << describe_scales(g, all);
    const reference::Array some = reference::input_part(g, all, 1, {{3, 7}, {20, 30}});
    EXPECT_EQ(some.values, graph::part(all.arrays[1], {{3, 7}, {20, 30}}).values);
  }
}

// If a tile needs the whole program, each operator is tried separately, on operands like its real ones.
TEST(Inputs, AreSelectedPerOperatorWhereATileNeedsTooMuch) {
  Builder b("deep");
  const TensorHandle A = b.input("A", {1024, 1024}), B = b.input("B", {1024, 1024}), C = b.input("C", {1024, 1024});
  const TensorHandle inner = matmul(B, C), left = matmul(A, inner), top = matmul(left, inner);
  b.output(matmul(top, left), "Y");
  const KernelGraph g = b.build();
  const reference::InputChoice part = reference::choose_inputs(g, 1);
  reference::ReferenceOptions options;
  options.limit = std::numeric_limits<double>::infinity();
  std::vector<reference::Array> arrays;
  for (int i = 0; i < 3; ++i)
    arrays.push_back(reference::input_part(g, part, i, reference::whole(g.tensors[g.inputs[i]].shape)));
  const reference::Reference r = reference::run(g, arrays, options);
  double greatest = 0;
  for (const reference::Magnitude& m : r.magnitudes) greatest = std::max(greatest, m.greatest);
  EXPECT_TRUE(r.within(65504)) << describe_scales(g, part) << " " << greatest;
  EXPECT_GT(greatest, 64) << "scaled no further than need be";
}

TEST(Inputs, ThatAreGivenAreKept) {
  const KernelGraph g = softmax_without_maximum(64);
  auto Q = std::make_shared<reference::Array>(reference::make_array({16, 64}));
  for (std::size_t i = 0; i < Q->values.size(); ++i) Q->values[i] = static_cast<double>(i % 5) / 4;
  for (const bool parts : {false, true}) {
    const reference::GivenInputs given{Q, nullptr, nullptr};
    const reference::InputChoice c =
        parts ? reference::choose_inputs(g, 1, given) : reference::random_inputs(g, 1, given);
    EXPECT_EQ(c.exponents[0], 0);
    EXPECT_LT(c.exponents[1], 0) << "the other factor of exp's argument is scaled";
    EXPECT_EQ(reference::input_part(g, c, 0, {{2, 0}, {1, 64}}).values, graph::part(*Q, {{2, 0}, {1, 64}}).values);
    EXPECT_EQ(describe_scales(g, c), fmt::format("Q given, K x 2^{}, V x 1", c.exponents[1]));
  }
  // All of them, whatever comes of it: here 0/0.
  auto zero = std::make_shared<reference::Array>(reference::make_array({8, 8}));
  Builder b("g");
  const TensorHandle X = b.input("X", {8, 8});
  b.output(X / X, "Y");
  const reference::RandomInputs in = reference::random_inputs(b.build(), 1, {zero});
  EXPECT_EQ(in.trials, 1);
  EXPECT_TRUE(std::isnan(in.reference.tensors[1].values[0]));
}

}  // namespace
}  // namespace zellige::graph
