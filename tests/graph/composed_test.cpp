// Reductions, softmax and norms against explicit loops in long double over coordinates, which share no code
// with them.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <random>

#include "graph/builder.hpp"
#include "graph/compose.hpp"
#include "graph/ops.hpp"
#include "json/json.hpp"
#include "reference/reference.hpp"

namespace zellige::graph {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using Line = std::vector<long double>;

const reference::ReferenceOptions exact = [] {
  reference::ReferenceOptions o;
  o.round = false;
  return o;
}();

reference::Array random_array(const Shape& shape, std::uint64_t seed, double scale = 3) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-scale, scale);
  reference::Array a = reference::make_array(shape);
  for (double& v : a.values) v = uniform(random);
  return a;
}

/// Applies f to every row of x along `dim`; f returns the same number of values, or one.
template <class F>
reference::Array along(const reference::Array& x, int dim, const F& f) {
  std::int64_t inner = 1;
  for (std::size_t d = static_cast<std::size_t>(dim) + 1; d < x.shape.size(); ++d) inner *= x.shape[d];
  const std::int64_t n = x.shape[dim], outer = size(x.shape) / (n * inner);
  reference::Array y;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      Line line;
      for (std::int64_t k = 0; k < n; ++k) line.push_back(x.values[(o * n + k) * inner + i]);
      line = f(line);
      const auto m = static_cast<std::int64_t>(line.size());
      if (y.values.empty()) y.shape = x.shape, y.shape[dim] = m, y.values.resize(outer * m * inner);
      for (std::int64_t k = 0; k < m; ++k)
        y.values[(o * m + k) * inner + i] = static_cast<double>(line[static_cast<std::size_t>(k)]);
    }
  return y;
}

long double sum_of(const Line& x) {
  long double s = 0;
  for (long double v : x) s += v;
  return s;
}
Line exponentials(const Line& x, long double off) {
  Line e;
  for (long double v : x) e.push_back(std::exp(v - off));
  return e;
}
Line centred(Line x) {
  const long double m = sum_of(x) / static_cast<long double>(x.size());
  for (long double& v : x) v -= m;
  return x;
}
Line over_root(Line x, const Line& of, double eps) {
  long double squares = 0;
  for (long double v : of) squares += v * v;
  for (long double& v : x) v /= std::sqrt(squares / static_cast<long double>(x.size()) + eps);
  return x;
}

Line by_definition(OpKind kind, const Line& x) {
  switch (kind) {
    case OpKind::sum:
      return {sum_of(x)};
    case OpKind::mean:
      return {sum_of(x) / static_cast<long double>(x.size())};
    case OpKind::amax:
      return {*std::max_element(x.begin(), x.end())};
    case OpKind::prod:
      return {std::accumulate(x.begin(), x.end(), 1.0L, std::multiplies<>())};
    case OpKind::amin:
      return {*std::min_element(x.begin(), x.end())};
    case OpKind::logsumexp:
      return {std::log(sum_of(exponentials(x, 0)))};
    case OpKind::softmax:
    case OpKind::safe_softmax: {
      Line e = exponentials(x, 0);
      const long double s = sum_of(e);
      for (long double& v : e) v /= s;
      return e;
    }
    case OpKind::log_softmax: {
      Line y = x;
      for (long double& v : y) v -= std::log(sum_of(exponentials(x, 0)));
      return y;
    }
    case OpKind::rms_norm:
      return over_root(x, x, 0x1p-10);
    case OpKind::layer_norm:
      return over_root(centred(x), centred(x), 0x1p-10);
    default:
      ADD_FAILURE() << name(kind) << " has no expected values here";
      return x;
  }
}

void expect_near(const reference::Array& found, const reference::Array& expected, std::string_view what) {
  ASSERT_EQ(found.shape, expected.shape) << what;
  for (std::size_t i = 0; i < found.values.size(); ++i)
    ASSERT_NEAR(found.values[i], expected.values[i], 1e-12 * (1 + std::fabs(expected.values[i])))
        << what << " at " << i;
}

