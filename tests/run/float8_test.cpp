// Matmuls of e4m3 and e5m2: by m16n8k32, unpacked to halves on sm_90a, where the target has it and both operands lie along K,
// otherwise as f16.
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

/// Random inputs of the graph, representable in their dtypes.
std::vector<Array> inputs_of(const graph::KernelGraph& g, std::mt19937& engine) {
  std::vector<Array> inputs;
  for (const int t : g.inputs) {
    const graph::KernelTensor& tensor = g.tensors[static_cast<std::size_t>(t)];
    Array& x = inputs.emplace_back(reference::make_array(tensor.shape));
    for (double& v : x.values) v = graph::round_to(tensor.dtype, std::normal_distribution<double>()(engine));
  }
  return inputs;
}

std::string source_of(const graph::KernelGraph& g, const char* target) {
  return test::transpile(g, target::find(target)).source;
}
bool has(const std::string& source, const char* text) { return source.find(text) != std::string::npos; }

struct Drawn {
  graph::KernelGraph graph;
  DType dtype;
  bool along_k;  // both operands
};

/// A product of random sizes: with or without batches, bias, residual, activation and an operand that the kernel computes;
/// the operands along K, or else along M or N.
Drawn random_float8_product(std::mt19937& engine, int number) {
  const auto upto = [&](int n) { return static_cast<std::int64_t>(engine() % static_cast<unsigned>(n)) + 1; };
  const DType dtype = number % 2 ? DType::e5m2 : DType::e4m3;
  const std::int64_t batch = upto(3), m = upto(number % 3 == 0 ? 300 : 40) + 1, k = upto(230) + 1, n = upto(100) + 1;
  graph::Builder g(fmt::format("float8_{}", number));
  bool along_k = true;
  const bool computed = engine() % 4 == 0;  // by a kernel of its own, which stores it row-major
  const auto operand = [&](const char* name, std::int64_t rows, std::int64_t columns, bool k_last, bool shared) {
    const bool along = engine() % 6 != 0;
    along_k = along_k && (along || (k_last && computed));
    graph::Shape shape{rows, columns};
    graph::Strides strides = along == k_last ? graph::Strides{columns, 1} : graph::Strides{1, rows};
    if (batch > 1 && !shared) shape.insert(shape.begin(), batch), strides.insert(strides.begin(), rows * columns);
    return g.input(name, shape, dtype, strides);
  };
  TensorHandle a = operand("A", m, k, true, engine() % 3 == 0);
  const TensorHandle b = operand("B", k, n, false, a.shape().size() == 3 && engine() % 2 == 0);
  if (computed) a = cast(exp(cast(a, DType::f32) * 0.25), dtype);
  TensorHandle y = engine() % 2 ? matmul(a, b, g.input("C", {n}, DType::f32)) : matmul(a, b);
  if (engine() % 3 == 0) y = silu(y * 0.125);
  if (engine() % 3 == 0) y = y + g.input("R", y.shape(), DType::f32);
  if (engine() % 2) y = cast(y, DType::bf16);
  g.output(y, "Y");
  return {g.build(), dtype, along_k};
}

TEST(Float8, RandomProducts) {
  std::mt19937 engine(5);
  int narrow = 0;
  for (int i = 0; i < 24; i += static_cast<int>(test::every(2))) {
    const Drawn drawn = random_float8_product(engine, i);
    const char* target = i % 5 == 4   ? "sm_80"
                         : i % 5 == 3 ? (i % 2 ? "sm_89" : "sm_120a")
                         : i % 5 == 2 ? "sm_100a"
                                      : "sm_90a";
    expect_as_reference(drawn.graph, inputs_of(drawn.graph, engine), 0x1p-7, 2e-3, target);
    const std::string source = source_of(drawn.graph, target);
    const bool by_row = has(source, drawn.dtype == DType::e4m3 ? "multiply<float_e4m3_t" : "multiply<float_e5m2_t");
    EXPECT_EQ(by_row, drawn.along_k && i % 5 != 4) << drawn.graph.name;
    EXPECT_EQ(has(source, "multiply<half_t"), !by_row) << drawn.graph.name;
    EXPECT_EQ(has(source, "Unpacked<"), by_row && i % 5 != 3) << drawn.graph.name;
    EXPECT_EQ(has(source, "SM89_"), by_row && i % 5 == 3) << drawn.graph.name;
    narrow += by_row;
  }
  EXPECT_GE(narrow, test::all_cases() ? 10 : 5);
}

