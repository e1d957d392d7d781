// Converts the value of the user's --tiling option to planner options.
//
//   PlanOptions w = tiling_options(tiling, target);   // tiling: "given", "chosen", a file's name, or ""
//   if (w.tiles == Tiles::fixed)   // `tiling` is a file's name; the caller has read its text, json
//     state(w, json, source);      // stores the file's tilings in w; source: the text's name in error messages
#pragma once
#include <string_view>

#include "plan/plan.hpp"

namespace zellige::plan {

/// Returns options with the field `tiles` set from `tiling`, the value of the option --tiling:
///
/// - "given": Tiles::given, the graph's own tilings;
/// - "chosen": Tiles::automatic;
/// - the name of a file: Tiles::fixed; the caller reads the file and passes its text to state();
/// - "": automatic if the target's costs are measured, else given.
PlanOptions tiling_options(std::string_view tiling, const target::Target&);
/// Sets the tilings in the options to those in `json`, the text of a manifest (the JSON file that describes a
/// transpiled program) or of a list of tilings. Also sets the option `decomposed`: whether custom operators are
/// written as kernel-level operators before the tilings apply. `source` names the text in error messages.
void state(PlanOptions&, std::string_view json, std::string_view source);

}  // namespace zellige::plan
