// Reductions, softmax and norms as separate kernels and inside blocks: odd sizes, any dimension, weights of
// lower rank, results without the dimension, fully masked rows and scores of 1e4.
#include <random>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "graph/compose.hpp"
#include "graph/dtype.hpp"
#include "graph/ops.hpp"
#include "plan/plan.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using graph::OpKind;
using graph::Shape;
using graph::TensorHandle;

class Composed : public testing::TestWithParam<DType> {
 protected:
  /// Rounded to the dtype, so that a block and the reference start from the same.
  reference::Array random(const Shape& shape, std::uint64_t seed) const {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> uniform(-3, 3);
    reference::Array a = reference::make_array(shape);
    for (double& v : a.values) v = graph::round_to(GetParam(), uniform(engine));
    return a;
  }
  void expect_right(const graph::KernelGraph& g, const std::vector<reference::Array>& in,
                    const char* target = "sm_80") const {
    const graph::Format f = graph::format(GetParam());
    if (GetParam() == DType::f32) return expect_as_reference(g, in, 4e-6, 4e-6, target);
    const double step = std::ldexp(1.0, -f.mantissa);
    expect_as_reference(g, in, step, std::max(0x1p-20, f.min_normal * step), target);
  }
};

TEST_P(Composed, AlongAnyDimension) {
  for (const Shape& shape : {Shape{77}, Shape{5, 131}, Shape{3, 33, 9}}) {
    // For dtypes of equal width every rank is compiled for one only: they do not differ in anything that
    // depends on it.
    const bool of_rank_3 = GetParam() == DType::bf16 || GetParam() == DType::e4m3;
    if (GetParam() != DType::f32 && !test::all_cases() && (shape.size() == 3) != of_rank_3) continue;
    graph::Builder b(fmt::format("rank_{}", shape.size()));
    const TensorHandle X = b.input("X", shape, GetParam());
    const int rank = static_cast<int>(shape.size());
    int number = 0;  // of the operator: by default each is taken along one dimension, the next along the next
    for (OpKind kind : graph::all_ops()) {
      if ((!graph::is_composed(kind) && kind != OpKind::amax) || kind == OpKind::rotary) continue;
      const bool norm = kind == OpKind::rms_norm || kind == OpKind::layer_norm;
      ++number;
      for (int dim = norm ? rank - 1 : 0; dim < rank; ++dim) {
        if (!norm && !test::all_cases() && dim != number % rank) continue;
        const auto of = [&](bool keepdim) { return graph::Attributes{.dim = dim, .keepdim = keepdim, .eps = 1e-3}; };
        b.output(graph::append<graph::KernelLevel>(kind, {X}, of(false))[0], fmt::format("{}_{}", name(kind), dim));
        const auto body = [&](graph::BlockBuilder& t) {
          t.store(graph::append<graph::BlockLevel>(kind, {t.load(X)}, of(true))[0]);
        };
        b.output(b.custom({.grid = {1}, .block = {64}}, body).at(0), fmt::format("{}_{}_block", name(kind), dim));
      }
    }
    expect_right(b.build(), {random(shape, 1)});
  }
}

TEST_P(Composed, NormsWithWeightAndBiasAndRanksThatBroadcast) {
  graph::Builder b("norms");
  const TensorHandle X = b.input("X", {2, 7, 96}, GetParam()), W = b.input("W", {96}, GetParam()),
                     C = b.input("C", {96}, GetParam());
  const TensorHandle y = layer_norm(X, W, C, 1e-5);
  b.output(y, "layer");
  b.output(rms_norm(y + C, W, 1e-6), "rms");  // of an intermediate
  b.output(mean(y, 1) * W, "mean");           // without its dimension, and read on
  b.output(X + sum(W * C, 0), "scalar_of_a_vector");
  const auto body = [&](graph::BlockBuilder& t) {
    const graph::TileHandle x = t.load(X, {.x = 1}), w = t.load(W), c = t.load(C);
    t.store(layer_norm(x, w, c, 1e-5), {.x = 1});
    t.store(x * w + c, {.x = 1});
  };
  const auto made = b.custom({.grid = {7}, .block = {64}}, body);
  b.output(made[0], "block_layer");
  b.output(made[1], "block_sum");
  expect_right(b.build(), {random({2, 7, 96}, 2), random({96}, 3), random({96}, 4)});
  graph::Builder one("one");  // a result that several blocks do not share
  const TensorHandle V = one.input("V", {33}, GetParam()), M = one.input("M", {4, 33}, GetParam());
  const auto rows = one.custom({.grid = {1}, .block = {32}}, [&](graph::BlockBuilder& t) {
    const graph::TileHandle v = t.load(V), m = t.load(M);
    t.store(v + v);
    t.store(where(gt(v, 0.0), m, v));
  });
  one.output(rows[0], "twice");
  one.output(rows[1], "selected");
  expect_right(one.build(), {random({33}, 5), random({4, 33}, 6)});
}

