// Decides which matmul operands are first copied into tensors with padded rows, because their rows are not aligned
// for cp.async or TMA, and creates the kernel that copies them.
//
//   LineCopies copies;
//   const int a = aligned_operand(program, op.inputs[0], times, copies, name, target);   // itself, or its copy
//   if (!copies.empty()) kernels.push_back(copy_lines(program, copies, name));           // one kernel for all
//
// Rows of 777 halves are only 2-byte aligned: threads must load them through registers (load_anywhere) and wait. A
// copy into rows of 784 halves reads the operand once; the matmul's own loads are then asynchronous.
#pragma once
#include "plan/lower.hpp"

namespace zellige::plan {

/// A copy of tensor `from` into tensor `into`, whose rows are padded.
struct LineCopy {
  int from = -1, into = -1;
};
using LineCopies = std::vector<LineCopy>;

/// Returns the tensor that a matmul should read in place of `tensor`, which it reads `times` times in all. This is
/// `tensor` itself if its rows are aligned (or their strides still open), or if a copy would not pay. Otherwise it is
/// a tensor with rows of a multiple of 16 bytes; its copy is added to `copies` unless the program has it already.
int aligned_operand(Program&, int tensor, std::int64_t times, LineCopies& copies, const std::string& name,
                    const target::Target&);

/// Replaces unaligned matmul operands of a custom operator's kernel by tensors with aligned rows, where a copy pays.
/// Returns the copies that must run before the kernel.
LineCopies align_operands(Program&, BlockProgram&, const target::Target&);

/// Returns the kernel, called NAME_copy for the given name, that does all copies of the list. Every block copies a part
/// of each tensor.
BlockProgram copy_lines(const Program&, LineCopies, const std::string& name);

/// Returns whether every row of the tensor or view, along its contiguous dimension, starts at a multiple of `bytes`
/// from the memory's start. True if its strides are not yet chosen.
bool lines_begin_at(const Program&, int tensor, std::int64_t bytes);

}  // namespace zellige::plan
