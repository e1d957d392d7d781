// Eliminates concatenations before elementwise kernels: splits the kernel into one program per operand of the
// concatenation, each of which reads its operand directly. All programs run in one launch.
//
//   c = concat(x, y) along channels;  z = relu(c * scale)      // x has 32 channels, y has 64
//   program 0: z[.., 0 .. 32, ..] = relu(x * scale[0 .. 32])   // one launch of two programs
//   program 1: z[.., 32 .. 96, ..] = relu(y * scale[32 .. 96])
//
// If an operand is itself the result of an elementwise kernel without other readers, that kernel is inlined into the
// operand's program: relu(concat(silu(x), y)) is one launch.
//
// Tiles are chosen per program, so that no tile spans two operands and accesses are as wide as the operand allows.
#pragma once
#include <optional>
#include <vector>

#include "tile/program.hpp"

namespace zellige::lower {

/// A concatenation along dimension `dim`; `result` and `operands` are indices of the program's tensors.
struct Concatenation {
  int result = -1, dim = 0;
  std::vector<int> operands;
  // By operand: the elementwise kernel that computes it and is to be inlined; nullptr: the operand is loaded.
  std::vector<const tile::TileProgram*> producers;
};

/// Returns whether operator `op` is a concatenation whose result may not need to be stored, because every reader
/// might read the operands instead. This is so if
///
/// - the result has readers, all of which are custom operators;
/// - the result is no output of the graph and has no prescribed strides;
/// - no operator of the graph writes in place.
bool may_be_read_by_parts(const graph::KernelGraph&, int op);

/// Returns whether a kernel can be inlined into the kernels that read its result `tensor`. This is so if the kernel
/// has no loop, consists of loads, elementwise operators and a single store, and writes all of `tensor` in f32, f16
/// or bf16.
bool is_elementwise(const tile::TilePrograms&, const tile::TileProgram&, int tensor);

/// Returns the kernel `reader` with each load of `tensor` replaced by the operators of `producer`, the kernel that
/// computes `tensor`.
tile::TileProgram with_producer(const tile::TileProgram& reader, const tile::TileProgram& producer, int tensor);

/// Splits a kernel that reads the results of the concatenations `read` into one program per operand. Returns the
/// programs in the order of the operands. Returns nullopt if
///
/// - the kernel is not elementwise, or has a loop;
/// - there is no concatenation, or two of them differ in their dimension or in the extents of their operands along
///   it;
/// - the kernel splits some tensor along this dimension into other tiles than the concatenation's result.
std::optional<std::vector<tile::TileProgram>> by_parts(const tile::TilePrograms&, const tile::TileProgram&,
                                                       const std::vector<Concatenation>& read);

}  // namespace zellige::lower
