// Runs a compiled program on the host, on tensors in host memory: either the program's kernels in the CUDA
// emulator, or its tensor graph in float64 (reference/reference.hpp).
#pragma once
#include <vector>

#include "emit/emit.hpp"
#include "run/cache.hpp"

namespace zellige::api {

/// The caller's tensors: the address of each input and output in order, with the manifest's strides. An
/// output that updates an input in place has the same address as the input.
struct HostMemory {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
};

/// Runs the program's kernels in the emulator with `workers` threads (0: one per core). Returns why an
/// invalid entry of the kernel cache was ignored, or "" if none was. Throws Fault with the emulator's first
/// finding, such as a data race, and Error if a row index is out of range.
std::string run_emulated(const emit::EmittedProgram&, const graph::KernelGraph& graph, const HostMemory&,
                         const run::Cache&, int workers);
/// Computes the outputs in float64 from the graph (reference/reference.hpp), without kernels.
void run_reference(const emit::EmittedProgram&, const graph::KernelGraph& graph, const HostMemory&);

}  // namespace zellige::api
