// Masks by index on the emulator, at both levels, against rows computed in the test.
#include <random>

#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"

namespace zellige::run {
namespace {

using graph::BlockBuilder;
using graph::DType;
using graph::Kept;
using graph::Shape;
using graph::Split;
using graph::TensorHandle;
using graph::TileHandle;

reference::Array random(const Shape& shape, DType dtype, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  reference::Array a = reference::make_array(shape);
  for (double& v : a.values) v = graph::round_to(dtype, uniform(engine));
  return a;
}

bool keeps(const Kept& k, std::int64_t i, std::int64_t j) {
  return (!k.tril || j - i <= *k.tril) && (!k.triu || j - i >= *k.triu) && (!k.length || j < *k.length);
}

const std::vector<Kept> several{{.tril = 0},
                                {.tril = 5},
                                {.tril = 3, .triu = -2},
                                {.triu = 2, .length = 40},
                                {.length = 17},
                                {.tril = -3, .length = 30}};

class Masks : public testing::TestWithParam<const char*> {};

// One kernel a mask, along the last two dimensions, along others, and in blocks whose grid and loop cut them.
TEST_P(Masks, KeepTheirElements) {
  const Shape shape{3, 12, 50};
  const reference::Array x = random(shape, DType::f16, 1);
  for (const Kept& k : several) {
    graph::Builder b("masks");
    const TensorHandle X = b.input("X", shape);
    b.output(mask(X, k), "last");
    b.output(mask(X, k, 0.5, {2, 0}), "first");
    const auto block = [&](graph::Dim3 grid, std::int64_t loop, const Split& split, std::vector<std::int64_t> dims) {
      return b
          .custom({.grid = grid, .block = {64}, .loop = loop},
                  [&](BlockBuilder& t) {
                    const Split stored{split.x, split.y, split.z};
                    t.store(accum(t.mask(t.load(X, split), k, split, 0, dims)), stored);
                  })
          .at(0);
    };
    b.output(block({5, 2, 1}, 3, {.x = 2, .y = 1, .loop = 0}, {}),
             "sum_of_loop");  // tiles (1, 6, 10) summed over 0
    b.output(block({1, 3, 1}, 5, {.y = 1, .loop = 2}, {1, 2}), "keys_in_the_loop");
    b.output(block({2, 1, 3}, 2, {.x = 1, .z = 0, .loop = 1}, {2, 1}), "both_on_one");
    const graph::KernelGraph g = b.build();
    const auto y = emulate_graph(g, {x}, GetParam());
    const auto at = [&](std::int64_t a, std::int64_t i, std::int64_t j) {
      return x.values[static_cast<std::size_t>((a * 12 + i) * 50 + j)];
    };
    std::size_t n = 0;
    for (std::int64_t a = 0; a < 3; ++a)
      for (std::int64_t i = 0; i < 12; ++i)
        for (std::int64_t j = 0; j < 50; ++j, ++n) {
          ASSERT_EQ(y[0][n], keeps(k, i, j) ? at(a, i, j) : -INFINITY) << a << " " << i << " " << j;
          ASSERT_EQ(y[1][n], keeps(k, j, a) ? at(a, i, j) : 0.5) << a << " " << i << " " << j;
        }
    const auto near = [&](double found, double expected, const char* what, std::int64_t i, std::int64_t j) {
      ASSERT_NEAR(found, expected, 0x1p-9 * (1 + std::fabs(expected))) << what << " " << i << " " << j;
    };
    for (std::int64_t i = 0; i < 12; ++i)
      for (std::int64_t j = 0; j < 50; ++j) {
        double sum = 0;
        for (std::int64_t a = 0; a < 3; ++a) sum += keeps(k, i, j) ? at(a, i, j) : 0;
        near(y[2][static_cast<std::size_t>(i * 50 + j)], sum, "sum_of_loop", i, j);
      }
    for (std::int64_t a = 0; a < 3; ++a)
      for (std::int64_t i = 0; i < 12; ++i)
        for (std::int64_t j = 0; j < 10; ++j) {
          double sum = 0;
          for (std::int64_t s = j; s < 50; s += 10) sum += keeps(k, i, s) ? at(a, i, s) : 0;
          near(y[3][static_cast<std::size_t>((a * 12 + i) * 10 + j)], sum, "keys_in_the_loop", i, j);
        }
    for (std::int64_t a = 0; a < 3; ++a)
      for (std::int64_t part = 0; part < 2; ++part)
        for (std::int64_t r = 0; r < 3; ++r)
          for (std::int64_t j = 0; j < 50; ++j) {
            double sum = 0;
            for (std::int64_t i = part * 6 + r; i < part * 6 + 6; i += 3) sum += keeps(k, j, i) ? at(a, i, j) : 0;
            near(y[4][static_cast<std::size_t>((a * 6 + part * 3 + r) * 50 + j)], sum, "both_on_one", r, j);
          }
  }
}

// Lengths by batch, along the last dimension and along another, as a kernel and in blocks.
TEST_P(Masks, LengthsOfATensor) {
  const Shape shape{3, 12, 50};
  const reference::Array x = random(shape, DType::f16, 5);
  graph::Builder b("lengths");
  const TensorHandle X = b.input("X", shape), L = b.input("L", {3, 1, 1}, DType::int32),
                     M = b.input("M", {50}, DType::int32);
  b.output(mask(X, L, {.tril = 20}), "keys");
  b.output(mask(X, M, {}, 0.25, {0, 1}), "rows");
  b.output(b.custom({.grid = {3, 4}, .block = {64}, .loop = 5},
                    [&](BlockBuilder& t) {
                      const Split split{.x = 0, .y = 1, .loop = 2};
                      t.store(accum(t.mask(t.load(X, split), t.load(L, {.x = 0}), {.tril = 20}, split, 0)),
                              {.x = 0, .y = 1});
                    })
               .at(0),
           "block");
  reference::Array l{{3, 1, 1}, {17, 0, 60}}, m = reference::make_array({50});
  for (std::size_t i = 0; i < 50; ++i) m.values[i] = static_cast<double>(i % 16) - 2;
  const auto y = emulate_graph(b.build(), {x, l, m}, GetParam());
  std::size_t n = 0;
  for (std::int64_t a = 0; a < 3; ++a)
    for (std::int64_t i = 0; i < 12; ++i)
      for (std::int64_t j = 0; j < 50; ++j, ++n) {
        const bool kept = j - i <= 20 && static_cast<double>(j) < l.values[static_cast<std::size_t>(a)];
        ASSERT_EQ(y[0][n], kept ? x.values[n] : -INFINITY) << a << " " << i << " " << j;
        const bool row = static_cast<double>(i) < m.values[static_cast<std::size_t>(j)];
        ASSERT_EQ(y[1][n], row ? x.values[n] : 0.25) << a << " " << i << " " << j;
      }
  for (std::int64_t a = 0; a < 3; ++a)
    for (std::int64_t i = 0; i < 12; ++i)
      for (std::int64_t j = 0; j < 10; ++j) {
        double sum = 0;
        for (std::int64_t s = j; s < 50; s += 10)
          if (s - i <= 20 && static_cast<double>(s) < l.values[static_cast<std::size_t>(a)])
            sum += x.values[static_cast<std::size_t>((a * 12 + i) * 50 + s)];
        ASSERT_NEAR(y[2][static_cast<std::size_t>((a * 12 + i) * 10 + j)], sum, 0x1p-9 * (1 + std::fabs(sum)));
      }
}

/// Rows of attention in double, the mask's definition spelled out; 0 where nothing is kept.
std::vector<double> attention(const reference::Array& q, const reference::Array& k, const reference::Array& v,
                              const Kept& kept) {
  const std::int64_t m = q.shape[0], d = q.shape[1], n = k.shape[1], w = v.shape[1];
  std::vector<double> o(static_cast<std::size_t>(m * w), 0);
  for (std::int64_t i = 0; i < m; ++i) {
    std::vector<double> e(static_cast<std::size_t>(n), 0);
    double maximum = -INFINITY, total = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t j = 0; j < n; ++j) {
        if (!keeps(kept, i, j)) continue;
        double s = 0;
        for (std::int64_t c = 0; c < d; ++c)
          s += q.values[static_cast<std::size_t>(i * d + c)] * k.values[static_cast<std::size_t>(c * n + j)];
        s *= 0.25;
        if (pass == 0)
          maximum = std::max(maximum, s);
        else
          total += e[static_cast<std::size_t>(j)] = std::exp(s - maximum);
      }
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t c = 0; c < w && total > 0; ++c)
        o[static_cast<std::size_t>(i * w + c)] +=
            e[static_cast<std::size_t>(j)] / total * v.values[static_cast<std::size_t>(j * w + c)];
  }
  return o;
}

