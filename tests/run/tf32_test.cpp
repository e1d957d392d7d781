// Matmuls of f32 as tf32: only the operands lose 13 bits, with ties away from zero.
#include <bit>
#include <random>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using graph::TensorHandle;
using graph::TileHandle;
using reference::Array;

/// By arithmetic alone: to the nearest multiple of the last of ten bits, halves away from zero.
double ten_bits(double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  int exponent;
  std::frexp(x, &exponent);
  const double unit = std::ldexp(1.0, exponent - 11), steps = std::fabs(x) / unit;
  return std::copysign(std::floor(steps + 0.5) * unit, x);
}

TEST(Tf32, RoundsTiesAwayFromZero) {
  EXPECT_EQ(graph::round_to_tf32(1 + 0x1p-11), 1 + 0x1p-10);
  EXPECT_EQ(graph::round_to_tf32(-1 - 0x1p-11), -1 - 0x1p-10);
  EXPECT_EQ(graph::round_to_tf32(1 + 0x1.fp-12), 1);
  EXPECT_EQ(graph::round_to_tf32(0x1.fffffep127), INFINITY);
  EXPECT_EQ(graph::round_to_tf32(-INFINITY), -INFINITY);
  std::mt19937 engine(3);
  for (int i = 0; i < 100000; ++i) {
    const float x = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
    if (!(std::fabs(x) > 1e-30f && std::fabs(x) < 1e30f)) continue;
    ASSERT_EQ(graph::round_to_tf32(x), ten_bits(x)) << x;
  }
}

TEST(Tf32, ProductsOfBothLevels) {
  const std::int64_t m = 40, k = 96, n = 24;
  std::mt19937 engine(1);
  const auto random = [&](graph::Shape shape) {
    Array a = reference::make_array(std::move(shape));
    for (double& v : a.values) v = static_cast<float>(std::normal_distribution<double>()(engine));
    return a;
  };
  const Array a = random({m, k}), b = random({k, n});
  graph::Builder g("tf32");
  const TensorHandle A = g.input("A", {m, k}, DType::f32), B = g.input("B", {k, n}, DType::f32);
  g.output(matmul(A, B, true), "kernel");
  g.output(matmul(A, B), "exact");
  const auto body = [&](graph::BlockBuilder& t) {
    const TileHandle x = t.load(A, {.x = 0, .loop = 1}), y = t.load(B, {.loop = 0});
    t.store(accum(matmul(x, y, true)), {.x = 0});
    t.store(accum(matmul(x * 3.0, y, true)), {.x = 0});
  };
  const auto blocks = g.custom({.grid = {5}, .block = {64}, .loop = 3}, body);
  g.output(blocks[0], "block");
  g.output(blocks[1], "of_computed");
  const graph::KernelGraph whole = g.build();
  expect_as_reference(whole, {a, b}, 2e-6, 2e-5);
  const std::vector<Array> y = reference::run_reference(whole, {a, b});
  double difference = 0;
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0, scaled = 0;
      for (std::int64_t p = 0; p < k; ++p) {
        const double u = a.values[static_cast<std::size_t>(i * k + p)],
                     v = ten_bits(b.values[static_cast<std::size_t>(p * n + j)]);
        sum += ten_bits(u) * v;
        scaled += ten_bits(static_cast<float>(3 * u)) * v;
      }
      const auto at = static_cast<std::size_t>(i * n + j);
      ASSERT_EQ(y[0].values[at], static_cast<double>(static_cast<float>(sum)));
      ASSERT_EQ(y[2].values[at], y[0].values[at]);
      ASSERT_EQ(y[3].values[at], static_cast<double>(static_cast<float>(scaled)));
      difference = std::max(difference, std::fabs(y[1].values[at] - y[0].values[at]));
    }
  EXPECT_GT(difference, 1e-4);
}

