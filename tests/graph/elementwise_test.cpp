// Elementwise operators against the C library's long double, which shares no code with them; special values
// as in PyTorch; broadcast; scalars in place of tensors.
#include "graph/elementwise.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

#include "graph/builder.hpp"
#include "graph/ops.hpp"
#include "graph/reductions.hpp"
#include "json/json.hpp"
#include "reference/reference.hpp"
#include "reference/rounding.hpp"

namespace zellige::graph {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

double at(OpKind kind, std::vector<double> x, const Attributes& a = {}) { return apply(kind, a, x.data()); }

using One = std::function<long double(long double)>;
using Two = std::function<long double(long double, long double)>;

const std::map<OpKind, One> ones = {
    {OpKind::exp, [](long double x) { return std::exp(x); }},
    {OpKind::square, [](long double x) { return x * x; }},
    {OpKind::sqrt, [](long double x) { return std::sqrt(x); }},
    {OpKind::mul_scalar, [](long double x) { return x * 0.75L; }},
    {OpKind::silu, [](long double x) { return x / (1 + std::exp(-x)); }},
    {OpKind::sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); }},
    {OpKind::gelu, [](long double x) { return x * std::erfc(-x * std::sqrt(0.5L)) / 2; }},
    {OpKind::gelu_tanh,
     [](long double x) {
       const long double z = std::sqrt(2 / 3.14159265358979323846264338327950288L) * (x + 0.044715L * x * x * x);
       return x > -2 ? x / 2 * (1 + std::tanh(z)) : x / (1 + std::exp(-2 * z));
     }},
    {OpKind::relu, [](long double x) { return std::fmax(x, 0.0L); }},
    {OpKind::clamp, [](long double x) { return std::fmin(std::fmax(x, -0.5L), 1.25L); }},
    {OpKind::log, [](long double x) { return std::log(x); }},
    {OpKind::log1p, [](long double x) { return std::log1p(x); }},
    {OpKind::neg, [](long double x) { return -x; }},
    {OpKind::abs, [](long double x) { return std::fabs(x); }},
    {OpKind::rsqrt, [](long double x) { return 1 / std::sqrt(x); }},
    {OpKind::tanh, [](long double x) { return std::tanh(x); }},
    {OpKind::sin, [](long double x) { return std::sin(x); }},
    {OpKind::cos, [](long double x) { return std::cos(x); }},
    {OpKind::cast, [](long double x) { return static_cast<float>(x); }}};

const std::map<OpKind, Two> twos = {
    {OpKind::add, [](long double x, long double y) { return x + y; }},
    {OpKind::sub, [](long double x, long double y) { return x - y; }},
    {OpKind::mul, [](long double x, long double y) { return x * y; }},
    {OpKind::div, [](long double x, long double y) { return x / y; }},
    {OpKind::pow, [](long double x, long double y) { return std::pow(x, y); }},
    {OpKind::maximum, [](long double x, long double y) { return std::fmax(x, y); }},
    {OpKind::minimum, [](long double x, long double y) { return std::fmin(x, y); }},
    {OpKind::logaddexp, [](long double x, long double y) { return std::log(std::exp(x) + std::exp(y)); }},
    {OpKind::eq, [](long double x, long double y) { return x == y ? 1 : 0; }},
    {OpKind::ne, [](long double x, long double y) { return x == y ? 0 : 1; }},
    {OpKind::lt, [](long double x, long double y) { return x < y ? 1 : 0; }},
    {OpKind::le, [](long double x, long double y) { return x > y ? 0 : 1; }},
    {OpKind::gt, [](long double x, long double y) { return x > y ? 1 : 0; }},
    {OpKind::ge, [](long double x, long double y) { return x < y ? 0 : 1; }}};

void expect_close(double found, long double expected, OpKind kind) {
  const auto y = static_cast<double>(expected);
  if (y != y || std::isinf(y))
    EXPECT_TRUE(y != y ? found != found : found == y) << name(kind);
  else
    EXPECT_NEAR(found, y, 1e-13 * std::max(1e-200, std::fabs(y))) << name(kind);
}

