// Legal launch shapes and layouts that CUDA or a simple rule would not accept directly: they run, with right
// results.
#include <gtest/gtest.h>

#include <random>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "graph/builder.hpp"
#include "run/run.hpp"

namespace zellige::run {
namespace {

using graph::Dim3;

void expect_correct(const graph::KernelGraph& g, const char* target, const toolchain::Cache& cache) {
  const RunResult r = run(g, {.on = Machine::emulator, .target = target, .workers = 2}, cache);
  EXPECT_EQ(r.status, Status::correct) << r.reason;
}

graph::KernelGraph product(Dim3 grid, Dim3 block) {
  graph::Builder b("product");
  const graph::TensorHandle X = b.input("X", {16 * grid.x, 64}), W = b.input("W", {64, 8 * grid.y * grid.z});
  b.output(b.custom({.grid = grid, .block = block, .loop = 2},
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(X, {.x = 0, .loop = 1}), t.load(W, {.y = 1, .loop = 0}))),
                              {.x = 0, .y = 1});
                    })
               .at(0),
           "Y");
  return b.build();
}

// TMA stores whole chunks of 16 bytes. Rows that end inside a chunk are stored otherwise, or the last row's chunk would
// be written beyond the tensor.
TEST(Shapes, RowsThatEndInsideAChunk) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (const std::int64_t n : {200, 196, 194, 193}) {
    graph::Builder b("ends");
    const graph::TensorHandle A = b.input("A", {128, 128}), B = b.input("B", {128, n}, graph::DType::f16, {208, 1});
    b.output(matmul(A, B), "C");
    const emit::EmittedProgram p = test::transpile(
        b.build(), target::find("sm_90a"), {.tiling = {{.op = 0, .product = retile::MatmulTile{64, 64, 64, 128}}}});
    const manifest::KernelLaunch& last = p.manifest.kernels.back();
    bool stores = false;
    for (std::size_t i = 0; i < last.tensors.size(); ++i)
      stores = stores || (last.writes[i] && last.maps.contains(static_cast<int>(i)));
    EXPECT_EQ(stores, n == 200) << n;
    expect_correct(b.build(), "sm_90a", cache);
  }
}

/// A product of which the stores decide the time, with rows of 517 elements, and the strides that a user gives.
graph::KernelGraph wide(graph::Strides strides) {
  graph::Builder b("wide");
  const graph::TensorHandle A = b.input("A", {1100, 32}), B = b.input("B", {32, 517}, graph::DType::f16, {1, 32});
  b.output(matmul(A, B), "C", std::move(strides));
  return b.build();
}

// Lines that the planner pads leave in whole chunks, the padding of the last one included; a user's lines do not.
TEST(Shapes, ThePaddingOfLinesIsStored) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (const char* target : {"sm_80", "sm_90a"})
    for (const bool open : {true, false}) {
      const graph::KernelGraph g = wide(open ? graph::Strides{} : graph::Strides{520, 1});
      const emit::EmittedProgram p = test::transpile(g, target::find(target), {});
      const auto output = std::ranges::find(p.manifest.tensors, manifest::Role::output, &manifest::TensorPlace::role);
      ASSERT_NE(output, p.manifest.tensors.end());
      EXPECT_EQ(output->strides, (graph::Strides{520, 1}));
      EXPECT_EQ(output->bytes, 2 * (open ? 1100 * 520 : 1099 * 520 + 517)) << target;
      expect_correct(g, target, cache);
    }
}

