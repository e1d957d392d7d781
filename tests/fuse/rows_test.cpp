// Long rows that are split over blocks: lengths that no tile divides, rows of minus infinity alone or in
// parts, reductions that need another one's result. ZELLIGE_ROWS=100 draws more.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "../unfused.hpp"
#include "candidate/split_extent.hpp"
#include "fuse/assemble.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "graph/dtype.hpp"
#include "ir/ir.hpp"
#include "plan/plan.hpp"
#include "run/emulate_graph.hpp"

namespace zellige::fuse {
namespace {

using graph::Builder;
using graph::DType;
using graph::KernelGraph;
using graph::TensorHandle;

struct Operator {
  const char* name;
  std::function<void(Builder&, TensorHandle)> body;
  std::size_t kernels;     // into which a long row is split
  std::size_t groups = 1;  // that optimize() makes of it, if the row is long
};

const std::vector<Operator>& operators() {
  static const std::vector<Operator> all = {
      {"softmax", [](Builder& b, TensorHandle x) { b.output(softmax(x, 1), "Y"); }, 2},
      {"log_softmax", [](Builder& b, TensorHandle x) { b.output(log_softmax(x, 1), "Y"); }, 2},
      {"safe_softmax", [](Builder& b, TensorHandle x) { b.output(safe_softmax(x, 1), "Y"); }, 2},
      {"logsumexp", [](Builder& b, TensorHandle x) { b.output(logsumexp(x, 1), "Y"); }, 2},
      {"amax", [](Builder& b, TensorHandle x) { b.output(amax(x, 1), "Y"); }, 2},
      // From a bug report: two values of one kernel are the same maximum, and one of them is an output.
      {"softmax_beside_amax",
       [](Builder& b, TensorHandle x) {
         b.output(softmax(x, 1), "Y");
         b.output(amax(x, 1), "M");
       },
       2, 2},
      {"amax_beside_softmax",
       [](Builder& b, TensorHandle x) {
         b.output(amax(x, 1, true), "M");
         b.output(softmax(x, 1), "Y");
       },
       2, 2},
      {"distance_to_amax", [](Builder& b, TensorHandle x) { b.output(x - amax(x, 1, true), "Y"); }, 2},
      {"add_rms_norm",
       [](Builder& b, TensorHandle x) {
         const TensorHandle h = x + b.input("R", x.shape(), x.dtype());
         b.output(h, "H");
         b.output(rms_norm(h, b.input("W", {x.shape()[1]}, x.dtype()), 1e-5), "Y");
       },
       2},
      {"layer_norm",
       [](Builder& b, TensorHandle x) {
         const graph::Shape row{x.shape()[1]};
         b.output(layer_norm(x, b.input("W", row, x.dtype()), b.input("C", row, x.dtype()), 1e-5), "Y");
       },
       2},
      {"variance", [](Builder& b, TensorHandle x) { b.output(mean(square(x - mean(x, 1, true)), 1), "Y"); }, 2},
      {"deviation", [](Builder& b, TensorHandle x) { b.output(mean(relu(x - mean(x, 1, true)), 1), "Y"); }, 3},
  };
  return all;
}

KernelGraph graph_of(const Operator& o, std::int64_t rows, std::int64_t length, DType dtype) {
  Builder b(o.name);
  o.body(b, b.input("X", {rows, length}, dtype));
  return b.build();
}

/// Normal numbers. If `infinite`, the second row is all minus infinity, the third is in its first two thirds,
/// and the fourth has an infinity.
reference::Array numbers(const graph::Shape& shape, DType dtype, bool infinite, std::mt19937& random) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::normal_distribution<double> normal(0.5, 2);
  reference::Array a = reference::make_array(shape);
  for (double& v : a.values) v = graph::round_to(dtype, normal(random));
  if (!infinite || shape.size() < 2) return a;
  const auto n = static_cast<std::size_t>(shape[1]);
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    const std::size_t row = i / n % 4, at = i % n;
    if (row == 1 || (row == 2 && 3 * at < 2 * n)) a.values[i] = -infinity;
    if (row == 3 && at == n / 2) a.values[i] = infinity;
  }
  return a;
}

