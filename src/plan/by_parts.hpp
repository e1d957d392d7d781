// Concatenations that no kernel makes: an elementwise kernel that reads one runs once per operand, and reads the operands.
//
//   c = concat(x, y) along channels;  z = relu(c * scale)      // z's kernel is two programs of one launch:
//   program 0: z[.., 0 .. 32, ..] = relu(x * scale[0 .. 32])
//   program 1: z[.., 32 .. 96, ..] = relu(y * scale[32 .. 96])
//
// An elementwise kernel that makes an operand for nobody else is part of that operand's program: relu(concat(silu(x), y)) is one launch.
//
// Each program has tiles of its own operand, so that no tile has elements of two operands and accesses stay as wide as each operand
// lets them be.
#pragma once
#include <optional>
#include <vector>

#include "plan/program.hpp"

namespace zellige::plan {

/// A concatenation, by tensors of the program.
struct Concatenation {
  int result = -1, dim = 0;
  std::vector<int> operands;
  std::vector<const BlockProgram*>
      makers;  // by operand: what makes it in its reader's program; nullptr: it is read
};

/// May kernels read its operands in its place? Nobody but custom operators reads it, its memory is nobody's choice, and no operand's
/// memory is written later.
bool may_be_read_by_parts(const graph::KernelGraph&, int op);

/// May a kernel be part of its only reader's program? It does elementwise work alone, and writes `tensor` alone.
bool is_elementwise(const Program&, const BlockProgram&, int tensor);

/// A program that reads a tensor with what makes the tensor in place of its load.
BlockProgram with_maker(const BlockProgram& reader, const BlockProgram& maker, int tensor);

/// The programs, in the order of the operands. Returns nullopt if the kernel does more than elementwise work, if the concatenations
/// that it reads are cut at different places, or if a tensor that it writes lacks their dimension.
std::optional<std::vector<BlockProgram>> by_parts(const Program&, const BlockProgram&,
                                                  const std::vector<Concatenation>& read);

}  // namespace zellige::plan