/// A product as tf32 of random sizes: the operands in either order of dimensions, with or without batches, bias,
/// activation and an operand that the kernel computes.
graph::KernelGraph random_product(std::mt19937& engine, int number) {
  const auto upto = [&](int n) { return static_cast<std::int64_t>(engine() % static_cast<unsigned>(n)) + 1; };
  const std::int64_t batch = upto(3), m = upto(90), k = upto(150), n = upto(90);
  graph::Builder g(fmt::format("tf32_{}", number));
  const bool batches = batch > 1;
  const auto operand = [&](const char* name, std::int64_t rows, std::int64_t columns, bool shared) {
    graph::Shape shape{rows, columns};
    graph::Strides strides = engine() % 2 ? graph::Strides{columns, 1} : graph::Strides{1, rows};
    if (batches && !shared) shape.insert(shape.begin(), batch), strides.insert(strides.begin(), rows * columns);
    return g.input(name, shape, DType::f32, strides);
  };
  TensorHandle a = operand("A", m, k, engine() % 3 == 0);
  const TensorHandle b = operand("B", k, n, a.shape().size() == 3 && engine() % 2 == 0);
  if (engine() % 4 == 0) a = exp(a * 0.25);
  TensorHandle y = engine() % 2 ? matmul(a, b, g.input("C", {n}, DType::f32), true) : matmul(a, b, true);
  if (engine() % 3 == 0) y = silu(y);
  g.output(y, "Y");
  return g.build();
}

// Also that they are tensor cores' instructions: a product as tf32 has no other.
TEST(Tf32, RandomProductsOnTensorCores) {
  std::mt19937 engine(11);
  for (int i = 0; i < 24; i += static_cast<int>(test::every(3))) {
    const graph::KernelGraph g = random_product(engine, i);
    const char* target = i % 2 ? "sm_90a" : "sm_80";
    std::vector<Array> inputs;
    for (const int t : g.inputs) {
      Array& x = inputs.emplace_back(reference::make_array(g.tensors[static_cast<std::size_t>(t)].shape));
      for (double& v : x.values) v = static_cast<float>(std::normal_distribution<double>()(engine));
    }
    expect_as_reference(g, inputs, 1e-5, 5e-5, target);
    const std::string source = test::transpile(g, target::find(target)).source;
    EXPECT_NE(source.find("multiply<tfloat32_t"), std::string::npos) << g.name;
    EXPECT_EQ(source.find("multiply_outer"), std::string::npos) << g.name;
  }
}

// A plan with a chain in registers would read other columns than the first product left there.
TEST(Tf32, ChainedProducts) {
  graph::Builder g("tf32_attention");
  const TensorHandle Q = g.input("Q", {2, 64, 32}, DType::f32),
                     K = g.input("K", {2, 32, 128}, DType::f32, {4096, 1, 32}),
                     V = g.input("V", {2, 128, 32}, DType::f32);
  g.output(g.custom({.grid = {2}, .block = {128}, .loop = 4},
                    [&](graph::BlockBuilder& t) {
                      const TileHandle q = t.load(Q, {.x = 0}), k = t.load(K, {.x = 0, .loop = 2}),
                                       v = t.load(V, {.x = 0, .loop = 1});
                      const TileHandle e = exp(matmul(q, k, true) * 0.25);
                      t.store(accum(matmul(e, v, true)) / accum(reduction(e, 2)), {.x = 0});
                    })[0],
           "Y");
  const graph::KernelGraph whole = g.build();
  std::vector<Array> inputs;
  for (int i = 0; i < 3; ++i)
    inputs.push_back(integers(whole.tensors[static_cast<std::size_t>(whole.inputs[i])].shape, i));
  for (Array& x : inputs)
    for (double& v : x.values) v /= 8;
  for (const char* target : {"sm_80", "sm_90a"}) expect_as_reference(whole, inputs, 1e-3, 1e-3, target);
}

}  // namespace
}  // namespace zellige::run