TEST(Elementwise, ValuesAreThoseOfTheLibrary) {
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> uniform(-6, 6);
  Attributes a{.scalar = 0.75, .lo = -0.5, .hi = 1.25};
  for (OpKind kind : all_ops()) {
    if (!is_elementwise(kind)) continue;
    const int n = elementwise(kind).operands;
    EXPECT_EQ(ones.count(kind) + twos.count(kind), n < 3 ? 1u : 0u) << name(kind) << ": is tested nowhere";
    for (int i = 0; i < 300; ++i) {
      double x = uniform(random), y = uniform(random);
      if (i % 5 == 0) x = std::round(x), y = std::round(y);  // equals, too
      if (i % 50 == 0) x = y;
      if (n == 1) expect_close(at(kind, {x}, a), ones.at(kind)(x), kind);
      if (n == 2) expect_close(at(kind, {x, y}), twos.at(kind)(x, y), kind);
      if (n == 3) EXPECT_EQ(at(kind, {std::round(x), x, y}), std::round(x) == 0 ? y : x);
    }
  }
  // Far out on the left, where 1 + erf and 1 + tanh would be 0.
  expect_close(at(OpKind::gelu, {-12}), ones.at(OpKind::gelu)(-12), OpKind::gelu);
  EXPECT_NEAR(at(OpKind::gelu_tanh, {-4}) / -7.0245948192372690e-05, 1, 1e-9);
}

// A row that lacks a law, or one of the laws, does not compile.
template <class... Members>
concept Row = requires(Members... members) {
  rows::row<1>(members...);
};
using Error = double (*)(const double*, double, double, double);
using Meaning = double (*)(Doubles&, const Attributes&, const double*);
static_assert(Row<OpKind, const char*, const char*, bool, const char*, Spread, Law, Error, Meaning>);
static_assert(!Row<OpKind, const char*, const char*, bool, const char*, Spread, Error, Meaning>);
static_assert(std::is_constructible_v<Law, Linearity, Monotone, Image, Image, IssueSlots>);
static_assert(!std::is_constructible_v<Law, Linearity, Monotone, Image, Image>);
static_assert(!std::is_default_constructible_v<Law> && !std::is_constructible_v<IssueSlots, int>);
static_assert(!std::is_constructible_v<Monoid, std::string_view, std::string_view, OpKind, double, bool, int>);

// The laws that a row states hold of the row's meaning.
TEST(Elementwise, RowsKeepTheirLaws) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(-6, 6);
  const Attributes a{.scalar = 0.75, .lo = -0.5, .hi = 1.25};
  const auto is = [](Image image, double y) {
    return image == Image::anything || (image == Image::zero && y == 0) || (image == Image::one && y == 1) ||
           (image == Image::lowest && y == -inf) || (image == Image::floor && std::isfinite(y));
  };
  const auto close = [](double x, double y) { return std::fabs(x - y) < 1e-12 * (1 + std::fabs(x)); };
  for (OpKind kind : all_ops()) {
    if (!is_elementwise(kind)) continue;
    const auto n = static_cast<std::size_t>(elementwise(kind).operands);
    const Law& law = elementwise(kind).law;
    EXPECT_PRED2(is, law.zero, apply(kind, a, std::vector<double>(n).data())) << name(kind);
    for (int i = 0; i < 200; ++i) {
      std::vector<double> x(n), y(n), sum(n);
      for (std::size_t k = 0; k < n; ++k) x[k] = uniform(random), y[k] = uniform(random), sum[k] = x[k] + y[k];
      const double fx = apply(kind, a, x.data()), fy = apply(kind, a, y.data());
      if (law.linear == Linearity::all && kind != OpKind::cast)
        EXPECT_PRED2(close, apply(kind, a, sum.data()), fx + fy) << name(kind);
      for (std::size_t k = 0; k < n; ++k) {
        std::vector<double> alone = x, low = x, moved = x;
        moved[k] += std::fabs(y[k]), alone[k] = y[k], low[k] = -inf;
        const double f = apply(kind, a, alone.data());
        alone[k] += x[k];
        if (law.linear == Linearity::each || (law.linear == Linearity::first && k == 0))
          EXPECT_PRED2(close, apply(kind, a, alone.data()), fx + f) << name(kind);
        if (k == 0 && (law.monotone != Monotone::by_scalar || n == 1 || x[1] > 0))
          EXPECT_PRED2(is, law.lowest, apply(kind, a, low.data())) << name(kind);
        const double grown = apply(kind, a, moved.data());
        const bool positive = law.monotone == Monotone::by_scalar && (n == 1 || x[1] > 0);
        if (law.monotone == Monotone::every || (k == 0 && (law.monotone == Monotone::up || positive)))
          EXPECT_GE(grown, fx) << name(kind);
        if (law.monotone == Monotone::down) EXPECT_LE(grown, fx) << name(kind);
      }
    }
  }
}