// Blocks of any shape: the launch is within CUDA's limits, and has the same number of threads.
TEST(Shapes, BlocksOfAnyShape) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  std::mt19937 random(3);
  int tall = 0;
  for (int i = 0; i < 200; ++i) {
    Dim3 d{1, 1, 1};
    for (std::int64_t* axis : {&d.z, &d.y, &d.x})
      *axis = 1 + static_cast<std::int64_t>(random() % static_cast<unsigned>(1024 / d.count()));
    if (d.count() < 32) continue;
    tall += d.z > 64;
    const graph::KernelGraph g = product({2, 1, 1}, d);
    const char* target = i % 2 ? "sm_80" : "sm_90a";
    const emit::EmittedProgram p = test::transpile(g, target::find(target));
    const Dim3 launched = p.manifest.kernels.at(0).block;
    EXPECT_EQ(launched.count(), d.count());
    EXPECT_LE(launched.z, 64);
    if (d.z <= 64) EXPECT_EQ(launched, d) << "left as it is where that will do";
    if (i % 40 == 0 || d == Dim3{1, 1, 128}) expect_correct(g, target, cache);
  }
  EXPECT_GT(tall, 50);
  expect_correct(product({2, 1, 1}, {1, 1, 128}), "sm_80", cache);
  expect_correct(product({1, 2, 1}, {1, 3, 65}), "sm_90a", cache);
}

// Grids beyond CUDA's limits along y and z are numbered along x.
TEST(Shapes, GridsOfAnyShape) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (const Dim3 grid : {Dim3{2, 65537, 1}, Dim3{1, 2, 65536}}) {
    graph::Builder b("grid");
    const graph::TensorHandle X = b.input("X", {grid.x, grid.y, grid.z}), S = b.input("S", {grid.x, 1, grid.z});
    b.output(b.custom({.grid = grid, .block = {32}},
                      [&](graph::BlockBuilder& t) {
                        t.store(t.load(X, {.x = 0, .y = 1, .z = 2}) * t.load(S, {.x = 0, .z = 2}),
                                {.x = 0, .y = 1, .z = 2});
                      })
                 .at(0),
             "Y");
    const emit::EmittedProgram p = test::transpile(b.build(), target::find("sm_80"));
    EXPECT_EQ(p.manifest.kernels.at(0).grid, (Dim3{grid.count(), 1, 1}));
    expect_correct(b.build(), "sm_80", cache);
  }
  const emit::EmittedProgram p = test::transpile(product({3, 2, 1}, {64}), target::find("sm_80"));
  EXPECT_EQ(p.manifest.kernels.at(0).grid, (Dim3{3, 2, 1})) << "left as it is where that will do";
}

