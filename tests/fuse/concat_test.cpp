// A concatenation is one launch, with the elementwise operators that read it: in many shapes, on both
// targets, with its estimated time.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "../all_cases.hpp"
#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "run/run.hpp"

namespace zellige::fuse {
namespace {

using graph::DType;
using graph::Shape;
using graph::TensorHandle;

std::size_t launches(const graph::KernelGraph& g, std::string_view target) {
  return test::transpile(g, target::find(target)).manifest.kernels.size();
}

void expect_correct(const graph::KernelGraph& g, std::string_view target) {
  const run::RunResult r =
      run::run(g, {.on = run::Machine::emulator, .target = std::string(target), .compile = {.fuse = true}},
               toolchain::Cache::standard());
  EXPECT_TRUE(r.status == run::Status::correct || r.status == run::Status::borderline)
      << g.name << " on " << target << ": " << r.reason;
}

/// Operands that differ in their extents along `dim`.
std::vector<TensorHandle> operands(graph::Builder& b, Shape shape, int dim, const std::vector<std::int64_t>& extents,
                                   DType dtype) {
  std::vector<TensorHandle> x;
  for (std::int64_t extent : extents) {
    shape[dim] = extent;
    x.push_back(b.input(fmt::format("x{}", x.size()), shape, dtype));
  }
  return x;
}

/// A batch norm with fixed statistics, of channels along `dim`.
TensorHandle normed(graph::Builder& b, TensorHandle x, Shape shape, int dim, DType dtype) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (static_cast<int>(d) != dim) shape[d] = 1;
  const TensorHandle mean = b.input("mean", shape, dtype), variance = b.input("variance", shape, dtype),
                     weight = b.input("weight", shape, dtype), bias = b.input("bias", shape, dtype);
  return (x - mean) * rsqrt(abs(variance) + 1e-5) * weight + bias;
}

/// DenseNet's layer: `count` operands of 32 channels after one of 64.
graph::KernelGraph dense(int count, Shape shape, int dim, DType dtype = DType::f32) {
  graph::Builder b("dense");
  std::vector<std::int64_t> extents(static_cast<std::size_t>(count), 32);
  extents[0] = 64;
  const TensorHandle y = concat(operands(b, shape, dim, extents, dtype), dim);
  shape[dim] = 32 * (count + 1);
  b.output(relu(normed(b, y, shape, dim, dtype)), "y");
  return b.build();
}

TEST(Concat, IsOneKernelWithTheElementwiseOperatorsThatReadIt) {
  for (const char* target : {"sm_80", "sm_90a"})
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
      for (const auto& [shape, dim] : {std::pair<Shape, int>{{8, 0, 14, 14}, 1}, {{8, 14, 14, 0}, 3}})
        for (const int count : {2, 7, 34}) {
          const graph::KernelGraph g = dense(count, shape, dim, dtype);
          const Optimized o = optimize(g, target::find(target));
          EXPECT_EQ(o.kernels.size(), 1u) << count << " operands, on " << target;
          EXPECT_EQ(launches(o.graph, target), 1u) << count << " operands, on " << target;
        }
}

TEST(Concat, CostsOneLaunchMoreThanNothing) {
  const target::Target& target = target::find("sm_90a");
  const auto us = [&](int count) {
    return test::transpile(optimize(dense(count, {8, 0, 14, 14}, 1), target).graph, target).cost.us;
  };
  // 33 operands are 17 times the bytes of two: 10 MB more at 3 TB/s in short runs, and no further launch.
  EXPECT_LT(us(34) - us(2), 16 * target.costs.next * 0.6);
}

TEST(Concat, OfEqualOperandsIsOneFunction) {
  const emit::EmittedProgram p =
      test::transpile(optimize(dense(20, {8, 0, 14, 14}, 1), target::find("sm_90a")).graph, target::find("sm_90a"));
  std::size_t functions = 0, calls = 0;
  for (std::size_t at = 0; (at = p.source.find(" void part_", at)) != std::string::npos; ++at) ++functions;
  for (std::size_t at = 0; (at = p.source.find("return part_", at)) != std::string::npos; ++at) ++calls;
  EXPECT_EQ(functions, 2u) << p.source;
  EXPECT_EQ(calls, 20u);
}

TEST(Concat, ThatIsReadElsewhereIsMadeByOneKernel) {
  graph::Builder b("both");
  const TensorHandle y = concat(operands(b, {4, 0, 8}, 1, {3, 5, 8, 1}, DType::f32), 1);
  b.output(y, "y");
  b.output(relu(y), "z");
  const graph::KernelGraph g = b.build();
  EXPECT_EQ(launches(optimize(g, target::find("sm_80")).graph, "sm_80"), 2u);
  expect_correct(g, "sm_80");
}

TEST(Concat, AndSplitAsTheyAreAreOneLaunchEach) {
  graph::Builder b("plain");
  const TensorHandle y = concat(operands(b, {33, 0}, 1, {64, 1, 7, 128, 40}, DType::f16), 1);
  for (const TensorHandle& part : split(y * 2.0, 1, {100, 3, 137})) b.output(part);
  const graph::KernelGraph g = b.build();
  for (const char* target : {"sm_80", "sm_90a"}) {
    EXPECT_EQ(launches(g, target), 2u);
    const run::RunResult r = run::run(g, {.on = run::Machine::emulator, .target = target, .compile = {.fuse = false}},
                                      toolchain::Cache::standard());
    EXPECT_EQ(r.status, run::Status::correct) << r.reason;
  }
}

/// Shapes, dimensions, dtypes, numbers of operands, and the operators before and after, drawn from a seed.
graph::KernelGraph random_concat(unsigned seed) {
  std::mt19937 engine(seed);
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(engine);
  };
  graph::Builder b(fmt::format("concat{}", seed));
  const auto rank = static_cast<std::size_t>(draw(1, 4));
  const int dim = static_cast<int>(draw(0, static_cast<std::int64_t>(rank) - 1));
  const DType dtype = std::array{DType::f32, DType::f16, DType::bf16}[static_cast<std::size_t>(draw(0, 2))];
  Shape shape(rank);
  for (std::int64_t& extent : shape) extent = draw(0, 3) == 0 ? 8 * draw(1, 3) : draw(1, 9);
  std::vector<std::int64_t> extents(static_cast<std::size_t>(draw(0, 1) ? draw(2, 6) : draw(2, 40)));
  const bool equal = draw(0, 1), round = draw(0, 1);
  for (std::int64_t& extent : extents) extent = round ? 8 * draw(1, 4) : draw(1, 20);
  if (equal) std::ranges::fill(extents, extents[0]);
  std::vector<TensorHandle> x = operands(b, shape, dim, extents, dtype);
  const std::int64_t before = draw(0, 3);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (before == 1 || (before == 2 && i % 3 == 0)) x[i] = i % 2 && before == 2 ? tanh(x[i]) : silu(x[i]) * 0.5;
  const TensorHandle y = concat(x, dim);
  shape[dim] = 0;
  for (const std::int64_t extent : extents) shape[dim] += extent;
  const std::int64_t after = draw(0, 3);
  TensorHandle z = y;
  if (after == 1) z = relu(y);
  if (after == 2) z = relu(normed(b, y, shape, dim, dtype));
  if (after == 3) z = y * b.input("r", shape, dtype) + sigmoid(y);
  b.output(z, "z");
  return b.build();
}

TEST(Concat, RandomOnesHaveTheReferencesValuesAndOneLaunch) {
  const char* wanted = std::getenv("ZELLIGE_RANDOM_CONCATS");
  const unsigned many = wanted ? static_cast<unsigned>(std::atoi(wanted)) : test::all_cases() ? 8 : 5;
  for (unsigned seed = 1; seed <= many; ++seed) {
    const graph::KernelGraph g = random_concat(seed);
    for (const char* target : {"sm_80", "sm_90a"}) {
      if (wanted || test::all_cases() || seed % 2 == (target == std::string_view("sm_80")))
        expect_correct(g, target);  // by default for one of the two
      EXPECT_EQ(launches(optimize(g, target::find(target)).graph, target), 1u) << g.name << " on " << target;
    }
  }
}

}  // namespace
}  // namespace zellige::fuse
