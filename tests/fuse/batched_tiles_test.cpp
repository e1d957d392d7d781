// Custom operators written for all of their blocks and iterations at once compute the same; those that no kernel of a GPU can hold
// are compiled in parts.
#include <gtest/gtest.h>

#include <functional>

#include "../all_cases.hpp"
#include "decomposed.hpp"
#include "graph/builder.hpp"
#include "json/json.hpp"
#include "manifest/manifest.hpp"
#include "random/generate.hpp"
#include "retile/random_block.hpp"
#include "rules/table.hpp"
#include "run/compile.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::BlockBuilder;
using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::TensorHandle;
using graph::TileHandle;

/// A graph with a custom operator of four blocks and four iterations that reads X and W.
KernelGraph looped(const std::function<void(BlockBuilder&, TensorHandle, TensorHandle)>& body) {
  Builder b("g");
  const TensorHandle x = b.input("X", {16, 64}), w = b.input("W", {64, 32});
  for (const TensorHandle& y :
       b.custom({.grid = {4}, .block = {32}, .loop = 4}, [&](BlockBuilder& t) { body(t, x, w); }))
    b.output(y);
  return b.build();
}

TEST(BatchedTiles, EveryAccumulatorOfALoop) {
  const std::function<TileHandle(TileHandle)> joins[] = {
      [](TileHandle x) { return accum(x); },
      [](TileHandle x) { return accum_max(x); },
      [](TileHandle x) { return accum_logsumexp(x); },
      [](TileHandle x) { return accum_red_sum(x); },
      [](TileHandle x) { return accum_red_mean(x); },
      [](TileHandle x) { return accum_red_rms(x); },
      [](TileHandle x) { return accum_redtox_sum(x, 4); },
  };
  std::size_t place = 0;
  for (const auto& join : joins) {
    if (!test::one_a_row(place++, 3)) continue;
    const KernelGraph g = looped([&](BlockBuilder& t, TensorHandle x, TensorHandle w) {
      const TileHandle s = tanh(matmul(t.load(x, {.loop = 1}), t.load(w, {.x = 1, .loop = 0})));
      t.store(join(s), {.x = 1});
    });
    const std::optional<KernelGraph> batched = rewrite::batched_tiles(g);
    ASSERT_TRUE(batched);
    EXPECT_EQ(customs(*batched), 0);
    const search::Equality e = search::equal(g, *batched);
    EXPECT_EQ(search::name(e.answer), "equal") << search::describe(e, "given", "batched") << json::to_json(*batched);
  }
}

TEST(BatchedTiles, KeepsWhatDependsOnEarlierIterations) {
  const auto kept = [](const std::function<void(BlockBuilder&, TensorHandle, TensorHandle)>& body) {
    return !rewrite::batched_tiles(looped(body));
  };
  EXPECT_FALSE(kept([](BlockBuilder& t, TensorHandle x, TensorHandle) {
    t.store(accum(exp(t.load(x, {.x = 0, .loop = 1}))), {.x = 0});
  }));
  EXPECT_TRUE(kept([](BlockBuilder& t, TensorHandle x, TensorHandle) {
    const TileHandle y = t.load(x, {.x = 0, .loop = 1});
    t.store(accum_rescale(y, exp(y)), {.x = 0});
  })) << "rescaled after every iteration";
  EXPECT_TRUE(kept([](BlockBuilder& t, TensorHandle x, TensorHandle) {
    t.store(accum_max(reduction_max(t.load(x, {.x = 0, .loop = 1}), 1).second), {.x = 0});
  })) << "a running maximum";
  EXPECT_TRUE(kept([](BlockBuilder& t, TensorHandle x, TensorHandle) {
    const graph::Split s{.x = 0, .loop = 1};
    t.store(accum(t.mask(t.load(x, s), {.tril = 3}, s, 0.25)), {.x = 0});
  })) << "a mask that moves";
}

TEST(BatchedTiles, RandomGraphs) {
  const std::uint64_t count = test::all_cases() ? 100 : 2;
  int taken = 0, undecided = 0;
  for (std::uint64_t seed = 1; seed <= 3 * count; ++seed) {
    const KernelGraph g = seed <= count       ? random_graphs::random_graph(seed)
                          : seed <= 2 * count ? random_graphs::random_chain(seed * random_graphs::chain_every)
                                              : retile::test::random_blocks(seed);
    const std::optional<KernelGraph> batched = rewrite::batched_tiles(g);
    if (!batched) continue;
    ++taken;
    undecided += is_undecided(g, *batched, "batched");
  }
  std::printf("%d of %d random graphs batched, %d undecided\n", taken, static_cast<int>(3 * count), undecided);
  EXPECT_GE(taken, static_cast<int>(count));
  EXPECT_LE(undecided, 1 + taken / 10);
}

/// Two products by a matrix of 160 x 160 float32, 100 KiB, which the block holds for both.
KernelGraph too_large() {
  Builder b("squares");
  const TensorHandle x = b.input("X", {32, 160}, DType::f32), w = b.input("W", {160, 160}, DType::f32);
  b.output(b.custom({.grid = {1}, .block = {128}, .loop = 2},
                    [&](BlockBuilder& t) {
                      const TileHandle matrix = t.load(w);
                      t.store(accum(matmul(tanh(matmul(t.load(x, {.loop = 0}), matrix)), matrix)), {});
                    })
               .at(0),
           "Y");
  return b.build();
}

TEST(InParts, AnOperatorThatNoKernelCanHold) {
  const target::Target& target = target::find("sm_120a");
  const run::Compiled c = run::compile(too_large(), target, {});
  EXPECT_TRUE(c.program.manifest.decomposed);
  EXPECT_GT(c.program.manifest.kernels.size(), 1U);
  EXPECT_EQ(c.fused.notes.back().find("custom operators are computed in parts: squares_k0: its tiles need "), 0U)
      << c.fused.notes.back();
  const std::string manifest = manifest::to_json(c.program.manifest);
  const run::Compiled again =
      run::compile(too_large(), target, {.fuse = true, .plan = run::tiling_options(manifest, target, "m")});
  EXPECT_EQ(c.program.source, again.program.source);
  EXPECT_EQ(run::compile(too_large(), target::find("sm_90a"), {}).program.manifest.kernels.size(), 1U);
}

TEST(InParts, IsRefusedWhereIterationsDependOnEarlierOnes) {
  Builder b("sums");
  const TensorHandle x = b.input("X", {512, 512}, DType::f32);
  b.output(b.custom({.grid = {1}, .block = {32}, .loop = 2},
                    [&](BlockBuilder& t) {
                      const TileHandle a = t.load(x, {.loop = 0}), s = matmul(a, t.load(x));
                      t.store(accum_rescale(matmul(exp(s), t.load(x)), s), {});
                    })
               .at(0),
           "Y");
  const KernelGraph g = b.build();
  try {
    run::compile(g, target::find("sm_120a"), {.fuse = true});
    FAIL();
  } catch (const DoesNotFit& e) {
    EXPECT_EQ(std::string(e.what()).find("sums_k0: its tiles need "), 0U) << e.what();
  }
}

}  // namespace
}  // namespace zellige::fuse
