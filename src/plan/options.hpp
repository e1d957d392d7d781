// Converts a user's tiling option to planner options.
//
//   PlanOptions w = tiling_options("", target);   // automatic if the target's costs are measured, else the graph's
//   if (w.tiles == Tiles::fixed) state(w, json, source);   // a list of tilings, which the caller has read
#pragma once
#include <string_view>

#include "plan/plan.hpp"

namespace zellige::plan {

PlanOptions tiling_options(std::string_view tiling, const target::Target&);
/// Parses a tiling from a manifest or a list; `source` names it in messages.
void state(PlanOptions&, std::string_view json, std::string_view source);

}  // namespace zellige::plan
