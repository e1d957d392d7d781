// Elementwise groups: contiguous dimensions are one, so that tiles do not depend on the shape; and dimensions that
// are broadcast, permuted or padded stay separate. ZELLIGE_COALESCE=100 draws more graphs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>

#include "../unfused.hpp"
#include "candidate/axes.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "plan/plan.hpp"
#include "rules/table.hpp"
#include "run/run.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::Strides;
using graph::TensorHandle;

/// gelu(x) * y on tensors of one shape without gaps.
KernelGraph gelu_and_mul(const graph::Shape& shape, DType dtype) {
  Builder b("gelu_and_mul");
  const Strides strides = graph::row_major(shape);
  const TensorHandle x = b.input("x", shape, dtype, strides), y = b.input("y", shape, dtype, strides);
  b.output(gelu(x) * y, "z", strides);
  return b.build();
}

/// Returns the shape of the first result in the steps of all operators that can be one kernel, with contiguous
/// dimensions merged.
graph::Shape merged(const KernelGraph& g) {
  std::vector<int> ops;
  for (int i = 0; i < static_cast<int>(g.ops.size()); ++i)
    if (candidate::fusable(g, i) && g.ops[i].kind != graph::OpKind::concat) ops.push_back(i);
  const candidate::GroupSteps s = rewritten(candidate::steps_rules, rules::Level::grouped, candidate::steps_of(g, ops),
                                            candidate::StepsContext{g, target::find("sm_90a")});
  return s.values[s.outputs[0]].shape;
}

/// The plan's only kernel, and its expected time.
struct Planned {
  plan::Plan plan;
  double us = 0;
};

Planned planned(const KernelGraph& g) {
  const target::Target& target = target::find("sm_90a");
  const Optimized o = optimize(g, target);
  EXPECT_EQ(o.kernels.size(), 1u);
  return {test::make_plan(o.graph, target), o.kernels.at(0).estimated_us};
}

TEST(Coalesce, TilesOfContiguousTensorsDoNotDependOnTheirShape) {
  for (const DType dtype : {DType::f16, DType::f32})
    for (const auto& [a, b] : {std::pair<std::int64_t, std::int64_t>{4768, 28144}, {1759, 13}, {64, 2048}, {3, 5}}) {
      const Planned flat = planned(gelu_and_mul({a * b}, dtype));
      for (const graph::Shape& shape : {graph::Shape{a, b}, {b, a}, {1, a, 1, b}, {a, b, 1}}) {
        const Planned p = planned(gelu_and_mul(shape, dtype));
        EXPECT_EQ(p.us, flat.us) << graph::to_string(shape);
        EXPECT_EQ(p.plan.kernels[0].program.grid.count(), flat.plan.kernels[0].program.grid.count())
            << graph::to_string(shape);
        EXPECT_EQ(p.plan.kernels.size(), 1u) << graph::to_string(shape);
      }
    }
}

TEST(Coalesce, TilesLeaveNoThreadsIdle) {
  struct Case {
    graph::Shape shape;
    std::int64_t tile;  // elements of a block
    int threads;
  };
  // 28144 = 16 * 1759, and no divisor of 1236 * 594 near 2048 is a multiple of 16. A block costs time: large tensors have larger ones.
  for (const auto& [shape, tile, threads] :
       {Case{{4768, 28144}, 8192, 256}, {{1236, 594}, 2048, 128}, {{3261, 3945}, 8192, 256}}) {
    const tile::TileProgram program = planned(gelu_and_mul(shape, DType::bf16)).plan.kernels[0].program;
    EXPECT_EQ(program.grid.count(), (graph::size(shape) + tile - 1) / tile) << graph::to_string(shape);
    EXPECT_EQ(program.threads(), threads) << graph::to_string(shape);
  }
  Builder b("bias");  // rows cannot be merged, and 32-byte runs of 16 columns would divide them
  const TensorHandle x = b.input("x", {256, 28144}, DType::bf16);
  b.output(gelu(x) + b.input("bias", {28144}, DType::bf16), "z");
  const tile::TileProgram program = planned(b.build()).plan.kernels[0].program;
  for (const auto& n : program.nodes) EXPECT_EQ(n.shape.back(), 7040);  // four tiles in a row
}

