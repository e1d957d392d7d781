// Operands of products whose rows begin where neither cp.async nor TMA can: they are read from copies with padded rows.
//
//   LineCopies copies;
//   const int a = aligned_operand(program, op.inputs[0], times, copies, name, target);   // the tensor itself, or its copy
//   if (!copies.empty()) kernels.push_back(copy_lines(program, copies, name));            // one kernel fills all of them
//
// A row of 777 halves begins at an even address and no better, so that the threads have to load it themselves (load_anywhere), and wait;
// a copy into rows of 784 is one pass over the operand, and all passes over it are then asynchronous.
#pragma once
#include "plan/lower.hpp"

namespace zellige::plan {

/// Tensors and the longer lines that they are copied into.
struct LineCopy {
  int from = -1, into = -1;
};
using LineCopies = std::vector<LineCopy>;

/// `tensor`, which a product reads so many `times`, or a tensor of the same elements in rows of whole 16 bytes, which is to be filled:
/// one more of `copies`. Open strides are the planner's, who pads them: such tensors stay.
int aligned_operand(Program&, int tensor, std::int64_t times, LineCopies& copies, const std::string& name,
                    const target::Target&);

/// The same for what the products of a custom operator's loop read.
LineCopies align_operands(Program&, BlockProgram&, const target::Target&);

/// NAME_copy, the kernel that fills them, one or more: each block brings its share of every one.
BlockProgram copy_lines(const Program&, LineCopies, const std::string& name);

/// Does each line of the tensor begin at a multiple of so many bytes, as its reader sees it?
bool lines_begin_at(const Program&, int tensor, std::int64_t bytes);

}  // namespace zellige::plan