TEST(Composed, ValuesAreThoseOfTheDefinition) {
  const std::vector<Shape> shapes = {{7}, {5, 13}, {3, 1, 17}, {2, 3, 5, 7}};
  for (OpKind kind : all_ops()) {
    if (!is_composed(kind) || kind == OpKind::rotary) continue;
    const bool norm = kind == OpKind::rms_norm || kind == OpKind::layer_norm;
    for (const Shape& shape : shapes)
      for (int dim = norm ? static_cast<int>(shape.size()) - 1 : 0; dim < static_cast<int>(shape.size()); ++dim) {
        const reference::Array x = random_array(shape, static_cast<std::uint64_t>(dim) + shape.size());
        Builder b("g");
        const TensorHandle X = b.input("X", shape, DType::f32);
        const Attributes a{.dim = dim, .keepdim = true, .eps = 0x1p-10};
        b.output(append<KernelLevel>(kind, {X}, a)[0], "kept");
        if (reduces(kind)) b.output(append<KernelLevel>(kind, {X}, {.dim = dim})[0], "left_out");
        // A block's tile is the whole tensor: the same again.
        b.output(b.custom({.grid = {1}, .block = {32}},
                          [&](BlockBuilder& t) { t.store(append<BlockLevel>(kind, {t.load(X)}, a)[0]); })
                     .at(0),
                 "block");
        const KernelGraph g = b.build();
        const std::vector<reference::Array> y = reference::run_reference(g, {x}, exact);
        reference::Array expected = along(x, dim, [&](const Line& line) { return by_definition(kind, line); });
        expect_near(y.front(), expected, name(kind));
        expect_near(y.back(), expected, name(kind));
        if (y.size() == 3) {
          if (shape.size() > 1) expected.shape.erase(expected.shape.begin() + dim);
          expect_near(y[1], expected, name(kind));
        }
        EXPECT_EQ(json::to_json(json::from_json(json::parse_json(json::to_json(g), "json"), "g")), json::to_json(g))
            << name(kind);
      }
  }
}

/// Lines over several dimensions, by their coordinates: those elements that agree in the others.
TEST(Composed, OverSeveralDimensions) {
  const Shape shape{3, 4, 5, 2};
  const reference::Array x = random_array(shape, 9);
  const std::vector<Shape> several{{0, 2}, {2, 0}, {1, 2, 3}, {0, 1, 2, 3}, {3}, {0, 3}};
  std::vector<OpKind> reducing = all_ops();
  std::erase_if(reducing, [](OpKind kind) { return !reduces(kind); });
  for (OpKind kind : reducing)
    for (const Shape& dims : several) {
      const auto over = [&](std::size_t d) { return std::ranges::count(dims, static_cast<std::int64_t>(d)) > 0; };
      Shape kept = shape, left;
      for (std::size_t d = 0; d < shape.size(); ++d)
        if (over(d))
          kept[d] = 1;
        else
          left.push_back(shape[d]);
      if (left.empty()) left = {1};
      std::vector<Line> lines(static_cast<std::size_t>(size(kept)));
      for (std::size_t i = 0; i < x.values.size(); ++i) {
        const Shape at = coordinates(static_cast<std::int64_t>(i), shape);
        std::int64_t to = 0;
        for (std::size_t d = 0; d < shape.size(); ++d) to = to * kept[d] + (over(d) ? 0 : at[d]);
        lines[static_cast<std::size_t>(to)].push_back(x.values[i]);
      }
      Builder b("g");
      const TensorHandle X = b.input("X", shape, DType::f32);
      b.output(append<KernelLevel>(kind, {X}, {.sizes = dims, .keepdim = true})[0], "kept");
      b.output(append<KernelLevel>(kind, {X}, {.sizes = dims})[0], "left_out");
      b.output(b.custom({.grid = {1}, .block = {32}},
                        [&](BlockBuilder& t) {
                          t.store(append<BlockLevel>(kind, {t.load(X)}, {.sizes = dims, .keepdim = true})[0]);
                        })
                   .at(0),
               "block");
      const KernelGraph g = b.build();
      const std::vector<reference::Array> y = reference::run_reference(g, {x}, exact);
      reference::Array expected{kept, {}};
      for (const Line& line : lines) expected.values.push_back(static_cast<double>(by_definition(kind, line)[0]));
      expect_near(y[0], expected, name(kind));
      expect_near(y[2], expected, name(kind));
      expected.shape = left;
      expect_near(y[1], expected, name(kind));
      EXPECT_EQ(json::to_json(json::from_json(json::parse_json(json::to_json(g), "json"), "g")), json::to_json(g))
          << name(kind);
    }
}

