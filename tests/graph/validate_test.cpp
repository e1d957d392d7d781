// Errors that only a graph made in C++ can have; those of files are in tests/bad_graphs.

#include <gtest/gtest.h>

#include "graph/builder.hpp"
#include "graph/infer.hpp"

namespace zellige::graph {
namespace {

KernelGraph good() {
  Builder b("g");
  const TensorHandle X = b.input("X", {16, 64}), W = b.input("W", {64, 32});
  b.output(b.custom({.grid = {2}, .block = {64}, .loop = 4},
                    [&](BlockBuilder& t) {
                      const TileHandle x = t.load(X, {.loop = 1}, "x"), w = t.load(W, {.x = 1, .loop = 0}, "w");
                      t.store(accum(matmul(x, w)), {.x = 1});
                    })
               .at(0),
           "Y");
  return b.build();
}

template <class Edit>
std::string message(const Edit& edit) {
  KernelGraph g = good();
  edit(g);
  try {
    validate(g);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

template <class Edit>
std::string block_message(const Edit& edit) {
  return message([&](KernelGraph& g) {
    auto block = std::make_shared<BlockGraph>(*g.ops[0].block);
    edit(*block);
    g.ops[0].block = block;
  });
}

TEST(Validate, AcceptsAGoodGraph) {
  EXPECT_EQ(message([](KernelGraph&) {}), "");
  const KernelGraph g = good();
  EXPECT_EQ(to_string(g.tensors[2].shape), "(16, 32)");
  EXPECT_FALSE(g.ops[0].block->tensors[2].after_loop);
  EXPECT_TRUE(g.ops[0].block->tensors[3].after_loop);
}

TEST(Validate, IndicesOutOfRange) {
  EXPECT_EQ(message([](KernelGraph& g) { g.ops[0].inputs[0] = 3; }),
            "graph g, operator 0 (custom): expected operands among the graph's 3 tensors, found index 3");
  EXPECT_EQ(message([](KernelGraph& g) { g.ops[0].outputs[0] = -1; }),
            "graph g, operator 0 (custom): expected results among the graph's 3 tensors, found index -1");
  EXPECT_EQ(message([](KernelGraph& g) { g.outputs[0] = 9; }),
            "graph g: expected outputs among the graph's 3 tensors, found index 9");
  EXPECT_EQ(message([](KernelGraph& g) { g.ops[0].inputs[1] = 2; }),
            "graph g, operator 0 (custom): expected operands that an earlier operator or an input makes, "
            "found tensor 2 "
            "before it is made: the operators are out of order, cyclic, or lack its producer");
  EXPECT_EQ(block_message([](BlockGraph& b) { b.ops[0].kernel_tensor = 2; }),
            "graph g, operator 0 (custom), block operator 0 (input): expected one of the custom operator's 2 "
            "operands, "
            "found index 2");
}

TEST(Validate, TensorsThatNobodyMakes) {
  EXPECT_EQ(message([](KernelGraph& g) {
              g.tensors.push_back({DType::f16, {4}, {}, "lost"});
            }),
            "graph g: expected a producer for each tensor, found none for tensor 3");
  EXPECT_EQ(block_message([](BlockGraph& b) {
              b.tensors.push_back({DType::f16, {4}, false, "lost"});
            }),
            "graph g, operator 0 (custom): expected a producer for each block tensor, found none for tensor 4");
}

TEST(Validate, WhatInferenceContradicts) {
  EXPECT_EQ(message([](KernelGraph& g) {
              g.tensors[2].shape = {16, 33};
            }),
            "graph g, operator 0 (custom), block operator 4 (output): expected the result Y to have the "
            "shape (16, 32), "
            "found (16, 33) in the graph");
  EXPECT_EQ(message([](KernelGraph& g) { g.tensors[2].shape = {}; }),
            "graph g: expected tensor Y to have the shape (16, 32), found none: infer() fills it in");
  EXPECT_EQ(message([](KernelGraph& g) { g.tensors[2].dtype = DType::f32; }),
            "graph g: expected tensor Y to be f16, found f32");
  EXPECT_EQ(block_message([](BlockGraph& b) { b.tensors[3].after_loop = false; }),
            "graph g, operator 0 (custom): expected block tensor s3 to live after the loop, found inside");
}

TEST(Validate, NamesAndStrides) {
  EXPECT_EQ(message([](KernelGraph& g) { g.name = "a b"; }),
            "graph a b: expected the graph to have a name of 1 to 200 printable ASCII characters without "
            "blanks, quotes "
            "and backslashes, found 3 characters");
  EXPECT_EQ(message([](KernelGraph& g) { g.tensors[1].name = "X"; }),
            "graph g: expected each tensor to have a name of its own, found X twice");
  EXPECT_EQ(message([](KernelGraph& g) { g.tensors[0].strides = {}; }),
            "graph g: expected the strides of input X, found none: only what the graph computes may leave "
            "them open");
  EXPECT_EQ(message([](KernelGraph& g) {
              g.tensors[0].strides = {64, 0};
            }),
            "graph g: expected strides that give each element of tensor X an address of its own, found (64, "
            "0) for (16, 64): "
            "elements (0, 0) and (0, 1) both lie at 0");
  EXPECT_EQ(message([](KernelGraph& g) {
              g.tensors[0].strides = {std::int64_t{1} << 39, 1};
            }),
            "graph g: expected tensor X to span at most 1099511627776 elements, found strides (549755813888, "
            "1) for "
            "(16, 64)");
  EXPECT_EQ(message([](KernelGraph& g) { g.tensors[0].strides = {1, 16}; }), "");
  EXPECT_EQ(message([](KernelGraph& g) { g.tensors[0].strides = {200, 3}; }), "");
}

TEST(Validate, MissingBlockGraph) {
  EXPECT_EQ(message([](KernelGraph& g) { g.ops[0].block = nullptr; }),
            "graph g, operator 0 (custom): expected a block graph, found none");
}

TEST(Validate, ABlockMayHaveAnyShapeOf32To1024Threads) {
  for (Dim3 d : {Dim3{32}, Dim3{1024}, Dim3{8, 8, 4}, Dim3{5, 7, 1}, Dim3{1, 1024, 1}, Dim3{4, 4, 64}, Dim3{1, 1, 128},
                 Dim3{1, 1, 1024}})
    EXPECT_EQ(block_message([&](BlockGraph& b) { b.block = d; }), "") << d.x << " " << d.y << " " << d.z;
  EXPECT_EQ(block_message([](BlockGraph& b) {
              b.block = {1, 1, 2048};
            }),
            "graph g, operator 0 (custom): expected a block of 1 to 1024 threads along z, found 2048");
}

// A loop-invariant value may be combined with values computed after the loop, and may be stored unchanged.
TEST(Validate, LoopInvariantsCrossTheLoop) {
  Builder b("g");
  const TensorHandle X = b.input("X", {16, 64}), S = b.input("S", {16, 1});
  const auto results = b.custom({.block = {32}, .loop = 4}, [&](BlockBuilder& t) {
    const TileHandle x = t.load(X, {.loop = 1}), s = square(t.load(S));
    t.store(accum_red_sum(x) * s);
    t.store(s);
  });
  b.output(results[0]);
  b.output(results[1]);
  const KernelGraph g = b.build();
  EXPECT_EQ(varies(*g.ops[0].block), (std::vector<bool>{true, false, false, false, false}));
  EXPECT_TRUE(g.ops[0].block->tensors[4].after_loop);
  EXPECT_FALSE(g.ops[0].block->tensors[2].after_loop);
}

}  // namespace
}  // namespace zellige::graph
