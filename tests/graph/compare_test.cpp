#include "reference/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace zellige::graph {
namespace {

reference::Array filled(Shape shape, double value) {
  reference::Array a = reference::make_array(std::move(shape));
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] = value * (1 + static_cast<double>(i % 7) / 8);
  return a;
}

TEST(Compare, EqualIsCorrect) {
  const reference::Array a = filled({3, 5}, 2);
  const reference::Comparison c = reference::compare(a, a, DType::f16);
  EXPECT_TRUE(c.correct);
  EXPECT_EQ(c.norm_error, 0);
  EXPECT_EQ(c.worst, 0);
}

TEST(Compare, ANaNIsWrongOnEitherSide) {
  for (bool in_found : {true, false}) {
    reference::Array found = filled({3, 5}, 2), expected = found;
    (in_found ? found : expected).values[7] = NAN;
    for (DType d : {DType::f16, DType::bf16, DType::f32}) {
      const reference::Comparison c = reference::compare(found, expected, d);
      EXPECT_FALSE(c.correct);
      EXPECT_EQ(c.at, in_found ? (Shape{1, 2}) : c.at);
      EXPECT_GE(c.wrong, 1);
    }
  }
}

TEST(Compare, ANaNAgreesWithANaN) {
  reference::Array found = filled({3, 5}, 2), expected = found;
  found.values[7] = expected.values[7] = NAN;
  const reference::Comparison c = reference::compare(found, expected, DType::f16);
  EXPECT_TRUE(c.correct);
  EXPECT_EQ(c.norm_error, 0);
  found.values[8] *= 1.1;  // the others are judged as ever, by the rms of what is finite
  EXPECT_FALSE(reference::compare(found, expected, DType::f16).correct);
  found = expected;
  for (double other : {0.0, 2.0, static_cast<double>(INFINITY)}) {
    found.values[7] = other;
    const reference::Comparison one = reference::compare(found, expected, DType::f16);
    EXPECT_FALSE(one.correct);
    EXPECT_EQ(one.wrong, 1);
    EXPECT_EQ(one.at, (Shape{1, 2}));
  }
  EXPECT_EQ(reference::to_string(reference::compare(found, expected, DType::f16)),
            "relative norm inf, worst at (1, 2): found inf, expected nan, inf of the 0.00765 allowed, 1 elements "
            "wrong");
}

TEST(Compare, DistanceKnowsInfinities) {
  EXPECT_EQ(reference::distance(INFINITY, INFINITY), 0);
  EXPECT_EQ(reference::distance(-INFINITY, -INFINITY), 0);
  EXPECT_EQ(reference::distance(NAN, NAN), 0);
  EXPECT_EQ(reference::distance(INFINITY, -INFINITY), INFINITY);
  EXPECT_EQ(reference::distance(NAN, 1), INFINITY);
  EXPECT_EQ(reference::distance(1, NAN), INFINITY);
  EXPECT_EQ(reference::distance(-INFINITY, 1), INFINITY);
  EXPECT_EQ(reference::distance(3, 5), 2);
}

TEST(Compare, InfinityIsWrong) {
  reference::Array found = filled({3, 5}, 2), expected = found;
  found.values[4] = INFINITY;
  EXPECT_FALSE(reference::compare(found, expected, DType::f16).correct);
  EXPECT_FALSE(reference::compare(expected, found, DType::f16).correct);
}

TEST(Compare, AnInfinityIsEqualToItself) {
  reference::Array found = filled({3, 5}, 2), expected = found;
  found.values[4] = expected.values[4] = INFINITY;
  EXPECT_TRUE(reference::compare(found, expected, DType::f16).correct);
  found.values[4] = -INFINITY;
  EXPECT_FALSE(reference::compare(found, expected, DType::f16).correct);
  found.values[4] = INFINITY;
  found.values[5] *= 1.1;  // the others are judged as ever
  EXPECT_FALSE(reference::compare(found, expected, DType::f16).correct);
}

// Of ten f16 two may be on the other side of a rounding boundary, but not all; of many, few.
TEST(Compare, FewElementsShowChance) {
  const reference::Tolerance t = reference::tolerance(DType::f16);
  reference::Array expected = filled({10}, 0);
  for (double& v : expected.values) v = 1;
  reference::Array found = expected;
  for (int i = 0; i < 4; ++i) found.values[i] += 0x1p-10;
  EXPECT_TRUE(reference::compare(found, expected, t).correct);
  for (double& v : found.values) v = 1 + 0x1p-10;
  EXPECT_FALSE(reference::compare(found, expected, t).correct);
  EXPECT_LT(reference::norm_allowed(t, 1 << 20), 1.01 * t.norm);
  EXPECT_EQ(reference::norm_allowed({.norm = 1e-3, .element = 1e-2}, 5), 1e-3);
}

// Each of the two conditions alone makes a result wrong.
TEST(Compare, NormAndElementsBothCount) {
  const reference::Tolerance t = reference::tolerance(DType::f16);
  reference::Array expected = filled({64, 64}, 0);
  for (double& v : expected.values) v = 1;
  reference::Array found = expected;
  for (double& v : found.values)
    v += reference::norm_allowed(t, 64 * 64) * 1.01;  // every element well within its bound
  EXPECT_FALSE(reference::compare(found, expected, t).correct);
  for (double& v : found.values) v = 1 + t.norm * 0.99;
  EXPECT_TRUE(reference::compare(found, expected, t).correct);
  found = expected;
  found.values[65] += t.element * 1.01;  // one element, nothing in the norm
  const reference::Comparison c = reference::compare(found, expected, t);
  EXPECT_FALSE(c.correct);
  EXPECT_LT(c.norm_error, t.norm);
  EXPECT_EQ(c.at, (Shape{1, 1}));
  EXPECT_EQ(c.wrong, 1);
  found.values[65] = 1 + t.element * 0.99;
  EXPECT_TRUE(reference::compare(found, expected, t).correct);
}

