// Decomposed custom operators compute the same, and add no roundings.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <set>

#include "../all_cases.hpp"
#include "decomposed.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/infer.hpp"
#include "graph/mugraphs.hpp"
#include "json/json.hpp"
#include "random/generate.hpp"
#include "retile/random_block.hpp"
#include "rewrite/roundings.hpp"
#include "rules/table.hpp"
#include "search/describe.hpp"
#include "search/equal.hpp"

namespace zellige::fuse {
namespace {

using graph::BlockBuilder;
using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::OpKind;
using graph::TensorHandle;
using graph::TileHandle;

int number(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

std::string kinds_of(const KernelGraph& g) {
  std::string text;
  for (const graph::KernelOp& op : g.ops) text += fmt::format("{}{}", text.empty() ? "" : " ", graph::name(op.kind));
  return text;
}

/// A graph with a custom operator that reads X and W.
KernelGraph graph_of(const graph::CustomLaunch& launch,
                     const std::function<void(BlockBuilder&, TensorHandle, TensorHandle)>& body,
                     DType dtype = DType::f16) {
  Builder b("g");
  const TensorHandle x = b.input("X", {16, 64}, dtype), w = b.input("W", {64, 32}, dtype);
  for (const TensorHandle& y : b.custom(launch, [&](BlockBuilder& t) { body(t, x, w); })) b.output(y);
  return b.build();
}

/// The kinds of its decomposed operators; checks that they compute the same.
std::string decomposed_kinds(const KernelGraph& g) {
  const std::optional<KernelGraph> decomposed = rewrite::decompose(g);
  if (!decomposed) return "none";
  EXPECT_NO_THROW(graph::validate(*decomposed));
  const search::Equality e = search::equal(g, *decomposed);
  EXPECT_EQ(search::name(e.answer), "equal")
      << search::describe(e, "given", "decomposed") << json::to_json(*decomposed);
  return kinds_of(*decomposed);
}

TEST(Decompose, EveryAccumulator) {
  const auto looped = [](const std::function<TileHandle(TileHandle)>& accumulate) {
    return decomposed_kinds(
        graph_of({.grid = {4}, .block = {32}, .loop = 4}, [&](BlockBuilder& t, TensorHandle x, TensorHandle) {
          t.store(accumulate(square(t.load(x, {.x = 0, .loop = 1}))), {.x = 0});
        }));
  };
  EXPECT_EQ(looped([](TileHandle x) { return accum_red_sum(x); }), "square reduction");
  EXPECT_EQ(looped([](TileHandle x) { return accum_redtox_sum(x, 4); }), "square reduction");
  EXPECT_EQ(looped([](TileHandle x) { return accum_red_mean(x); }), "square mean");
  EXPECT_EQ(looped([](TileHandle x) { return accum_red_rms(x); }), "square square mean sqrt");
  EXPECT_EQ(decomposed_kinds(graph_of({.grid = {2}, .block = {32}, .loop = 4},
                                      [](BlockBuilder& t, TensorHandle x, TensorHandle w) {
                                        const TileHandle a = t.load(x, {.loop = 1}), b = t.load(w, {.x = 1, .loop = 0});
                                        t.store(silu(accum(matmul(a, b))), {.x = 1});
                                      })),
            "matmul silu");
  // Accumulators whose state depends on the iteration, in a loop with a single one.
  const auto once = [](const std::function<TileHandle(TileHandle, TileHandle)>& accumulate) {
    return decomposed_kinds(graph_of({.grid = {4}, .block = {32}}, [&](BlockBuilder& t, TensorHandle x, TensorHandle) {
      const TileHandle y = t.load(x, {.x = 0});
      t.store(accumulate(square(y), exp(y)), {.x = 0});
    }));
  };
  EXPECT_EQ(once([](TileHandle x, TileHandle) { return accum_max(x); }), "square maximum");
  EXPECT_EQ(once([](TileHandle x, TileHandle r) { return accum_rescale(x, r); }), "square");
  EXPECT_EQ(once([](TileHandle x, TileHandle r) { return accum_red_sum_rescale(x, r); }), "square reduction");
}

TEST(Decompose, MasksForgetWhereTheyLie) {
  EXPECT_EQ(decomposed_kinds(graph_of({.grid = {4, 2}, .block = {32}},
                                      [](BlockBuilder& t, TensorHandle x, TensorHandle) {
                                        const graph::Split s{.x = 0, .y = 1};
                                        t.store(t.mask(t.load(x, s) * 2.0, {.tril = 3}, s, 0.25), s);
                                      })),
            "mul_scalar mask");
}

TEST(Decompose, WhatIsStoredTwiceOrReadElsewhereIsCopied) {
  const auto stored = [](DType dtype, const std::function<void(BlockBuilder&, TileHandle)>& store) {
    return decomposed_kinds(graph_of(
        {.grid = {4}, .block = {32}},
        [&](BlockBuilder& t, TensorHandle x, TensorHandle) { store(t, t.load(x, {.x = 0})); }, dtype));
  };
  const graph::Split s{.x = 0};
  EXPECT_EQ(stored(DType::f16, [&](BlockBuilder& t, TileHandle x) { t.store(x, s); }), "mul_scalar");
  const auto twice = [&](BlockBuilder& t, TileHandle x) {
    const TileHandle y = exp(x);
    t.store(y, s), t.store(y, s);
  };
  EXPECT_EQ(stored(DType::f16, twice), "exp mul_scalar mul_scalar");
  // Other operators read the unrounded value, not the stored f16.
  const auto read = [&](BlockBuilder& t, TileHandle x) {
    const TileHandle y = exp(x);
    t.store(y, s), t.store(y + 1.0, s);
  };
  EXPECT_EQ(stored(DType::f16, read), "exp mul_scalar add");
  EXPECT_EQ(stored(DType::f32, read), "exp add");
}

// A kernel that only copies what the next one reads is none.
TEST(Decompose, CopiesBetweenKernelsAreOmitted) {
  Builder b("g");
  const TensorHandle x = b.input("X", {16, 64});
  const auto copied = [&](TensorHandle from, bool square_it) {
    return b
        .custom({.grid = {4}, .block = {32}},
                [&](BlockBuilder& t) {
                  const TileHandle y = t.load(from, {.x = 0});
                  t.store(square_it ? square(y) : accum(y), {.x = 0});
                })
        .at(0);
  };
  b.output(copied(copied(x, false), true), "Y");
  EXPECT_EQ(decomposed_kinds(b.build()), "square");
}

// A second kernel adds the first one's partial results over blocks and iterations: one matmul, and one sum.
TEST(Decompose, PartialSumsAreOne) {
  for (const std::int64_t loop : {1, 2}) {
    Builder b("split");
    const TensorHandle x = b.input("X", {16, 64}), w = b.input("W", {64, 32});
    const std::vector<TensorHandle> parts = b.custom({.grid = {4}, .block = {32}, .loop = 2}, [&](BlockBuilder& t) {
      const TileHandle a = t.load(x, {.x = 1, .loop = 1}), c = t.load(w, {.x = 0, .loop = 0});
      t.store(accum(matmul(a, c)), {.x = 1}), t.store(accum_redtox_sum(exp(a), 4), {.x = 1});
    });
    b.output(b.custom({.grid = {2}, .block = {32}, .loop = loop},
                      [&](BlockBuilder& t) {
                        const graph::Split s{.x = 0, .loop = loop > 1 ? 1 : -1};
                        const TileHandle p = t.load(parts[0], s), e = t.load(parts[1], s);
                        t.store(accum_redtox_sum(p, 32) / accum_red_sum(e), {.x = 0});
                      })
                 .at(0),
             "Y");
    const KernelGraph g = b.build();
    const std::optional<KernelGraph> decomposed = rewrite::decompose(g);
    ASSERT_TRUE(decomposed);
    EXPECT_EQ(search::name(search::equal(g, *decomposed).answer), "equal");
    EXPECT_EQ(customs(*decomposed), 0);
    EXPECT_EQ(std::ranges::count(decomposed->ops, OpKind::reduction, &graph::KernelOp::kind), 1)
        << kinds_of(*decomposed);
  }
}

TEST(Decompose, Refused) {
  const auto refused = [](const graph::CustomLaunch& launch,
                          const std::function<void(BlockBuilder&, TensorHandle, TensorHandle)>& body) {
    return !rewrite::decompose(graph_of(launch, body));
  };
  const graph::CustomLaunch one{.grid = {4}, .block = {32}};
  const auto decomposed = [](BlockBuilder& t, TensorHandle x, TensorHandle) {
    t.store(exp(t.load(x, {.x = 0})), {.x = 0});
  };
  EXPECT_FALSE(refused(one, decomposed));
  EXPECT_TRUE(refused(one, [](BlockBuilder& t, TensorHandle x, TensorHandle) {
    t.store(reduction_max(t.load(x, {.x = 0}), 1).first, {.x = 0});
  })) << "a running maximum";
  EXPECT_TRUE(refused({.grid = {4}, .block = {32}, .loop = 4}, [](BlockBuilder& t, TensorHandle x, TensorHandle) {
    const TileHandle y = t.load(x, {.x = 0, .loop = 1});
    t.store(accum_rescale(y, exp(y)), {.x = 0});
  })) << "rescaled after every iteration";
  EXPECT_TRUE(refused({.grid = {4}, .block = {32}, .loop = 4}, [](BlockBuilder& t, TensorHandle x, TensorHandle w) {
    t.store(accum(tanh(matmul(t.load(x, {.loop = 1}), t.load(w, {.x = 1, .loop = 0})))), {.x = 1});
  })) << "a function of partial results";
  EXPECT_TRUE(refused(one, [](BlockBuilder& t, TensorHandle x, TensorHandle) {
    t.store(exp(t.load(x, {.x = 0})), {.x = 0}, "Y", {}, {0, 0, 8});
  })) << "a slice is stored";
  EXPECT_FALSE(rewrite::decompose(graph_of(
      {.grid = {4}, .block = {32}, .loop = 4},
      [](BlockBuilder& t, TensorHandle x, TensorHandle) {
        t.store(accum_red_sum(t.load(x, {.x = 0, .loop = 1})), {.x = 0});
      },
      DType::int8)))
      << "accumulators of int8";

  const auto changed = [&](const std::function<void(KernelGraph&, graph::BlockGraph&)>& change) {
    KernelGraph g = graph_of(one, decomposed);
    auto block = std::make_shared<graph::BlockGraph>(*g.ops[0].block);
    change(g, *block);
    g.ops[0].block = std::move(block);
    return g;
  };
  EXPECT_FALSE(rewrite::decompose(changed([](KernelGraph&, graph::BlockGraph& b) {
    b.ops.front().attributes.sizes = {16, 64};
  }))) << "tiles that may be partial";
  EXPECT_FALSE(rewrite::decompose(changed([](KernelGraph& g, graph::BlockGraph&) {
    g.tensors[g.ops[0].outputs[0]].memory = 0;
  }))) << "the memory of an input is written";
}

// An operator that can be decomposed is, one that cannot is kept.
TEST(Decompose, OneOfTwo) {
  Builder b("g");
  const TensorHandle x = b.input("X", {16, 64});
  const TensorHandle m = b.custom({.grid = {4}, .block = {32}, .loop = 2}, [&](BlockBuilder& t) {
                            t.store(accum_max(t.load(x, {.x = 0, .loop = 1})), {.x = 0});
                          }).at(0);
  b.output(b.custom({.grid = {2}, .block = {32}}, [&](BlockBuilder& t) { t.store(exp(t.load(m, {.x = 0})), {.x = 0}); })
               .at(0),
           "Y");
  EXPECT_EQ(decomposed_kinds(b.build()), "custom exp");
}

TEST(Decompose, RandomGraphs) {
  const int count = number("ZELLIGE_RANDOM_APART", 150);
  int taken = 0, undecided = 0;
  for (int seed = 1; seed <= 2 * count; ++seed) {
    const auto n = static_cast<std::uint64_t>(seed);
    const KernelGraph g = seed <= count ? retile::test::random_blocks(n) : random_graphs::random_graph(n);
    const std::optional<KernelGraph> decomposed = rewrite::decompose(g);
    if (!decomposed) continue;
    ++taken;
    undecided += is_undecided(g, *decomposed, "decomposed");
  }
  std::printf("%d of %d random graphs decomposed, %d undecided\n", taken, 2 * count, undecided);
  EXPECT_GT(taken, count / 4);
  EXPECT_LE(undecided, taken / 10);
}

class SavedDecomposed : public testing::TestWithParam<const char*> {};

TEST_P(SavedDecomposed, TheyAreEqual) {
  const std::string path = graph::test::mugraph_file(std::string(GetParam()) + ".json");
  if (path.empty()) GTEST_SKIP() << GetParam() << ".json is not here: set ZELLIGE_MUGRAPHS to the folder that has it";
  const bool all = test::all_cases();
  const std::vector<KernelGraph> graphs = json::load(path);
  int taken = 0, whole = 0, count = 0;
  for (const KernelGraph& g : graphs) {
    if (!all && graphs.size() > 4 && count++ % (graphs.size() > 40 ? 16 : 4) != 0) continue;
    const std::optional<KernelGraph> decomposed = rewrite::decompose(g);
    if (!decomposed) continue;
    ++taken, whole += customs(*decomposed) == 0;
    const search::Equality e = search::equal(g, *decomposed, {.given_sizes = false});
    EXPECT_EQ(search::name(e.answer), "equal") << search::describe(e, g.name, "decomposed");
  }
  std::printf("%-15s %d decomposed, %d of them all\n", GetParam(), taken, whole);
  EXPECT_GT(taken, 0);
  // Blocks of qknorm combine rows of one tensor with rows of another that are in no tensor together.
  if (std::string(GetParam()) != "qknorm_gqa_bs1") EXPECT_EQ(taken, whole);
}

INSTANTIATE_TEST_SUITE_P(Files, SavedDecomposed,
                         testing::Values("rmsnorm_bs1", "gated_mlp", "lora", "gqa_bs1", "mqa_bs1", "mha_bs1",
                                         "qknorm_gqa_bs1", "ntrans_bs1"),
                         [](const auto& info) { return std::string(info.param); });

/// A custom operator of exp(X W), its row sums, and the result of `then` on both.
KernelGraph scores(const std::function<TileHandle(TileHandle, TileHandle)>& then, DType dtype = DType::f16) {
  return graph_of(
      {.grid = {2}, .block = {32}},
      [&](BlockBuilder& t, TensorHandle x, TensorHandle w) {
        const TileHandle p = exp(matmul(t.load(x, {.x = 0}), t.load(w)));
        t.store(then(p, accum_red_sum(p)), {.x = 0});
      },
      dtype);
}

/// The roundings that would be added if each unfused operator were a separate kernel.
std::optional<std::string> added_alone(const KernelGraph& g) {
  const KernelGraph decomposed = *rewrite::decompose(g);
  KernelGraph unfused = decomposed;
  return rewrite::added_rounding(g, decomposed, unfused);
}

// It would store, and round, what a block has in float32.
TEST(Roundings, AreNotAddedBetweenKernels) {
  const KernelGraph g = scores([](TileHandle p, TileHandle sum) { return p / sum; });
  EXPECT_EQ(added_alone(g), "t2_s2");
  KernelGraph decomposed = *rewrite::decompose(g), fused = optimize(decomposed, target::find("sm_90a")).graph;
  EXPECT_FALSE(rewrite::added_rounding(g, decomposed, fused));

  EXPECT_FALSE(added_alone(scores([](TileHandle p, TileHandle sum) { return p / sum; }, DType::f32)))
      << "float32 is not rounded";
  const auto product = [](const std::function<TileHandle(TileHandle)>& of) {
    return graph_of({.grid = {2}, .block = {32}}, [&](BlockBuilder& t, TensorHandle x, TensorHandle w) {
      t.store(matmul(of(t.load(x, {.x = 0})), t.load(w)), {.x = 0});
    });
  };
  EXPECT_FALSE(added_alone(product([](TileHandle x) { return exp(x); }))) << "a product's operand is rounded anyway";
  EXPECT_TRUE(added_alone(product([](TileHandle x) { return exp(exp(x)); })));
  EXPECT_TRUE(added_alone(product([](TileHandle x) { return cast(exp(exp(x)), DType::f16); })));
}

/// Roundings inside of blocks, by name.
std::set<std::string> casts(const KernelGraph& g) {
  std::set<std::string> names;
  for (const graph::KernelOp& op : g.ops)
    if (op.block)
      for (const graph::BlockOp& b : op.block->ops)
        if (b.kind == OpKind::cast && b.attributes.dtype == DType::f16)
          names.insert(op.block->tensors[b.outputs[0]].name);
  return names;
}

// Small M and many columns: blocks split the loop, and the sum of their partial results is float32, like that
// of one block.
TEST(Roundings, AreNotAddedWherePartsAreSummed) {
  Builder b("split");
  const TensorHandle q = b.input("Q", {2, 16, 64}), k = b.input("K", {2, 64, 4096}), v = b.input("V", {2, 4096, 64});
  b.output(b.custom({.grid = {2}, .block = {128}, .loop = 64},
                    [&](BlockBuilder& t) {
                      const TileHandle p = exp(matmul(t.load(q, {.x = 0}), t.load(k, {.x = 0, .loop = 2})));
                      const TileHandle o = accum(matmul(p, t.load(v, {.x = 0, .loop = 1})));
                      t.store(tanh(o / accum_red_sum(p)), {.x = 0});
                    })
               .at(0),
           "Y");
  const KernelGraph g = b.build(), decomposed = *rewrite::decompose(g);
  KernelGraph fused = optimize(decomposed, target::find("sm_90a")).graph;
  EXPECT_EQ(std::ranges::count(fused.ops, OpKind::custom, &graph::KernelOp::kind), 2) << "the test wants a split loop";
  EXPECT_FALSE(rewrite::added_rounding(g, decomposed, fused));
  EXPECT_LE(casts(fused).size(), 1u) << "that of the output may be left";
  EXPECT_NO_THROW(graph::validate(fused));
  EXPECT_EQ(search::name(search::equal(g, fused).answer), "equal");

  // The graph's own casts remain.
  Builder c("explicit");
  const TensorHandle x = c.input("X", {16, 4096}), w = c.input("W", {4096, 64});
  c.output(c.custom({.grid = {1}, .block = {128}, .loop = 64},
                    [&](BlockBuilder& t) {
                      const TileHandle y = accum(matmul(t.load(x, {.loop = 1}), t.load(w, {.loop = 0})));
                      t.store(tanh(cast(y, DType::f16)), {});
                    })
               .at(0),
           "Y");
  const KernelGraph declared = c.build(), taken = *rewrite::decompose(declared);
  KernelGraph of = optimize(taken, target::find("sm_90a")).graph;
  EXPECT_FALSE(rewrite::added_rounding(declared, taken, of));
  const std::string cast_name = taken.tensors[taken.ops[1].outputs[0]].name;
  EXPECT_EQ(taken.ops[1].kind, OpKind::cast);
  EXPECT_TRUE(casts(of).contains(cast_name)) << cast_name << json::to_json(of);
}

TEST(Roundings, InsideAKernelAreTakenOutUnlessWhatIsRoundedIsStored) {
  const auto graph = [](bool rounded, bool stored) {
    Builder b("inside");
    const TensorHandle x = b.input("X", {64, 64});
    const auto y = b.custom({.grid = {2}, .block = {128}}, [&](BlockBuilder& t) {
      const TileHandle e = exp(t.load(x, {.x = 0}));
      const TileHandle read = rounded ? cast(e, DType::f16) : e;
      t.store(tanh(read), {.x = 0});
      if (stored) t.store(read, {.x = 0});
    });
    for (const TensorHandle& each : y) b.output(each);
    return b.build();
  };
  for (const bool stored : {false, true}) {
    const KernelGraph given = graph(false, stored), decomposed = *rewrite::decompose(given);
    KernelGraph fused = graph(true, stored);
    ASSERT_TRUE(casts(fused).contains("s2"));
    EXPECT_FALSE(rewrite::added_rounding(given, decomposed, fused));
    EXPECT_EQ(casts(fused).contains("s2"), stored) << json::to_json(fused);
  }
}

}  // namespace
}  // namespace zellige::fuse
