// A warp role of one thread that multiplies into two sets of columns alternately, as emitted for sm_100a where blocks take several output
// tiles: results, counters as predicted, and the overlap in the schedule.
#include <gtest/gtest.h>

#include <algorithm>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "kernel/tensor_columns.hpp"
#include "predict/predict.hpp"
#include "tiled_product.hpp"
#include "zellige/emulate/counter_names.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using plan::Blocks;

/// A B200 of few multiprocessors, so that small products have several tiles for a block.
target::Target few(int multiprocessors) {
  target::Target t = target::find("sm_100a");
  t.multiprocessors = multiprocessors;
  return t;
}

/// Runs the graph's plan with these blocks, and compares with the reference and with what is predicted. Returns the source.
std::string sets_compared(const graph::KernelGraph& g, const target::Target& target, Blocks way, double share = 0) {
  static const toolchain::Cache cache = toolchain::Cache::temporary();
  const plan::PlanOptions options{{way}};
  const emit::EmittedProgram p = test::transpile(g, target, options);
  std::vector<reference::Array> inputs;
  for (const int t : g.inputs) inputs.push_back(integers(g.tensors[static_cast<std::size_t>(t)].shape, t));
  std::vector<Bytes> storage;
  for (const manifest::TensorPlace& t : p.manifest.tensors)
    storage.push_back(t.role == manifest::Role::input ? pack(t, inputs.at(static_cast<std::size_t>(t.position)).values)
                                                      : poisoned(t));
  const EmulatedRun r = run_emulated(p, storage, cache, 2);
  for (const emulate::Finding& f : r.findings) ADD_FAILURE() << g.name << ": " << f.message;
  for (const auto& [counter, n] : predict::predict(p.plan.kernels.at(0)))
    EXPECT_EQ(r.kernels.at(0).counters[counter], n) << g.name << ": " << emulate::name(counter);
  const std::vector<reference::Array> expected = reference::run_reference(g, inputs);
  for (std::size_t t = 0; t < storage.size(); ++t) {
    const manifest::TensorPlace& place = p.manifest.tensors[t];
    if (place.role != manifest::Role::output) continue;
    const std::vector<double> found = unpack(place, storage[t]),
                              &right = expected[static_cast<std::size_t>(place.position)].values;
    int wrong = 0;
    for (std::size_t i = 0; i < found.size(); ++i)
      wrong += !(std::abs(found[i] - right[i]) <= share * (1 + std::abs(right[i])));
    EXPECT_EQ(wrong, 0) << g.name << ": elements of " << place.name;
  }
  return p.source;
}

