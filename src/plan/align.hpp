// Copies matmul operands whose rows are not aligned for cp.async or TMA into tensors with padded rows.
//
//   LineCopies copies;
//   const int a = aligned_operand(program, op.inputs[0], times, copies, name, target);   // the tensor itself, or its copy
//   if (!copies.empty()) kernels.push_back(copy_lines(program, copies, name));            // one kernel copies all of them
//
// A row of 777 halves is only 2-byte aligned, so that threads have to load it themselves (load_anywhere) and
// wait; a copy into rows of 784 is one pass over the operand, after which all passes over it are
// asynchronous.
#pragma once
#include "plan/lower.hpp"

namespace zellige::plan {

/// A tensor and the one with padded rows that it is copied into.
struct LineCopy {
  int from = -1, into = -1;
};
using LineCopies = std::vector<LineCopy>;

/// Returns `tensor`, which a matmul reads `times` times, or a new tensor with the same elements in rows of a
/// multiple of 16 bytes and adds it to `copies`. A tensor whose strides are open is returned as it is,
/// because the planner pads it.
int aligned_operand(Program&, int tensor, std::int64_t times, LineCopies& copies, const std::string& name,
                    const target::Target&);

/// The same for the operands of the matmuls in a custom operator's loop.
LineCopies align_operands(Program&, BlockProgram&, const target::Target&);

/// Returns NAME_copy, the kernel that copies one or more of them: each block copies its share of every one.
BlockProgram copy_lines(const Program&, LineCopies, const std::string& name);

/// Returns whether each row of the tensor, as its user sees it, starts at a multiple of `bytes`.
bool lines_begin_at(const Program&, int tensor, std::int64_t bytes);

}  // namespace zellige::plan
