// The ways in which a warp's threads may share a product that they multiply by themselves, as rows like those of instructions: so many
// rows and columns of sums a warp, who holds which, and how long one step over K keeps a quarter of a multiprocessor.
//
//   for (const Instruction& row : outer_products()) ...        // OuterProduct<4, 4, 4, 8>: m 16, n 32, k 4
//
// They are no instructions: what a row stands for is the text of block/multiply_outer.hpp. Every target has them.
#pragma once
#include <span>
#include <zellige/atom/instruction.hpp>

namespace zellige::target {

/// Wide ones first; the last are for few rows.
std::span<const Instruction> outer_products();

/// Of such a row: rows and columns of sums that a thread holds side by side.
int thread_rows(const Instruction&);
int thread_columns(const Instruction&);

}  // namespace zellige::target
