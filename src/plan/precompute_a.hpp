// Computes the A operand of a small-M matmul for all iterations at once, before the loop.
//
//   loop: S += bf16(x[it] g[it]) W[it], squares += x[it]^2
//
// becomes a matmul that reads its part of bf16(x g) in each iteration (Node::window). Computed part by part,
// the operand costs each iteration a barrier, and keeps one warp busy while the others wait; computed at
// once, all threads take part while the first stages of W are in flight.
//
// Applied if the operand is small (a small M, all of it in `max_bytes` of shared memory) and every block
// is resident from the start: a block that starts on a multiprocessor when another ends would first compute
// the operand while its stages idle.
// After hoist, before share.
#pragma once
#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

void precompute_a(BlockProgram&, const target::Target&);

}  // namespace zellige::plan
