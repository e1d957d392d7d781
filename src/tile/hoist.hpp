// Moves loop-invariant operators of a tile program before its loop.
//
//   loop: S += (q / rms(q)) K_i     q is loaded once, so that its row norms and q / rms(q) are computed once
//
// Reductions, elementwise operators, and roundings to the storage type are moved. Matmuls, loads and loop-carried
// values are not.
#pragma once
#include "tile/program.hpp"

namespace zellige::plan {

/// Moves reductions, elementwise operators, and roundings to the storage type out of the loop if all of their
/// operands are computed before it: sets their section to Section::before. Does nothing if there is no loop.
void hoist(TileProgram&);

}  // namespace zellige::plan
