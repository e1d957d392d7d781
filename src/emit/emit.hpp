// The transpiler's face: a kernel graph goes in, CUDA text and its manifest come out.
//
//   emit::Program program = emit::transpile(graph, target::find("sm_90a"));
//   std::ofstream("lora.cu") << program.source;
//
// The text includes what its kernels call of <zellige/block.hpp>, and no more; the same text compiles with nvcc, NVRTC, and, with -DZELLIGE_EMULATE, g++.
#pragma once
#include <string>

#include "emit/manifest.hpp"
#include "graph/graph.hpp"
#include "plan/tile.hpp"
#include "target/target.hpp"

namespace zellige::emit {

struct Program {
  std::string source;        // kernels, then the host entry (skipped under NVRTC and the emulator)
  plan::Plan plan;           // print(plan) says it in words, as `zellige transpile --explain` does
  plan::Price price;         // what the plan is expected to take
  graph::KernelGraph graph;  // as it was tiled: what the kernels compute
  Manifest manifest;
};

/// Plans, verifies and emits a validated graph. Throws Error where the graph asks for more than the target has.
Program transpile(const graph::KernelGraph&, const target::Target&, const plan::Wishes& = {});

}  // namespace zellige::emit
