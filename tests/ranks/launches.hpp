// Launches of kernels in which ranks exchange tiles, on the emulator: random integers as inputs, and faults that are put into their source.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <regex>

#include "../random/rng.hpp"
#include "ranks/emulated_symmetric.hpp"
#include "run/run.hpp"

namespace zellige::test {

using ranks::RankProgram, ranks::RankStep;

/// Memory of all ranks with small integers as inputs, whose products are exact in every order.
inline std::vector<std::vector<run::Bytes>> integers(random_graphs::Rng& rng, const graph::KernelGraph& g) {
  std::vector<std::vector<run::Bytes>> memory;
  for (int r = 0; r < g.ranks; ++r) {
    memory.emplace_back(g.tensors.size());
    for (int t : g.inputs) {
      std::vector<double> values(static_cast<std::size_t>(graph::size(g.tensors[t].shape)));
      for (double& v : values) v = static_cast<double>(rng.between(-2, 2));
      memory.back()[t] = run::pack(ranks::place_of_rank(g.tensors[t], manifest::Role::input, 0), values);
    }
  }
  return memory;
}

/// Computes what all ranks have after a launch, by rank and tensor of the graph.
using OnHost = std::function<void(const graph::KernelGraph&, std::vector<std::vector<run::Bytes>>&)>;

/// Returns the first finding of some launches, each in another order; "the wrong bits" if a result is wrong; "" if all is well.
inline std::string first_fault(const RankStep& step, const RankProgram& p, const toolchain::Cache& cache,
                               unsigned launches, const OnHost& on_host) {
  random_graphs::Rng rng(3);
  ranks::EmulatedSymmetric symmetric(step, p.graph.ranks, cache);
  for (unsigned launch = 0; launch < launches; ++launch) {
    std::vector<std::vector<run::Bytes>> memory = integers(rng, p.graph), expected = memory;
    const run::EmulatedRun ran = symmetric.run(memory, launch);
    if (!ran.findings.empty()) return ran.findings[0].message;
    if (!ran.complete) return "incomplete";
    on_host(p.graph, expected);
    for (int r = 0; r < p.graph.ranks; ++r)
      if (memory[r][p.graph.outputs[0]] != expected[r][p.graph.outputs[0]]) return "the wrong bits";
  }
  return "";
}

/// Returns the step with `text` replaced in its source.
inline RankStep with(RankStep step, const std::string& text, const std::string& by) {
  const std::size_t at = step.program->source.find(text);
  EXPECT_NE(at, std::string::npos) << text;
  if (at != std::string::npos) step.program->source.replace(at, text.size(), by);
  return step;
}

/// Returns the step with the body of its kernel in a function `once`, which has one more parameter if there is one, and `calls` as the
/// body of the kernel: ARGUMENTS are the kernel's.
inline RankStep with_calls(RankStep step, const std::string& parameter, const std::string& calls) {
  std::string& source = step.program->source;
  std::smatch head;
  const bool found = std::regex_search(
      source, head, std::regex(R"(extern "C" __global__ void __launch_bounds__\((\d+)\) (\w+)\(([^)]*)\) \{)"));
  EXPECT_TRUE(found);
  const std::string all = head[0], threads = head[1], name = head[2], parameters = head[3];
  const std::string arguments =
      std::regex_replace(parameters, std::regex(R"((\[\[maybe_unused\]\] )?[^,]*[ ](\w+))"), "$2");
  source.replace(source.find(all), all.size(),
                 fmt::format("static __device__ void once({}{}) {{", parameters, parameter));
  const std::string end = "#if defined(ZELLIGE_EMULATE)\nextern";
  EXPECT_NE(source.find(end), std::string::npos);
  source.insert(source.find(end),
                fmt::format("extern \"C\" __global__ void __launch_bounds__({}) {}({}) {{\n{}}}\n\n", threads, name,
                            parameters, std::regex_replace(calls, std::regex("ARGUMENTS"), arguments)));
  return step;
}

/// Returns the step with a kernel that does all twice: a rank may begin for the second time while others are at the first.
inline RankStep twice(RankStep step) {
  return with_calls(std::move(step), "", "  once(ARGUMENTS);\n  __syncthreads();\n  once(ARGUMENTS);\n");
}

/// Returns the step with a kernel whose first block does what all blocks do, one after another, in several launches, while the others do
/// nothing. So a rank that runs one block at a time may be at any block of any launch.
inline RankStep one_after_another(RankStep step, int launches) {
  const kernel::Kernel& k = step.program->plan.kernels.at(0);
  const std::string number = "= blockIdx.x +";
  std::string& source = step.program->source;
  EXPECT_EQ(source.find("blockIdx", source.find(number) + 3), source.find("blockIdx.y", source.find(number)));
  source.replace(source.find(number), source.find(';', source.find(number)) - source.find(number), "= block");
  const std::string calls = fmt::format(
      "  if (blockIdx.x + blockIdx.y + blockIdx.z > 0) return;\n  for (int i = 0; i < {} * {}; ++i) {{\n"
      "    once(ARGUMENTS, i % {});\n    __syncthreads();\n  }}\n",
      launches, k.program.grid.count(), k.program.grid.count());
  return with_calls(std::move(step), ", int block", calls);
}

}  // namespace zellige::test
