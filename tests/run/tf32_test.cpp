// Matmuls of f32 as tf32: only the operands lose 13 bits, with ties away from zero.
#include <bit>
#include <random>

#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"

namespace zellige::run {
namespace {

using graph::Array;
using graph::DType;
using graph::Tensor;
using graph::Tile;

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
    Array a = graph::make_array(std::move(shape));
    for (double& v : a.values) v = static_cast<float>(std::normal_distribution<double>()(engine));
    return a;
  };
  const Array a = random({m, k}), b = random({k, n});
  graph::Builder g("tf32");
  const Tensor A = g.input("A", {m, k}, DType::f32), B = g.input("B", {k, n}, DType::f32);
  g.output(matmul(A, B, true), "kernel");
  g.output(matmul(A, B), "exact");
  const auto body = [&](graph::BlockBuilder& t) {
    const Tile x = t.load(A, {.x = 0, .loop = 1}), y = t.load(B, {.loop = 0});
    t.store(accum(matmul(x, y, true)), {.x = 0});
    t.store(accum(matmul(x * 3.0, y, true)), {.x = 0});
  };
  const auto blocks = g.custom({.grid = {5}, .block = {64}, .loop = 3}, body);
  g.output(blocks[0], "block");
  g.output(blocks[1], "of_computed");
  const graph::KernelGraph whole = g.build();
  expect_as_reference(whole, {a, b}, 2e-6, 2e-5);
  const std::vector<Array> y = graph::run_reference(whole, {a, b});
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

}  // namespace
}  // namespace zellige::run
