// What a user says of tilings, as a wish.
//
//   Wishes w = tiling_wish("", target);                     // chosen where the target's prices have been measured, else given
//   if (w.tiles == Tiles::stated) state(w, text, source);   // neither "given" nor "chosen": the caller knows where it stands
#pragma once
#include <string_view>

#include "plan/plan.hpp"

namespace zellige::plan {

Wishes tiling_wish(std::string_view tiling, const target::Target&);
/// A tiling from the text of a manifest or of a list; `source` names it in messages.
void state(Wishes&, std::string_view json, std::string_view source);

}  // namespace zellige::plan
