// Views that are layouts cost nothing: no kernel is launched for them, and their consumers read the right
// elements. Casts, and matmuls whose batches broadcast, at both levels.
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "lower/write_through.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using graph::Shape;
using graph::TensorHandle;
using graph::TileHandle;

reference::Array random(const Shape& shape, std::uint64_t seed, DType dtype = DType::f16) {
  std::mt19937_64 engine(seed);
  std::uniform_real_distribution<double> uniform(-2, 2);
  reference::Array a = reference::make_array(shape);
  for (double& v : a.values) v = graph::round_to(dtype, uniform(engine));
  return a;
}

std::size_t launches(const graph::KernelGraph& g) {
  return test::transpile(g, target::find("sm_80")).manifest.kernels.size();
}

TEST(Views, CostNothingWhereTheyAreLayouts) {
  graph::Builder b("free");
  const TensorHandle X = b.input("X", {6, 33, 16}), Y = b.input("Y", {33, 6, 16}), V = b.input("V", {16}),
                     Z = b.input("Z", {20, 40});
  b.output(permute(X, {1, 0, 2}) + Y, "permuted");
  b.output(slice(Z, 1, 3, 36) * slice(slice(Z, 1, 4, 40), 1, 2, 35), "sliced");  // odd starts
  b.output(reshape(X, {198, 4, 4}) + expand(reshape(V, {1, 4, 4}), {198, 4, 4}), "reshaped");
  b.output(matmul(permute(slice(Z, 0, 1, 17), {1, 0}), slice(Z, 0, 2, 18)), "product");
  b.output(sum(permute(X, {2, 1, 0}), 2), "sum");
  const graph::KernelGraph g = b.build();
  EXPECT_EQ(launches(g), 5u);
  expect_as_reference(g, {random({6, 33, 16}, 1), random({33, 6, 16}, 2), random({16}, 3), random({20, 40}, 4)}, 0x1p-9,
                      1e-3);
}

TEST(Views, OfIntermediatesAndIntoBlocks) {
  graph::Builder b("inside");
  const TensorHandle X = b.input("X", {8, 48}), W = b.input("W", {4, 12, 8});
  const TensorHandle y = X + X;                                           // 8 x 48
  const TensorHandle heads = permute(reshape(y, {8, 4, 12}), {1, 0, 2});  // 4 x 8 x 12
  const auto body = [&](graph::BlockBuilder& t) {
    const TileHandle x = t.load(heads, {.x = 0}), w = t.load(W, {.x = 0});
    t.store(softmax(matmul(x, w), 2), {.x = 0});
  };
  const TensorHandle p = b.custom({.grid = {4}, .block = {64}}, body).at(0);  // 4 x 8 x 8
  b.output(p, "P");
  b.output(matmul(slice(p, 0, 1, 3), slice(heads, 0, 0, 2)), "O");
  const graph::KernelGraph g = b.build();
  EXPECT_EQ(launches(g), 3u);
  for (const char* target : {"sm_80", "sm_90a"})
    expect_as_reference(g, {random({8, 48}, 1), random({4, 12, 8}, 2)}, 0x1p-9, 2e-3, target);
}

/// A few permutes and reshapes of a tensor, one after the other.
TensorHandle random_views(TensorHandle t, std::mt19937& random) {
  for (std::size_t count = 1 + random() % 3; count > 0; --count) {
    Shape shape = t.shape();
    if (random() % 2 == 0) {
      std::vector<std::int64_t> dims(shape.size());
      std::iota(dims.begin(), dims.end(), 0);
      std::ranges::shuffle(dims, random);
      t = permute(t, dims);
      continue;
    }
    const std::size_t d = random() % shape.size();
    if (random() % 2 == 0 && d + 1 < shape.size()) {
      shape[d] *= shape[d + 1];
      shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    } else if (shape[d] % 2 == 0) {
      shape[d] /= 2;
      shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(d), 2);
    }
    t = reshape(t, shape);
  }
  return t;
}

