// Runs a program on the host: its kernels on the emulator, or its graph by the reference.
#pragma once
#include <vector>

#include "emit/emit.hpp"
#include "run/cache.hpp"

namespace zellige::api {

/// Addresses of inputs and outputs by position, in the manifest's strides. An input that an output updates in
/// place is also that output's memory.
struct HostMemory {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
};

/// Returns a note on unused parts of the cache, or "". Throws Fault with the first finding, and Error for row
/// indices out of range.
std::string run_emulated(const emit::Program&, const graph::KernelGraph& graph, const HostMemory&,
                         const run::Cache&, int workers);
void run_reference(const emit::Program&, const graph::KernelGraph& graph, const HostMemory&);

}  // namespace zellige::api
