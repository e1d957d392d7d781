// Hoists loop-invariant nodes: they are computed once, before the loop.
//
//   loop: S += (q / rms(q)) K_i        q is loaded once: its row norms and the matmul's operand are computed before the loop
//
// Inlined nodes move with their users; matmuls, loads and loop-carried nodes stay.
// After lower and simplify, before share. A task of such a node belongs to the section before the loop
// (pipeline.hpp).
#pragma once
#include "plan/program.hpp"

namespace zellige::plan {

void hoist(BlockProgram&);

}  // namespace zellige::plan
