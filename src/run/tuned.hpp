// Measures tilings of a graph on this machine's GPU, for a compilation that asks for it.
#pragma once
#include "run/compile.hpp"

namespace zellige::run {

/// Returns the fastest of CompileOptions::tune tilings of a graph, measured on this machine's GPU or found in the cache.
Tuned tuned(const graph::KernelGraph&, const target::Target&, const CompileOptions&, const Cache&);

}  // namespace zellige::run
