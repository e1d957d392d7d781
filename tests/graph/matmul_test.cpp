// matmul as in torch.matmul, and with a bias, against loops over coordinates: vectors on either side, batches
// that broadcast.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "graph/builder.hpp"
#include "json/json.hpp"
#include "reference/reference.hpp"

namespace zellige::graph {
namespace {

const reference::ReferenceOptions exact = [] {
  reference::ReferenceOptions o;
  o.round = false;
  return o;
}();

reference::Array random_array(const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  reference::Array a = reference::make_array(shape);
  for (double& v : a.values) v = uniform(random);
  return a;
}

/// An element by its coordinates, counted from the last; those that the array lacks, or of extent 1, broadcast.
double at(const reference::Array& a, const Shape& index) {
  const std::size_t skip = index.size() - a.shape.size();
  std::int64_t i = 0;
  for (std::size_t d = 0; d < a.shape.size(); ++d) i = i * a.shape[d] + (a.shape[d] == 1 ? 0 : index[d + skip]);
  return a.values[static_cast<std::size_t>(i)];
}

struct Case {
  Shape a, b, bias, y;  // no bias where it is empty
};
// The shapes are those of torch.matmul, but that two vectors give (1).
const std::vector<Case> cases = {
    {{5}, {5}, {}, {1}},
    {{5}, {5}, {1}, {1}},
    {{3, 5}, {5}, {}, {3}},
    {{3, 5}, {5}, {3}, {3}},
    {{3, 5}, {5}, {1}, {3}},
    {{5}, {5, 4}, {}, {4}},
    {{5}, {5, 4}, {4}, {4}},
    {{2, 3, 5}, {5}, {}, {2, 3}},
    {{2, 3, 5}, {5}, {2, 1}, {2, 3}},
    {{5}, {2, 5, 4}, {}, {2, 4}},
    {{5}, {2, 5, 4}, {2, 1}, {2, 4}},
    {{3, 5}, {5, 4}, {4}, {3, 4}},
    {{3, 5}, {5, 4}, {3, 1}, {3, 4}},
    {{3, 5}, {5, 4}, {3, 4}, {3, 4}},
    {{3, 5}, {5, 4}, {1}, {3, 4}},
    {{2, 1, 3, 5}, {7, 5, 4}, {7, 1, 4}, {2, 7, 3, 4}},
    {{1, 13}, {6, 13, 1}, {6, 1, 1}, {6, 1, 1}},
};

reference::Array by_definition(const Case& c, const reference::Array& a, const reference::Array& b,
                               const reference::Array& bias) {
  reference::Array y = reference::make_array(c.y);
  const bool row = c.a.size() > 1, column = c.b.size() > 1;
  for (std::size_t e = 0; e < y.values.size(); ++e) {
    Shape index = coordinates(static_cast<std::int64_t>(e), c.y), rest = index;
    const std::int64_t j = column ? rest.back() : 0;
    if (column) rest.pop_back();
    const std::int64_t i = row ? rest.back() : 0;
    if (row) rest.pop_back();
    if (!row && !column) rest.clear();
    long double sum = c.bias.empty() ? 0 : at(bias, index);
    for (std::int64_t k = 0; k < c.a.back(); ++k) {
      Shape ia = rest, ib = rest;
      if (row) ia.push_back(i);
      ia.push_back(k), ib.push_back(k);
      if (column) ib.push_back(j);
      const Shape only{k};
      sum += static_cast<long double>(at(a, row ? ia : only)) * at(b, column ? ib : only);
    }
    y.values[e] = static_cast<double>(sum);
  }
  return y;
}

TEST(Matmul, VectorsBatchesAndBias) {
  for (const Case& c : cases) {
    const reference::Array a = random_array(c.a, 1), b = random_array(c.b, 2),
                           bias = random_array(c.bias.empty() ? Shape{1} : c.bias, 3);
    Builder g("g");
    const TensorHandle A = g.input("A", c.a, DType::f32), B = g.input("B", c.b, DType::f32),
                       C = g.input("C", bias.shape, DType::f32);
    g.output(c.bias.empty() ? matmul(A, B) : matmul(A, B, C));
    const KernelGraph graph = g.build();
    const reference::Array y = reference::run_reference(graph, {a, b, bias}, exact)[0],
                           expected = by_definition(c, a, b, bias);
    ASSERT_EQ(y.shape, c.y) << to_string(c.a) << " " << to_string(c.b);
    for (std::size_t i = 0; i < y.values.size(); ++i) ASSERT_NEAR(y.values[i], expected.values[i], 1e-12);
    EXPECT_EQ(json::to_json(json::from_json(json::parse_json(json::to_json(graph), "json"), "g")),
              json::to_json(graph));
  }
}

// The sum is rounded once, not the product first: 2049 is no f16, and 2050 is one.
TEST(Matmul, IsRoundedOnceWithItsBias) {
  Builder g("g");
  const TensorHandle A = g.input("A", {1, 2}), B = g.input("B", {2, 1}), C = g.input("C", {1});
  g.output(matmul(A, B, C));
  g.output(matmul(A, B) + C);
  const std::vector<reference::Array> y =
      reference::run_reference(g.build(), {{{1, 2}, {2048, 1}}, {{2, 1}, {1, 1}}, {{1}, {1}}});
  EXPECT_EQ(y[0].values[0], 2050);
  EXPECT_EQ(y[1].values[0], 2048);
}

// Inside a block the product's operands are rounded, the bias is not: a third of 1 is not an f16.
TEST(Matmul, ABlocksBiasIsNotRounded) {
  Builder g("g");
  const TensorHandle A = g.input("A", {1, 1}), C = g.input("C", {1, 1}), D = g.input("D", {1, 1});
  for (TensorHandle y : g.custom({.block = {32}}, [&](BlockBuilder& t) {
         const TileHandle a = t.load(A), third = t.load(C) / 3;
         t.store((matmul(a, a, third) - t.load(D)) * 1024);
         t.store((matmul(third, t.load(C), a) - t.load(D)) * 1024);
       }))
    g.output(y);
  const double third = 1365.0 / 4096;  // the f16 nearest to 1/3
  const std::vector<reference::Array> y =
      reference::run_reference(g.build(), {{{1, 1}, {0}}, {{1, 1}, {1}}, {{1, 1}, {third}}});
  EXPECT_NEAR(y[0].values[0], 1024.0 / 3 - 1024 * third, 1e-4);
  EXPECT_EQ(y[1].values[0], 0);
}

TEST(Matmul, SpecialValuesOfABias) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  Builder g("g");
  const TensorHandle A = g.input("A", {1, 1}, DType::f32), B = g.input("B", {1, 4}, DType::f32),
                     C = g.input("C", {4}, DType::f32);
  g.output(matmul(A, B, C));
  const reference::Array y = reference::run_reference(
      g.build(), {{{1, 1}, {1}}, {{1, 4}, {1, inf, 1, -inf}}, {{4}, {-inf, -inf, NAN, -inf}}})[0];
  EXPECT_EQ(y.values[0], -inf);
  EXPECT_TRUE(std::isnan(y.values[1]));
  EXPECT_TRUE(std::isnan(y.values[2]));
  EXPECT_EQ(y.values[3], -inf);
}

TEST(Matmul, OfE4m3TakesABiasOfItsProduct) {
  Builder g("g");
  const TensorHandle A = g.input("A", {2, 3}, DType::e4m3), B = g.input("B", {3, 2}, DType::e4m3),
                     C = g.input("C", {2}, DType::f32);
  g.output(matmul(A, B, C));
  const KernelGraph graph = g.build();
  EXPECT_EQ(graph.tensors[static_cast<std::size_t>(graph.outputs[0])].dtype, DType::f32);
}

}  // namespace
}  // namespace zellige::graph
