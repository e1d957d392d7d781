// Computes the A operand of a matmul with at most 8 rows before the loop, for all of K at once, instead of in
// each iteration.
//
//   loop: S += bf16(x[it] g[it]) W[it], squares += x[it]^2
//
// Here `it` is the loop's iteration. The pass computes all of bf16(x g), the A operand, before the loop, and
// in each iteration the matmul reads the iteration's slice of K (Node::window). If each iteration computed its
// own slice, that would take a barrier per iteration and keep one warp busy while the other warps wait. Before
// the loop all threads take part, while the first stages of W are being loaded.
//
// The pass changes a matmul only under two conditions. The values that must be stored for all of K need at
// most 48 KB of shared memory, and at most a quarter of what a block can have. And every block is resident from
// the start: a block that starts later, when another ends, would delay its own loads by this computation.
//
// Runs after the pass `hoist`, which moves loop invariants before the loop, and before `share`, which stores
// values that would be recomputed too often.
#pragma once
#include "target/target.hpp"
#include "tile/program.hpp"

namespace zellige::plan {

/// Moves the computation of the A operand before the loop for each matmul of the program that allows it. Does
/// nothing if the grid has more than two blocks per multiprocessor.
void precompute_a(TileProgram&, const target::Target&);

}  // namespace zellige::plan
