// Decides which elementwise values are stored in shared memory because they would otherwise be recomputed too often.
//
// By default, elementwise operators are evaluated where they are read (group.hpp), which suits the few operators around
// a matmul. But each norm of a chain of norms would repeat the whole beginning of the chain. A value that slices and
// concatenations read at shifted coordinates would be evaluated once per shift, and the number of shifts doubles with
// every level of such operators. So share() adds a `round` to float32 (or to int32 for integers) after some operators.
// It leaves the values unchanged, but the result of a `round` is always stored. An operator gets one if
//
// - one evaluation needs the operator at more than 16 (max_coordinates) different coordinates or shifts, or
// - one task (such as a store) would evaluate again more than 24 (max_repeats) operators, because tasks between
//   other barriers or with another shape evaluate them as well. The results of the last of these operators are
//   then stored.
//
// The size of the source then grows linearly with the number of operators.
#pragma once
#include "tile/program.hpp"

namespace zellige::plan {

constexpr int max_coordinates = 16, max_repeats = 24;

/// Adds a `round` node, whose value is stored in shared memory, after each operator whose value must be
/// stored. This renumbers the nodes (operators). Runs after `lower` and before `select`.
void share(TileProgram&);

/// For kernels that do not fit shared memory: undoes share() for the largest values that it stored, so that their
/// users recompute them. The nodes (operators) keep their numbers, and unused nodes remain. Returns false if share()
/// has stored no value.
bool unshare(TileProgram&);

}  // namespace zellige::plan
