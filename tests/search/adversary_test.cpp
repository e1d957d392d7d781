// Pairs that are hard to distinguish: the same except in a class (NaN, infinity, 0), a single point, comparisons that
// hold jointly, a rounded scalar, what float64 cannot see, or an integer that wraps; next to each, a pair that is equal
// by algebra.
#include <gtest/gtest.h>

#include <cfloat>

#include "expect_equal.hpp"

namespace zellige::search {
namespace {

using namespace test;

const std::vector<Shape> one = {{4, 8}}, two = {{4, 8}, {4, 8}};

/// Bounds beyond the usual inputs, on both sides of 0.
constexpr double bounds[] = {200, 1234.5, -300, 4e5};
/// Positive factors, by which a comparison may be multiplied.
constexpr double factors[] = {2, 0.5, 13, 10};

template <class F, class G>
void expect_different(const std::vector<Shape>& shapes, const F& f, const G& g) {
  expect(Answer::different, shapes, f, g);
}
/// The sign of a quotient whose divisor is 0 is unknown in real numbers, so that the answer may be undecided.
template <class F, class G>
void expect_not_equal(const std::vector<Shape>& shapes, const F& f, const G& g) {
  const Equality e = equal(make(shapes, [&](Builder&, const Inputs& x) { return f(x); }),
                           make(shapes, [&](Builder&, const Inputs& x) { return g(x); }));
  EXPECT_NE(name(e.answer), "equal") << describe(e, "a", "b");
}
template <class F, class G>
void expect_same(const std::vector<Shape>& shapes, const F& f, const G& g) {
  expect(Answer::equal, shapes, f, g);
}

/// relu(t - x), which is 0 for all x beyond t.
TensorHandle until(const TensorHandle& x, double t) { return relu(-x + t); }
TensorHandle constant(const TensorHandle& x, double c) { return x * 0.0 + c; }

TEST(Adversary, ClassesBeyondABoundCount) {
  for (double t : bounds) {
    SCOPED_TRACE(t);
    const auto l = [t](const Inputs& x) { return log(until(x[0], t)); };
    expect_different(
        one, [&](const Inputs& x) { return l(x) * 2.0 - l(x); }, l);  // -inf + inf
    expect_different(
        one, [&](const Inputs& x) { return gt(l(x), -std::numeric_limits<double>::infinity()); },
        [](const Inputs& x) { return constant(x[0], 1); });
    expect_not_equal(
        one, [&](const Inputs& x) { return until(x[0], t) * pow(until(x[0], t), -1.0); },
        [](const Inputs& x) { return constant(x[0], 1); });
    expect_not_equal(
        one, [&](const Inputs& x) { return rsqrt(until(x[0], t)) * sqrt(until(x[0], t)); },
        [](const Inputs& x) { return constant(x[0], 1); });
    expect_same(
        one, [&](const Inputs& x) { return l(x) * 3.0; }, [&](const Inputs& x) { return l(x) * 2.0 + l(x); });
    expect_same(
        one, [&](const Inputs& x) { return exp(l(x)); }, [&](const Inputs& x) { return until(x[0], t); });
  }
}

/// The quotient is NaN only where all numbers of a row are beyond the bound.
TEST(Adversary, ASumThatIsZeroWhereAllSummandsAreIsNotDividedAway) {
  const Equality e = equal(make(one,
                                [](Builder&, const Inputs& x) {
                                  const TensorHandle s = sum(until(x[0], 200), 1, true);
                                  return s / s;
                                }),
                           make(one, [](Builder&, const Inputs& x) { return constant(sum(x[0], 1, true), 1); }));
  EXPECT_NE(name(e.answer), "equal") << describe(e, "a", "b");
}

TEST(Adversary, ScaledComparisonsDifferOnlyInTies) {
  for (double t : bounds)
    for (double k : factors) {
      SCOPED_TRACE(fmt::format("{} {}", t, k));
      const auto less = [t](const Inputs& x) { return lt(x[0] - t, 0.0); };
      expect_same(one, less, [&](const Inputs& x) { return lt(x[0] * k, t * k); });
      expect_different(one, less, [&](const Inputs& x) { return le((x[0] - t) * k, 0.0); });
    }
  expect_same(
      two, [](const Inputs& x) { return where(gt(x[0], x[1]), x[0], x[1]); },
      [](const Inputs& x) { return maximum(x[0], x[1]); });
  expect_same(
      two, [](const Inputs& x) { return where(eq(x[0], x[1]), x[0], x[1]); },
      [](const Inputs& x) { return x[1] * 1.0; });
  expect_same(
      one, [](const Inputs& x) { return clamp(x[0], -1, 1); },
      [](const Inputs& x) { return relu(x[0] + 1.0) - relu(x[0] - 1.0) - 1.0; });
}

TEST(Adversary, ComparisonsOfProductsWithPositiveNumbersAreThoseOfTheOtherFactor) {
  const auto positive = [](const TensorHandle& x) { return std::vector{exp(x), square(x) + 0.5, sigmoid(x)}; };
  for (std::size_t i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    const auto scaled = [&, i](const Inputs& x) { return lt((x[0] - 3.0) * positive(x[1])[i], 0.0); };
    expect_same(two, scaled, [](const Inputs& x) { return lt(x[0], 3.0); });
    expect_different(two, scaled, [](const Inputs& x) { return le(x[0], 3.0); });
    expect_same(
        two, [&, i](const Inputs& x) { return relu(x[0] / positive(x[1])[i]); },
        [&, i](const Inputs& x) { return relu(x[0]) / positive(x[1])[i]; });
  }
  expect_same(
      one, [](const Inputs& x) { return gt(square(x[0]), 0.0); }, [](const Inputs& x) { return ne(x[0], 0.0); });
}

TEST(Adversary, ExponentialsAreOrderedAsTheirExponents) {
  const auto less = [](const Inputs& x) { return lt(exp(x[0]), exp(x[1])); };
  expect_same(two, less, [](const Inputs& x) { return lt(x[0], x[1]); });
  expect_different(two, less, [](const Inputs& x) { return le(x[0], x[1]); });
  const auto above_one = [](const Inputs& x) { return gt(exp(x[0]), 1.0); };
  expect_same(one, above_one, [](const Inputs& x) { return gt(x[0], 0.0); });
  expect_different(one, above_one, [](const Inputs& x) { return ge(x[0], 0.0); });
  const auto elu = [](double factor) {
    return [factor](const Inputs& x) { return where(gt(x[0], 0.0), x[0], factor * (exp(x[0]) - 1.0)); };
  };
  const auto of_parts = [](const Inputs& x) { return relu(x[0]) + minimum(exp(x[0]) - 1.0, 0.0); };
  expect_same(one, elu(1), of_parts);
  expect_different(one, elu(1.001), of_parts);
}

TEST(Adversary, ComparisonsThatHoldJointlyCount) {
  for (int n : {2, 3, 7}) {
    SCOPED_TRACE(n);
    const std::vector<Shape> shapes(static_cast<std::size_t>(n), Shape{2, 3});
    const auto all = [n](const Inputs& x) {
      TensorHandle p = eq(x[0], 3.5);
      for (int i = 1; i < n; ++i) p = p * eq(x[i], 3.5 + 2 * i);
      return p;
    };
    expect_different(
        shapes, [&](const Inputs& x) { return x[0] + all(x); }, [](const Inputs& x) { return x[0] * 1.0; });
    expect_same(
        shapes, [&](const Inputs& x) { return x[0] + all(x); }, [&](const Inputs& x) { return all(x) + x[0]; });
  }
  const auto lines = [](double third) {
    return [third](const Inputs& x) { return eq(x[0] + x[1], 5.0) * eq(x[0] - x[1], 3.0) * eq(x[0], third); };
  };
  const auto never = [](const Inputs& x) { return x[0] * 0.0 * x[1]; };
  expect_different(two, lines(4), never);
  expect_same(two, lines(4.5), never);  // no inputs satisfy all three
}

TEST(Adversary, ScalarsOfComparisonsAreRoundedAsTheInputsAre) {
  for (double c : {1e30, 16777217.0, 123456789.0, -33554433.0})
    expect_different(
        one, [c](const Inputs& x) { return eq(x[0], c); }, [](const Inputs& x) { return x[0] * 0.0; });
}

/// Products of the points tried reach far beyond the bound, and the walk along boundaries finds it itself.
TEST(Adversary, NumbersBeyondAnEndOfFloat32sRangeShowNoDifference) {
  const KernelGraph a = make(two, [](Builder&, const Inputs&x) { return x[0] * x[1]; }),
                    b = make(two, [](Builder&, const Inputs&x) { return maximum(x[0] * x[1], -FLT_MAX); }),
                    other = make(two, [](Builder&, const Inputs&x) { return maximum(x[0] * x[1], -1e30); });
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Equality e = equal(a, b, {.seed = seed}), f = equal(a, other, {.seed = seed});
    EXPECT_EQ(name(e.answer), "equal") << describe(e, "a", "b");
    EXPECT_EQ(name(f.answer), "different") << describe(f, "a", "b");
  }
}

TEST(Adversary, Float64NeitherProvesNorOverrules) {
  const std::vector<Shape> wide = {{1, 64}, {1, 66}};
  const auto dominated = [](const TensorHandle& x, const TensorHandle& y) { return 1e12 * sum(x, 1, true) + y; };
  const auto of_concat = [&](const Inputs& x) { return dominated(x[0], mean(concat(x[0], x[1], 1), 1, true)); };
  const auto weighted = [&](double w) {
    return [dominated, w](const Inputs& x) {
      return dominated(x[0], mean(x[0], 1, true) * w + mean(x[1], 1, true) * (1 - w));
    };
  };
  expect_different(wide, of_concat, weighted(0.5));
  expect_same(wide, of_concat, weighted(64.0 / 130));
  const Equality e = equal(make(two, [](Builder&, const Inputs& x) { return sin((x[0] + 1e13) + (x[1] + 1e13)); }),
                           make(two, [](Builder&, const Inputs& x) {
                             const TensorHandle u = x[0] + 1e13, v = x[1] + 1e13;
                             return sin(u) * cos(v) + cos(u) * sin(v);
                           }));
  EXPECT_NE(name(e.answer), "different") << describe(e, "a", "b");
}

TEST(Adversary, AdditionTheoremsHold) {
  const auto of_sum = [](const Inputs& x) { return sin(2.0 * x[0] - x[1]); };
  expect_same(two, of_sum, [](const Inputs& x) {
    return 2.0 * (sin(x[0]) * (cos(x[0]) * cos(x[1]))) - (1.0 * square(cos(x[0])) - square(sin(x[0]))) * sin(x[1]);
  });
  expect_different(two, of_sum,
                   [](const Inputs& x) { return sin(2.0 * x[0]) * cos(x[1]) + cos(2.0 * x[0]) * sin(x[1]); });
  expect_same(
      two, [](const Inputs& x) { return sin(x[0]) * sin(x[1]); },
      [](const Inputs& x) { return 0.5 * (cos(x[0] - x[1]) - cos(x[0] + x[1])); });
  // An exponential has no residue as an exponent.
  const auto cos_of = [](double factor) {
    return [factor](const Inputs& x) { return cos(exp(x[0]) + factor * x[0]); };
  };
  const auto parts = [](const Inputs& x) { return cos(exp(x[0])) * cos(x[0]) - sin(exp(x[0])) * sin(x[0]); };
  expect_same(one, cos_of(1), parts);
  expect_different(one, cos_of(1.001), parts);
  const std::vector<Shape> angles = {{4, 8}, {4, 4}, {4, 4}};
  const auto twice = [](const Inputs& x) { return rotary(rotary(x[0], cos(x[1]), sin(x[1])), cos(x[2]), sin(x[2])); };
  expect_same(angles, twice, [](const Inputs& x) { return rotary(x[0], cos(x[1] + x[2]), sin(x[1] + x[2])); });
  expect_different(angles, twice, [](const Inputs& x) { return rotary(x[0], cos(x[1] - x[2]), sin(x[1] - x[2])); });
}

TEST(Adversary, LogarithmsAndPowersOfProducts) {
  const auto base = [](const TensorHandle& x) { return square(x) + 2.0; };
  const auto log_product = [&](const Inputs& x) { return log(base(x[0]) * base(x[1])); };
  expect_same(two, log_product, [&](const Inputs& x) { return log(base(x[1])) + log(base(x[0])); });
  expect_different(two, log_product, [&](const Inputs& x) { return log(base(x[0]) + base(x[1])); });
  expect_same(  // each is a quotient of the other's product
      two, [&](const Inputs& x) { return log(base(x[0]) * base(x[1]) / base(x[1])); },
      [&](const Inputs& x) { return log(base(x[0])); });
  const auto log_square = [](const Inputs& x) { return log(square(x[0])); };
  expect_same(one, log_square, [](const Inputs& x) { return 2.0 * log(abs(x[0])); });
  expect_different(one, log_square, [](const Inputs& x) { return 2.0 * log(x[0]); });  // NaN where x is negative
  for (double n : {1.5, 2.5, -1.5}) {
    SCOPED_TRACE(n);
    const auto power = [&, n](const Inputs& x) { return pow(base(x[0]), n); };
    expect_same(one, power, [&, n](const Inputs& x) { return pow(base(x[0]), n - 0.5) * sqrt(base(x[0])); });
    expect_different(one, power, [&, n](const Inputs& x) { return pow(base(x[0]), n + 0.001); });
  }
  const auto powers = [&](const Inputs& x) { return pow(base(x[0]), x[1]) * pow(base(x[0]), x[0]); };
  expect_same(two, powers, [&](const Inputs& x) { return pow(base(x[0]), x[0] + x[1]); });
  expect_different(two, powers, [&](const Inputs& x) { return pow(base(x[0]), x[0] * x[1]); });
}

TEST(Adversary, IntegersWrap) {
  const auto with = [](graph::DType dtype, const auto& body) {
    Builder b("g");
    b.output(body(b.input("X", {4, 8}, dtype)), "Y");
    return b.build();
  };
  const auto real = [](const TensorHandle& x) { return cast(x, graph::DType::f32); };
  const auto cast_after = [&](const TensorHandle& x) { return real(x * x); };
  const auto early = [&](const TensorHandle& x) { return real(x) * real(x); };
  const auto distributed = [&](const TensorHandle& x) { return real(x * (x + x)) * 0.5; };
  for (graph::DType dtype : {graph::DType::int8, graph::DType::int32}) {
    const Equality e = equal(with(dtype, cast_after), with(dtype, early));
    EXPECT_EQ(name(e.answer), "different") << describe(e, "a", "b");
    EXPECT_EQ(e.notes.at(0), "integers wrap: int8 and int32 results are taken modulo 2^8 and 2^32");
    EXPECT_NE(name(equal(with(dtype, cast_after), with(dtype, distributed)).answer), "equal");
    expect(Answer::equal, with(dtype, [&](const TensorHandle& x) { return real(x * (x + x)); }),
           with(dtype, [&](const TensorHandle& x) { return real(x * x + x * x); }));
  }
  expect(Answer::equal,
         with(graph::DType::int8,
              [&](const TensorHandle& x) {
                const TensorHandle wide = cast(x, graph::DType::int32);
                return real(wide * wide);
              }),
         with(graph::DType::int8, early));
}

}  // namespace
}  // namespace zellige::search
