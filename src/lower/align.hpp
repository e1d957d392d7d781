// Decides which matmul operands are first copied into tensors with padded rows, because their rows are not aligned
// for cp.async or TMA, and creates the kernel that copies them.
//
//   // times: how many times the matmul reads each element of the operand.
//   LineCopies copies;
//   const int a = aligned_operand(program, op.inputs[0], times, copies, name, target);   // the operand, or its copy
//   if (!copies.empty()) kernels.push_back(copy_lines(program, copies, name));           // one kernel makes all copies
//
// Rows of 777 halves are only 2-byte aligned: threads must load them through registers (load_anywhere) and wait for
// the loads. A copy into rows of 784 halves reads the operand once; the matmul's own loads are then asynchronous.
#pragma once
#include "lower/lower.hpp"

namespace zellige::lower {

/// A copy of tensor `from` into tensor `into`, whose rows are padded.
struct LineCopy {
  int from = -1, into = -1;
};
using LineCopies = std::vector<LineCopy>;

/// Returns the tensor that a matmul should read instead of its operand `tensor`. `times` is how many times the matmul
/// reads each element, `name` the kernel's name for a note.
///
/// - Returns `tensor` itself if its rows are aligned, if its strides are not yet chosen, or if a copy would not pay.
/// - Otherwise returns a tensor whose rows are padded to a multiple of 16 bytes. Adds the copy to `copies`, unless
///   the program already has it.
int aligned_operand(tile::TilePrograms&, int tensor, std::int64_t times, LineCopies& copies, const std::string& name,
                    const target::Target&);

/// Makes a custom operator's kernel read its matmul operands from copies with aligned rows, if their rows are
/// unaligned and a copy pays. Returns the copies, which must be made before the kernel runs.
LineCopies align_operands(tile::TilePrograms&, tile::TileProgram&, const target::Target&);

/// Returns the kernel that makes all the given copies of tensors. The kernel is called NAME_copy, where NAME is
/// `name`. Each block copies at most one tile of each tensor.
tile::TileProgram copy_lines(const tile::TilePrograms&, LineCopies, const std::string& name);

/// Returns whether every row of the tensor or view starts at a multiple of `bytes` from the start of its memory. Rows
/// run along the contiguous dimension. Returns true if the strides are not yet chosen.
bool lines_begin_at(const tile::TilePrograms&, int tensor, std::int64_t bytes);

}  // namespace zellige::lower