TEST_P(Composed, MaskedRowsAndLargeScores) {
  graph::Builder b("masked");
  const TensorHandle X = b.input("X", {9, 40}, GetParam()), M = b.input("M", {9, 40}, GetParam());
  const TensorHandle scores = where(M, X, -std::numeric_limits<double>::infinity());
  b.output(softmax(scores, 1), "softmax");
  b.output(logsumexp(scores, 1), "logsumexp");
  b.output(amax(scores, 1), "amax");
  b.output(b.custom({.grid = {3}, .block = {64}},
                    [&](graph::BlockBuilder& t) {
                      const graph::TileHandle s =
                          where(t.load(M, {.x = 0}), t.load(X, {.x = 0}), -std::numeric_limits<double>::infinity());
                      t.store(softmax(s, 1), {.x = 0});
                    })
               .at(0),
           "block");
  reference::Array x = random({9, 40}, 7), m = reference::make_array({9, 40});
  for (std::size_t i = 0; i < x.values.size(); ++i) {
    m.values[i] = i / 40 == 2 ? 0 : i / 40 == 5 ? 1 : static_cast<double>(i % 3 != 0);  // row 2 wholly masked
    if (i / 40 == 4) x.values[i] = graph::round_to(GetParam(), i % 2 ? 1e4 : -1e4);
  }
  const graph::KernelGraph g = b.build();
  const reference::Array y = reference::run_reference(g, {x, m})[0];
  EXPECT_TRUE(std::isnan(y.values[2 * 40]));
  EXPECT_EQ(std::isnan(y.values[3 * 40]), GetParam() == DType::e4m3);  // which stores no -inf
  expect_right(g, {x, m}, "sm_90a");
}

/// A row of elements, several warps to a row, columns, and the iterations of a loop: each is one reduction, of a maximum
/// and a sum. Rows of -inf alone, with an infinity, with a NaN, and of the lowest finite number.
TEST_P(Composed, LogsumexpTakesOnePass) {
  if (graph::bits(GetParam()) < 16) return;  // no infinity, or too few digits for most rows
  for (const char* target : {"sm_80", "sm_90a"}) {
    graph::Builder b("passes");
    const TensorHandle X = b.input("X", {8, 1027}, GetParam()), L = b.input("L", {1, 8001}, GetParam()),
                       R = b.input("R", {8, 4 * 96}, GetParam());
    b.output(logsumexp(X, 1), "rows");
    b.output(logsumexp(X, 0), "columns");
    b.output(logsumexp(X * 0.5 + X, 1), "computed");
    b.output(logsumexp(L, 1), "long");
    const auto looped = b.custom({.grid = {4}, .block = {64}, .loop = 4}, [&](graph::BlockBuilder& t) {
      const graph::TileHandle r = t.load(R, {.x = 0, .loop = 1});
      t.store(accum_logsumexp(logsumexp(r, 1, true)), {.x = 0});
      t.store(accum_logsumexp(r), {.x = 0});
      t.store(accum_logsumexp(logsumexp(r, 0, true)), {.x = 0});
    });
    for (std::size_t i = 0; i < looped.size(); ++i) b.output(looped[i], fmt::format("looped_{}", i));
    std::vector<reference::Array> in{random({8, 1027}, 7), random({1, 8001}, 8), random({8, 4 * 96}, 9)};
    for (reference::Array& x : in) {
      const auto n = static_cast<std::size_t>(x.shape[1]);
      constexpr double inf = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < n && x.shape[0] > 1; ++i) {
        x.values[i] = -inf;
        if (i % 3 == 1) x.values[2 * n + i] = -inf;
        x.values[3 * n + i] = -graph::format(GetParam()).greatest;
      }
      if (x.shape[0] == 1) continue;
      x.values[4 * n + n / 2] = inf;
      x.values[5 * n + n / 3] = std::numeric_limits<double>::quiet_NaN();
      x.values[6 * n + n - 1] = -inf;
    }
    const graph::KernelGraph g = b.build();
    for (const kernel::Kernel& k : test::make_plan(g, target::find(target)).kernels)
      EXPECT_LE(std::ranges::count(k.program.nodes, tile::NodeKind::reduce, &tile::Node::kind), 2) << k.program.name;
    expect_right(g, in, target);
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, Composed,
                         testing::Values(DType::f32, DType::f16, DType::bf16, DType::e4m3, DType::e5m2),
                         [](const auto& info) { return std::string(graph::name(info.param)); });

}  // namespace
}  // namespace zellige::run
