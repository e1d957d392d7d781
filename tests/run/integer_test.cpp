// Integer reductions and matmuls on the emulator and in the reference, against int32 loops, which wrap:
// every number must be equal.
#include <random>

#include "emulate_graph.hpp"
#include "graph/builder.hpp"

namespace zellige::run {
namespace {

using graph::BlockBuilder;
using graph::DType;
using graph::Shape;
using graph::TensorHandle;
using graph::TileHandle;
using reference::Array;

Array random(const Shape& shape, DType dtype, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  Array a = reference::make_array(shape);
  for (double& v : a.values)
    v = dtype == DType::int8 ? static_cast<double>(static_cast<std::int8_t>(engine()))
                             : static_cast<double>(static_cast<std::int32_t>(engine()));
  return a;
}

double wrapped(std::int64_t x) { return static_cast<double>(static_cast<std::int32_t>(x)); }

void expect_same(const std::vector<double>& found, const std::vector<double>& expected, const std::string& what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(found[i], expected[i]) << what << " at " << i;
}

class Integers : public testing::TestWithParam<const char*> {};

// 127 * 127 * 1500 exceeds 2^24: float32 could not represent it.
TEST_P(Integers, ProductsOfInt8) {
  const std::int64_t m = 21, k = 1500, n = 18;
  Array a = random({m, k}, DType::int8, 1), b = random({k, n}, DType::int8, 2), c = random({n}, DType::int32, 3);
  for (std::int64_t i = 0; i < k; ++i)
    a.values[static_cast<std::size_t>(i)] = i % 7 ? 127 : -128,
    b.values[static_cast<std::size_t>(i * n)] = i % 7 ? 127 : -128;
  graph::Builder g("int8");
  const TensorHandle A = g.input("A", {m, k}, DType::int8), B = g.input("B", {k, n}, DType::int8),
                     C = g.input("C", {n}, DType::int32);
  const TensorHandle y = matmul(A, B, C);
  EXPECT_EQ(y.dtype(), DType::int32);
  g.output(y, "biased");
  g.output(matmul(A, B), "unchanged");
  const auto made = g.custom({.grid = {3}, .block = {64}, .loop = 5}, [&](BlockBuilder& t) {
    const TileHandle product = matmul(t.load(A, {.x = 0, .loop = 1}), t.load(B, {.loop = 0}));
    t.store(accum(product), {.x = 0});
    t.store(accum_red_sum(product), {.x = 0});
  });
  g.output(made[0], "block");
  g.output(made[1], "rows");
  const graph::KernelGraph whole = g.build();
  std::vector<double> simple, biased, rows;
  for (std::int64_t i = 0; i < m; ++i) {
    std::int64_t row = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      std::int64_t sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += static_cast<std::int64_t>(a.values[static_cast<std::size_t>(i * k + p)]) *
               static_cast<std::int64_t>(b.values[static_cast<std::size_t>(p * n + j)]);
      simple.push_back(wrapped(sum));
      biased.push_back(wrapped(sum + static_cast<std::int64_t>(c.values[static_cast<std::size_t>(j)])));
      row += sum;
    }
    rows.push_back(wrapped(row));
  }
  EXPECT_GT(std::fabs(simple[0]), 0x1p24);
  const std::vector<Array> reference = reference::run_reference(whole, {a, b, c});
  const std::vector<std::vector<double>> found = emulate_graph(whole, {a, b, c}, GetParam());
  const std::vector<double>* expected[] = {&biased, &simple, &simple, &rows};
  for (std::size_t o = 0; o < 4; ++o) {
    expect_same(reference[o].values, *expected[o], fmt::format("reference {}", o));
    expect_same(found[o], *expected[o], fmt::format("output {}", o));
  }
}

TEST_P(Integers, Sums) {
  for (const DType dtype : {DType::int8, DType::int32}) {
    const Shape shape{6, 35, 22};
    const Array x = random(shape, dtype, 4);
    graph::Builder g("sums");
    const TensorHandle X = g.input("X", shape, dtype);
    g.output(sum(X, 1), "middle");
    g.output(sum(X, 2, true), "last");
    g.output(sum(X, std::vector<std::int64_t>{0, 1, 2}), "all");
    g.output(amax(X, 2), "greatest");
    const auto made = g.custom({.grid = {3}, .block = {64}, .loop = 7}, [&](BlockBuilder& t) {
      const TileHandle x = t.load(X, {.x = 0, .loop = 1});
      t.store(accum(sum(x, 1, true)), {.x = 0});
      t.store(accum_red_sum(x), {.x = 0});
      t.store(accum(x), {.x = 0});
      t.store(accum_redtox_sum(reduction(x, 2, 11), 1), {.x = 0});
    });
    for (std::size_t i = 0; i < made.size(); ++i) g.output(made[i], fmt::format("block{}", i));
    const graph::KernelGraph whole = g.build();
    std::vector<double> expected[8];
    const auto at = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      return static_cast<std::int64_t>(x.values[static_cast<std::size_t>((i * 35 + j) * 22 + k)]);
    };
    std::int64_t all = 0;
    for (std::int64_t i = 0; i < 6; ++i) {
      for (std::int64_t k = 0; k < 22; ++k) {
        std::int64_t sum = 0;
        for (std::int64_t j = 0; j < 35; ++j) sum += at(i, j, k);
        expected[0].push_back(wrapped(sum)), expected[4].push_back(wrapped(sum));
        all += sum;
      }
      for (std::int64_t j = 0; j < 35; ++j) {
        std::int64_t sum = 0, maximum = at(i, j, 0);
        for (std::int64_t k = 0; k < 22; ++k) sum += at(i, j, k), maximum = std::max(maximum, at(i, j, k));
        expected[1].push_back(wrapped(sum)), expected[3].push_back(static_cast<double>(maximum));
      }
      for (std::int64_t j = 0; j < 5; ++j) {  // of an iteration's tile, five rows, the rows of all iterations
        std::int64_t line = 0;
        for (std::int64_t k = 0; k < 22; ++k) {
          std::int64_t sum = 0;
          for (std::int64_t r = j; r < 35; r += 5) sum += at(i, r, k);
          expected[6].push_back(wrapped(sum)), line += sum;
        }
        expected[5].push_back(wrapped(line)), expected[7].push_back(wrapped(line));
      }
    }
    expected[2] = {wrapped(all)};
    const std::vector<Array> reference = reference::run_reference(whole, {x});
    const std::vector<std::vector<double>> found = emulate_graph(whole, {x}, GetParam());
    for (std::size_t o = 0; o < 8; ++o) {
      expect_same(reference[o].values, expected[o], fmt::format("{}: reference {}", name(dtype), o));
      expect_same(found[o], expected[o], fmt::format("{}: output {}", name(dtype), o));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Integers, testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace zellige::run