TEST(Coalesce, MergesWhatIsContiguousInEveryOperandAndResult) {
  const graph::Shape shape{8, 64, 100};
  const Strides dense = graph::row_major(shape);
  const auto with = [&](auto make) {
    Builder b("g");
    const TensorHandle x = b.input("x", shape, DType::f16, dense);
    b.output(relu(make(b, x)), "z", dense);
    return merged(b.build());
  };
  EXPECT_EQ(with([&](Builder&, TensorHandle x) { return x * 2.0; }), (graph::Shape{1, 1, 51200}));
  EXPECT_EQ(with([&](Builder& b, TensorHandle x) { return x + b.input("bias", {100}, DType::f16); }),
            (graph::Shape{1, 512, 100}));
  EXPECT_EQ(with([&](Builder& b, TensorHandle x) {
              return x * b.input("rows", {8, 64, 1}, DType::f16);
            }),
            (graph::Shape{1, 512, 100}));
  EXPECT_EQ(with([&](Builder& b, TensorHandle x) {
              return x * b.input("sample", {8, 1, 1}, DType::f16);
            }),
            (graph::Shape{8, 1, 6400}));
  EXPECT_EQ(with([&](Builder& b, TensorHandle x) { return x * b.input("channel", {64, 1}, DType::f16); }), shape);
  EXPECT_EQ(with([&](Builder& b, TensorHandle x) {
              return x * b.input("p", shape, DType::f16, {6656, 104, 1});
            }),
            (graph::Shape{1, 512, 100}));
  EXPECT_EQ(with([&](Builder& b, TensorHandle x) {
              return x * b.input("p", shape, DType::f16, {100, 800, 1});
            }),
            shape);
  EXPECT_EQ(with([&](Builder& b, TensorHandle x) {
              return x * slice(b.input("s", {8, 70, 100}, DType::f16, {7000, 100, 1}), 1, 3, 67);
            }),
            (graph::Shape{8, 1, 6400}));
  EXPECT_EQ(with([&](Builder& b, TensorHandle x) { return x * sum(b.input("s", shape, DType::f16, dense), 2, true); }),
            shape)
      << "a sum needs a dimension of its own";
}

TEST(Coalesce, KeepsTheDimensionsOfPartsOfAConcatenation) {
  Builder b("g");
  const TensorHandle x = b.input("x", {8, 64}, DType::f16), y = b.input("y", {8, 32}, DType::f16);
  b.output(concat(std::vector{relu(x), y}, 1), "z");
  EXPECT_EQ(merged(b.build()), (graph::Shape{8, 64}));
}

TEST(Coalesce, LetsAKernelWriteIntoThePartOfACache) {
  Builder b("cache");
  const TensorHandle cache = b.input("cache", {4, 64, 8, 32}, DType::f16), x = b.input("x", {4, 3, 8, 32}, DType::f16);
  b.output(b.in_place(slice_scatter(cache, relu(x * 2.0), 1, 5), cache), "new_cache");
  const KernelGraph g = b.build();
  const target::Target& target = target::find("sm_90a");
  EXPECT_EQ(test::make_plan(optimize(g, target).graph, target).kernels.size(), 1u);
}

