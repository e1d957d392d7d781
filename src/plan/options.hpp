// Converts a user's tiling option to planner options.
//
//   Wishes w = tiling_options("", target);                     // chosen if the target's costs have been measured, else given
//   if (w.tiles == Tiles::fixed) state(w, text, source);   // neither "given" nor "chosen": the caller has the tiling's text
#pragma once
#include <string_view>

#include "plan/plan.hpp"

namespace zellige::plan {

PlanOptions tiling_options(std::string_view tiling, const target::Target&);
/// Parses a tiling from a manifest or a list; `source` names it in messages.
void state(PlanOptions&, std::string_view json, std::string_view source);

}  // namespace zellige::plan