// A view as an output, of every kind of operator, unfused and fused: if it is only permuted or reshaped, its
// producer writes it in place, and nothing is copied.
TEST(Views, OfResultsAreWrittenWhereTheCallerGetsThem) {
  int written = 0;
  for (unsigned seed = 1; seed <= 8; ++seed) {
    std::mt19937 random(seed);
    graph::Builder b("results");
    const TensorHandle X = b.input("X", {2, 4, 24, 16}), W = b.input("W", {2, 4, 16, 8});
    const std::vector<std::function<TensorHandle()>> producers{
        [&] { return exp(X); },
        [&] { return matmul(X, W); },
        [&] { return softmax(X, 3); },
        [&] { return X + X; },
        [&] { return sum(X, 2, true); },
        [&] { return cast(X, DType::f32); },
        [&] {
          return matmul(softmax(matmul(X, permute(X, {0, 1, 3, 2})), 3), X);
        }};
    const TensorHandle made = producers[seed % producers.size()]();
    b.output(random_views(made, random), "Y");
    if (random() % 3 == 0) b.output(random_views(made, random), "Z");
    if (random() % 4 == 0) b.output(exp(made), "E");
    const graph::KernelGraph g = b.build();
    written += !lower::written_as(g).empty();
    const std::vector<reference::Array> inputs{zellige::run::random({2, 4, 24, 16}, seed),
                                               zellige::run::random({2, 4, 16, 8}, seed)};
    for (const char* target : {"sm_80", "sm_90a"}) {
      if (!test::all_cases() && seed % 2 == (target == std::string_view("sm_80"))) continue;  // one of the two
      expect_as_reference(g, inputs, 0x1p-7, 4e-2, target);
      expect_as_reference(fuse::optimize(g, target::find(target)).graph, inputs, 0x1p-7, 4e-2, target);
    }
  }
  EXPECT_GE(written, 5);
}

TEST(Views, AreCopiedWhereTheyAreNone) {
  graph::Builder b("copied");
  const TensorHandle X = b.input("X", {6, 10}), V = b.input("V", {5, 4});
  b.output(reshape(permute(X, {1, 0}), {4, 15}), "Y");       // merges non-adjacent dimensions
  b.output(exp(reshape(permute(X, {1, 0}), {2, 30})), "Z");  // of an intermediate
  b.output(expand(slice(V, 0, 2, 3), {3, 4}), "E");          // a row, again and again
  b.output(permute(X, {1, 0}), "T");                         // the caller gets memory of its own
  b.output(reshape(permute(V, {1, 0}), {20}), "S", {3});     // and strides of its own
  const graph::KernelGraph g = b.build();
  const emit::EmittedProgram p = test::transpile(g, target::find("sm_80"));
  ASSERT_FALSE(p.plan.program.notes.empty());
  EXPECT_EQ(p.plan.program.notes[0],
            "Y: the reshape of t2 (10, 6) to (4, 15) is no layout of its memory: it is copied");
  expect_as_reference(g, {random({6, 10}, 1), random({5, 4}, 2)}, 0x1p-10, 1e-6);
}

TEST(Views, OfTilesInsideABlock) {
  graph::Builder b("tiles");
  const TensorHandle X = b.input("X", {6, 40}), V = b.input("V", {1, 40});
  const auto made = b.custom({.grid = {2}, .block = {64}}, [&](graph::BlockBuilder& t) {
    const TileHandle x = t.load(X, {.x = 0}), v = t.load(V);
    t.store(slice(x, 1, 3, 36) * slice(expand(v, {3, 40}), 1, 2, 35), {.x = 0});
    t.store(accum(softmax(slice(x, 1, 5, 22), 1)), {.x = 0});
  });
  b.output(made[0], "Y");
  b.output(made[1], "Z");
  expect_as_reference(b.build(), {random({6, 40}, 1), random({1, 40}, 2)}, 0x1p-9, 1e-4);
}

