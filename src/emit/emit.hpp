// The transpiler's entry point: takes a kernel graph, returns CUDA source code and its manifest.
//
//   emit::Program program = emit::transpile(graph, target::find("sm_90a"));
//   std::ofstream("lora.cu") << program.source;
//
// The source includes only those headers of <zellige/block.hpp> that its kernels use; the same source
// compiles with nvcc, NVRTC and, with -DZELLIGE_EMULATE, g++.
#pragma once
#include <string>

#include "emit/manifest.hpp"
#include "graph/graph.hpp"
#include "plan/tile.hpp"
#include "target/target.hpp"

namespace zellige::emit {

struct Program {
  std::string source;        // kernels, then the host entry (skipped under NVRTC and the emulator)
  plan::Plan plan;           // print(plan) describes it, as `zellige transpile --explain` does
  plan::CostEstimate cost;   // estimated time of the plan
  graph::KernelGraph graph;  // as tiled: what the kernels compute
  Manifest manifest;
};

/// Plans, verifies and emits a validated graph. Throws Error if the graph needs more than the target has.
Program transpile(const graph::KernelGraph&, const target::Target&, const plan::PlanOptions& = {});

}  // namespace zellige::emit