TEST(Elementwise, ImagesFollowFromTheLaws) {
  using enum Image;
  EXPECT_EQ(image(OpKind::exp, {}, {lowest}), zero);
  EXPECT_EQ(image(OpKind::mul_scalar, {.scalar = 2}, {lowest}), lowest);
  EXPECT_EQ(image(OpKind::mul_scalar, {.scalar = -2}, {lowest}), anything);
  EXPECT_EQ(image(OpKind::neg, {}, {zero}), zero);
  EXPECT_EQ(image(OpKind::neg, {}, {lowest}), anything);
  EXPECT_EQ(image(OpKind::add, {}, {same, lowest}), lowest);
  EXPECT_EQ(image(OpKind::sub, {}, {same, lowest}), anything);
  EXPECT_EQ(image(OpKind::sub, {}, {lowest, unchanged}), lowest);
  EXPECT_EQ(image(OpKind::add, {.scalar = 1}, {zero}), anything);
  EXPECT_EQ(image(OpKind::add, {}, {zero, zero}), zero);
  EXPECT_EQ(image(OpKind::mul, {}, {zero, same}), zero);
  EXPECT_EQ(image(OpKind::mul, {}, {zero, anything}), anything);  // 0 * infinity is NaN
  EXPECT_EQ(image(OpKind::div, {}, {zero, same}), zero);
  EXPECT_EQ(image(OpKind::div, {}, {zero, zero}), anything);
  EXPECT_EQ(image(OpKind::div, {.scalar = 2}, {lowest}), lowest);
  EXPECT_EQ(image(OpKind::div, {}, {lowest, same}), anything);  // the divisor may be negative
  EXPECT_EQ(image(OpKind::maximum, {.scalar = 1}, {lowest}), floor);
  EXPECT_EQ(image(OpKind::maximum, {}, {lowest, zero}), anything);  // elsewhere it may be below zero
  EXPECT_EQ(image(OpKind::cast, {.dtype = DType::bf16}, {lowest}), lowest);
  EXPECT_EQ(image(OpKind::cast, {.dtype = DType::e4m3}, {lowest}), anything);
  EXPECT_EQ(image(OpKind::cast, {.dtype = DType::f16, .saturate = true}, {lowest}), anything);
  EXPECT_EQ(image(OpKind::cast, {.dtype = DType::int8}, {zero}), anything);
  EXPECT_TRUE(is_linear(OpKind::div, {.scalar = 2}, 1));
  EXPECT_FALSE(is_linear(OpKind::div, {}, 2));
  EXPECT_FALSE(is_linear(OpKind::add, {.scalar = 2}, 1));
  EXPECT_FALSE(is_linear(OpKind::cast, {.dtype = DType::int8}, 1));
}

