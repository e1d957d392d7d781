// The numbers over which graphs are evaluated: each satisfies the laws that `equal` uses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graph/builder.hpp"
#include "graph/collective.hpp"
#include "graph/rows.hpp"
#include "number/ball.hpp"
#include "number/field.hpp"
#include "number/fraction.hpp"
#include "number/modular.hpp"
#include "programs.hpp"
#include "random/generate.hpp"
#include "reference/reference.hpp"
#include "search/evaluate_graph.hpp"
#include "search/point.hpp"
#include "search/shrink.hpp"

namespace zellige::search {
namespace {

/// Returns whether the radius is at most 2^-bits times the value, or 2^-bits if the value is less than 1. Only then
/// does the agreement of two numbers show that they are close.
bool sharp(const number::Ball& x, int bits) {
  const long double value = std::fabs(x.middle.convert_to<long double>());
  return x.known() && x.radius <= std::ldexp(std::max(1.0L, value), -bits);
}

using graph::OpKind;

TEST(Fraction, IsTheSimplestThatRoundsToTheScalar) {
  for (const auto& [n, d] :
       {std::pair{1, 10}, {1, 3}, {-5, 7}, {1, 4096}, {1, 6144}, {22, 7}, {355, 113}, {1000, 1}, {12345, 67891}}) {
    const number::Fraction f = number::fraction(static_cast<double>(n) / d);
    EXPECT_EQ(f.numerator, n);
    EXPECT_EQ(f.denominator, d);
    EXPECT_EQ(f.exponent, 0);
  }
  // A number to which no short fraction rounds is represented by its own digits.
  for (double x : {M_PI, -std::sqrt(2.0), 1e-300, 1e300, 0x1p-1074, 0.0, 0.1 + 0x1p-56}) {
    const number::Fraction f = number::fraction(x);
    EXPECT_EQ(std::ldexp(static_cast<double>(f.numerator), f.exponent) / static_cast<double>(f.denominator), x);
  }
  EXPECT_EQ(number::fraction(0.1 + 0x1p-56).denominator, 1);
}

TEST(Modular, PrimesAndInverses) {
  int primes = 0;
  for (std::uint64_t n = 0; n < 10000; ++n) primes += number::is_prime(n);
  EXPECT_EQ(primes, 1229);
  EXPECT_TRUE(number::is_prime((std::uint64_t{1} << 61) - 1));
  EXPECT_FALSE(number::is_prime(3215031751));           // a strong pseudoprime to 2, 3, 5, 7
  EXPECT_FALSE(number::is_prime(3825123056546413051));  // and to 2 to 23
  for (std::uint64_t a = 1; a < 1000; ++a) EXPECT_EQ(number::mul_mod(a, number::inverse_mod(a, 1000003), 1000003), 1u);
}

class Fields : public testing::TestWithParam<int> {};

TEST_P(Fields, KeepTheLawsOfExpAndSqrt) {
  number::Field f(static_cast<std::uint64_t>(GetParam()), number::Field::Order::scaled);
  ASSERT_TRUE(number::is_prime(f.p()) && number::is_prime(f.q()));
  EXPECT_EQ((f.p() - 1) % f.q(), 0u);
  EXPECT_EQ(f.p() % 4, 3u);
  int roots = 0;
  for (std::uint64_t n = 0; n < 200; n += 2) {
    const number::FieldNumber x = f.random(n), y = f.random(n + 1);
    EXPECT_EQ(f.mul(f.exp(x), f.exp(y)).p, f.exp(f.add(x, y)).p);
    EXPECT_EQ(f.mul(f.div(x, y), y).p, x.p);
    const number::FieldNumber rx = f.sqrt(x), ry = f.sqrt(y);
    if (rx.kind != number::FieldNumber::Kind::number || ry.kind != number::FieldNumber::Kind::number) continue;
    ++roots;
    EXPECT_EQ(f.mul(rx, rx).p, x.p);
    EXPECT_EQ(f.mul(rx, ry).p, f.sqrt(f.mul(x, y)).p);
  }
  EXPECT_GE(roots, 10);
  EXPECT_EQ(f.sqrt(f.exp(f.random(1))).p, f.exp(f.div(f.random(1), f.integer(2))).p);  // exponentials are squares
  EXPECT_EQ(f.mul(f.constant(0.1), f.integer(10)).p, 1u);
  // The exponential of an exponential is an unknown function: the same for the same argument.
  const number::FieldNumber e = f.exp(f.random(0));
  EXPECT_EQ(f.exp(e).p, f.exp(e).p);
  EXPECT_NE(f.exp(e).p, f.exp(f.exp(f.random(1))).p);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Fields, testing::Range(1, 6));

/// Balls hold the true value: that of the same expression with fewer roundings, or of a known one.
TEST(Balls, HoldTheTrueValue) {
  number::BallArithmetic a;
  const auto holds = [&](const number::Ball& x, const number::Ball& y) {
    EXPECT_FALSE(number::disjoint(x, y)) << number::to_string(x) << " " << number::to_string(y);
    EXPECT_TRUE(sharp(x, 100) && sharp(y, 100)) << number::to_string(x) << " " << number::to_string(y);
  };
  for (double x : {0.125, 1.5, 3.0, 7.25, 100.0, 1e-3}) {
    const number::Ball b = a.exact(x);
    holds(a.mul(a.sqrt(b), a.sqrt(b)), b);
    holds(a.mul(a.exp(b), a.exp(a.sub(a.integer(0), b))), a.integer(1));
    holds(a.log(a.exp(b)), b);
    holds(a.pow(b, a.exact(0.5)), a.sqrt(b));
    holds(a.pow(b, a.integer(-3)), a.div(a.integer(1), a.mul(b, a.mul(b, b))));
    const number::Ball erf = a.sub(a.mul(a.integer(2), a.normal(a.mul(b, a.sqrt(a.integer(2))))), a.integer(1));
    EXPECT_NEAR(std::stod(number::to_string(erf)), std::erf(x), 1e-15);
    holds(a.add(a.mul(a.sin(b), a.sin(b)), a.mul(a.cos(b), a.cos(b))), a.integer(1));
    holds(a.sin(a.add(b, b)), a.mul(a.integer(2), a.mul(a.sin(b), a.cos(b))));
    EXPECT_NEAR(std::stod(number::to_string(a.sin(b))), std::sin(x), 1e-15);
    holds(a.tanh(a.neg(b)), a.neg(a.tanh(b)));
    EXPECT_NEAR(std::stod(number::to_string(a.tanh(b))), std::tanh(x), 1e-15);
    holds(a.abs(a.neg(b)), b);
    holds(a.min(b, a.integer(2)), a.exact(std::min(x, 2.0)));
    holds(a.less(b, a.integer(2)), a.integer(x < 2));
    holds(a.choose(a.same(b, a.exact(1.5)), a.integer(7), b), a.exact(x == 1.5 ? 7 : x));
  }
}

TEST(Balls, KnowWhatTheyDoNotKnow) {
  number::BallArithmetic a;
  const number::Ball third = a.div(a.integer(1), a.integer(3));
  const number::Ball zero = a.sub(a.mul(third, a.integer(3)), a.integer(1));  // 0, up to rounding
  EXPECT_FALSE(number::disjoint(zero, a.integer(0)));
  EXPECT_FALSE(a.div(a.integer(1), zero).known());
  EXPECT_FALSE(a.div(a.integer(1), a.integer(0)).known());
  EXPECT_FALSE(a.log(zero).known());
  for (const number::Ball& x : {a.less(zero, a.integer(0)), a.less_equal(zero, a.integer(0)),
                                a.same(zero, a.integer(0)), a.choose(zero, a.integer(1), a.integer(2))})
    EXPECT_FALSE(x.known() || x.nan);
  EXPECT_FALSE(number::disjoint(a.same(a.integer(3), a.integer(3)), a.integer(1)));
  EXPECT_TRUE(a.sqrt(a.integer(-2)).nan);
  EXPECT_FALSE(a.sqrt(zero).nan);
  EXPECT_TRUE(number::disjoint(a.sqrt(a.integer(-2)), a.integer(1)));                // a number and none
  EXPECT_FALSE(number::disjoint(a.sqrt(a.integer(-2)), a.div(a.integer(1), zero)));  // who knows
  EXPECT_FALSE(a.exp(a.exact(1e9)).known());
  EXPECT_TRUE(number::disjoint(a.exact(1), a.add(a.exact(1), a.exact(0x1p-200))));
}

/// Far below what a long double holds, radii must not vanish.
TEST(Balls, DoNotUnderflow) {
  number::BallArithmetic a;
  const number::Ball third = a.div(a.integer(1), a.integer(3)), tiny = a.exp(a.integer(-9000));
  const number::Ball x = a.mul(a.mul(tiny, tiny), third), y = a.mul(tiny, a.mul(third, tiny));
  EXPECT_FALSE(number::disjoint(x, y));
  EXPECT_FALSE(number::disjoint(a.mul(x, x), a.mul(y, a.mul(third, a.mul(tiny, tiny)))));
  EXPECT_FALSE(number::disjoint(a.div(x, a.exp(a.integer(9000))), a.mul(y, tiny)));
  EXPECT_GT(a.mul(x, x).radius, 0);
  EXPECT_TRUE(number::disjoint(x, third));
}

/// Returns a graph of products, which random graphs do not draw, since those of many numbers leave float64.
graph::KernelGraph products(std::uint64_t seed) {
  graph::Builder b("products");
  const auto x = b.input("x", {2, 1 + static_cast<std::int64_t>(seed % 7), 4}, graph::DType::f32);
  b.output(graph::prod(x, 1, seed % 2 == 0));
  return b.build();
}

/// Returns a graph of windows, with rows of zeros around, which random graphs do not draw.
graph::KernelGraph windows(std::uint64_t seed) {
  graph::Builder b("windows");
  const auto x = b.input("x", {2, 3 + static_cast<std::int64_t>(seed % 5), 4}, graph::DType::f32);
  b.output(graph::unfold(x, 1, {.size = 3, .step = 2, .before = 1, .after = 1}));
  return b.build();
}

/// The meaning here is the reference's: every operator, at both levels, over random graphs.
TEST(Evaluate, AgreesWithTheReference) {
  reference::ReferenceOptions exact;
  exact.round = false;
  int compared = 0, classes = 0;
  std::map<OpKind, int> kinds;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    const graph::KernelGraph whole = seed % 50 == 0    ? products(seed / 50)
                                     : seed % 50 == 25 ? windows(seed / 50)
                                                       : random_graphs::random_graph(seed);
    graph::KernelGraph g = whole;
    try {
      g = shrink({whole, whole, match(whole, whole)}).a;
    } catch (const Error&) {  // a view names sizes of its own
    }
    if (work(g) > 30000) continue;
    number::BallArithmetic a;
    const std::vector<reference::Array> arrays =
        draw_point(g, graph::drawn_numbers(g), {1, seed % 2 ? Scale::Kind::dense : Scale::Kind::zeros}, seed);
    const auto expected = reference::run_reference(g, arrays, exact);
    std::vector<reference::ArrayOf<number::Ball>> found;
    try {
      found = evaluate_exactly(a, g, arrays);
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("the reals"), std::string::npos) << g.name << ": " << e.what();
      continue;
    }
    for (std::size_t o = 0; o < expected.size(); ++o)
      for (std::size_t i = 0; i < found[o].values.size(); ++i) {
        const double y = expected[o].values[i];
        const number::Ball& ball = found[o].values[i];
        if (ball.nan || ball.infinite != 0) {
          EXPECT_TRUE(ball.nan ? std::isnan(y) : y == ball.infinite * INFINITY)
              << g.name << " output " << o << " element " << i << ": " << number::to_string(ball) << " " << y;
          ++classes;
          continue;
        }
        if (!ball.known() || !std::isfinite(y)) continue;
        const double x = ball.middle.convert_to<double>();
        EXPECT_NEAR(x, y, 1e-8 * std::max(1.0, std::fabs(y))) << g.name << " output " << o << " element " << i;
        ++compared;
      }
    for (const graph::KernelOp& op : g.ops) {
      ++kinds[op.kind];
      if (op.block)
        for (const graph::BlockOp& inner : op.block->ops) ++kinds[inner.kind];
    }
  }
  EXPECT_GT(compared, 2000);
  EXPECT_GE(classes, 10);
  for (OpKind kind : graph::all_ops())
    if (!graph::is_collective(kind)) EXPECT_GT(kinds[kind], 0) << graph::name(kind) << " was never met";
}

}  // namespace
}  // namespace zellige::search
