// Tensors of f64 on the emulator: kernels compute in float64, as the reference does, and round nothing to float32.
#include <random>

#include "emulate_graph.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "graph/elementwise.hpp"
#include "graph/ops.hpp"
#include "run/npy.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using graph::OpKind;
using graph::Shape;
using graph::TensorHandle;
using graph::TileHandle;
using reference::Array;

constexpr double share = 1e-14, minimum = 1e-15;

/// Numbers of both signs with all bits of a float64's mantissa, of a few magnitudes.
Array numbers(const Shape& shape, unsigned seed, double least = -8, double most = 8) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(least, most);
  Array a = reference::make_array(shape);
  for (double& v : a.values) v = uniform(random);
  return a;
}

graph::KernelGraph fused(const graph::KernelGraph& g, const char* target = "sm_80") {
  return zellige::fuse::optimize(g, target::find(target)).graph;
}

TEST(Float64, IsStoredInEightBytes) {
  for (const double x : {0.1, -0.0, 1e-310, 0x1.fffffffffffffp1023, -1e300}) {
    EXPECT_EQ(graph::round_to(DType::f64, x), x);
    EXPECT_EQ(graph::from_bits(DType::f64, graph::to_bits(DType::f64, x)), x);
  }
  EXPECT_TRUE(std::isnan(graph::from_bits(DType::f64, graph::to_bits(DType::f64, NAN))));
  const std::string file = npy(DType::f64, {2}, {0.1, -1e300});
  EXPECT_NE(file.find("'<f8'"), file.npos);
}

/// A scalar of a graph of f64 is no float32, and neither are its limits.
TEST(Float64, HasScalarsOfItsOwn) {
  graph::Builder b("scalars");
  const TensorHandle x = b.input("x", {4}, DType::f64);
  b.output(x * 0.1, "scaled");
  b.output(clamp(x, -1e300, 0.3), "clamped");
  b.output(graph::made<graph::KernelLevel>({x}, OpKind::add, {.scalar = 1e-200}), "shifted");
  const Array in{{4}, {0.7, -1e301, 0, 5e-200}};
  const std::vector<Array> expected = reference::run_reference(b.build(), {in});
  EXPECT_EQ(expected[0].values, (std::vector<double>{0.7 * 0.1, -1e301 * 0.1, 0, 5e-200 * 0.1}));
  EXPECT_EQ(expected[1].values, (std::vector<double>{0.3, -1e300, 0, 5e-200}));
  EXPECT_EQ(expected[2].values, (std::vector<double>{0.7, -1e301, 1e-200, 5e-200 + 1e-200}));
  expect_as_reference(b.build(), {in}, 0, 0);
}

TEST(Float64, EachElementwiseOperatorIsComputedInIt) {
  graph::Builder b("elementwise");
  const Shape shape{7, 33};
  const TensorHandle x = b.input("x", shape, DType::f64), y = b.input("y", shape, DType::f64),
                     p = b.input("p", shape, DType::f64);
  for (const OpKind kind : graph::all_ops()) {
    if (!graph::is_elementwise(kind) || kind == OpKind::cast) continue;
    const bool positive = kind == OpKind::log || kind == OpKind::log1p || kind == OpKind::sqrt ||
                          kind == OpKind::rsqrt || kind == OpKind::pow;
    std::vector<TensorHandle> all{positive ? p : x, y, p};
    all.resize(static_cast<std::size_t>(graph::elementwise(kind).operands));
    b.output(graph::append(kind, all, {.scalar = 0.1, .lo = -0.3, .hi = 0.7})[0],
             fmt::format("{}_", graph::name(kind)));
  }
  expect_as_reference(b.build(), {numbers(shape, 6101), numbers(shape, 6102), numbers(shape, 6103, 0.01, 4)}, share,
                      minimum);
}

TEST(Float64, IsReducedInIt) {
  graph::Builder b("reductions");
  const Shape shape{5, 300};
  const TensorHandle x = b.input("x", shape, DType::f64);
  for (const int dim : {0, 1}) {
    const std::string of = std::to_string(dim);
    b.output(sum(x, dim), "sum" + of);
    b.output(mean(x, dim), "mean" + of);
    b.output(amax(x, dim), "amax" + of);
    for (const OpKind kind : {OpKind::logsumexp, OpKind::softmax, OpKind::log_softmax})
      if (dim == 1)
        b.output(graph::made<graph::KernelLevel>({x}, kind, {.dim = dim}), std::string(graph::name(kind)) + of);
  }
  b.output(graph::made<graph::KernelLevel>({x * 0.2 + 0.9}, OpKind::prod, {.dim = 0}), "prod");
  b.output(graph::made<graph::KernelLevel>({x}, OpKind::rms_norm, {.eps = 1e-12}), "rms");
  b.output(graph::made<graph::KernelLevel>({x}, OpKind::layer_norm, {.eps = 1e-12}), "layer");
  const Array in = numbers(shape, 6110);
  expect_as_reference(fused(b.build(), "sm_90a"), {in}, 1e-13, 1e-13, "sm_90a");
}

