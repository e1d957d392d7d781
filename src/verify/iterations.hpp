// Proves that the steps of a kernel do each work in each iteration exactly once: a step that is missing leaves a value that is
// declared and read, and a step too many adds a product or a partial result twice.
//
// The iterations in which a step does its work follow from the loops around it, from its prefetch distance, and, of an
// asynchronous product, from the iteration whose stage it reads. verify() proves that this stage has that iteration's tile.
//
//   async_work "mma" peeled ...      reads sA[i mod 4]          iteration 0
//   loop iterations from 0 to 7
//     async_work "mma" ...           reads sA[(i+1) mod 4]      iterations 1 to 7: together each of 8 once
#pragma once
#include "kernel/kernel.hpp"

namespace zellige::verify {

/// Throws Rejected unless
///
/// - each work of a warp role is done once in each iteration if it belongs inside the loop, and otherwise once, in no loop
///   over iterations;
/// - each state of the loop that is read (accumulators, sums, a running maximum) is updated by some step;
/// - a loop's state starts once, before that, and the step that is said to begin a sum is its first one;
/// - loops over slices, and loops whose bounds depend on a mask, are those that the layouts and the mask ask for.
void verify_iterations(const kernel::Kernel&);

}  // namespace zellige::verify
