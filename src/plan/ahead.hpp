// Ahead: what a product reads of few rows is made for all iterations at once, in front of the loop.
//
//   loop: S += bf16(x[it] g[it]) W[it], squares += x[it]^2
//
// becomes a product that reads its part of bf16(x g) each iteration (Node::window). Made part by part it costs each iteration a barrier, and
// keeps one warp busy while the others wait; made at once, all threads take part while the first stages of W are under way.
//
// Taken where it is little, a few rows and all of them in `most_bytes` of shared memory, and where every block runs from the start: one that
// takes a multiprocessor over from another would begin with it, and its stages stand still meanwhile. After hoist, before share.
#pragma once
#include "plan/program.hpp"
#include "target/target.hpp"

namespace zellige::plan {

void ahead(BlockProgram&, const target::Target&);

}  // namespace zellige::plan
