// Selects one graph of a file, for commands that have the option --index.
#pragma once
#include <string>

#include "json/candidates.hpp"

namespace zellige::cli {

constexpr int max_index = 2147483647;

/// Returns graph `index` of a file, counted from 0. For -1, returns the first graph, and, if there are
/// several, prints on stderr how to select another one. `all`: what the command does to the graphs, a verb
/// for that message ("runs": "--all runs all of them"). Throws Error if the file has no such graph.
json::Loaded choose(json::GraphFile&, const std::string& file, int index, std::string_view all);
/// Returns graph `index` of a file, counted from 0. Throws Error if the file has no such graph, or an invalid one.
graph::KernelGraph choose(const std::string& file, int index);

}  // namespace zellige::cli