TEST(Matmul, BatchesBroadcastAtBothLevels) {
  for (const DType dtype : {DType::f16, DType::f32}) {
    graph::Builder b("batches");
    const TensorHandle X = b.input("X", {3, 2, 17, 24}, dtype), W = b.input("W", {24, 9}, dtype),
                       K = b.input("K", {3, 1, 24, 19}, dtype);
    b.output(matmul(X, W), "XW");
    b.output(matmul(X, K), "XK");
    const auto made = b.custom({.grid = {3}, .block = {128}}, [&](graph::BlockBuilder& t) {
      const TileHandle x = t.load(X, {.x = 0}), w = t.load(W), k = t.load(K, {.x = 0});
      t.store(matmul(x, w), {.x = 0});
      t.store(matmul(x, k), {.x = 0});
    });
    b.output(made[0], "XW_block");
    b.output(made[1], "XK_block");
    expect_as_reference(b.build(),
                        {random({3, 2, 17, 24}, 1, dtype), random({24, 9}, 2, dtype), random({3, 1, 24, 19}, 3, dtype)},
                        dtype == DType::f16 ? 0x1p-9 : 1e-5, dtype == DType::f16 ? 4e-3 : 1e-4);
  }
}

TEST(Casts, AtBothLevels) {
  graph::Builder b("casts");
  const TensorHandle X = b.input("X", {5, 9}, DType::f32), H = b.input("H", {9, 16}, DType::f16);
  b.output(cast(X, DType::f16), "half");
  b.output(cast(X, DType::bf16), "bfloat");
  b.output(matmul(cast(X, DType::f16), H), "product");
  b.output(cast(cast(H, DType::bf16), DType::f32), "through");
  const auto made = b.custom({.grid = {1}, .block = {64}}, [&](graph::BlockBuilder& t) {
    const TileHandle x = t.load(X), h = t.load(H);
    t.store(matmul(cast(x, DType::f16), h));
    t.store(x - cast(cast(x, DType::bf16), DType::f32));
    t.store(cast(h, DType::f32));
  });
  for (std::size_t i = 0; i < 3; ++i) b.output(made[i], fmt::format("block{}", i));
  reference::Array x = random({5, 9}, 1, DType::f32);
  const reference::Array h = random({9, 16}, 2);
  expect_as_reference(b.build(), {x, h}, 0x1p-10, 1e-3);
  // Alone, without a product that would spread them: what does not fit, and what is no number.
  graph::Builder s("special");
  const TensorHandle Y = s.input("Y", {8}, DType::f32);
  s.output(cast(Y, DType::f16), "half");
  s.output(s.custom({.grid = {1}, .block = {32}},
                    [&](graph::BlockBuilder& t) { t.store(cast(cast(t.load(Y), DType::f16), DType::f32)); })
               .at(0),
           "block");
  expect_as_reference(
      s.build(),
      {{{8}, {65504, 65520, -1e6, 0x1p-24, 0x1p-25, NAN, -std::numeric_limits<double>::infinity(), 1 + 0x1p-11}}}, 0,
      0);
}

TEST(Ranks, UpToEight) {
  graph::Builder b("rank_8");
  const Shape shape{2, 1, 3, 2, 1, 5, 2, 4};
  const TensorHandle X = b.input("X", shape), V = b.input("V", {5, 1, 4});
  b.output(X * V + mean(X, 5, true), "Y");
  b.output(matmul(permute(X, {2, 1, 0, 3, 4, 5, 6, 7}), slice(permute(X, {2, 1, 0, 3, 4, 5, 7, 6}), 7, 1, 2)), "Z");
  expect_as_reference(b.build(), {random(shape, 1), random({5, 1, 4}, 2)}, 0x1p-9, 4e-3);
}

}  // namespace
}  // namespace zellige::run
