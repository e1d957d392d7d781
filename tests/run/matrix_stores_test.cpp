// Products on warpgroups whose results go to shared memory by stmatrix, as emitted: epilogues, rows and columns, several
// tiles along M, batches, and attention.
#include <gtest/gtest.h>

#include <algorithm>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "plan/plan.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using retile::MatmulTile;

/// Returns the names of the instructions by which the works of the graph's kernels store accumulators to shared memory.
std::vector<std::string> stores(const graph::KernelGraph& g, const plan::PlanOptions& options) {
  std::vector<std::string> names;
  for (const kernel::Kernel& k : test::make_plan(g, target::find("sm_90a"), options).kernels)
    for (const kernel::Work& w : kernel::works(k))
      if (w.kind == kernel::WorkKind::to_shared) names.push_back(w.copy.row ? w.copy.row->name : "");
  return names;
}

/// Checks that the graph's accumulators are stored by `store`, and that its results are right. Inputs are small integers.
void expect_stored_by(const std::string& store, const graph::KernelGraph& g, const plan::PlanOptions& options,
                      double share = 0) {
  EXPECT_EQ(stores(g, options), std::vector<std::string>{store})
      << ir::print(test::make_plan(g, target::find("sm_90a"), options));
  std::vector<reference::Array> inputs;
  for (int t : g.inputs) inputs.push_back(integers(g.tensors[t].shape, t));
  expect_as_reference(g, inputs, share, share, "sm_90a", options);
}

/// A product of 300 x 504, of which the tiles of 128 and 256 leave parts beyond the edges.
graph::KernelGraph product(DType dtype, bool bias) {
  graph::Builder b("product");
  const auto A = b.input("A", {300, 192}, dtype), B = b.input("B", {192, 504}, dtype, {1, 192});
  b.output(bias ? matmul(A, B, b.input("bias", {504}, dtype)) : matmul(A, B), "C");
  return b.build();
}

TEST(MatrixStores, OfProducts) {
  struct Stored {
    const char* by;
    MatmulTile tile;
  };
  std::size_t place = 0;
  for (const auto& [by, tile] : {Stored{"SM90_U32x4_STSM_N", {128, 256, 64, 256}},
                                 {"SM90_U32x4_STSM_N", {256, 80, 64, 256}},  // two tiles along M of each warpgroup
                                 {"SM90_U32x2_STSM_N", {64, 72, 64, 128}},   // nine tiles along N
                                 {"SM90_U16x8_STSM_T", {128, 64, 64, 256, true}}})
    for (const DType dtype : {DType::f16, DType::bf16})
      if (test::one_a_row(place++, 2))
        expect_stored_by(by, product(dtype, dtype == DType::f16), {.tiling = {{.op = 0, .product = tile}}});
}

// What an epilogue reads is in flight for several runs of accumulators at a time.
TEST(MatrixStores, UnderAnEpilogue) {
  for (const DType dtype : {DType::f16, DType::bf16}) {
    graph::Builder b("epilogue");
    const auto X = b.input("X", {256, 192}, dtype), W = b.input("W", {192, 256}, dtype),
               R = b.input("R", {256, 256}, dtype), bias = b.input("bias", {1, 256}, dtype);
    b.output(b.custom({.grid = {2, 2}, .block = {256}, .loop = 3},
                      [&](graph::BlockBuilder& t) {
                        const auto sum = accum(matmul(t.load(X, {.y = 0, .loop = 1}), t.load(W, {.x = 1, .loop = 0})));
                        t.store(relu(sum + t.load(bias, {.x = 1})) + t.load(R, {.x = 1, .y = 0}), {.x = 1, .y = 0});
                      })[0],
             "Y");
    expect_stored_by("SM90_U32x4_STSM_N", b.build(), {});
  }
}

// The matrices of a batch are columns of one product.
TEST(MatrixStores, OfABatch) {
  graph::Builder b("batch");
  const auto A = b.input("A", {4, 128, 128}), B = b.input("B", {4, 128, 96});
  b.output(matmul(A, B), "C");
  const graph::KernelGraph g = b.build();
  for (const bool swap : {false, true})
    expect_stored_by(
        swap ? "SM90_U16x8_STSM_T" : "SM90_U32x4_STSM_N", g,
        {.tiling = {{.op = 0, .product = swap ? MatmulTile{64, 64, 64, 128, true} : MatmulTile{128, 96, 64, 256}}}});
}

TEST(MatrixStores, OfAttention) {
  graph::Builder b("attention");
  const auto Q = b.input("Q", {2, 128, 64}, DType::bf16),
             K = b.input("K", {2, 64, 256}, DType::bf16, {64 * 256, 1, 64}),
             V = b.input("V", {2, 256, 64}, DType::bf16);
  b.output(b.custom({.grid = {2, 1}, .block = {256}, .loop = 2},
                    [&](graph::BlockBuilder& t) {
                      const auto q = t.load(Q, {.x = 0, .y = 1}), k = t.load(K, {.x = 0, .loop = 2}),
                                 v = t.load(V, {.x = 0, .loop = 1});
                      const auto scores = matmul(q, k) * 0.125;
                      const auto [maximum, fell] = reduction_max(scores, 2);
                      const auto p = exp(scores - maximum), factor = exp(fell);
                      const auto o = accum_rescale(matmul(p, v), factor);
                      t.store(o / accum_red_sum_rescale(p, factor), {.x = 0, .y = 1});
                    })[0],
           "O");
  expect_stored_by("SM90_U32x4_STSM_N", b.build(), {}, 0.05);
}

TEST(MatrixStores, NotOfWarpsAndNotBeforeHopper) {
  const graph::KernelGraph g = product(DType::f16, false);
  for (const auto& [name, t] :
       {std::pair{"sm_80", MatmulTile{64, 64, 64, 128}}, {"sm_90a", MatmulTile{32, 64, 64, 128}}})
    for (const kernel::Kernel& k :
         test::make_plan(g, target::find(name), {.tiling = {{.op = 0, .product = t}}}).kernels)
      for (const kernel::Work& w : kernel::works(k)) EXPECT_FALSE(w.copy.by_matrices()) << name;
}

}  // namespace
}  // namespace zellige::run
