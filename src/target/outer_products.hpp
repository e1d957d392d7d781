// Instruction descriptors of float32 matmuls by FMA instructions (SIMT, without tensor cores). A descriptor
// says how many rows and columns a warp computes, how the rows and columns are divided among the warp's
// threads, and for how many cycles one step along K occupies one of a multiprocessor's four partitions.
//
//   outer_products()[0]   // OuterProduct<4, 4, 4, 8>: 4 x 8 lanes with 4 x 4 accumulators each; m 16, n 32, k 4
//
// A descriptor represents a function template of block/multiply_outer.hpp, not one hardware instruction.
// Every target has all of these descriptors.
#pragma once
#include <span>
#include <zellige/atom/instruction.hpp>

namespace zellige::target {

/// Returns the descriptors of all outer-product matmuls (float32 by FMA instructions, without tensor cores):
/// first those for large M, then those for small M.
std::span<const Instruction> outer_products();

/// Return how many consecutive rows, or columns, of a warp's tile one thread accumulates. Require a descriptor of
/// outer_products().
int thread_rows(const Instruction&);
int thread_columns(const Instruction&);

}  // namespace zellige::target