// A small element is judged by its row's rms, a small row by a thousandth of the tensor's, or a hundredth in f32.
TEST(Compare, SmallElementsAreJudgedByTheirRow) {
  EXPECT_EQ(reference::tolerance(DType::f32).floor, 1e-2);
  const reference::Tolerance t = reference::tolerance(DType::f16);
  reference::Array expected = reference::make_array({3, 4});
  expected.values = {0, 1, 1, 1, 1000, 1000, 1000, 1000, 0, 0, 0, 0};
  reference::Array found = expected;
  found.values[0] = t.element * 0.86;  // row rms sqrt(3/4) = 0.866
  EXPECT_LE(reference::compare(found, expected, t).worst, 1);
  found.values[0] = t.element * 0.88;  // the tensor's minimum is 1e-3 * 577 = 0.577
  EXPECT_GT(reference::compare(found, expected, t).worst, 1);
  found = expected;
  found.values[9] = t.element * 0.57;
  EXPECT_LE(reference::compare(found, expected, t).worst, 1);
  found.values[9] = t.element * 0.58;
  EXPECT_GT(reference::compare(found, expected, t).worst, 1);
}

// Rounding explains only errors within its bounds: per element, and as a whole.
TEST(Compare, ExplainedIsWithinTheErrors) {
  reference::Array expected = filled({8, 8}, 1), errors = reference::make_array({8, 8}), found = expected;
  const reference::Tolerance t = reference::tolerance(DType::f32);
  found.values[9] += 0.01, errors.values[9] = 0.02;
  EXPECT_FALSE(reference::compare(found, expected, t).explained) << "nobody said how far rounding goes";
  reference::Comparison c = reference::compare(found, expected, t, &errors);
  EXPECT_TRUE(c.explained);
  EXPECT_FALSE(c.correct);
  EXPECT_NEAR(c.of_error, 0.5, 1e-12);
  EXPECT_EQ(reference::to_string(c),
            "relative norm 0.000898, worst at (1, 1): found 1.26, expected 1.25, 244 of the 4.1e-05 allowed, "
            "1 elements above "
            "that; rounding alone explains up to 0.02 there");
  found.values[9] += 0.02;  // above that
  c = reference::compare(found, expected, t, &errors);
  EXPECT_FALSE(c.explained);
  EXPECT_EQ(reference::to_string(c),
            "relative norm 0.00269, worst at (1, 1): found 1.28, expected 1.25, 732 of the 4.1e-05 allowed, "
            "1 elements wrong; "
            "rounding alone explains no more than 0.02 there");
  found = expected;
  for (double& v : found.values) v *= 1 + 0.9 * t.norm;  // correct as it is
  EXPECT_TRUE(reference::compare(found, expected, t, &errors).correct);
  found.values[9] += 0.01;  // explained, but what is left of the others is no rounding
  EXPECT_FALSE(reference::compare(found, expected, t, &errors).explained);
  found.values[9] = NAN;
  EXPECT_FALSE(reference::compare(found, expected, t, &errors).explained);
  errors.values[9] = INFINITY;  // a divisor that may be 0
  found = expected;
  found.values[9] = NAN;
  EXPECT_TRUE(reference::compare(found, expected, t, &errors).explained);
}

// For any tolerance, an element above its limit is wrong.
TEST(Compare, ALimitHoldsWithinTheTolerance) {
  reference::Array expected = filled({64, 64}, 1), limits = reference::make_array({64, 64}), found = expected;
  expected.values[65] = 0.25, found.values[65] = -0.25;
  EXPECT_TRUE(reference::compare(found, expected, DType::e5m2).correct) << "a small sign, by the tolerance alone";
  reference::Comparison c = reference::compare(found, expected, DType::e5m2, &limits, nullptr, &limits);
  EXPECT_FALSE(c.correct || c.explained);
  EXPECT_TRUE(c.limited);
  EXPECT_EQ(c.wrong, 1);
  EXPECT_EQ(reference::to_string(c),
            "relative norm 0.00559, worst at (1, 1): found -0.25, expected 0.25, 0.481 of the 1.04 allowed, "
            "1 elements wrong; rounding alone explains no more than 0 there");
  limits.values[65] = 0.5;
  EXPECT_TRUE(reference::compare(found, expected, DType::e5m2, &limits, nullptr, &limits).correct);
}

TEST(Compare, ZeroAgainstZero) {
  const reference::Array zero = reference::make_array({2, 2});
  EXPECT_TRUE(reference::compare(zero, zero, DType::f16).correct);
  reference::Array found = zero;
  found.values[3] = 1e-9;
  EXPECT_FALSE(reference::compare(found, zero, DType::f16).correct);
}

TEST(Compare, SaysWhatItFound) {
  reference::Array expected = reference::make_array({2, 2}), found = expected;
  expected.values = {3, 4, 3, 4};
  found.values = {3, 4, 3, 5};
  EXPECT_EQ(reference::to_string(reference::compare(found, expected, DType::f16)),
            "relative norm 0.141, worst at (1, 1): found 5, expected 4, 85.3 of the 0.0117 allowed, 1 "
            "elements wrong");
  try {
    reference::compare(reference::make_array({4}), expected, DType::f16);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "comparison: expected an array of shape (2, 2), found (4)");
  }
}

}  // namespace
}  // namespace zellige::graph