TEST(Elementwise, SpecialValuesAreThoseOfPyTorch) {
  EXPECT_EQ(at(OpKind::neg, {inf}), -inf);
  EXPECT_TRUE(std::signbit(at(OpKind::neg, {0.0})));
  EXPECT_EQ(at(OpKind::abs, {-inf}), inf);
  EXPECT_EQ(at(OpKind::rsqrt, {0.0}), inf);
  EXPECT_EQ(at(OpKind::rsqrt, {inf}), 0);
  EXPECT_TRUE(std::isnan(at(OpKind::rsqrt, {-1.0})));
  EXPECT_EQ(at(OpKind::tanh, {-inf}), -1);
  EXPECT_TRUE(std::isnan(at(OpKind::sin, {inf})));
  EXPECT_TRUE(std::isnan(at(OpKind::cos, {-inf})));
  EXPECT_EQ(at(OpKind::exp, {-inf}), 0);
  EXPECT_EQ(at(OpKind::gelu_tanh, {inf}), inf);
  EXPECT_EQ(at(OpKind::log1p, {1e-30}), 1e-30);  // 1 + x would be 1
  EXPECT_EQ(at(OpKind::log1p, {-1.0}), -inf);
  for (OpKind kind : {OpKind::maximum, OpKind::minimum}) {
    EXPECT_TRUE(std::isnan(at(kind, {nan, 1})));
    EXPECT_TRUE(std::isnan(at(kind, {1, nan})));
  }
  EXPECT_EQ(at(OpKind::maximum, {-inf, 65504}), 65504);
  EXPECT_EQ(at(OpKind::logaddexp, {-inf, 65504}), 65504);
  for (double x : {-inf, inf}) EXPECT_EQ(at(OpKind::logaddexp, {x, x}), x);
  EXPECT_EQ(at(OpKind::logaddexp, {-inf, inf}), inf);
  EXPECT_TRUE(std::isnan(at(OpKind::logaddexp, {inf, nan})));
  for (OpKind kind : {OpKind::eq, OpKind::lt, OpKind::le, OpKind::gt, OpKind::ge}) {
    EXPECT_EQ(at(kind, {nan, nan}), 0) << name(kind);
    EXPECT_EQ(at(kind, {1, nan}), 0) << name(kind);
  }
  EXPECT_EQ(at(OpKind::ne, {nan, nan}), 1);
  EXPECT_EQ(at(OpKind::eq, {inf, inf}), 1);
  EXPECT_EQ(at(OpKind::eq, {0.0, -0.0}), 1);
  EXPECT_EQ(at(OpKind::lt, {0x1p-24, 0x1p-23}), 1);
  // Only the selected operand counts, and NaN is a condition that is not 0.
  EXPECT_EQ(at(OpKind::where, {1, 5, nan}), 5);
  EXPECT_EQ(at(OpKind::where, {0, inf, 5}), 5);
  EXPECT_EQ(at(OpKind::where, {nan, 5, 6}), 5);
  EXPECT_EQ(at(OpKind::where, {-0.0, 5, 6}), 6);
  EXPECT_TRUE(std::isnan(at(OpKind::relu, {nan})));
  EXPECT_TRUE(std::isnan(at(OpKind::clamp, {nan}, {.lo = 0, .hi = 1})));
}

