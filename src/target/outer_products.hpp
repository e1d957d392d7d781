// SIMT (non-tensor-core) matmul layouts as descriptors like those of instructions: rows and columns of
// accumulators per warp, their distribution over the threads, and how long one step over K occupies a quarter
// of a multiprocessor.
//
//   for (const Instruction& row : outer_products()) ...        // OuterProduct<4, 4, 4, 8>: m 16, n 32, k 4
//
// They are not instructions: a descriptor represents code of block/multiply_outer.hpp. Every target has them.
#pragma once
#include <span>
#include <zellige/atom/instruction.hpp>

namespace zellige::target {

/// Wide ones first; the last ones are for small M.
std::span<const Instruction> outer_products();

/// Rows and columns of accumulators that a thread owns contiguously in such a descriptor.
int thread_rows(const Instruction&);
int thread_columns(const Instruction&);

}  // namespace zellige::target
