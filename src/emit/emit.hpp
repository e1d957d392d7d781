// Writes a plan as CUDA source code, with its manifest. It decides nothing.
//
//   emit::EmittedProgram program = emit::from_plan(plan, "lora", tiling, false);
//   std::ofstream("lora.cu") << program.source;
//
// The source includes only the headers of <zellige/block.hpp> that its kernels use. The same source
// compiles with nvcc, with NVRTC and, given -DZELLIGE_EMULATE, with g++ for the emulator.
#pragma once
#include <string>

#include "graph/extent_names.hpp"
#include "graph/graph.hpp"
#include "manifest/manifest.hpp"
#include "plan/estimate.hpp"
#include "target/target.hpp"

namespace zellige::emit {

/// A compiled graph.
struct EmittedProgram {
  std::string source;           // kernels, then the host entry, which NVRTC and the emulator skip
  plan::Plan plan;              // ir::print() returns its source, as `zellige transpile --explain` prints it
  predict::CostEstimate cost;   // estimated time of the plan
  graph::KernelGraph graph;     // what the kernels compute, with its tilings
  manifest::Manifest manifest;  // describes kernels, launches and tensors to callers
  graph::ExtentNames extents;   // of the tensors of the plan; a program may have none
  // The programs of Manifest::variants, in order, without their sources, which are in the whole one's.
  std::vector<EmittedProgram> variants = {};
};

/// Returns the program of a plan that is verified already: its expected time, manifest and source. `graph` is the
/// graph's own name, `tiling` and `decomposed` are those of the manifest. Program::graph has that name alone.
EmittedProgram from_plan(plan::Plan, const std::string& graph, retile::Tiling tiling, bool decomposed);

/// Returns a program with sizes together with variants of it, whose ranges are set, in the order in which launches try them. Kernels
/// that are equal are emitted once. Throws Error as check_variants() does (variants.hpp).
EmittedProgram with_variants(EmittedProgram whole, std::vector<EmittedProgram> variants);

/// Returns the program that launches of one variant run, or of the kernels for all values if `variant` is the manifest of the whole
/// program, alone: its source has no other kernels. It has the sizes of the variant, and the name of the whole program.
EmittedProgram alone(const EmittedProgram& whole, const manifest::Manifest& variant);

}  // namespace zellige::emit
