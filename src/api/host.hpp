// Runs a program on the host, on tensors in host memory: its kernels in the emulator, or its graph by the
// float64 reference.
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
/// entry of the kernel cache was not used, or "". Throws Fault with the emulator's first finding, and Error
/// if a row index is out of range.
std::string run_emulated(const emit::Program&, const graph::KernelGraph& graph, const HostMemory&,
                         const run::Cache&, int workers);
/// Computes the outputs by the float64 reference, without kernels.
void run_reference(const emit::Program&, const graph::KernelGraph& graph, const HostMemory&);

}  // namespace zellige::api
