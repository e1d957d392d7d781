// Matrices of a batch with common rows are one matmul on warpgroups, with adjacent columns; a rotary
// embedding finds both elements of a pair in its registers.
#include <gtest/gtest.h>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "kernel/sliced.hpp"
#include "plan/plan.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using plan::Blocks;

/// Heads of 2 x `half` columns, `rotated` of them rotated and the others unchanged.
struct Case {
  std::int64_t heads, rotated, half;
  bool along_k = true;
  DType dtype = DType::bf16;
  std::int64_t rows = 256, k = 192;
};

graph::KernelGraph heads(const Case& c, bool rows_of_each = false) {
  graph::Builder b("heads");
  const auto X = rows_of_each ? b.input("X", {c.heads, 2, c.rows, c.k}, c.dtype) : b.input("X", {c.rows, c.k}, c.dtype);
  const graph::Strides along_k{2 * c.half * c.k, c.half * c.k, 1, c.k};
  const auto W = b.input("W", {c.heads, 2, c.k, c.half}, c.dtype, c.along_k ? along_k : graph::Strides{});
  const auto cos = b.input("cos", {c.rows, c.half, 1}, c.dtype), sin = b.input("sin", {c.rows, c.half, 1}, c.dtype);
  const auto out =
      b.custom({.grid = {c.heads, c.rows / 128}, .block = {256}, .loop = c.k / 64}, [&](graph::BlockBuilder& t) {
        const auto x = rows_of_each ? t.load(X, {.x = 0, .y = 2, .loop = 3}) : t.load(X, {.y = 0, .loop = 1});
        const auto product = accum(matmul(x, t.load(W, {.x = 0, .loop = 2})));
        const auto rotated =
            rotary_interleaved(permute(product, {0, 2, 3, 1}), t.load(cos, {.y = 0}), t.load(sin, {.y = 0}));
        const std::int64_t line = 2 * c.half;
        t.store(rotated, {.x = 0, .y = 1}, "rotated", {line, c.rotated * line, 1, c.half}, {0, 0, c.rotated});
        if (c.rotated < c.heads)
          t.store(product, {.x = 0, .y = 2}, "others", {line, c.half, (c.heads - c.rotated) * line, 1},
                  {0, c.rotated, c.heads});
      });
  for (const auto& o : out) b.output(o, &o == &out[0] ? "T" : "V");
  return b.build();
}

kernel::Kernel planned(const graph::KernelGraph& g, const plan::PlanOptions& plan_options = {}) {
  return test::make_plan(g, target::find("sm_90a"), plan_options).kernels.at(0);
}

TEST(BatchesOnWarpgroups, AreOneProductWhoseAccumulatorsAreRotatedInRegisters) {
  std::size_t place = 0;
  for (const Case& c : {Case{3, 2, 64}, Case{3, 2, 64, false}, Case{2, 2, 64, true, DType::f16}, Case{2, 1, 32},
                        Case{3, 3, 128, true, DType::f16, 128, 128}})
    for (Blocks way : {Blocks::a_tile, Blocks::persistent}) {
      if (!test::one_a_row(place++, 2)) continue;
      const graph::KernelGraph g = heads(c);
      const plan::PlanOptions plan_options{{way}};
      const kernel::Kernel k = planned(g, plan_options);
      ASSERT_EQ(k.agents.size(), 2u) << k.notes.front();
      for (const kernel::Work& w : kernel::works(k)) {
        if (w.kind != kernel::WorkKind::mma) continue;
        EXPECT_EQ(w.matmul.row->n, 2 * c.half);
        EXPECT_TRUE(k.tensor_of(w.node) < 0) << "the accumulators have left their registers";
      }
      std::vector<reference::Array> inputs;
      for (int t : g.inputs) inputs.push_back(integers(g.tensors[t].shape, t));
      expect_as_reference(g, inputs, 4e-3, 4e-3, "sm_90a", plan_options);
    }
}

TEST(BatchesOnWarpgroups, OfWhichSomeStoreLeaveThroughOneTile) {
  const kernel::Kernel k = planned(heads({.heads = 5, .rotated = 3, .half = 64}));
  int ways = 0;
  for (const kernel::SmemTensor& b : k.tensors) ways += k.program.nodes[b.node].kind == tile::NodeKind::store;
  EXPECT_EQ(ways, 1);
  std::vector<std::pair<std::int64_t, std::int64_t>> stored, made;
  for (const kernel::Work& t : kernel::works(k))
    for (const kernel::Slice& s : kernel::slices(k, t))
      (t.kind == kernel::WorkKind::to_global ? stored : made).emplace_back(s.from, s.to);
  const std::vector<std::pair<std::int64_t, std::int64_t>> parts{{0, 3}, {3, 5}};
  EXPECT_EQ(stored, parts);
  EXPECT_EQ(made, parts);
}

// Two slices of one value that lie along different axes of the grid: no block makes all of one alone.
TEST(BatchesOnWarpgroups, OfWhichSlicesLieAlongOtherAxes) {
  graph::Builder b("across");
  const auto X = b.input("X", {256, 128}), W = b.input("W", {128, 256});
  const auto corners = b.custom({.grid = {2, 2}, .block = {256}, .loop = 2}, [&](graph::BlockBuilder& t) {
    const auto product = accum(matmul(t.load(X, {.y = 0, .loop = 1}), t.load(W, {.x = 1, .loop = 0})));
    t.store(product, {.x = 1, .y = 0}, "A", {}, {0, 0, 128});
    t.store(product, {.x = 0, .y = 1}, "B", {}, {0, 0, 128});
  });
  for (std::size_t i = 0; i < corners.size(); ++i) b.output(corners[i], std::string(1, "AB"[i]));
  const graph::KernelGraph g = b.build();
  ASSERT_EQ(planned(g).agents.size(), 2u) << planned(g).notes.front();
  expect_as_reference(g, {integers({256, 128}, 1), integers({128, 256}, 2)}, 0, 0, "sm_90a");
}

TEST(BatchesOnWarpgroups, AreRefusedInWords) {
  const auto note = [](const graph::KernelGraph& g) {
    for (const std::string& n : planned(g).notes)
      if (n.starts_with("products on warpgroups: ")) return n.substr(24);
    return std::string();
  };
  EXPECT_EQ(note(heads({.heads = 2, .rotated = 2, .half = 64}, true)),
            "a block multiplies 2 matrices, each by its own");
  EXPECT_EQ(note(heads({.heads = 2, .rotated = 2, .half = 32, .along_k = false})),
            "2 matrices of 64 bytes a line do not lie as one of 64 columns");
  EXPECT_EQ(note(heads({.heads = 2, .rotated = 2, .half = 128, .along_k = false, .dtype = DType::f16})),
            "2 matrices of 256 bytes a line do not lie as one of 256 columns");
}

}  // namespace
}  // namespace zellige::run