/// What lies beyond float32's range is no infinity in a maximum, a softmax, a sum.
TEST(Float64, HasItsRange) {
  graph::Builder b("range");
  const TensorHandle x = b.input("x", {3, 40}, DType::f64);
  b.output(amax(x, 1), "amax");
  b.output(graph::made<graph::KernelLevel>({x}, OpKind::softmax, {.dim = 1}), "softmax");
  b.output(graph::made<graph::KernelLevel>({x}, OpKind::safe_softmax, {.dim = 1}), "safe");
  b.output(graph::made<graph::KernelLevel>({x}, OpKind::logsumexp, {.dim = 1}), "logsumexp");
  b.output(sum(x, 1), "sum");
  Array in = numbers({3, 40}, 6120);
  for (std::size_t i = 0; i < 40; ++i)
    in.values[i] = -1e300 - static_cast<double>(i) * 1e290, in.values[40 + i] *= 1e200;
  expect_as_reference(fused(b.build()), {in}, 1e-13, 0);
}

TEST(Float64, IsCastFromAndToEachType) {
  graph::Builder b("casts");
  const TensorHandle x = b.input("x", {96}, DType::f64);
  std::vector<Array> in{numbers({96}, 6130, -300, 300)};
  const double corners[] = {3e9,        -3e9,        1e20, -1e20, 1e300, NAN, INFINITY, -0.0, 1 + 0x1p-11 + 0x1p-40,
                            0x1p53 + 2, 2147483647.6};
  std::ranges::copy(corners, in[0].values.begin());
  for (const DType d : graph::all_dtypes()) {
    if (graph::is_weight_only(d)) continue;
    b.output(cast(x, d), fmt::format("to_{}", graph::name(d)));
    if (d != DType::boolean) b.output(cast(x, d, true), fmt::format("saturated_{}", graph::name(d)));
    const TensorHandle y = b.input(fmt::format("y_{}", graph::name(d)), {32}, d);
    b.output(cast(y, DType::f64), fmt::format("from_{}", graph::name(d)));
    Array given = numbers({32}, 6131, -100, 100);
    for (double& v : given.values) v = graph::round_to(d, v);
    in.push_back(std::move(given));
  }
  const graph::KernelGraph g = b.build();
  expect_as_reference(g, in, 0, 0);
  // As PyTorch does: to float32 first, which drops 2^-40, so that what is left is a tie.
  const std::vector<Array> made = reference::run_reference(g, in);
  for (std::size_t o = 0; o < made.size(); ++o)
    if (g.tensors[static_cast<std::size_t>(g.outputs[o])].name == "to_f16") EXPECT_EQ(made[o].values[8], 1);
}

TEST(Float64, IsMultipliedAndMaskedInIt) {
  graph::Builder b("products");
  const TensorHandle x = b.input("x", {3, 17, 70}, DType::f64), w = b.input("w", {70, 21}, DType::f64),
                     bias = b.input("bias", {21}, DType::f64);
  const TensorHandle y = matmul(x, w, bias);
  b.output(y, "y");
  b.output(graph::made<graph::KernelLevel>({y}, OpKind::mask, {.sizes = {1, 2}, .kept = {.tril = 0}, .value = -1e300}),
           "masked");
  const std::vector<Array> in{numbers({3, 17, 70}, 6140), numbers({70, 21}, 6141), numbers({21}, 6142)};
  expect_as_reference(fused(b.build()), in, 1e-13, 1e-12);
}

/// A chain of elementwise operators and a reduction is one kernel, as in float32.
TEST(Float64, AChainIsOneKernel) {
  graph::Builder b("chain");
  const TensorHandle x = b.input("x", {64, 512}, DType::f64), y = b.input("y", {64, 512}, DType::f64);
  b.output(sum(silu(x * y + 0.1) * exp(x * 0.01), 1, true), "z");
  const graph::KernelGraph g = fused(b.build());
  EXPECT_EQ(g.ops.size(), 1u);
  expect_as_reference(g, {numbers({64, 512}, 6150), numbers({64, 512}, 6151)}, 1e-13, 1e-12);
}

/// Accumulators over a loop, and the running maximum of online softmax.
TEST(Float64, AccumulatesOverALoop) {
  graph::Builder b("loop");
  const TensorHandle x = b.input("x", {32, 256}, DType::f64);
  const auto tiles = b.custom({.grid = {4}, .block = {64}, .loop = 8}, [&](graph::BlockBuilder& t) {
    const TileHandle v = t.load(x, {.x = 0, .loop = 1});
    t.store(accum_red_sum(v), {.x = 0});
    t.store(accum(v * v), {.x = 0});
    t.store(accum_max(v), {.x = 0});
    t.store(accum_red_rms(v), {.x = 0});
  });
  for (std::size_t i = 0; i < tiles.size(); ++i) b.output(tiles[i], fmt::format("t{}", i));
  Array in = numbers({32, 256}, 6160);
  for (std::size_t i = 0; i < 256; ++i)
    in.values[i] = -1e100 * (1 + static_cast<double>(i));  // below the lowest float32
  expect_as_reference(b.build(), {in}, 1e-13, 0);
}

}  // namespace
}  // namespace zellige::run
