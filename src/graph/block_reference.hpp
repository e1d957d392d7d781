// Runs the reference of one custom operator: every block of its grid, every iteration of its loop.
#pragma once
#include "graph/reference.hpp"

namespace zellige::graph {

/// Errors of a custom operator's tensors (rounding.hpp); both empty if not requested.
struct Errors {
  std::vector<const Array*> in;
  std::vector<Array*> out;
};

/// `inputs` and `outputs` are the custom operator's kernel-level tensors; the outputs are allocated, and not
/// yet rounded on return. Returns the magnitudes of the computed matmul operands. `masked`: per kernel-level
/// tensor, what a mask may have produced there (masked.hpp). Sets `stopped` if a magnitude exceeds the limit.
std::vector<BlockOperand> run_block_graph(const KernelGraph&, int op, const std::vector<const Array*>& inputs,
                                          const std::vector<Array*>& outputs, const Errors&,
                                          const ReferenceOptions&, const std::vector<Mask>& masked,
                                          bool& stopped);

}  // namespace zellige::graph
