// Custom operators are decomposed if that is clearly cheaper, and the manifest records it.
#include "fuse/custom.hpp"

#include <gtest/gtest.h>

#include "emit/emit.hpp"
#include "graph/builder.hpp"
#include "graph/mugraphs.hpp"
#include "json/json.hpp"
#include "run/compile.hpp"

namespace zellige::fuse {
namespace {

using graph::BlockBuilder;
using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::TensorHandle;
using graph::TileHandle;

const target::Target& sm_90a() { return target::find("sm_90a"); }

/// Scores stored by one kernel, a matmul, and a custom operator that divides by the scores' row sums.
KernelGraph attention() {
  Builder b("attention");
  const TensorHandle q = b.input("Q", {32, 16, 64}), k = b.input("K", {32, 64, 4096}), v = b.input("V", {32, 4096, 64});
  const TensorHandle p = exp(matmul(q, k)), o = matmul(p, v);
  b.output(b.custom({.grid = {32, 2}, .block = {128}},
                    [&](BlockBuilder& t) {
                      const TileHandle s = t.load(p, {.x = 0, .y = 1}), x = t.load(o, {.x = 0, .y = 1});
                      t.store(accum(x) / accum_red_sum(s), {.x = 0, .y = 1});
                    })
               .at(0),
           "Y");
  return b.build();
}

std::string last_note(const Optimized& o) { return o.notes.empty() ? "" : o.notes.back(); }

TEST(Custom, IsDecomposedWhereThatIsCheaper) {
  const KernelGraph g = attention();
  const Optimized o = optimize(g, sm_90a(), Custom::cheaper), kept = optimize(g, sm_90a(), Custom::kept);
  EXPECT_TRUE(o.decomposed);
  EXPECT_LT(o.kernels.size(), kept.kernels.size());
  EXPECT_NE(last_note(o).find("custom operators are decomposed: "), std::string::npos) << last_note(o);
  EXPECT_FALSE(kept.decomposed);
  EXPECT_EQ(json::to_json(kept.graph), json::to_json(optimize(g, sm_90a()).graph));
}

/// One custom operator per shape, tiled as well as unfused ones would be.
KernelGraph squares(const std::vector<graph::Shape>& shapes) {
  Builder b("square");
  for (const graph::Shape& shape : shapes) {
    const std::string number = std::to_string(&shape - shapes.data());
    const TensorHandle x = b.input("X" + number, shape);
    b.output(b.custom({.grid = {128}, .block = {256}},
                      [&](BlockBuilder& t) { t.store(square(t.load(x, {.x = 0})), {.x = 0}); })
                 .at(0),
             "Y" + number);
  }
  return b.build();
}

TEST(Custom, IsKeptWhereItIsNotCheaper) {
  const Optimized o = optimize(squares({{4096, 256}, {2048, 512}}), sm_90a(), Custom::cheaper);
  EXPECT_FALSE(o.decomposed);
  EXPECT_NE(last_note(o).find("custom operators are kept: "), std::string::npos) << last_note(o);
  EXPECT_NE(last_note(o).find(" decomposed"), std::string::npos) << last_note(o);
}

TEST(Custom, IsDecomposedAtTheSameCostWhereOneKernelResults) {
  const Optimized o = optimize(squares({{4096, 256}}), sm_90a(), Custom::cheaper);
  EXPECT_TRUE(o.decomposed) << last_note(o);
}

TEST(Custom, ThatCannotBeDecomposedIsKept) {
  Builder b("greatest");
  const TensorHandle x = b.input("X", {64, 256});
  b.output(b.custom({.grid = {16}, .block = {128}, .loop = 4},
                    [&](BlockBuilder& t) { t.store(accum_max(t.load(x, {.x = 0, .loop = 1})), {.x = 0}); })
               .at(0),
           "Y");
  const KernelGraph g = b.build();
  EXPECT_EQ(last_note(optimize(g, sm_90a(), Custom::cheaper)),
            "custom operators are kept: they are not proved to be unfused operators in blocks");
  try {
    optimize(g, sm_90a(), Custom::decomposed);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "greatest: expected custom operators that can be decomposed; they are not proved to be "
                 "unfused operators in blocks");
  }
}

// Without custom operators there is nothing to say.
TEST(Custom, IsNotThere) {
  Builder b("plain");
  b.output(exp(square(b.input("X", {64, 256}))), "Y");
  const Optimized o = optimize(b.build(), sm_90a(), Custom::cheaper);
  EXPECT_FALSE(o.decomposed);
  for (const std::string& n : o.notes) EXPECT_EQ(n.find("custom operators"), std::string::npos) << n;
}

// Row sums followed by column sums: one block has all of it; two kernels would be faster, but would round the
// row sums.
TEST(Custom, IsKeptWhereSomethingWouldBeRounded) {
  const auto given = [](DType dtype) {
    Builder b("columns");
    const TensorHandle x = b.input("X", {256, 4096}, dtype);
    b.output(b.custom({.grid = {1}, .block = {256}, .loop = 64},
                      [&](BlockBuilder& t) {
                        const TileHandle e = exp(t.load(x, {.loop = 0}));
                        t.store(accum(reduction(e / reduction(e, 1), 0)), {});
                      })
                 .at(0),
             "Y");
    return b.build();
  };
  for (const DType dtype : {DType::f16, DType::f32}) {
    const Optimized o = optimize(given(dtype), sm_90a(), Custom::cheaper);
    EXPECT_EQ(o.decomposed, dtype == DType::f32);
    if (!o.decomposed) EXPECT_EQ(last_note(o), "custom operators are kept: Y_s3 would be rounded");
  }
}

/// As in `transpile`, with the planner options of --tiling.
emit::EmittedProgram transpiled(const KernelGraph& g, plan::PlanOptions w) {
  return run::compile(g, sm_90a(), {.fuse = true, .plan = std::move(w)}).program;
}

void expect_replayed(const KernelGraph& g, bool decomposed) {
  const emit::EmittedProgram p = transpiled(g, run::tiling_options("chosen", sm_90a()));
  const std::string manifest = manifest::to_json(p.manifest);
  EXPECT_EQ(p.manifest.decomposed, decomposed) << g.name;
  EXPECT_EQ(manifest.find("\"apart\"") != std::string::npos, decomposed) << "it is reported where it is so";
  EXPECT_EQ(manifest::to_json(manifest::parse_manifest(manifest, "m")).find("\"apart\"") != std::string::npos,
            decomposed);
  const plan::PlanOptions w = run::tiling_options(manifest, sm_90a(), "m");
  EXPECT_EQ(w.decomposed, decomposed);
  const emit::EmittedProgram again = transpiled(g, w);
  EXPECT_EQ(p.source, again.source) << g.name;
  EXPECT_EQ(manifest, manifest::to_json(again.manifest)) << g.name;
}

TEST(Replay, OfADecomposedOperator) { expect_replayed(attention(), true); }

TEST(Replay, OfAPlainGraph) {
  Builder b("mlp");
  const TensorHandle x = b.input("X", {16, 512}), w = b.input("W", {512, 512});
  b.output(silu(matmul(x, w)), "Y");
  expect_replayed(b.build(), false);
}

TEST(Replay, OfASavedGraph) {
  const std::string path = graph::test::mugraph_file("mha_bs1.json");
  if (path.empty()) GTEST_SKIP() << "mha_bs1.json is not here: set ZELLIGE_MUGRAPHS to the folder that has it";
  expect_replayed(json::load(path).at(0), true);
}

// A list alone, or a manifest without the mark, is of the graph with its custom operators.
TEST(Replay, OfAList) {
  const KernelGraph g = attention();
  const emit::EmittedProgram p = transpiled(g, run::tiling_options("given", sm_90a()));
  const plan::PlanOptions w = run::tiling_options(retile::to_json(p.manifest.tiling), sm_90a());
  EXPECT_FALSE(w.decomposed);
  EXPECT_EQ(p.source, transpiled(g, w).source);
}

TEST(Replay, RefusesTheOriginalGraph) {
  const plan::PlanOptions w = run::tiling_options(R"({"apart": true, "tiling": []})", sm_90a());
  try {
    run::compile(attention(), sm_90a(), {.plan = w});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(),
                 "attention: expected a tiling of the graph as it is given, found one of its custom "
                 "operators decomposed");
  }
  try {
    run::tiling_options(R"({"apart": 1, "tiling": []})", sm_90a(), "m");
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "m: apart: expected true or false, found 1");
  }
}

}  // namespace
}  // namespace zellige::fuse
