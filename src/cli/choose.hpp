// Selects the graphs of the files that a command works on.
#pragma once
#include <string>

#include "graph/candidates.hpp"

namespace zellige::cli {

constexpr int max_index = 2147483647;

/// One graph of a file; index -1 takes the first, and reports it if there are others: "... --all ALL all of
/// them".
graph::Loaded choose(graph::Candidates&, const std::string& file, int index, std::string_view all);
graph::Loaded choose(const std::string& file, int index);

}  // namespace zellige::cli
