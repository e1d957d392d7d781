// Keeps planned programs in the user's cache, so that the next process need not plan an equal graph.
//
//   if (std::optional<CompiledProgram> c = kept_program(graph, options, cache)) return *c;
//   keep_program(graph, options, cache, compiled);
//
// An entry has what runs: the source code and the manifest, with the estimated time. The plan, its cost in detail
// and the fused graph are not in it; they are planned again when they are asked for (api/program.hpp). The key is
// the graph in JSON, the target, the options that change a plan, and the build of this library.
#pragma once
#include <optional>

#include "api/compile.hpp"

namespace zellige::api {

/// Returns the program that this build planned for an equal graph with equal options; nullopt if there is none.
/// Its plan and graph are empty.
std::optional<CompiledProgram> kept_program(const graph::KernelGraph&, const CallOptions&, const run::Cache&);
/// Stores a program in the cache. Does nothing if the cache cannot be written.
void keep_program(const graph::KernelGraph&, const CallOptions&, const run::Cache&, const CompiledProgram&);

}  // namespace zellige::api
