// What a user's --tiling asks of the planner, where it may name a file.
//
//   Wishes w = wishes("tiling.json", target);   // a manifest, or its list; or "given", "chosen" and "" (plan/wishes.hpp)
#pragma once
#include <string>

#include "plan/plan.hpp"

namespace zellige::run {

/// Throws Error where the file cannot be read or holds no tiling.
plan::Wishes wishes(const std::string& tiling, const target::Target&);

}  // namespace zellige::run