TEST(Coalesce, KeepsTheLayoutThatOtherViewsOfAnOperandNeed) {
  // y is written so that its transposed view is a matrix. relu reads y as it lies, with only the last two of four
  // dimensions merged, so no view is copied.
  for (const graph::Shape& shape : {graph::Shape{8, 256, 64}, {8, 256, 4, 16}}) {
    Builder b("laid_out");
    const TensorHandle x = b.input("x", shape, DType::f16), z = b.input("z", shape, DType::f16);
    const auto body = [&](graph::BlockBuilder& t) { t.store(square(t.load(x, {.x = 0, .y = 1})), {.x = 0, .y = 1}); };
    const TensorHandle y = b.custom({.grid = {8, 16}, .block = {128}}, body).at(0);
    b.output(relu(y) * z, "r");
    std::vector<std::int64_t> order{1, 0};
    for (std::int64_t d = 2; d < std::ssize(shape); ++d) order.push_back(d);
    b.output(reshape(permute(y, order), {256, 512}), "rows");
    const target::Target& target = target::find("sm_90a");
    EXPECT_EQ(test::make_plan(optimize(b.build(), target).graph, target).kernels.size(), 2u) << graph::to_string(shape);
  }
}

/// An elementwise graph with broadcast operands, gaps in memory, and odd extents, drawn from a seed.
KernelGraph random_elementwise(unsigned seed) {
  std::mt19937 engine(seed);
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(engine);
  };
  Builder b(fmt::format("elementwise{}", seed));
  const auto rank = static_cast<std::size_t>(draw(1, 4));
  const DType dtype = std::array{DType::f32, DType::f16, DType::bf16}[static_cast<std::size_t>(draw(0, 2))];
  graph::Shape shape(rank);
  const std::int64_t longest = std::array<std::int64_t, 4>{50000, 300, 40, 14}[rank - 1];
  for (std::int64_t& extent : shape) extent = draw(0, 2) == 0 ? 8 * draw(1, longest / 8) : draw(1, longest);
  /// Strides with a gap after a dimension, or without one.
  const auto strides = [&] {
    graph::Shape whole = shape;
    if (rank > 1 && draw(0, 2) == 0) whole[static_cast<std::size_t>(draw(1, std::ssize(shape) - 1))] += draw(1, 9);
    return graph::row_major(whole);
  };
  TensorHandle z = gelu(b.input("x", shape, dtype, strides()));
  for (std::int64_t i = draw(1, 3); i > 0; --i) {
    const std::string name = fmt::format("y{}", i);
    const std::int64_t kind = draw(0, 3);
    graph::Shape part = shape;
    if (kind == 1) part = {shape.back()};
    if (kind == 2) part.back() = 1;
    if (kind == 3) {
      const auto dim = static_cast<int>(draw(0, std::ssize(shape) - 1));
      part[static_cast<std::size_t>(dim)] += 5;
      z = z *
          slice(b.input(name, part, dtype, graph::row_major(part)), dim, 2, 2 + shape[static_cast<std::size_t>(dim)]);
      continue;
    }
    const TensorHandle y = b.input(name, part, dtype, kind == 0 ? strides() : graph::row_major(part));
    z = draw(0, 1) ? z * y : z + y;
    if (draw(0, 3) == 0) b.output(z, fmt::format("z{}", i), strides());
  }
  b.output(relu(z), "z", strides());
  return b.build();
}

TEST(Coalesce, RandomGroupsHaveTheReferencesValues) {
  const char* wanted = std::getenv("ZELLIGE_COALESCE");
  const unsigned many = wanted ? static_cast<unsigned>(std::atoi(wanted)) : 20;
  for (unsigned seed = 1; seed <= many; ++seed) {
    const KernelGraph g = random_elementwise(seed);
    for (const char* target : {"sm_80", "sm_90a"}) {
      if (!wanted && seed % 2 == (target == std::string_view("sm_80"))) continue;  // by default for one of the two
      const run::RunResult r = run::run(g, {.on = run::Machine::emulator, .target = target, .compile = {.fuse = true}},
                                        toolchain::Cache::standard());
      EXPECT_TRUE(r.status == run::Status::correct || r.status == run::Status::borderline)
          << g.name << " on " << target << ": " << r.reason;
    }
  }
}

}  // namespace
}  // namespace zellige::fuse
