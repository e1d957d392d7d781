// The transpiler's entry point: takes a kernel graph, returns CUDA source code and its manifest.
//
//   emit::Program program = emit::transpile(graph, target::find("sm_90a"));
//   std::ofstream("lora.cu") << program.source;
//
// The source includes only the headers of <zellige/block.hpp> that its kernels use. The same source
// compiles with nvcc, with NVRTC and, given -DZELLIGE_EMULATE, with g++ for the emulator.
#pragma once
#include <string>

#include "emit/manifest.hpp"
#include "graph/graph.hpp"
#include "target/target.hpp"
#include "tiling/tile.hpp"

namespace zellige::emit {

/// A compiled graph.
struct Program {
  std::string source;        // kernels, then the host entry, which NVRTC and the emulator skip
  plan::Plan plan;           // ir::print() returns its source, as `zellige transpile --explain` prints it
  plan::CostEstimate cost;   // estimated time of the plan
  graph::KernelGraph graph;  // the graph with the chosen tilings: what the kernels compute
  Manifest manifest;         // describes kernels, launches and tensors to callers
};

/// Plans, verifies and emits a validated graph. Throws Error if the graph needs more than the target or
/// this machine has, and Rejected if the verifier rejects the plan.
Program transpile(const graph::KernelGraph&, const target::Target&, const plan::PlanOptions& = {});

/// Returns the program of a plan that is verified already: its expected time, manifest and source. `graph` is the
/// graph's own name, `tiling` and `decomposed` are those of the manifest. Program::graph has that name alone.
Program from_plan(plan::Plan, const std::string& graph, retile::Tiling tiling, bool decomposed);

}  // namespace zellige::emit
