// Runs the float64 reference of one custom operator (an operator with a block graph, one fused kernel): every
// block of its grid, every iteration of its loop.
#pragma once
#include "reference/reference.hpp"

namespace zellige::reference {

/// Error bounds of a custom operator's operands and results (see rounding.hpp), one array per tensor. Both
/// lists are empty if errors are not requested.
struct Errors {
  std::vector<const Array*> in;
  std::vector<Array*> out;
};

/// Computes the results of the custom operator `op` (an index into KernelGraph::ops). Returns the magnitudes of two
/// kinds of block tensors: those that matmuls of the operator read, and those that exceed a limit of the options.
///
/// - `inputs`, `outputs`: the operator's kernel-level operands and results. Outputs must be allocated; they
///   are not rounded to their dtype.
/// - Errors: the error bounds of the operands, and where those of the results are written; empty if not requested.
/// - `masked`: per kernel-level tensor, which non-finite values a mask may have produced (masked.hpp).
/// - `stopped`: set to true if a magnitude exceeded a limit of the options, and the outputs are incomplete;
///   otherwise set to false.
std::vector<BlockOperand> run_block_graph(const graph::KernelGraph&, int op, const std::vector<const Array*>& inputs,
                                          const std::vector<Array*>& outputs, const Errors&, const ReferenceOptions&,
                                          const std::vector<Mask>& masked, bool& stopped);

}  // namespace zellige::reference
