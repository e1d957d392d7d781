#include "graph/builder.hpp"

#include <gtest/gtest.h>

#include "json/json.hpp"
#include "mugraphs.hpp"

namespace zellige::graph {
namespace {

template <class F>
std::string message(const F& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Builder, ReadsLikeMathematics) {
  Builder b("lora");
  const TensorHandle X = b.input("X", {16, 256}), W = b.input("W", {256, 4096});
  const TensorHandle A = b.input("A", {256, 16}), B = b.input("B", {16, 4096});
  b.output(matmul(X, W) + matmul(matmul(X, A), B), "Y");
  const KernelGraph g = b.build();
  ASSERT_EQ(g.ops.size(), 4u);
  EXPECT_EQ(to_string(g.tensors[g.outputs[0]].shape), "(16, 4096)");
  EXPECT_EQ(g.tensors[g.outputs[0]].name, "Y");
  EXPECT_TRUE(g.tensors[g.outputs[0]].strides.empty());
  EXPECT_EQ(g.tensors[g.inputs[1]].strides, (Strides{4096, 1}));
}

// The builder and Mirage's file say the same graph.
TEST(Builder, MakesMiragesFirstLora) {
  const std::string path = test::mugraph_file("lora.json");
  if (path.empty()) GTEST_SKIP() << "lora.json is not here: set ZELLIGE_MUGRAPHS to the folder that has it";
  Builder b("lora[0]");
  const TensorHandle X = b.input("X0", {16, 256}), W = b.input("X1", {256, 4096});
  const TensorHandle A = b.input("X2", {256, 16}), B = b.input("X3", {16, 4096});
  const TensorHandle Y = b.custom({.grid = {64}}, [&](BlockBuilder& t) {
                            const TileHandle x = t.load(X, {}, "X0_tile"), w = t.load(W, {.x = 1}, "X1_tile");
                            const TileHandle a = t.load(A, {}, "X2_tile"), c = t.load(B, {.x = 1}, "X3_tile");
                            const TileHandle xw = matmul(x, w);
                            t.store(accum(matmul(matmul(x, a), c) + xw), {.x = 1});
                          }).at(0);
  b.output(Y, "Y0", {4096, 1});
  EXPECT_EQ(json::to_json(b.build()), json::to_json(json::load(path).at(0)));
}

TEST(Builder, EveryOperator) {
  Builder b("all");
  const TensorHandle X = b.input("X", {4, 6}, DType::f32), Y = b.input("Y", {4, 1}, DType::f32);
  const TensorHandle Z = pow(exp(X) + Y, sigmoid(Y)) - gelu(X) / silu(Y) * relu(X);
  const TensorHandle V = log(sqrt(square(Z))) * 0.5;
  const std::vector<TensorHandle> parts = split(clamp(V, -1, 1), 1, {2, 4});
  b.output(matmul(reduction(concat(parts[1], parts[0], 1), 1, 3), b.input("W", {3, 5}, DType::f32)));
  b.output(rms_norm(V));
  b.output(b.custom({.block = {32}, .loop = 2}, [&](BlockBuilder& t) {
              const TileHandle x = t.load(X, {.loop = 1});
              const auto [now, fell] = reduction_max(x, 1);
              const TileHandle r = exp(fell), e = exp(x - now);
              t.store(accum_rescale(e, r) / accum_red_sum_rescale(e, r) + accum_red_mean(x) * accum_red_rms(x));
              t.store(accum_max(now));
              t.store(accum_redtox_sum(x, 1) + accum_red_sum(x));
            }).at(0));
  const KernelGraph g = b.build();
  EXPECT_EQ(json::from_json(json::parse_json(json::to_json(g), "json"), "json").ops.size(), g.ops.size());
}

TEST(Builder, SaysWhereAMistakeIs) {
  Builder b("g");
  const TensorHandle X = b.input("X", {4, 6}), Y = b.input("Y", {5, 6});
  EXPECT_EQ(message([&] { X + Y; }),
            "graph g, operator 0 (add): expected dimensions that are equal or 1, found (4, 6) and (5, 6) "
            "(dimension 0: 4 "
            "and 5)");
  EXPECT_EQ(message([&] { b.custom({.grid = {3}}, [&](BlockBuilder& t) { t.load(X, {.x = 0}); }); }),
            "graph g, operator 0 (custom), block operator 0 (input): expected grid axis x to divide "
            "dimension 0 of (4, "
            "6), found 3 blocks for 4");
  Builder other("h");
  const TensorHandle Z = other.input("Z", {4, 6});
  EXPECT_EQ(message([&] { X + Z; }), "add: expected operands of one builder and one level, found a tensor of another");
  EXPECT_EQ(message([&] { b.output(Z); }), "graph g: expected an output of this builder, found a tensor of another");
  EXPECT_EQ(message([&] { TensorHandle() + TensorHandle(); }),
            "add: expected operands of one builder and one level, found a tensor of another");
  EXPECT_EQ(message([&] { b.custom({.grid = {0}}, [](BlockBuilder&) {}); }),
            "graph g, operator 0 (custom): expected a grid and a loop of at least 1, found 0");
}

}  // namespace
}  // namespace zellige::graph
