// --tiling: the graph's own tiles, those that price least, or those of a file. Without it: those that price least where the target's
// prices have been measured, else the graph's own.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "plan/plan.hpp"

namespace zellige::cli {

void add_tiling(CLI::App&, std::string& tiling);
/// Throws Error where the file holds no tiling.
plan::Wishes wishes(const std::string& tiling, const target::Target&);

}  // namespace zellige::cli
