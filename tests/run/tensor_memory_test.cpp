// Products in tensor memory, as emitted for sm_100a: every block schedule, both majors of both operands, several products in
// disjoint columns, and those that exceed the columns. Which of it NVRTC assembles, tests/toolchain/nvrtc_test.cpp asks.
#include <gtest/gtest.h>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emulate_graph.hpp"
#include "graph/builder.hpp"
#include "ir/ir.hpp"
#include "kernel/tensor_columns.hpp"
#include "target/instructions.hpp"
#include "target/products.hpp"
#include "tiled_product.hpp"

namespace zellige::run {
namespace {

using graph::DType;
using plan::Blocks;

std::string source_of(const graph::KernelGraph& g, const plan::PlanOptions& options = {}) {
  return test::transpile(g, target::find("sm_100a"), options).source;
}
bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(TensorMemory, MultipliesInEveryWayOfBlocks) {
  std::size_t place = 0;
  for (Blocks way : {Blocks::a_tile, Blocks::persistent, Blocks::pairs})
    for (bool along : {false, true}) {
      if (!test::one_a_row(place++, 2)) continue;
      const TiledProduct c{256, 256, 192, along, !along, along ? DType::f16 : DType::bf16};
      const graph::KernelGraph g = tiled(c);
      const std::string source = source_of(g, {{way}});
      EXPECT_TRUE(has(source, "TensorProducts<2, 128, 2> products(")) << source;
      EXPECT_FALSE(has(source, "wgmma"));
      expect_as_reference(g, {integers({c.m, c.k}, 1), integers({c.k, c.n}, 2)}, 0, 0, "sm_100a", {{way}});
    }
}

// 128 elements of K lie in a line. Across K they are no operand of the instruction.
TEST(TensorMemory, MultipliesFloatsOf8BitsAlongK) {
  for (const DType dtype : {DType::e4m3, DType::e5m2})
    for (const bool along_k : {true, false}) {
      graph::Builder b("float8");
      const auto A = b.input("A", {128, 384}, dtype),
                 B = b.input("B", {384, 256}, dtype, along_k ? graph::Strides{1, 384} : graph::Strides{256, 1});
      b.output(b.custom({.grid = {2}, .block = {256}, .loop = 3},
                        [&](graph::BlockBuilder& t) {
                          t.store(accum(matmul(t.load(A, {.loop = 1}), t.load(B, {.x = 1, .loop = 0}))), {.x = 1});
                        })[0],
               "C");
      const graph::KernelGraph g = b.build();
      const std::string source = source_of(g);
      EXPECT_EQ(has(source, "TensorProducts<2, 128, 2> products("), along_k) << source;
      if (along_k) expect_as_reference(g, {integers({128, 384}, 1), integers({384, 256}, 2)}, 0, 0, "sm_100a");
    }
}

/// A tile of x times one of g, times a tile of x times one of u; all of them are summed over the loop.
graph::KernelGraph two_products(std::int64_t columns) {
  graph::Builder b("two_products");
  const auto X = b.input("X", {256, 128}), G = b.input("G", {128, 2 * columns}, DType::f16, {1, 128}),
             U = b.input("U", {128, 2 * columns}, DType::f16, {1, 128});
  b.output(b.custom({.grid = {2, 2}, .block = {256}, .loop = 2},
                    [&](graph::BlockBuilder& t) {
                      const auto x = t.load(X, {.y = 0, .loop = 1});
                      const auto left = accum(matmul(x, t.load(G, {.x = 1, .loop = 0})));
                      t.store(left * accum(matmul(x, t.load(U, {.x = 1, .loop = 0}))), {.x = 1, .y = 0});
                    })[0],
           "Y");
  return b.build();
}

// Each load takes the columns that the product of the same accumulators has.
TEST(TensorMemory, SeveralProductsHaveColumnsOfTheirOwn) {
  const graph::KernelGraph g = two_products(128);
  const std::string source = source_of(g);
  EXPECT_TRUE(has(source, "TensorProducts<2, 256, 2> products(")) << source;
  for (const char* part : {"products.issue<half_t, 4, 0>(acc", "products.issue<half_t, 4, 128>(acc",
                           "products.load<0>(acc", "products.load<128>(acc", "products.free();"})
    EXPECT_TRUE(has(source, part)) << part << "\n" << source;
  std::vector<reference::Array> inputs;
  for (int t : g.inputs) inputs.push_back(integers(g.tensors[t].shape, t));
  expect_as_reference(g, inputs, 1e-3, 1e-3, "sm_100a");
}

TEST(TensorMemory, ProductsThatExceedItsColumnsAreMultipliedByWarps) {
  const graph::KernelGraph g = two_products(248);
  const std::string notes = ir::print(test::make_plan(g, target::find("sm_100a")));
  EXPECT_TRUE(has(notes, "products on warpgroups: 2 products take 992 columns of tensor memory, which has 512\"\n"))
      << notes;
  EXPECT_FALSE(has(source_of(g), "TensorProducts<"));
}

// Another architecture's rows are none of a target's: the row of the one is refused in a plan of the other.
TEST(TensorMemory, HasRowsOfEachArchitecture) {
  const auto row = [](const char* target) {
    return target::find_warpgroup_mma(target::find(target), "bf16", "bf16", "f32", 64);
  };
  const Instruction *b200 = row("sm_100a"), *b300 = row("sm_103a"), *h200 = row("sm_90a");
  ASSERT_TRUE(b200 && b300 && h200);
  EXPECT_EQ(row("sm_120a"), nullptr);
  EXPECT_NE(b200, b300);
  EXPECT_EQ(std::string_view(b200->name), b300->name);
  EXPECT_EQ(std::string_view(b200->name), "TensorProducts<" + std::string(h200->name) + ">");
  EXPECT_FALSE(target::in_tensor_memory(*h200));
  kernel::MatmulChoice choice;
  choice.m = 256, choice.row = b200, choice.warps.m = 4;
  EXPECT_EQ(kernel::tensor_columns({{3, choice}}).count, 256) << "64 columns for each 64 rows";
  choice.warps.m = 8;
  EXPECT_EQ(kernel::tensor_columns({{3, choice}}).count, 128) << "128 rows at a time";
  choice.row = h200;
  EXPECT_TRUE(kernel::tensor_columns({{3, choice}}).none());
  EXPECT_EQ(target::find_warpgroup_mma(target::find("sm_100a"), "bf16", "bf16", "f32", 64, true), nullptr)
      << "A in registers";
}

}  // namespace
}  // namespace zellige::run
