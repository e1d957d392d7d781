// Hoist: what is the same in every iteration is computed once, in front of the loop.
//
//   loop: S += (q / rms(q)) K_i        q is loaded once: its rows' sums and what the product reads of it go in front
//
// What is evaluated where it is read (inlined) moves along; products, loads and what is carried stay. After lower and simplify, before
// share. A task of such a node is one of the section before the loop (pipeline.hpp).
#pragma once
#include "plan/program.hpp"

namespace zellige::plan {

void hoist(BlockProgram&);

}  // namespace zellige::plan
