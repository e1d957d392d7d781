// Masks by index on the emulator, at both levels, against rows computed here.
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
using graph::Tensor;
using graph::Tile;

graph::Array random(const Shape& shape, DType dtype, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  graph::Array a = graph::make_array(shape);
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
  const graph::Array x = random(shape, DType::f16, 1);
  for (const Kept& k : several) {
    graph::Builder b("masks");
    const Tensor X = b.input("X", shape);
    b.output(mask(X, k), "last");
    b.output(mask(X, k, 0.5, {2, 0}), "first");
    const auto block = [&](graph::Dim3 grid, std::int64_t loop, const Split& split,
                           std::vector<std::int64_t> dims) {
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
            for (std::int64_t i = part * 6 + r; i < part * 6 + 6; i += 3)
              sum += keeps(k, j, i) ? at(a, i, j) : 0;
            near(y[4][static_cast<std::size_t>((a * 6 + part * 3 + r) * 50 + j)], sum, "both_on_one", r, j);
          }
  }
}

/// Rows of attention in double, the mask's definition spelled out; 0 where nothing is kept.
std::vector<double> attention(const graph::Array& q, const graph::Array& k, const graph::Array& v,
                              const Kept& kept) {
  const std::int64_t m = q.shape[0], d = q.shape[1], n = k.shape[1], w = v.shape[1];
  std::vector<double> o(static_cast<std::size_t>(m * w), 0);
  for (std::int64_t i = 0; i < m; ++i) {
    std::vector<double> e(static_cast<std::size_t>(n), 0);
    double most = -INFINITY, total = 0;
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t j = 0; j < n; ++j) {
        if (!keeps(kept, i, j)) continue;
        double s = 0;
        for (std::int64_t c = 0; c < d; ++c)
          s += q.values[static_cast<std::size_t>(i * d + c)] * k.values[static_cast<std::size_t>(c * n + j)];
        s *= 0.25;
        if (pass == 0)
          most = std::max(most, s);
        else
          total += e[static_cast<std::size_t>(j)] = std::exp(s - most);
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
  const graph::Array q = random({m, 16}, DType::f16, 2), k = random({16, n}, DType::f16, 3),
                     v = random({n, 16}, DType::f16, 4);
  for (const Kept& kept : {Kept{.tril = n - m}, {.tril = 4, .triu = -7}, {.tril = -5, .length = 21}}) {
    graph::Builder b("attention");
    const Tensor Q = b.input("Q", {m, 16}), K = b.input("K", {16, n}), V = b.input("V", {n, 16});
    b.output(matmul(safe_softmax(mask(matmul(Q, K) * 0.25, kept), 1), V), "plain");
    b.output(b.custom({.grid = {2}, .block = {64}, .loop = 4},
                      [&](BlockBuilder& t) {
                        const Tile scores = matmul(t.load(Q, {.x = 0}), t.load(K, {.loop = 1})) * 0.25;
                        const Tile s = t.mask(scores, kept, {.x = 0, .loop = 1});
                        const auto [max, diff] = graph::reduction_max(s, 1);
                        const Tile p = exp(s - max), r = exp(diff);
                        const Tile sum = accum_red_sum_rescale(p, r);
                        const Tile o = accum_rescale(matmul(p, t.load(V, {.loop = 0})), r);
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

INSTANTIATE_TEST_SUITE_P(Targets, Masks, testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace zellige::run
