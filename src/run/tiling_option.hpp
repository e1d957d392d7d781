// Converts the option --tiling to planner options: `given`, `chosen`, empty (the target's default), or the
// path of a manifest or a list of tilings to replay.
//
//   PlanOptions w = parse_tiling_option("tiling.json", target);  // or "given", "chosen", "" (tiling/options.hpp)
#pragma once
#include <string>

#include "plan/plan.hpp"

namespace zellige::run {

/// Returns the planner options for the value `tiling` of the option --tiling. Throws Error if `tiling` names
/// a file that cannot be read or contains no tiling.
plan::PlanOptions parse_tiling_option(const std::string& tiling, const target::Target&);

}  // namespace zellige::run
