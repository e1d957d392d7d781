// permute, reshape and reductions that remove their dimension inside blocks, on the emulator: of loaded
// tiles, of matmuls, of accumulated values, and of stored results; and refusals.
#include <random>

#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "plan/plan.hpp"

namespace zellige::run {
namespace {

using graph::BlockBuilder;
using graph::DType;
using graph::Shape;
using graph::TensorHandle;
using graph::TileHandle;

class BlockViews : public testing::TestWithParam<const char*> {
 protected:
  static void expect_right(const graph::KernelGraph& g) {
    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> uniform(-2, 2);
    std::vector<reference::Array> in;
    for (int t : g.inputs) {
      const graph::KernelTensor& x = g.tensors[static_cast<std::size_t>(t)];
      in.push_back(reference::make_array(x.shape));
      for (double& v : in.back().values) v = graph::round_to(x.dtype, uniform(engine));
    }
    expect_as_reference(g, in, 0x1p-10, 0x1p-9, GetParam());
  }
};

TEST_P(BlockViews, OfLoads) {
  graph::Builder b("loads");
  const TensorHandle Q = b.input("Q", {33, 24}), K = b.input("K", {55, 24}), X = b.input("X", {4, 6, 10});
  b.output(b.custom({.grid = {3, 5}, .block = {64}},
                    [&](BlockBuilder& t) {
                      const TileHandle q = t.load(Q, {.x = 0}), k = t.load(K, {.y = 0});
                      t.store(matmul(q, permute(k, {1, 0})), {.x = 0, .y = 1});
                    })
               .at(0),
           "scores");
  const auto made = b.custom({.grid = {2}, .block = {64}, .loop = 5}, [&](BlockBuilder& t) {
    const TileHandle x = t.load(X, {.x = 0, .loop = 2});
    const TileHandle y = permute(exp(x) * 0.5, {2, 0, 1});  // (2, 2, 6)
    t.store(accum(y), {.x = 1});                            // (2, 4, 6)
    t.store(accum(permute(x, {0, 2, 1})), {.x = 0});        // (4, 2, 6)
    t.store(accum(x), {.x = 0});                            // also stored unchanged
    t.store(permute(accum(x) + 1, {1, 0, 2}), {.x = 1});    // (6, 4, 2)
  });
  for (std::size_t i = 0; i < made.size(); ++i) b.output(made[i], fmt::format("y{}", i));
  expect_right(b.build());
}

TEST_P(BlockViews, OfProductsAndSums) {
  graph::Builder b("products");
  const TensorHandle A = b.input("A", {2, 20, 36}), B = b.input("B", {2, 36, 28});
  const auto made = b.custom({.grid = {2}, .block = {128}, .loop = 3}, [&](BlockBuilder& t) {
    const TileHandle c = accum(matmul(t.load(A, {.x = 0, .loop = 2}), t.load(B, {.x = 0, .loop = 1})));  // (1, 20, 28)
    t.store(permute(c, {0, 2, 1}), {.x = 0});                                                            // stored so
    t.store(relu(permute(c, {0, 2, 1})) * 2, {.x = 0});                                                  // computed so
    t.store(permute(relu(c), {2, 0, 1}), {.x = 1});                                                      // (28, 2, 20)
    const TileHandle row = sum(c, 2);                                                                    // (1, 20)
    t.store(row, {.x = 0});
    t.store(c - reshape(row, {1, 20, 1}), {.x = 0});
    t.store(amax(c, std::vector<std::int64_t>{0, 1}), {.x = 0});  // (28)
  });
  for (std::size_t i = 0; i < made.size(); ++i) b.output(made[i], fmt::format("y{}", i));
  expect_right(b.build());
}

// Results that a matmul cannot produce in another order, and their reductions, are read in that order from
// where they are stored.
TEST_P(BlockViews, OfWhatIsStored) {
  graph::Builder b("stored");
  const TensorHandle A = b.input("A", {3, 20, 36}), B = b.input("B", {3, 36, 28}), C = b.input("C", {3, 28});
  const auto once = b.custom({.block = {128}}, [&](BlockBuilder& t) {
    const TileHandle c = matmul(t.load(A), t.load(B));
    t.store(relu(permute(c, {1, 0, 2})) * 2);                       // (20, 3, 28)
    t.store(matmul(permute(c, {1, 2, 0}), permute(c, {1, 0, 2})));  // (20, 28, 28)
    t.store(amax(c, 1) + t.load(C));                                // (3, 28), with a tile of two dimensions
    t.store(permute(c, {0, 2, 1}) * reshape(mean(c, 1), {3, 28, 1}));
  });
  const auto looped = b.custom({.block = {128}, .loop = 3}, [&](BlockBuilder& t) {
    const TileHandle c = matmul(t.load(A, {.loop = 2}), t.load(B, {.loop = 1}));
    t.store(permute(accum(c), {2, 0, 1}) + 1);
    t.store(accum(permute(c, {1, 0, 2})));
    t.store(accum(sum(c, 0)) * 0.5);
  });
  for (std::size_t i = 0; i < once.size(); ++i) b.output(once[i], fmt::format("once{}", i));
  for (std::size_t i = 0; i < looped.size(); ++i) b.output(looped[i], fmt::format("looped{}", i));
  expect_right(b.build());
}

TEST_P(BlockViews, WithoutTheDimension) {
  graph::Builder b("sums");
  const TensorHandle X = b.input("X", {6, 14, 20}), W = b.input("W", {6, 20});
  const auto made = b.custom({.grid = {3}, .block = {64}}, [&](BlockBuilder& t) {
    const TileHandle x = t.load(X, {.x = 0}), w = t.load(W, {.x = 0});
    t.store(mean(x, 1) * w, {.x = 0});      // (2, 20): the middle removed, with a tile of two dimensions
    t.store(logsumexp(x, 2), {.x = 0});     // (2, 14)
    t.store(sum(amin(x, 1), 0), {.x = 0});  // (20), three blocks of it concatenated
    t.store(mean(x, std::vector<std::int64_t>{1, 2}) + 1, {.x = 0});
    t.store(reshape(w, {2, 1, 20}) + x, {.x = 0});
  });
  for (std::size_t i = 0; i < made.size(); ++i) b.output(made[i], fmt::format("y{}", i));
  expect_right(b.build());
}

TEST(BlockViewRefusals, NameTheShapes) {
  const auto refusal = [](const auto& body) {
    graph::Builder b("g");
    const TensorHandle X = b.input("X", {4, 6, 8});
    const auto made = b.custom({.block = {32}}, [&](BlockBuilder& t) { body(t, t.load(X, {}, "x")); });
    b.output(made[0], "Y");
    try {
      test::make_plan(b.build(), target::find("sm_80"), {});
    } catch (const std::exception& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal([](BlockBuilder& t, TileHandle x) {
              t.store(reshape(x, {24, 8}));
            }),
            "g_k0: inside a block a reshape may add and take dimensions of 1 alone, found x (4, 6, 8) to (24, 8): "
            "reshape the tensor outside");
}

INSTANTIATE_TEST_SUITE_P(Targets, BlockViews, testing::Values("sm_80", "sm_90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace zellige::run