// The online softmax over tiles of keys, and safe_softmax over them all: causal at either corner, a window, a length; rows
// that keep nothing give 0.
TEST_P(Masks, InAttention) {
  const std::int64_t m = 32, n = 64;
  const reference::Array q = random({m, 16}, DType::f16, 2), k = random({16, n}, DType::f16, 3),
                         v = random({n, 16}, DType::f16, 4);
  for (const Kept& kept : {Kept{.tril = n - m}, {.tril = 4, .triu = -7}, {.tril = -5, .length = 21}}) {
    graph::Builder b("attention");
    const TensorHandle Q = b.input("Q", {m, 16}), K = b.input("K", {16, n}), V = b.input("V", {n, 16});
    b.output(matmul(safe_softmax(mask(matmul(Q, K) * 0.25, kept), 1), V), "plain");
    b.output(b.custom({.grid = {2}, .block = {64}, .loop = 4},
                      [&](BlockBuilder& t) {
                        const TileHandle scores = matmul(t.load(Q, {.x = 0}), t.load(K, {.loop = 1})) * 0.25;
                        const TileHandle s = t.mask(scores, kept, {.x = 0, .loop = 1});
                        const auto [max, diff] = graph::reduction_max(s, 1);
                        const TileHandle p = exp(s - max), r = exp(diff);
                        const TileHandle sum = accum_red_sum_rescale(p, r);
                        const TileHandle o = accum_rescale(matmul(p, t.load(V, {.loop = 0})), r);
                        t.store(o / maximum(sum, 1e-30), {.x = 0});
                      })
                 .at(0),
             "online");
    const auto y = emulate_graph(b.build(), {q, k, v}, GetParam());
    const std::vector<double> expected = attention(q, k, v, kept);
    for (std::size_t o = 0; o < 2; ++o)
      for (std::size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(y[o][i], expected[i], 4e-3) << "output " << o << ", element " << i;
  }
}

// The same of lengths that nothing but themselves divides evenly: 33 queries, 77 keys, 24 numbers a head. The loop has 7 tiles of
// 11 keys; rows that keep nothing are NaN over the sum alone, as softmax has them, and 0 over what is at least a small scalar.
TEST_P(Masks, InAttentionOfOddLengths) {
  const std::int64_t m = 33, n = 77;
  const reference::Array q = random({m, 24}, DType::f16, 6), k = random({24, n}, DType::f16, 7),
                         v = random({n, 24}, DType::f16, 8);
  for (const Kept& kept : {Kept{.tril = 0}, {.tril = n - m}, {.tril = 9, .triu = -2}, {.tril = -4, .length = 19}}) {
    graph::Builder b("odd");
    const TensorHandle Q = b.input("Q", {m, 24}), K = b.input("K", {24, n}), V = b.input("V", {n, 24}),
                       L = b.input("L", {1, 1}, DType::int32);
    const auto made = b.custom({.grid = {3}, .block = {128}, .loop = 7}, [&](BlockBuilder& t) {
      const Split place{.x = 0, .loop = 1};
      const TileHandle scores = matmul(t.load(Q, {.x = 0}), t.load(K, {.loop = 1})) * 0.25;
      const TileHandle s = t.mask(scores, t.load(L), kept, place);
      const auto [max, fell] = graph::reduction_max(s, 1);
      const TileHandle p = exp(s - max), r = exp(fell);
      const TileHandle sum = accum_red_sum_rescale(p, r), o = accum_rescale(matmul(p, t.load(V, {.loop = 0})), r);
      t.store(o / maximum(sum, 0x1p-126), {.x = 0});
      t.store(o / sum, {.x = 0});
      t.store(log(sum) + accum_max(max), {.x = 0});
    });
    for (TensorHandle y : made) b.output(y);
    for (const double length : {77.0, 40.0}) {
      Kept all = kept;
      all.length = std::min<std::int64_t>(kept.length.value_or(n), static_cast<std::int64_t>(length));
      const auto y = emulate_graph(b.build(), {q, k, v, {{1, 1}, {length}}}, GetParam());
      const std::vector<double> expected = attention(q, k, v, all);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i / 24);
        bool any = false;
        for (std::int64_t j = 0; j < n; ++j) any = any || keeps(all, row, j);
        ASSERT_NEAR(y[0][i], expected[i], 4e-3) << "element " << i;
        if (any)
          ASSERT_NEAR(y[1][i], expected[i], 4e-3) << "element " << i;
        else
          ASSERT_TRUE(std::isnan(y[1][i])) << "element " << i;
        if (!any) ASSERT_EQ(y[2][static_cast<std::size_t>(row)], -INFINITY);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, Masks, testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace zellige::run
