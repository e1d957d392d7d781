// The tilings that were not taken: what differs, what they cost, and why they lost.
#pragma once
#include <vector>

#include "explain/account.hpp"

namespace zellige::explain {

/// Returns about `count` other tilings of a compiled program, each planned in full, by expected time.
std::vector<Alternative> alternatives_of(const emit::EmittedProgram& own, const target::Target&, int count);

/// Returns in words where another tiling differs: "operator 0: loop 32 for 16". Both have the same operators.
std::string difference(const retile::Tiling& own, const retile::Tiling& other);

/// Returns in words why a tiling was not taken which is expected to take `other` microseconds where the chosen one takes `own`.
std::string why_not(double own, double other, bool longer_loops, const target::Costs::Search&);

}  // namespace zellige::explain