/// Every K from 1 to 70 has its last step padded with zeros: no instruction multiplies half a step.
TEST(Float8, LastStepsOfK) {
  std::mt19937 engine(6);
  for (const std::int64_t k : {1, 5, 16, 17, 31, 32, 33, 40, 48, 63, 65}) {
    graph::Builder g(fmt::format("float8_k{}", k));
    const TensorHandle A = g.input("A", {17, k}, DType::e4m3, {k + 16 - k % 16, 1}),
                       B = g.input("B", {k, 24}, DType::e4m3, {1, k + 16 - k % 16});
    g.output(matmul(A, B), "Y");
    const graph::KernelGraph whole = g.build();
    expect_as_reference(whole, inputs_of(whole, engine), 1e-5, 1e-5, "sm_90a");
    if (k > 1) EXPECT_TRUE(has(source_of(whole, "sm_90a"), "multiply<float_e4m3_t")) << k;
  }
}

/// Scores of e4m3 leave accumulators that are, rounded to f16, the second product's operand in registers; as e4m3 they
/// are none. V lies across K, so that it is multiplied as f16.
TEST(Float8, ChainedProducts) {
  std::mt19937 engine(7);
  for (const bool all : {false, true}) {
    graph::Builder g(fmt::format("float8_attention_{}", all ? "all" : "scores"));
    const DType of_v = all ? DType::e4m3 : DType::f16;
    const TensorHandle Q = g.input("Q", {2, 64, 64}, DType::e4m3),
                       K = g.input("K", {2, 64, 128}, DType::e4m3, {8192, 1, 64}), V = g.input("V", {2, 128, 32}, of_v);
    g.output(g.custom({.grid = {2}, .block = {128}, .loop = 4},
                      [&](graph::BlockBuilder& t) {
                        const TileHandle q = t.load(Q, {.x = 0}), k = t.load(K, {.x = 0, .loop = 2}),
                                         v = t.load(V, {.x = 0, .loop = 1});
                        const TileHandle e = exp(matmul(q, k) * 0.0625);
                        t.store(accum(cast(matmul(cast(e, of_v), v), DType::f32)) / accum(reduction(e, 2)), {.x = 0});
                      })[0],
             "Y");
    const graph::KernelGraph whole = g.build();
    for (const char* target : {"sm_80", "sm_90a"})
      expect_as_reference(whole, inputs_of(whole, engine), 2e-2, 2e-2, target);
    EXPECT_TRUE(has(source_of(whole, "sm_90a"), "multiply<float_e4m3_t")) << whole.name;
    EXPECT_TRUE(has(source_of(whole, "sm_90a"), "multiply<half_t")) << whole.name;
  }
}

/// A block rounds an operand to e4m3 itself. It lies along K as the tile from which it is computed does, or not.
TEST(Float8, OperandsComputedInTheBlock) {
  std::mt19937 engine(9);
  for (const bool along : {true, false}) {
    graph::Builder g(fmt::format("float8_computed_{}", along ? "along" : "across"));
    const TensorHandle X = g.input("X", {48, 160}, DType::f16),
                       W = g.input("W", {160, 40}, DType::f16, along ? graph::Strides{1, 160} : graph::Strides{40, 1}),
                       S = g.input("S", {1, 160}, DType::f32);
    const auto body = [&](graph::BlockBuilder& t) {
      const TileHandle x = t.load(X, {.x = 0, .loop = 1}), w = t.load(W, {.loop = 0}), s = t.load(S, {.loop = 1});
      t.store(accum(matmul(cast(cast(x, DType::f32) * s, DType::e4m3), cast(w, DType::e4m3))), {.x = 0});
    };
    g.output(g.custom({.grid = {3}, .block = {64}, .loop = 5}, body)[0], "Y");
    const graph::KernelGraph whole = g.build();
    expect_as_reference(whole, inputs_of(whole, engine), 1e-5, 1e-4, "sm_90a");
    EXPECT_EQ(has(source_of(whole, "sm_90a"), "multiply<float_e4m3_t"), along);
  }
}

/// One tile is A of one product and B of another one, in which it lies across K.
TEST(Float8, OneTileOnBothSides) {
  std::mt19937 engine(8);
  graph::Builder g("float8_both_sides");
  const TensorHandle X = g.input("X", {64, 64}, DType::e5m2), W = g.input("W", {64, 64}, DType::e5m2, {1, 64});
  const auto blocks = g.custom({.grid = {1}, .block = {128}}, [&](graph::BlockBuilder& t) {
    const TileHandle x = t.load(X), w = t.load(W);
    t.store(matmul(x, w), {});
    t.store(matmul(w, x), {});
    t.store(matmul(x, permute(x, {1, 0})), {});
  });
  for (std::size_t i = 0; i < blocks.size(); ++i) g.output(blocks[i], fmt::format("Y{}", i));
  const graph::KernelGraph whole = g.build();
  expect_as_reference(whole, inputs_of(whole, engine), 1e-5, 1e-4, "sm_90a");
  EXPECT_TRUE(has(source_of(whole, "sm_90a"), "multiply<float_e5m2_t"));
}

}  // namespace
}  // namespace zellige::run
