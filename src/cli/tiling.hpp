// --tiling: the graph's own tiles, those that price least, or those of a file.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "plan/plan.hpp"

namespace zellige::cli {

constexpr const char* standard_tiling = "given";

void add_tiling(CLI::App&, std::string& tiling);
/// Throws Error where the file holds no tiling.
plan::Wishes wishes(const std::string& tiling);

}  // namespace zellige::cli
