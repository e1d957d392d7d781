// Converts the --tiling option, which may name a file, to planner options.
//
//   PlanOptions w = parse_tiling_option("tiling.json", target);  // or "given", "chosen", "" (plan/options.hpp)
#pragma once
#include <string>

#include "plan/plan.hpp"

namespace zellige::run {

/// Throws Error if the file cannot be read or contains no tiling.
plan::PlanOptions parse_tiling_option(const std::string& tiling, const target::Target&);

}  // namespace zellige::run
