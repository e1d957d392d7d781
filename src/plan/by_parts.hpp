// Elementwise kernels that read a concatenation without a kernel for it: they run once per operand, and read
// the operand.
//
//   c = concat(x, y) along channels;  z = relu(c * scale)      // z's kernel is two programs of one launch:
//   program 0: z[.., 0 .. 32, ..] = relu(x * scale[0 .. 32])
//   program 1: z[.., 32 .. 96, ..] = relu(y * scale[32 .. 96])
//
// An elementwise kernel that computes an operand, and has no other user, becomes part of that operand's
// program: relu(concat(silu(x), y)) is one launch.
//
// Each program has its own operand's tiles, so that no tile spans two operands and accesses stay as wide as
// each operand allows.
#pragma once
#include <optional>
#include <vector>

#include "plan/program.hpp"

namespace zellige::plan {

/// A concatenation, by tensors of the program.
struct Concatenation {
  int result = -1, dim = 0;
  std::vector<int> operands;
  // By operand: the kernel to inline into its reader's program; nullptr: the operand is loaded.
  std::vector<const BlockProgram*> producers;
};

/// Returns whether kernels may read the operands in place of the result: it is read only by custom operators,
/// its memory is not prescribed, and no operand's memory is overwritten later.
bool may_be_read_by_parts(const graph::KernelGraph&, int op);

/// Returns whether a kernel may become part of its only reader's program: it is elementwise and writes only
/// `tensor`.
bool is_elementwise(const Program&, const BlockProgram&, int tensor);

/// Replaces the reader's load of `tensor` by the nodes that compute it.
BlockProgram with_producer(const BlockProgram& reader, const BlockProgram& producer, int tensor);

/// Returns the programs, in the order of the operands. Returns nullopt if the kernel is not elementwise, if
/// the concatenations that it reads are split at different places, or if a tensor that it writes lacks their
/// dimension.
std::optional<std::vector<BlockProgram>> by_parts(const Program&, const BlockProgram&,
                                                  const std::vector<Concatenation>& read);

}  // namespace zellige::plan