TEST(Composed, NormsOverTheLastDimensions) {
  const reference::Array x = random_array({3, 4, 5}, 1), w = random_array({4, 5}, 2), c = random_array({4, 5}, 3);
  Builder b("g");
  const TensorHandle X = b.input("X", {3, 4, 5}, DType::f32), W = b.input("W", {4, 5}, DType::f32),
                     C = b.input("C", {4, 5}, DType::f32);
  b.output(layer_norm(X, W, C, 0x1p-17), "layer");
  b.output(rms_norm(X, Shape{4, 5}, 0x1p-20), "rms");
  b.output(layer_norm(X, Shape{3, 4, 5}, 0x1p-17), "all");
  const KernelGraph g = b.build();
  EXPECT_EQ(json::to_json(json::from_json(json::parse_json(json::to_json(g), "json"), "g")), json::to_json(g));
  const std::vector<reference::Array> y = reference::run_reference(g, {x, w, c}, exact);
  const Line whole(x.values.begin(), x.values.end());
  const Line all = over_root(centred(whole), centred(whole), 0x1p-17);
  for (std::size_t row = 0; row < 3; ++row) {
    const Line line(whole.begin() + static_cast<std::ptrdiff_t>(row * 20),
                    whole.begin() + static_cast<std::ptrdiff_t>(row * 20 + 20));
    const Line layer = over_root(centred(line), centred(line), 0x1p-17), rms = over_root(line, line, 0x1p-20);
    for (std::size_t i = 0; i < 20; ++i) {
      EXPECT_NEAR(y[0].values[row * 20 + i], static_cast<double>(layer[i]) * w.values[i] + c.values[i], 1e-12);
      EXPECT_NEAR(y[1].values[row * 20 + i], static_cast<double>(rms[i]), 1e-12);
      EXPECT_NEAR(y[2].values[row * 20 + i], static_cast<double>(all[row * 20 + i]), 1e-12);
    }
  }
}

TEST(Composed, NormsTakeWeightAndBias) {
  const reference::Array x = random_array({3, 2, 11}, 1), w = random_array({11}, 2), c = random_array({11}, 3);
  Builder b("g");
  const TensorHandle X = b.input("X", {3, 2, 11}, DType::f32), W = b.input("W", {11}, DType::f32),
                     C = b.input("C", {11}, DType::f32);
  b.output(layer_norm(X, W, C, 0x1p-17), "layer");
  b.output(rms_norm(X, W, 0x1p-20), "rms");
  b.output(layer_norm(X), "plain");
  const std::vector<reference::Array> y = reference::run_reference(b.build(), {x, w, c}, exact);
  for (std::size_t row = 0; row < 6; ++row) {
    const Line line(x.values.begin() + static_cast<std::ptrdiff_t>(row * 11),
                    x.values.begin() + static_cast<std::ptrdiff_t>(row * 11 + 11));
    const Line layer = over_root(centred(line), centred(line), 0x1p-17), rms = over_root(line, line, 0x1p-20),
               simple = over_root(centred(line), centred(line), 0);
    for (std::size_t i = 0; i < 11; ++i) {
      EXPECT_NEAR(y[0].values[row * 11 + i], static_cast<double>(layer[i]) * w.values[i] + c.values[i], 1e-12);
      EXPECT_NEAR(y[1].values[row * 11 + i], static_cast<double>(rms[i]) * w.values[i], 1e-12);
      EXPECT_NEAR(y[2].values[row * 11 + i], static_cast<double>(simple[i]), 1e-12);
    }
  }
}