/// Number of draws: one per operator, or what ZELLIGE_ROWS says.
int number_of_draws() {
  const char* more = std::getenv("ZELLIGE_ROWS");
  return more ? std::atoi(more) : static_cast<int>(operators().size());
}

/// An operator on rows, its graph, and random inputs.
struct Draw {
  const Operator& o;
  std::int64_t rows, length;
  DType dtype;
  const char* target;
  KernelGraph g;
  std::vector<reference::Array> inputs;
  double step;  // of the dtype, relative

  Draw(int seed, std::int64_t rows, std::int64_t length, std::mt19937& random)
      : o(operators()[static_cast<std::size_t>(seed) % operators().size()]),
        rows(rows),
        length(length),
        dtype(std::array{DType::f32, DType::f16, DType::bf16}[random() % 3]),
        target(random() % 2 == 0 ? "sm_80" : "sm_90a"),
        g(graph_of(o, rows, length, dtype)),
        step(dtype == DType::f32 ? 2e-5 : std::ldexp(1.0, -graph::format(dtype).mantissa)) {}

  void draw_inputs(std::mt19937& random) {
    const std::string name = o.name;
    const bool infinite = o.kernels == 2 && name != "add_rms_norm" && name != "layer_norm" && name != "variance";
    for (int t : g.inputs)
      inputs.push_back(numbers(g.tensors[static_cast<std::size_t>(t)].shape, dtype, infinite, random));
  }
  std::string name(int i) const {
    return fmt::format("draw {}: {} of {} x {} {} on {}", i, o.name, rows, length, graph::name(dtype), target);
  }
  std::vector<int> ops() const {
    std::vector<int> all(g.ops.size());
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  void expect_right(const KernelGraph& fused) const {
    run::expect_as_reference(fused, inputs, step, std::max(1e-6, step / 100), target);
  }
};

TEST(FuseRows, AreRightInEveryNumberOfKernels) {
  for (int i = 0; i < number_of_draws(); ++i) {
    std::mt19937 random(static_cast<unsigned>(i));
    const auto rows = static_cast<std::int64_t>(1 + random() % 5),
               length = static_cast<std::int64_t>(4097 + random() % 8000);
    Draw d(i, rows, length, random);
    SCOPED_TRACE(d.name(i));
    std::string why;
    std::vector<candidate::GroupKernel> found = candidate::kernels_of(d.g, d.ops(), target::find(d.target), why);
    // A variance of parts of which the last is partial takes another kernel.
    std::erase_if(found,
                  [&](const candidate::GroupKernel& k) { return k.parts.size() == 1 || k.parts.size() < d.o.kernels; });
    ASSERT_FALSE(found.empty()) << why;
    const candidate::GroupKernel& k = found[random() % found.size()];
    d.draw_inputs(random);
    d.expect_right(assemble(d.g, {{d.ops(), {k}, 0}}).graph);
  }
}

// Rows of up to 1024 elements are in registers in some tilings, in others in shared memory.
TEST(FuseRows, ShortOnesAreRightInEveryTiling) {
  int planned = 0, in_registers = 0;
  for (int i = 0; i < number_of_draws(); ++i) {
    std::mt19937 random(static_cast<unsigned>(i));
    const auto rows = static_cast<std::int64_t>(1 + random() % 70),
               length = static_cast<std::int64_t>(2 + random() % (random() % 2 == 0 ? 300 : 1023));
    Draw d(i, rows, length, random);
    SCOPED_TRACE(d.name(i));
    d.draw_inputs(random);
    std::string why;
    for (const candidate::GroupKernel& k : candidate::kernels_of(d.g, d.ops(), target::find(d.target), why)) {
      if (k.parts.size() != 1) continue;
      const KernelGraph fused = assemble(d.g, {{d.ops(), {k}, 0}}).graph;
      d.expect_right(fused);
      ++planned;
      in_registers += test::make_plan(fused, target::find(d.target)).kernels.at(0).shared_bytes == 0;
    }
  }
  EXPECT_GE(planned, number_of_draws());
  EXPECT_GE(3 * in_registers, planned);
}

std::size_t kernels_of_optimized(const Operator& o, std::int64_t rows, std::int64_t length, const char* target) {
  const Optimized fused = optimize(graph_of(o, rows, length, DType::bf16), target::find(target));
  std::size_t kernels = 0;
  for (const FusedKernel& k : fused.kernels) kernels += static_cast<std::size_t>(k.parts);
  return kernels;
}

TEST(FuseRows, AreSplitIfTheyAreFewAndLongAndElseNot) {
  for (const char* target : {"sm_80", "sm_90a"})
    for (const Operator& o : operators()) {
      SCOPED_TRACE(fmt::format("{} on {}", o.name, target));
      EXPECT_EQ(kernels_of_optimized(o, 1, 131072, target), o.groups * o.kernels);
      EXPECT_EQ(kernels_of_optimized(o, 4096, 1024, target), 1u);
    }
}

/// The plan of a layer_norm of many rows.
plan::Plan norm_of_many(std::int64_t length, DType dtype) {
  const auto layer_norm =
      std::ranges::find_if(operators(), [](const Operator& o) { return std::string_view(o.name) == "layer_norm"; });
  const target::Target& target = target::find("sm_90a");
  return test::make_plan(optimize(graph_of(*layer_norm, 4099, length, dtype), target).graph, target);
}

TEST(LongRows, AreReadOnceIfTheyFitSharedMemoryWithoutTheirWeights) {
  const std::int64_t half = target::find("sm_90a").shared_per_block / 2;
  for (const DType dtype : {DType::f16, DType::f32})
    for (const std::int64_t bytes : {half / 2, half * 4 / 5, half}) {
      const std::int64_t length = bytes / graph::whole_bytes(dtype);
      const plan::Plan plan = norm_of_many(length, dtype);
      ASSERT_EQ(plan.kernels.size(), 1u) << ir::print(plan);
      const kernel::Kernel& k = plan.kernels[0];
      EXPECT_EQ(k.gmem.size(), 2u) << ir::print(plan);  // the weights are read in place
      EXPECT_EQ(std::ranges::count(kernel::works(k), kernel::WorkKind::copy_in, &kernel::Work::kind), 1)
          << ir::print(plan);
      EXPECT_GE(k.shared_bytes, length * graph::whole_bytes(dtype)) << ir::print(plan);
    }
}

TEST(LongRows, AreReadOnceIfTheyFitRegistersAlone) {
  Builder b("residual");
  const TensorHandle x = b.input("X", {4000, 31001}, DType::f32), y = b.input("R", {4000, 31001}, DType::f32),
                     sum = x + y;
  b.output(sum, "S");
  b.output(rms_norm(sum, b.input("W", {31001}, DType::f32), 1e-5), "Y");
  const target::Target& target = target::find("sm_90a");
  const plan::Plan plan = test::make_plan(optimize(b.build(), target).graph, target);
  ASSERT_EQ(plan.kernels.size(), 1u) << ir::print(plan);  // the rows of both operands exceed shared memory
  EXPECT_EQ(plan.kernels[0].program.threads(), 1024) << ir::print(plan);
  EXPECT_EQ(std::ranges::count(kernel::works(plan.kernels[0]), kernel::WorkKind::to_registers, &kernel::Work::kind), 1)
      << ir::print(plan);
}

/// The plan of an operator on many rows, on sm_90a.
plan::Plan plan_of_many(std::string_view name, std::int64_t rows, std::int64_t length, DType dtype) {
  const auto o = std::ranges::find_if(operators(), [&](const Operator& any) { return name == any.name; });
  const target::Target& target = target::find("sm_90a");
  return test::make_plan(optimize(graph_of(*o, rows, length, dtype), target).graph, target);
}

TEST(LongRows, ThatAreReadAgainAreFewAtATimeSoThatTheL2HoldsThem) {
  for (const std::int64_t rows : {1839, 4099})
    for (const std::int64_t length : {45000, 50400, 51096}) {
      const plan::Plan plan = plan_of_many("distance_to_amax", rows, length, DType::f32);
      ASSERT_EQ(plan.kernels.size(), 1u) << ir::print(plan);
      EXPECT_EQ(plan.kernels[0].gmem.size(), 1u) << ir::print(plan);
      // Blocks of 512 threads would be four at a time, whose rows exceed the L2.
      EXPECT_EQ(plan.kernels[0].program.threads(), 1024) << ir::print(plan);
    }
}

TEST(LongRows, AreSplitAlsoIfThereAreManyWhereOnlyThePartsAreReadOnce) {
  for (const std::int64_t length : {65536, 98304, 109120}) {
    const plan::Plan plan = plan_of_many("variance", 1839, length, DType::bf16);
    ASSERT_EQ(plan.kernels.size(), 2u) << ir::print(plan);
    EXPECT_GT(plan.kernels[0].program.grid.y, 1) << ir::print(plan);
  }
  EXPECT_EQ(plan_of_many("variance", 1839, 32768, DType::bf16).kernels.size(), 1u);
}

TEST(LongRows, OfAVarianceAreCentredAtTheMeansOfTheirParts) {
  // 1e3 + normal numbers: a sum of squares of the numbers themselves would lose the variance.
  for (const char* name : {"variance", "layer_norm"}) {
    std::mt19937 random(3);
    const auto o =
        std::ranges::find_if(operators(), [&](const Operator& any) { return std::string_view(any.name) == name; });
    const KernelGraph g = graph_of(*o, 2, 65536, DType::f32);
    const Optimized fused = optimize(g, target::find("sm_90a"));
    ASSERT_EQ(fused.kernels.size(), 1u);
    EXPECT_EQ(fused.kernels[0].parts, 2) << name;
    std::vector<reference::Array> inputs;
    for (int t : g.inputs)
      inputs.push_back(numbers(g.tensors[static_cast<std::size_t>(t)].shape, DType::f32, false, random));
    for (double& v : inputs[0].values) v = graph::round_to(DType::f32, v + 1e3);
    run::expect_as_reference(fused.graph, inputs, 2e-3, 2e-3, "sm_90a");
  }
}

TEST(LongRows, HaveOneTilePerBlockIfThereAreFew) {
  const target::Target& target = target::find("sm_90a");
  for (const char* name : {"logsumexp", "amax"}) {
    const auto o =
        std::ranges::find_if(operators(), [&](const Operator& any) { return std::string_view(any.name) == name; });
    const plan::Plan plan = test::make_plan(optimize(graph_of(*o, 1, 29661, DType::bf16), target).graph, target);
    ASSERT_EQ(plan.kernels.size(), 2u) << ir::print(plan);
    EXPECT_EQ(plan.kernels[0].program.loop, 1) << ir::print(plan);
    EXPECT_GE(plan.kernels[0].program.grid.count(), 15) << ir::print(plan);
  }
}

TEST(OneRow, OfAReductionIsScaledInItsKernel) {
  Builder b("variance");
  const TensorHandle x = b.input("X", {1, 3590}, DType::f32);
  b.output(mean(square(x - mean(x, 1, true)), 1) * 1.25, "Y");
  const target::Target& target = target::find("sm_90a");
  EXPECT_EQ(test::make_plan(optimize(b.build(), target).graph, target).kernels.size(), 1u);
}

TEST(LongRows, AreSplitIntoPartsThatAreAlignedIfPossible) {
  EXPECT_EQ(candidate::parts(87560, 87560, 2048), 44);     // of 1990 elements, which begin at multiples of 4 bytes
  EXPECT_EQ(candidate::parts_of_row(87560, 2048, 8), 55);  // of 1592
  EXPECT_EQ(candidate::parts_of_row(88064, 2048, 8), 43);  // of 2048
  EXPECT_EQ(candidate::parts_of_row(69664, 2048, 8), 28);  // of 2488: 35 to 68 parts are unequal or not aligned
  EXPECT_EQ(candidate::parts_of_row(2000, 2048, 8), 1);
  EXPECT_EQ(candidate::parts_of_row(87561, 2048, 8), candidate::parts(87561, 87561, 2048));  // odd
}

}  // namespace
}  // namespace zellige::fuse
