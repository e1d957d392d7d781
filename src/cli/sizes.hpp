// The option --size of commands that take graphs: values of sizes that are known at launch, or ranges of them.
#pragma once
#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "graph/sized_graph.hpp"

namespace zellige::cli {

/// Adds the option --size NAME=VALUE, repeatable, whose values are stored in `words`.
void add_size_values(CLI::App* command, std::vector<std::string>& words);
/// Adds the option --size NAME=MIN:MAX[:MULTIPLE], repeatable, whose values are stored in `words`.
void add_size_ranges(CLI::App* command, std::vector<std::string>& words);

/// Returns what NAME=VALUE of --size say. Throws Error if one has another form, or a name is given twice.
graph::SizeValues size_values(const std::vector<std::string>& words);
/// Returns what NAME=MIN:MAX[:MULTIPLE], or NAME=VALUE, of --size say. Throws Error as size_values() does.
std::vector<graph::NamedSize> size_ranges(const std::vector<std::string>& words);

}  // namespace zellige::cli