TEST(Composed, SpecialValuesAreThoseOfPyTorch) {
  Builder b("g");
  const TensorHandle X = b.input("X", {6, 3}, DType::f32);
  b.output(softmax(X, 1), "softmax");
  b.output(log_softmax(X, 1), "log_softmax");
  b.output(logsumexp(X, 1), "logsumexp");
  b.output(amax(X, 1), "amax");
  b.output(amin(X, 1), "amin");
  b.output(sum(X, 1), "sum");
  const reference::Array x{{6, 3},
                           {-inf, -inf, -inf, 1e4, 1e4, -1e4, inf, 0, 1, NAN, 0, 1, -inf, 2, 2, -1e4, -1e4, -1e4}};
  const std::vector<reference::Array> y = reference::run_reference(b.build(), {x});
  const auto row = [&](int output, int r) {
    return std::vector<double>(y[output].values.begin() + r * 3, y[output].values.begin() + r * 3 + 3);
  };
  for (double v : row(0, 0)) EXPECT_TRUE(std::isnan(v));  // wholly masked
  EXPECT_EQ(row(0, 1), (std::vector<double>{0.5, 0.5, 0}));
  for (double v : row(0, 2)) EXPECT_TRUE(std::isnan(v) || v == 0);
  EXPECT_TRUE(std::isnan(row(0, 2)[0]));
  for (double v : row(0, 3)) EXPECT_TRUE(std::isnan(v));
  EXPECT_EQ(row(0, 4), (std::vector<double>{0, 0.5, 0.5}));
  EXPECT_EQ(row(1, 4)[0], -inf);
  const double third = static_cast<double>(static_cast<float>(1.0 / 3));
  EXPECT_EQ(row(0, 5), (std::vector<double>{third, third, third}));
  EXPECT_EQ(y[2].values[0], -inf);
  EXPECT_EQ(y[2].values[2], inf);
  EXPECT_TRUE(std::isnan(y[2].values[3]));
  EXPECT_NEAR(y[2].values[1], 1e4 + std::log(2), 0x1p-10);
  EXPECT_EQ(y[3].values[0], -inf);
  EXPECT_TRUE(std::isnan(y[3].values[3]) && std::isnan(y[4].values[3]));
  EXPECT_EQ(y[4].values[4], -inf);
  EXPECT_EQ(y[5].values[2], inf);
}

TEST(Composed, RanksBroadcast) {
  Builder b("g");
  const TensorHandle X = b.input("X", {2, 3, 5}, DType::f32), Y = b.input("Y", {5}, DType::f32),
                     Z = b.input("Z", {3, 1}, DType::f32);
  b.output(where(Y, X, Z), "where");
  b.output(Y + Z, "sum");
  const reference::Array x = random_array({2, 3, 5}, 4), y{{5}, {0, 1, 0, 2, 3}}, z{{3, 1}, {10, 20, 30}};
  const std::vector<reference::Array> out = reference::run_reference(b.build(), {x, y, z}, exact);
  ASSERT_EQ(out[0].shape, (Shape{2, 3, 5}));
  ASSERT_EQ(out[1].shape, (Shape{3, 5}));
  for (std::size_t i = 0; i < 30; ++i)
    EXPECT_EQ(out[0].values[i], y.values[i % 5] != 0 ? x.values[i] : z.values[i / 5 % 3]);
  for (std::size_t i = 0; i < 15; ++i) EXPECT_EQ(out[1].values[i], y.values[i % 5] + z.values[i / 5]);
}

}  // namespace
}  // namespace zellige::graph