bool occurs(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(ProductSets, MultiplyTheNextTileWhileOneIsStored) {
  std::size_t place = 0;
  for (const Blocks way : {Blocks::persistent, Blocks::pairs})
    for (const bool along : {false, true}) {
      if (!test::one_a_row(place++, 2)) continue;
      const TiledProduct c{512, 256, 320, along, !along, along ? DType::f16 : DType::bf16};
      const std::string source = sets_compared(tiled(c), few(2), way);
      EXPECT_TRUE(occurs(source, "ProductSets<2, 128, 2, 2> products(")) << source;
      EXPECT_EQ(occurs(source, ", 3);"), way == Blocks::pairs) << "the operands' stages are empty in both blocks\n"
                                                               << source;
    }
}

/// (x g + bias) times (x u), in tiles of 128 rows.
graph::KernelGraph gated(int warps, std::int64_t columns) {
  graph::Builder b("gated");
  const auto X = b.input("X", {512, 192}), G = b.input("G", {192, 256}, DType::f16, {1, 192}),
             U = b.input("U", {192, 256}, DType::f16, {1, 192}), Bias = b.input("bias", {1, 256});
  b.output(b.custom({.grid = {256 / columns, 4}, .block = {32 * warps}, .loop = 3},
                    [&](graph::BlockBuilder& t) {
                      const auto x = t.load(X, {.y = 0, .loop = 1});
                      const auto left = accum(matmul(x, t.load(G, {.x = 1, .loop = 0}))) + t.load(Bias, {.x = 1});
                      t.store(left * accum(matmul(x, t.load(U, {.x = 1, .loop = 0}))), {.x = 1, .y = 0});
                    })[0],
           "Y");
  return b.build();
}

// Two products take 256 columns for 128 of each: two sets are all of tensor memory. The bias is copied for each tile.
TEST(ProductSets, HaveTheColumnsOfAllProducts) {
  const std::string source = sets_compared(gated(8, 128), few(3), Blocks::persistent, 1e-3);
  EXPECT_TRUE(occurs(source, "ProductSets<2, 256, 2, 2> products(")) << source;
}

// One warpgroup has 64 rows for an instruction, and 128 rows are two of them.
TEST(ProductSets, OfOneWarpgroupTakeItsRowsOneAfterAnother) {
  const std::string source = sets_compared(gated(4, 64), few(2), Blocks::persistent, 1e-3);
  EXPECT_TRUE(occurs(source, "ProductSets<1, 256, 1, 2> products(")) << source;
}

// A set of columns that takes more than half of tensor memory leaves none for another.
TEST(ProductSets, AreNotThereWhereTwoDoNotFit) {
  graph::Builder b("wide");
  const auto A = b.input("A", {256, 128}), B = b.input("B", {128, 512}, DType::f16, {1, 128}),
             C = b.input("C", {128, 512}, DType::f16, {1, 128});
  b.output(b.custom({.grid = {2, 2}, .block = {256}, .loop = 2},
                    [&](graph::BlockBuilder& t) {
                      const auto a = t.load(A, {.y = 0, .loop = 1});
                      const auto left = accum(matmul(a, t.load(B, {.x = 1, .loop = 0})));
                      t.store(left + accum(matmul(a, t.load(C, {.x = 1, .loop = 0}))), {.x = 1, .y = 0});
                    })[0],
           "Y");
  const std::string source = test::transpile(b.build(), few(1), {{Blocks::persistent}}).source;
  EXPECT_FALSE(occurs(source, "ProductSets<")) << source;
}

// A block with one tile has nothing to overlap with.
TEST(ProductSets, AreNotThereForOneTileOfABlock) {
  const TiledProduct c{256, 256, 192, false, true, DType::f16};
  EXPECT_FALSE(
      occurs(test::transpile(tiled(c), target::find("sm_100a"), {{Blocks::persistent}}).source, "ProductSets<"));
  EXPECT_FALSE(occurs(test::transpile(tiled(c), few(1), {{Blocks::a_tile}}).source, "ProductSets<"));
}

/// Returns the kernel of a product of several tiles for a block, as its text.
std::string sets_printed() {
  static const std::string text = [] {
    const TiledProduct c{512, 256, 320, false, true, DType::f16};
    return ir::print(test::make_plan(tiled(c), few(2), {{Blocks::persistent}}));
  }();
  return text;
}

std::string sets_replaced(std::string text, const std::string& was, const std::string& is, int occurrence = 0) {
  std::size_t at = text.find(was);
  for (int i = 0; i < occurrence && at != text.npos; ++i) at = text.find(was, at + 1);
  if (at == text.npos) return "";
  return text.replace(at, was.size(), is);
}

std::string sets_refusal(const std::string& text) {
  try {
    ir::verify(ir::parse(text, "sets.ir"), "sets.ir");
  } catch (const ir::Mistake& e) {
    return e.what();
  }
  return "";
}

/// What a schedule loses or has otherwise, and what the proof says of it.
struct ScheduleFault {
  const char *was, *is, *words;
  int occurrence = 0;
};

// The IR of a persistent block has its agents in the order consumer, producer, multiplier.
TEST(ProductSets, FaultsOfTheScheduleAreFound) {
  ASSERT_EQ(sets_refusal(sets_printed()), "") << sets_printed();
  const ScheduleFault faults[] = {
      {"      acquire through accumulators\n", "", "holds no stage of it; acquire accumulators before this step"},
      {"      release through accumulators\n", "", "deadlock"},
      {"      acquire through accumulators\n", "",
       "without holding a stage of it; acquire accumulators before this step", 1},
      {"      release through accumulators\n", "", "deadlock", 1},
      {"        release through ring\n", "", "deadlock"},
      {"        acquire through ring\n", "", "fills", 0},
      {"      start ", "      # start ", "", 0},
      {"stages 2 from multiplier", "stages 3 from multiplier", "lie in bytes"},
      {"arrivals 1\n", "arrivals 8\n", "arrivals"},
      {"init through accumulators arrivals 8", "init through accumulators arrivals 4", "waits for 4 arrivals"},
  };
  for (const ScheduleFault& f : faults) {
    const std::string text = sets_replaced(sets_printed(), f.was, f.is, f.occurrence);
    ASSERT_NE(text, "") << f.was << "\n" << sets_printed();
    const std::string found = sets_refusal(text);
    EXPECT_NE(found, "") << f.was << " -> " << f.is << " is accepted";
    EXPECT_TRUE(occurs(found, f.words)) << f.was << " -> " << f.is << ": " << found;
  }
}

}  // namespace
}  // namespace zellige::run
