// Operands of products whose rows begin where neither cp.async nor TMA can: they are read from copies with padded rows.
//
//   std::vector<BlockProgram> copies;
//   const int a = aligned_operand(program, op.inputs[0], times, copies, name, target);   // the tensor itself, or its copy
//
// A row of 777 halves begins at an even address and no better, so that the threads have to load it themselves (load_anywhere), and wait;
// a copy into rows of 784 is one pass over the operand, and all passes over it are then asynchronous.
#pragma once
#include "plan/lower.hpp"

namespace zellige::plan {

/// `tensor`, which a product reads so many `times`, or a tensor of the same elements in rows of whole 16 bytes, and in `copies` the kernel
/// that fills it. Open strides are the planner's, who pads them: such tensors stay.
int aligned_operand(Program&, int tensor, std::int64_t times, std::vector<BlockProgram>& copies,
                    const std::string& name, const target::Target&);

/// The same for what the products of a custom operator's loop read.
std::vector<BlockProgram> align_operands(Program&, BlockProgram&, const target::Target&);

/// Does each line of the tensor begin at a multiple of so many bytes, as its reader sees it?
bool lines_begin_at(const Program&, int tensor, std::int64_t bytes);

}  // namespace zellige::plan
