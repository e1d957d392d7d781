// Values that would be evaluated again and again are stored once.
//
// Elementwise nodes are evaluated where they are read (group.hpp). That is right for the few operators around a product, but
// a chain of norms would repeat its whole beginning in each of them, and a value that slices and concatenations read at
// shifted coordinates would be repeated for each shift, which doubles with every level. So a node gets a `round` of float32
// behind it, which group stores like any other, where
//   - one evaluation would need it at more than `most_coordinates` different coordinates, or behind as many shifts, or
//   - evaluations in different phases or layouts would repeat more than `most_repeated` nodes below it.
// With that, the text grows with the number of operators. Ordinary graphs stay as they are.
#pragma once
#include "plan/program.hpp"

namespace zellige::plan {

constexpr int most_coordinates = 16, most_repeated = 24;

/// After lower, before select. Numbers the nodes anew where it stores something.
void share(BlockProgram&);

/// Where shared memory has no room for what share() stored: the largest of it is evaluated by its readers again; its
/// nodes stay, dead. False where nothing is left to give up.
bool unshare(BlockProgram&);

}  // namespace zellige::plan
