// A program on the host: its kernels on the emulator, or what its graph means by the reference.
#pragma once
#include <vector>

#include "emit/emit.hpp"
#include "run/cache.hpp"

namespace zellige::api {

/// By position: where inputs lie and outputs go, in the manifest's strides. An input that an output changes in place is that
/// output's memory, too.
struct HostMemory {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
};

/// Gives a note on what of the cache was not used, or "". Throws Fault with the first finding, and Error for numbers of rows that there
/// are none of.
std::string run_emulated(const emit::Program&, const graph::KernelGraph& graph, const HostMemory&,
                         const run::Cache&, int workers);
void run_reference(const emit::Program&, const graph::KernelGraph& graph, const HostMemory&);

}  // namespace zellige::api
