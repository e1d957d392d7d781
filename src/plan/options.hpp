// Converts the value of the user's --tiling option to planner options.
//
//   PlanOptions w = tiling_options("", target);   // automatic if the target's costs are measured, else the graph's
//   if (w.tiles == Tiles::fixed) state(w, json, source);   // a list of tilings, which the caller has read
#pragma once
#include <string_view>

#include "plan/plan.hpp"

namespace zellige::plan {

/// Returns options whose `tiles` is `given` for "given", `automatic` for "chosen", and `fixed` for any
/// other name, which is that of a file that the caller reads and passes to state(). An empty string means
/// `automatic` if the target's costs are measured, else `given`.
PlanOptions tiling_options(std::string_view tiling, const target::Target&);
/// Sets the tilings in the options to those of `json`, the text of a manifest or of a list of tilings. Also
/// sets whether custom operators are written as kernel-level operators before the tilings apply
/// (`decomposed`). `source` names the text in error messages.
void state(PlanOptions&, std::string_view json, std::string_view source);

}  // namespace zellige::plan
