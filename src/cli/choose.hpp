// Which graphs of which files a command is for.
#pragma once
#include <string>

#include "graph/candidates.hpp"

namespace zellige::cli {

constexpr int most_index = 2147483647;

/// Passes over the first `index` graphs of a file; fails where there are not so many.
void pass_over(graph::Candidates&, const std::string& file, int index);

[[noreturn]] void out_of_range(const std::string& file, int index, int count);

/// One graph of a file.
graph::Loaded choose(const std::string& file, int index);

/// "3 graphs", "1 graph", or "more than 1000 graphs" where it would take long to count them.
std::string how_many(graph::Candidates& rest);

}  // namespace zellige::cli
