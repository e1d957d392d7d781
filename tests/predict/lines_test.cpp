// Per-row values are evaluated as often as planned: once per thread and row, not once per element.
#include <gtest/gtest.h>

#include <random>

#include "../unfused.hpp"
#include "emit/emit.hpp"
#include "fuse/fuse.hpp"
#include "graph/builder.hpp"
#include "kernel/evaluated_layout.hpp"
#include "kernel/evaluation.hpp"
#include "plan/flat_steps.hpp"
#include "run/emulated.hpp"
#include "target/target.hpp"

namespace zellige::plan {
namespace {

using emulate::Counter;
using graph::TensorHandle;

/// Row sums, a square root and a logarithm of them.
graph::KernelGraph rows(std::int64_t count, std::int64_t width, graph::DType dtype, bool norm, bool weight) {
  graph::Builder b("rows");
  TensorHandle x = b.input("x", {count, width}, dtype);
  const double each = 1.0 / static_cast<double>(width);
  if (norm) {
    const TensorHandle d = x - sum(x, 1, true) * each;
    x = d / sqrt(sum(square(d), 1, true) * each + 1e-5);
  } else {
    x = x - log(sum(exp(x), 1, true));
  }
  if (weight) x = x * b.input("w", {1, width}, dtype);
  b.output(x, "y");
  return b.build();
}

/// The number of evaluations of `op` by the threads of all blocks, one per row, in one nest.
std::uint64_t evaluations(const kernel::Kernel& k, kernel::StepSpan nest, graph::OpKind op) {
  const kernel::Context& c = k.layout_of(nest.front().work);
  const kernel::EvaluatedLayout layout(c);
  std::uint64_t n = 0;
  graph::Shape at;
  for (const kernel::Item& item : kernel::evaluate(k, nest)) {
    if (item.kind != kernel::Item::Kind::apply || k.program.nodes[item.node].op != op) continue;
    EXPECT_EQ(item.vector, 1) << kernel::print(c);
    EXPECT_EQ(item.invariant, c.steps(0) > 1) << kernel::print(c);
    for (int thread = 0; thread < layout.threads(); ++thread)
      for (int value = 0; value < layout.values(); value += c.vector()) {
        if (item.invariant && !layout.starts_sum(value)) continue;
        item.invariant ? layout.find_line(thread, value, at) : layout.find(thread, value, 0, at);
        n += !at.empty();
      }
  }
  return n * static_cast<std::uint64_t>(k.program.grid.count());
}

std::uint64_t planned(const kernel::Kernel& k, graph::OpKind op) {
  const std::vector<kernel::Step> steps = flat(k.agents.at(0).steps);
  std::uint64_t n = 0;
  for (std::size_t at = 0; at < steps.size(); ++at) {
    if (!kernel::as<kernel::Compute>(steps[at]) || steps[at].work.node < 0) continue;
    const kernel::StepSpan together = kernel::side_by_side(k, steps, at);
    for (const kernel::StepSpan& nest : kernel::nests(k, together)) {
      const kernel::Work& t = nest.front().work;
      if (kernel::in_nest(k, t) || t.kind == kernel::WorkKind::reduce) n += evaluations(k, nest, op);
    }
    at += together.size() - 1;
  }
  return n;
}

/// A program whose kernels count how often they call `function`, in the counter of a call that has no effect here.
std::uint64_t counted(emit::EmittedProgram program, const std::string& function) {
  const std::string used = "using namespace zellige;\n", call = "zellige::" + function + "(";
  const std::string counting = "inline float counted(float x) { griddep_launch_dependents(); return x; }\n";
  std::string& s = program.source;
  for (std::size_t at = s.find(call); at != std::string::npos; at = s.find(call, at + call.size() + 8))
    s.insert(at, "counted(0.0f) + ");
  s.insert(s.find(used) + used.size(), counting);
  std::vector<run::Bytes> storage;
  for (const manifest::TensorPlace& t : program.manifest.tensors)
    storage.push_back(t.role == manifest::Role::input
                          ? run::pack(t, std::vector<double>(static_cast<std::size_t>(graph::size(t.shape)), 0.5))
                          : run::poisoned(t));
  std::uint64_t n = 0;
  for (const run::EmulatedKernel& k : run::run_emulated(program, storage, toolchain::Cache::standard(), 1).kernels)
    n += k.counters[Counter::griddep_launch_dependents];
  return n;
}

TEST(PredictLines, ASpecialFunctionOfARowRunsOncePerThreadAndRow) {
  std::mt19937 random(11);
  const auto pick = [&](int first, int last) {
    return first + static_cast<int>(random() % static_cast<unsigned>(last - first + 1));
  };
  const target::Target& target = target::find("sm_90a");
  int loops = 0;
  for (int i = 0; i < 8; ++i) {
    const std::int64_t count = pick(1, 40), width = i % 2 ? pick(16, 400) * 2 + 1 : pick(4, 300) * 8;
    const bool norm = pick(0, 1) > 0;
    const graph::DType dtype = pick(0, 1) ? graph::DType::f16 : graph::DType::f32;
    const graph::KernelGraph g = fuse::optimize(rows(count, width, dtype, norm, pick(0, 1) > 0), target).graph;
    const emit::EmittedProgram program = test::transpile(g, target);
    const std::string where =
        fmt::format("{} of ({}, {}) {}", norm ? "norm" : "log_softmax", count, width, graph::name(dtype));
    std::uint64_t expected = 0, elements = static_cast<std::uint64_t>(count * width);
    for (const kernel::Kernel& k : program.plan.kernels)
      expected += planned(k, norm ? graph::OpKind::sqrt : graph::OpKind::log);
    EXPECT_GT(expected, 0u) << where;
    EXPECT_EQ(counted(program, norm ? "sqrt" : "log"), expected) << where << "\n" << program.source;
    loops += 2 * expected <= elements;
  }
  EXPECT_GE(loops, 4) << "kernels that evaluate it for at most every second element";
}

}  // namespace
}  // namespace zellige::plan