TEST(Elementwise, AScalarStandsForTheLastOperandAsAFloat32) {
  Builder b("g");
  const TensorHandle X = b.input("X", {3, 5}, DType::f32), C = b.input("C", {1, 5}, DType::f32);
  b.output(X + 0.1, "sum");
  b.output(X - 0.1, "difference");
  b.output(X / 3.0, "quotient");
  b.output(pow(X, 2.0), "power");
  b.output(maximum(X, 0.1), "most");
  b.output(eq(X, 0.1), "same");
  b.output(ge(X, 0.1), "above");
  b.output(where(C, X, -inf), "masked");
  const KernelGraph g = b.build();
  reference::Array x{{3, 5}, {}}, c{{1, 5}, {0, 1, 0, -2, 0}};
  for (int i = 0; i < 15; ++i) x.values.push_back(i % 3 == 0 ? static_cast<double>(0.1f) : i * 0.5 - 3);
  const std::vector<reference::Array> y = reference::run_reference(g, {x, c});
  const auto f = [](double v) { return static_cast<double>(static_cast<float>(v)); };
  for (std::size_t i = 0; i < 15; ++i) {
    const double v = x.values[i], tenth = f(0.1);
    EXPECT_EQ(y[0].values[i], f(v + tenth));
    EXPECT_EQ(y[1].values[i], f(v - tenth));
    EXPECT_EQ(y[2].values[i], f(v / 3));
    EXPECT_EQ(y[3].values[i], f(v * v));
    EXPECT_EQ(y[4].values[i], std::max(v, tenth));
    EXPECT_EQ(y[5].values[i], v == tenth);
    EXPECT_EQ(y[6].values[i], v >= tenth);
    EXPECT_EQ(y[7].values[i], c.values[i % 5] == 0 ? -inf : v);
  }
  // The form keeps all of it, the infinity too.
  const std::string text = json::to_json(g);
  EXPECT_NE(text.find(R"("scalar":"-inf")"), std::string::npos) << text;
  EXPECT_EQ(json::to_json(json::from_json(json::parse_json(text, "json"), "g")), text);
}

TEST(Elementwise, ThreeOperandsBroadcast) {
  Builder b("g");
  const TensorHandle C = b.input("C", {4, 1, 1}, DType::f32), X = b.input("X", {1, 3, 1}, DType::f32),
                     Y = b.input("Y", {1, 1, 5}, DType::f32);
  b.output(where(C, X, Y), "Z");
  const reference::Array c{{4, 1, 1}, {0, 1, 2, 0}}, x{{1, 3, 1}, {10, 20, 30}}, y{{1, 1, 5}, {1, 2, 3, 4, 5}};
  const reference::Array z = reference::run_reference(b.build(), {c, x, y})[0];
  ASSERT_EQ(z.shape, (Shape{4, 3, 5}));
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 5; ++k)
        EXPECT_EQ(z.values[(i * 3 + j) * 5 + k], c.values[i] != 0 ? x.values[j] : y.values[k]);
}

/// Whatever an operand's error allows lies within the result's: the ends and the middle of random intervals.
TEST(Elementwise, ErrorsHoldWhatTheOperandsMayBe) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  int jumps = 0;
  for (OpKind kind : all_ops()) {
    if (!is_elementwise(kind)) continue;
    const int n = elementwise(kind).operands;
    for (int i = 0; i < 400; ++i) {
      std::vector<double> x, e;
      std::vector<reference::Uncertain> in;
      const Shape one{1};
      for (int k = 0; k < n; ++k) {
        x.push_back(std::round(uniform(random) * 16) / 4 - (kind == OpKind::log || kind == OpKind::sqrt ? 0 : 2));
        e.push_back(uniform(random) < 0.5 ? 0 : uniform(random) * 0.25);
      }
      for (int k = 0; k < n; ++k) in.push_back({{one, &x[k]}, &e[k]});
      const double y = at(kind, x);
      double error = -1;
      reference::propagate(kind, {}, DType::f32, in, {{one, &y}}, {&error});
      if (std::isnan(y)) continue;
      for (int trial = 0; trial < 20; ++trial) {
        std::vector<double> moved = x;
        for (int k = 0; k < n; ++k) moved[k] += e[k] * (trial == 0 ? 1 : trial == 1 ? -1 : 2 * uniform(random) - 1);
        const double z = at(kind, moved);
        jumps += std::fabs(z - y) == 1;
        EXPECT_FALSE(std::fabs(z - y) > error * (1 + 1e-9) + 1e-12)
            << name(kind) << ": " << x[0] << " +- " << e[0] << " gives " << y << " +- " << error << ", found " << z;
      }
    }
  }
  EXPECT_GT(jumps, 50);
}

}  // namespace
}  // namespace zellige::graph
