// Descriptors, in the form of instruction descriptors, of float32 matmuls by FMA instructions (SIMT,
// without tensor cores). A descriptor says how many rows and columns a warp computes, how its threads share
// them, and how many cycles a step over K occupies a quarter of a multiprocessor.
//
//   for (const Instruction& row : outer_products()) ...        // OuterProduct<4, 4, 4, 8>: m 16, n 32, k 4
//
// A descriptor stands for code of block/multiply_outer.hpp. Every target has all of them.
#pragma once
#include <span>
#include <zellige/atom/instruction.hpp>

namespace zellige::target {

/// Returns all descriptors: first those for wide tiles, then those for small M.
std::span<const Instruction> outer_products();

/// Return the numbers of contiguous rows and columns of accumulators that a thread has in such a
/// descriptor.
int thread_rows(const Instruction&);
int thread_columns(const Instruction&);

}  // namespace zellige::target
