// Materialises values that would otherwise be recomputed many times.
//
// Elementwise nodes are evaluated where they are read (group.hpp). That is right for the few operators around
// a matmul, but a chain of norms would repeat its whole beginning in each of them, and a value that slices
// and concatenations read at shifted coordinates would be repeated for each shift, which doubles with every
// level. So a node gets a float32 `round` after it, which group stores like any other, if
//   - one evaluation would need it at more than `max_coordinates` different coordinates or shifts, or
//   - evaluations in different phases or layouts would repeat more than `max_repeats` nodes below it.
// With that, the size of the source grows with the number of operators. Ordinary graphs are unchanged.
#pragma once
#include "plan/program.hpp"

namespace zellige::plan {

constexpr int max_coordinates = 16, max_repeats = 24;

/// Runs after lower, before select. Renumbers the nodes if it stores something.
void share(BlockProgram&);

/// If shared memory cannot hold what share() materialised, reverts the largest: its users recompute it, and
/// its nodes stay, dead. Returns false if nothing is left to revert.
bool unshare(BlockProgram&);

}  // namespace zellige::plan