// Operands whose lines begin at no multiple of 16 bytes: products read copies of them in lines that do, each made once.
TEST(Shapes, LinesThatBeginAnywhere) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  struct Case {
    std::int64_t batch, m, n, k;
    bool a_along_k, b_along_k;
    int copies;         // of operands
    bool on_80 = true;  // on sm_80, too; otherwise reading them in place is expected to take less time there
  };
  const Case cases[] = {
      {1, 65, 129, 487, true, true, 2},  {1, 33, 40, 555, true, false, 1}, {1, 40, 67, 456, true, false, 1},
      {1, 71, 75, 450, false, false, 2}, {3, 17, 19, 453, true, true, 0},  {1, 5, 257, 515, false, true, 2},
      {1, 7, 9, 133, true, true, 0},     {1, 64, 64, 198, true, true, 0},  {1, 130, 700, 454, true, true, 2, false},
      {1, 200, 264, 456, true, false, 0}};
  for (const Case& c : cases)
    for (const char* target : {"sm_80", "sm_90a"}) {
      const auto matrix = [&](std::int64_t rows, std::int64_t columns, bool by_rows) {
        return by_rows ? graph::Strides{rows * columns, columns, 1} : graph::Strides{rows * columns, 1, rows};
      };
      graph::Builder b("lines");
      const graph::TensorHandle A = b.input("A", {c.batch, c.m, c.k}, graph::DType::bf16,
                                            matrix(c.m, c.k, c.a_along_k)),
                                B = b.input("B", {c.batch, c.k, c.n}, graph::DType::bf16,
                                            matrix(c.k, c.n, !c.b_along_k));
      b.output(matmul(A, B), "C");
      const emit::EmittedProgram p = test::transpile(
          b.build(), target::find(target), {.tiling = {{.op = 0, .product = retile::MatmulTile{64, 64, 64, 128}}}});
      const int copies = c.on_80 || target == std::string_view("sm_90a") ? c.copies : 0;
      const auto lines = [](const auto& t) { return t.name == "A_lines" || t.name == "B_lines"; };
      EXPECT_EQ(std::ranges::count_if(p.manifest.tensors, lines), copies);
      EXPECT_EQ(p.manifest.kernels.size(), copies > 0 ? 2U : 1U)  // one kernel makes all copies
          << c.m << "x" << c.n << "x" << c.k << " for " << target << " in batches of " << c.batch;
      if ((&c - cases + (target == std::string_view("sm_80"))) % test::every(2) == 0)
        expect_correct(b.build(), target, cache);  // by default for one of the two targets
    }
  graph::Builder b("twice");  // one copy for two products of an operand, and for a custom operator's loop
  const graph::TensorHandle X = b.input("X", {64, 515}), V = b.input("V", {515, 64}), W = b.input("W", {515, 72});
  b.output(matmul(X, V), "Y");
  b.output(matmul(X, W), "Z");
  const retile::MatmulTile tile{64, 64, 64, 128};
  const emit::EmittedProgram p = test::transpile(b.build(), target::find("sm_90a"),
                                                 {.tiling = {{.op = 0, .product = tile}, {.op = 1, .product = tile}}});
  EXPECT_EQ(p.manifest.kernels.size(), 3U);
  expect_correct(b.build(), "sm_90a", cache);
  graph::Builder d("custom");
  const graph::TensorHandle R = d.input("R", {513, 128}, graph::DType::f16, {1, 513}), Q = d.input("Q", {128, 64});
  d.output(d.custom({.grid = {9}, .block = {64}, .loop = 2},
                    [&](graph::BlockBuilder& t) {
                      t.store(accum(matmul(t.load(R, {.x = 0, .loop = 1}), t.load(Q, {.loop = 0}))), {.x = 0});
                    })
               .at(0),
           "S");
  expect_correct(d.build(), "sm_80", cache);
  expect_correct(d.build(), "sm_90a", cache);
}

// Strides that interleave, and any stride along an extent of 1, of inputs and outputs.
TEST(Shapes, StridesThatInterleave) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  graph::Builder b("strides");
  using graph::DType;
  const graph::TensorHandle X = b.input("X", {128, 17}, DType::f16, {129, 128}),
                            Z = b.input("Z", {1, 17}, DType::f16, {0, 1}),
                            V = b.input("V", {128, 1}, DType::f16, {1, -7}),
                            W = b.input("W", {17, 8, 1}, DType::f16, {3, 50, 0});
  const graph::TensorHandle E = exp(X), F = E + Z, Y = F * V;
  b.output(E, "E", {129, 128});
  b.output(reduction(Y, 0), "R", {0, 1});
  b.output(square(W), "Q", {9, 2, -1});
  b.output(matmul(X, b.input("U", {17, 24}, DType::f16, {25, 26})), "P", {24, 1});
  EXPECT_NO_THROW(b.build());
  for (const char* target : {"sm_80", "sm_90a"}) expect_correct(b.build(), target, cache);
}

// Totals beyond those for which inputs are scaled.
TEST(Shapes, LargeSums) {
  const toolchain::Cache cache = toolchain::Cache::temporary();
  for (const graph::DType dtype : {graph::DType::f16, graph::DType::bf16, graph::DType::f32}) {
    graph::Builder b("sums");
    b.output(reduction(exp(b.input("X", {2, 16384}, dtype)), 1), "Y");
    expect_correct(b.build(), "sm_80", cache);
  }
}

}  // namespace
}  // namespace zellige::run
