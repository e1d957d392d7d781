// Eliminates concatenations in front of elementwise kernels: splits the kernel into one program per operand of the
// concatenation, each of which reads its operand directly. All programs run in one launch.
//
//   c = concat(x, y) along channels;  z = relu(c * scale)      // becomes one launch of two programs:
//   program 0: z[.., 0 .. 32, ..] = relu(x * scale[0 .. 32])
//   program 1: z[.., 32 .. 96, ..] = relu(y * scale[32 .. 96])
//
// If an operand is itself the result of an elementwise kernel without other readers, that kernel is inlined into the
// operand's program: relu(concat(silu(x), y)) is one launch.
//
// Tiles are chosen per program, so that no tile spans two operands and accesses are as wide as the operand allows.
#pragma once
#include <optional>
#include <vector>

#include "plan/program.hpp"

namespace zellige::plan {

/// A concatenation along dimension `dim`; `result` and `operands` are indices of the program's tensors.
struct Concatenation {
  int result = -1, dim = 0;
  std::vector<int> operands;
  // By operand: the elementwise kernel that computes it and is to be inlined; nullptr: the operand is loaded.
  std::vector<const BlockProgram*> producers;
};

/// Returns whether operator `op` is a concatenation that need not be stored: all of its readers (at least one) are
/// custom operators, it is no output, its strides are not prescribed, and the graph writes nothing in place.
bool may_be_read_by_parts(const graph::KernelGraph&, int op);

/// Returns whether a kernel can be inlined where its result `tensor` is read: it is elementwise, has no loop, and
/// stores only the complete `tensor`, in f32, f16 or bf16.
bool is_elementwise(const Program&, const BlockProgram&, int tensor);

/// Returns `reader` with its loads of `tensor` replaced by the operators of `producer`, which computes it.
BlockProgram with_producer(const BlockProgram& reader, const BlockProgram& producer, int tensor);

/// Splits a kernel that reads the concatenations `read`; returns one program per operand, in order. Returns nullopt
/// in these cases: the kernel is not elementwise or has a loop, the concatenations have operands of different
/// extents, or a tensor is not split along their dimension as the concatenation is.
std::optional<std::vector<BlockProgram>> by_parts(const Program&, const BlockProgram&,
                                                  const std::vector<Concatenation>& read);

}  // namespace zellige::plan
