// Rotary embeddings on the emulator: both conventions, at both levels, of odd numbers of pairs, of views and
// of values computed in a block, with a cosine per pair and a cosine per element; expected results are
// computed in the test.
#include <random>

#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using graph::Shape;
using graph::TensorHandle;
using graph::TileHandle;

reference::Array random(const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  reference::Array a = reference::make_array(shape);
  for (double& v : a.values) v = graph::round_to(DType::f16, uniform(engine));
  return a;
}

/// Rows of n: `c` and `s` have a row for each token, of n or n / 2, and `heads` rows of x share it.
std::vector<double> rotated(const std::vector<double>& x, const std::vector<double>& c, const std::vector<double>& s,
                            std::int64_t n, std::int64_t heads, std::int64_t width, bool side_by_side) {
  std::vector<double> y(x.size());
  for (std::size_t row = 0; row < x.size() / static_cast<std::size_t>(n); ++row)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t other = side_by_side ? i ^ 1 : (i + n / 2) % n, pair = side_by_side ? i / 2 : i % (n / 2);
      const std::size_t table = row / static_cast<std::size_t>(heads) * static_cast<std::size_t>(width) +
                                static_cast<std::size_t>(width == n ? i : pair);
      const bool first = side_by_side ? i % 2 == 0 : i < n / 2;
      const std::size_t base = row * static_cast<std::size_t>(n);
      y[base + static_cast<std::size_t>(i)] = x[base + static_cast<std::size_t>(i)] * c[table] +
                                              (first ? -1 : 1) * x[base + static_cast<std::size_t>(other)] * s[table];
    }
  return y;
}

class Rotary : public testing::TestWithParam<const char*> {};

TEST_P(Rotary, BothConventions) {
  constexpr std::int64_t tokens = 6, heads = 3;
  for (const std::int64_t n : {32, 10, 2})
    for (const bool by_element : {false, true}) {
      if (by_element && n == 2) continue;
      const std::int64_t width = by_element ? n : n / 2;
      graph::Builder b(fmt::format("rotary_{}", n));
      const TensorHandle X = b.input("X", {tokens, heads, n}), C = b.input("C", {tokens, 1, width}),
                         S = b.input("S", {tokens, 1, width});
      b.output(rotary(X, C, S), "halves");
      b.output(rotary_interleaved(X, C, S), "pairs");
      const TensorHandle seen = permute(permute(X, {1, 0, 2}), {1, 0, 2});
      b.output(rotary_interleaved(seen, C, S), "of_a_view");
      const auto made = b.custom({.grid = {3}, .block = {64}}, [&](graph::BlockBuilder& t) {
        const TileHandle x = t.load(X, {.x = 0}), c = t.load(C, {.x = 0}), s = t.load(S, {.x = 0});
        t.store(rotary(x * 2.0, c, s), {.x = 0});
        t.store(-rotary_interleaved(-x * 2.0, c, s), {.x = 0});
      });
      b.output(made[0], "block_halves");
      b.output(made[1], "block_pairs");
      const reference::Array x = random({tokens, heads, n}, 1), c = random({tokens, 1, width}, 2),
                             s = random({tokens, 1, width}, 3);
      const auto y = emulate_graph(b.build(), {x, c, s}, GetParam());
      for (std::size_t o = 0; o < y.size(); ++o) {
        const std::vector<double> expected = rotated(x.values, c.values, s.values, n, heads, width, o != 0 && o != 3);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          const double e = expected[i] * (o < 3 ? 1 : 2);
          ASSERT_NEAR(y[o][i], e, 0x1p-9 * (1 + std::fabs(e))) << "n " << n << ", output " << o << ", element " << i;
        }
      }
    }
}

// On a matmul's accumulators, and on a matmul's operand.
TEST_P(Rotary, NextToProducts) {
  constexpr std::int64_t n = 32;
  graph::Builder b("beside_products");
  const TensorHandle X = b.input("X", {32, 64}), W = b.input("W", {64, n}), C = b.input("C", {32, n / 2}),
                     S = b.input("S", {32, n / 2}), V = b.input("V", {n, 16});
  const auto body = [&](bool side_by_side) {
    return b
        .custom({.grid = {2}, .block = {64}, .loop = 2},
                [&](graph::BlockBuilder& t) {
                  const TileHandle q = accum(matmul(t.load(X, {.x = 0, .loop = 1}), t.load(W, {.loop = 0})));
                  const TileHandle c = t.load(C, {.x = 0}), s = t.load(S, {.x = 0});
                  t.store(matmul(side_by_side ? rotary_interleaved(q, c, s) : rotary(q, c, s), t.load(V)), {.x = 0});
                })
        .at(0);
  };
  b.output(body(false), "halves");
  b.output(body(true), "pairs");
  const reference::Array x = random({32, 64}, 1), w = random({64, n}, 2), c = random({32, n / 2}, 3),
                         s = random({32, n / 2}, 4), v = random({n, 16}, 5);
  const auto product = [](const std::vector<double>& p, const std::vector<double>& q, std::size_t k) {
    const std::size_t rows = p.size() / k, columns = q.size() / k;
    std::vector<double> r(rows * columns, 0);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t a = 0; a < k; ++a) r[i * columns + j] += p[i * k + a] * q[a * columns + j];
    return r;
  };
  const auto y = emulate_graph(b.build(), {x, w, c, s, v}, GetParam());
  for (std::size_t o = 0; o < 2; ++o) {
    std::vector<double> q = rotated(product(x.values, w.values, 64), c.values, s.values, n, 1, n / 2, o == 1);
    for (double& e : q) e = graph::round_to(DType::f16, e);
    const std::vector<double> expected = product(q, v.values, n);
    for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(y[o][i], expected[i], 0.3) << o << " " << i;
  }
}

// Tables that are the same for all rows are read once for each column, and no element of them outside of a half's.
TEST_P(Rotary, OfColumnsWhoseGreatestIsTaken) {
  constexpr std::int64_t rows = 96, n = 8;
  graph::Builder b("of_columns");
  const TensorHandle X = b.input("X", {rows, n}), C = b.input("C", {1, n / 2}), S = b.input("S", {1, n / 2});
  b.output(
      b.custom({.grid = {1}, .block = {256}},
               [&](graph::BlockBuilder& t) { t.store(amax(rotary(t.load(X), t.load(C), t.load(S)), 0, true), {}); })
          .at(0),
      "Y");
  const reference::Array x = random({rows, n}, 1), c = random({1, n / 2}, 2), s = random({1, n / 2}, 3);
  const std::vector<double> q = rotated(x.values, c.values, s.values, n, rows, n / 2, false);
  const auto y = emulate_graph(b.build(), {x, c, s}, GetParam());
  for (std::int64_t i = 0; i < n; ++i) {
    double greatest = -1e9;
    for (std::int64_t r = 0; r < rows; ++r) greatest = std::max(greatest, q[static_cast<std::size_t>(r * n + i)]);
    EXPECT_NEAR(y[0][static_cast<std::size_t>(i)], greatest, 0.01) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Rotary, testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace zellige::run
