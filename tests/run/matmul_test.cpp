// matmul with a bias, of vectors and of batches that broadcast on the emulator, as separate kernels and
// inside blocks; and reductions and norms over several dimensions.
#include <random>

#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"

namespace zellige::run {
namespace {

using graph::BlockBuilder;
using graph::DType;
using graph::Shape;
using graph::TensorHandle;
using graph::TileHandle;

struct Param {
  DType dtype;
  const char* target;
};

class Matmuls : public testing::TestWithParam<Param> {
 protected:
  static reference::Array random(const Shape& shape, DType dtype, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::uniform_real_distribution<double> uniform(-2, 2);
    reference::Array a = reference::make_array(shape);
    for (double& v : a.values) v = graph::round_to(dtype, uniform(engine));
    return a;
  }
  DType product() const {
    const bool narrow = GetParam().dtype == DType::e4m3 || GetParam().dtype == DType::e5m2;
    return narrow ? DType::f32 : GetParam().dtype;
  }
  void expect_right(const graph::KernelGraph& g) const {
    std::vector<reference::Array> in;
    for (int t : g.inputs) {
      const graph::KernelTensor& x = g.tensors[static_cast<std::size_t>(t)];
      in.push_back(random(x.shape, x.dtype, 10 + static_cast<std::uint64_t>(t)));
    }
    const DType y = g.tensors[static_cast<std::size_t>(g.outputs[0])].dtype;
    const double step = y == DType::f32 ? 2e-5 : std::ldexp(1.0, -graph::format(y).mantissa);
    expect_as_reference(g, in, step, step * 2, GetParam().target);
  }
};

TEST_P(Matmuls, WithBias) {
  struct Case {
    Shape a, b, bias;
  };
  const std::vector<Case> cases = {
      {{37, 51}, {51, 29}, {29}},
      {{37, 51}, {51, 29}, {37, 1}},
      {{64, 64}, {64, 72}, {64, 72}},
      {{130, 136}, {136, 264}, {264}},
      {{3, 1, 17, 20}, {5, 20, 9}, {5, 1, 9}},
      {{1, 200}, {200, 33}, {1}},
      {{40, 33}, {33}, {40}},
      {{33}, {33, 40}, {40}},
      {{3, 40, 33}, {33}, {3, 1}},
      {{33}, {3, 33, 40}, {3, 1}},
      {{77}, {77}, {1}},
  };
  graph::Builder b("bias");
  for (const Case& c : cases) {
    const std::size_t n = static_cast<std::size_t>(&c - cases.data());
    const TensorHandle A = b.input(fmt::format("A{}", n), c.a, GetParam().dtype),
                       B = b.input(fmt::format("B{}", n), c.b, GetParam().dtype),
                       C = b.input(fmt::format("C{}", n), c.bias, product());
    b.output(matmul(A, B, C), fmt::format("biased{}", n));
    b.output(matmul(A, B), fmt::format("plain{}", n));
  }
  expect_right(b.build());
}

// Operands that are views, and what is made of the result.
TEST_P(Matmuls, WithBiasThroughViews) {
  graph::Builder b("views");
  const TensorHandle A = b.input("A", {24, 40}, GetParam().dtype, {1, 24}),
                     B = b.input("B", {30, 40}, GetParam().dtype), C = b.input("C", {2, 30}, product());
  const TensorHandle bias = slice(C, 0, 1, 2);
  b.output(matmul(A, permute(B, {1, 0}), bias), "transposed");
  b.output(relu(matmul(A, reshape(slice(B, 0, 3, 4), {40}))), "row_of_a_matrix");
  b.output(matmul(reshape(slice(B, 0, 3, 4), {40}), permute(B, {1, 0}), reshape(bias, {30})), "row_of_it");
  expect_right(b.build());
}

TEST_P(Matmuls, WithBiasInBlocks) {
  graph::Builder b("blocks");
  const TensorHandle A = b.input("A", {48, 96}, GetParam().dtype), B = b.input("B", {96, 40}, GetParam().dtype),
                     C = b.input("C", {40}, product()), D = b.input("D", {48, 40}, product());
  b.output(b.custom({.grid = {3}, .block = {64}},
                    [&](BlockBuilder& t) { t.store(matmul(t.load(A, {.x = 0}), t.load(B), t.load(C)), {.x = 0}); })
               .at(0),
           "once");
  b.output(b.custom({.grid = {3, 5}, .block = {64}, .loop = 3},
                    [&](BlockBuilder& t) {
                      const TileHandle a = t.load(A, {.x = 0, .loop = 1}), w = t.load(B, {.y = 1, .loop = 0});
                      t.store(accum(matmul(a, w, t.load(C, {.y = 0}))), {.x = 0, .y = 1});
                    })
               .at(0),
           "each_iteration");
  b.output(b.custom({.grid = {1, 2}, .block = {128}, .loop = 2},
                    [&](BlockBuilder& t) {
                      const TileHandle a = t.load(A, {.loop = 1}), w = t.load(B, {.loop = 0});
                      t.store(silu(accum(matmul(a, w)) + t.load(D)), {.y = 0});
                    })
               .at(0),
           "behind_the_loop");
  expect_right(b.build());
}

TEST_P(Matmuls, OfVectorsInBlocks) {
  graph::Builder b("vectors");
  const TensorHandle A = b.input("A", {6, 10, 48}, GetParam().dtype), V = b.input("V", {48}, GetParam().dtype),
                     C = b.input("C", {6, 10}, product()), D = b.input("D", {1}, product());
  const auto once = b.custom({.grid = {3}, .block = {64}}, [&](BlockBuilder& t) {
    const TileHandle a = t.load(A, {.x = 0}), v = t.load(V);
    t.store(matmul(a, v), {.x = 0});
    t.store(matmul(a, v, t.load(C, {.x = 0})) * 2, {.x = 0});
    t.store(matmul(v, permute(a, {0, 2, 1})) + t.load(C, {.x = 0}), {.x = 0});
  });
  const auto looped = b.custom({.block = {64}, .loop = 4}, [&](BlockBuilder& t) {
    const TileHandle a = t.load(A, {.loop = 2}), v = t.load(V, {.loop = 0});
    t.store(accum(matmul(a, v)));
    t.store(accum(matmul(v, v, t.load(D))));
  });
  for (std::size_t i = 0; i < once.size(); ++i) b.output(once[i], fmt::format("once{}", i));
  for (std::size_t i = 0; i < looped.size(); ++i) b.output(looped[i], fmt::format("looped{}", i));
  graph::Builder alone("alone");  // no tile has two dimensions
  const TensorHandle X = alone.input("X", {77}, GetParam().dtype), Y = alone.input("Y", {77}, GetParam().dtype);
  alone.output(alone.custom({.block = {32}}, [&](BlockBuilder& t) { t.store(matmul(t.load(X), t.load(Y))); })[0]);
  expect_right(b.build());
  expect_right(alone.build());
}

TEST_P(Matmuls, SumsAndNormsOverSeveralDimensions) {
  graph::Builder b("several");
  const TensorHandle X = b.input("X", {3, 7, 5, 20}, product()), W = b.input("W", {5, 20}, product());
  for (const Shape& dims : {Shape{0, 2}, {1, 3}, {2, 3}, {0, 1, 2, 3}}) {
    const std::string name = fmt::format("{}", fmt::join(dims, "_"));
    b.output(sum(X, dims), "sum_" + name);
    b.output(mean(X, dims, true), "mean_" + name);
    b.output(amax(X, dims), "amax_" + name);
    b.output(amin(X, dims), "amin_" + name);
    b.output(logsumexp(X, dims), "logsumexp_" + name);
    const auto made = b.custom({.grid = {1}, .block = {64}}, [&](BlockBuilder& t) {
      const TileHandle x = t.load(X);
      t.store(sum(x, dims, true));
      t.store(amin(x, dims, true));
    });
    b.output(made[0], "block_sum_" + name);
    b.output(made[1], "block_amin_" + name);
  }
  b.output(layer_norm(X, W, W, 1e-5), "layer");
  b.output(rms_norm(X, Shape{7, 5, 20}, 1e-5), "rms");
  b.output(b.custom({.grid = {7}, .block = {64}},
                    [&](BlockBuilder& t) {
                      const TileHandle x = t.load(X, {.x = 1}), w = t.load(W);
                      t.store(layer_norm(x, w, w, 1e-5), {.x = 1});
                    })
               .at(0),
           "block_layer");
  expect_right(b.build());
}

// Infinities, NaN, the smallest and the largest numbers, in a bias and among what is summed, as a kernel and in a block.
TEST_P(Matmuls, SpecialValues) {
  const DType y = product();
  const graph::Format f = graph::format(y);
  const double inf = std::numeric_limits<double>::infinity(), minimum = std::ldexp(f.min_normal, -f.mantissa);
  graph::Builder b("special");
  const TensorHandle A = b.input("A", {3, 16}, GetParam().dtype), B = b.input("B", {16, 8}, GetParam().dtype),
                     C = b.input("C", {8}, y), X = b.input("X", {4, 3, 8}, y);
  b.output(matmul(A, B, C), "biased");
  b.output(amax(X, Shape{1, 2}), "amax");
  b.output(amin(X, Shape{1, 2}), "amin");
  b.output(sum(X, Shape{1, 2}), "sum");
  b.output(logsumexp(X, Shape{1, 2}), "logsumexp");
  const auto made = b.custom({.block = {32}}, [&](BlockBuilder& t) {
    const TileHandle x = t.load(X);
    t.store(matmul(t.load(A), t.load(B), t.load(C)));
    t.store(permute(amax(x, 2), {1, 0}));
    t.store(sum(x, Shape{1, 2}));
  });
  for (std::size_t i = 0; i < made.size(); ++i) b.output(made[i], fmt::format("block{}", i));
  reference::Array a = reference::make_array({3, 16}), w = random({16, 8}, GetParam().dtype, 1),
                   x = random({4, 3, 8}, y, 2);
  a.values[16] = 1, a.values[40] = -2;  // the first row of the product is 0: the bias alone
  const reference::Array bias{{8}, {inf, -inf, NAN, minimum, -minimum, f.greatest, 0, 1}};
  x.values[5] = NAN, x.values[30] = inf, x.values[50] = -inf;
  for (std::size_t i = 72; i < 96; ++i) x.values[i] = -inf;  // a line of it alone
  const graph::KernelGraph g = b.build();
  const std::vector<reference::Array> reference = reference::run_reference(g, {a, w, bias, x});
  EXPECT_EQ(reference[0].values[3], minimum);
  EXPECT_EQ(reference[0].values[5], f.greatest);
  EXPECT_TRUE(std::isnan(reference[0].values[2]) && std::isnan(reference[1].values[0]));
  EXPECT_EQ(reference[1].values[1], inf);
  EXPECT_EQ(reference[2].values[2], -inf);
  EXPECT_EQ(reference[4].values[3], -inf);
  const double step = y == DType::f32 ? 2e-5 : std::ldexp(1.0, -f.mantissa);
  expect_as_reference(g, {a, w, bias, x}, step, minimum, GetParam().target);
}

INSTANTIATE_TEST_SUITE_P(DTypes, Matmuls,
                         testing::Values(Param{DType::f16, "sm_80"}, Param{DType::f16, "sm_90a"},
                                         Param{DType::bf16, "sm_90a"}, Param{DType::f32, "sm_80"},
                                         Param{DType::e4m3, "sm_80"}, Param{DType::e5m2, "sm_90a"}),
                         [](const auto& info) {
                           return fmt::format("{}_{}", graph::name(info.param.dtype), info.param.target);
                         });

}  // namespace
}  // namespace zellige::run
