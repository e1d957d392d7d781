// Computes the A operand of a matmul with at most 8 rows for all of K before the loop, instead of a part of
// it in each iteration.
//
//   loop: S += bf16(x[it] g[it]) W[it], squares += x[it]^2
//
// becomes a matmul that reads its part of bf16(x g) in each iteration (Node::window). If each iteration
// computes its part, the operand costs a barrier per iteration and keeps one warp busy while the others
// wait. Before the loop all threads take part, while the first stages of W are being loaded.
//
// Applied only if the operand fits `max_bytes` of shared memory, and if every block is resident from the
// start. A block that starts later, when another ends, would delay its own loads by this computation. Runs
// after hoist, which moves loop invariants before the loop, and before share, which stores values that
// would be recomputed too often.
#pragma once
#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Changes the program if it has such matmuls and the grid has at most two blocks per multiprocessor.
void precompute_a(BlockProgram&, const target::Target&);

}  // namespace zellige::plan
