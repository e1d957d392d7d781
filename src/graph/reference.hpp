// The reference: what a graph means, rounding included.
//
//   std::vector<Array> inputs = ...;                          // one a graph input, in the caller's order
//   std::vector<Array> outputs = run_reference(g, inputs);    // one a graph output
//   Reference all = run(g, inputs);                           // every kernel-level tensor, and its magnitude
//
// Everything is computed in float64 and rounded (to nearest, ties to even) by `cast`, and else in two places: a kernel-level
// tensor is rounded to its dtype, and so are the operands of a block-level matmul, on the way into it:
// whoever else reads the same block tensor sees it unrounded. An accumulator is rounded, if at all, after the
// loop.
#pragma once
#include <limits>

#include "graph/array.hpp"

namespace zellige::graph {

/// What must stay finite in float32 stays far from its end: inputs that overflow there test nothing.
constexpr double finite_limit = 0x1p100;

struct ReferenceOptions {
  bool round = true;  // false: float64 throughout, for comparison with closed formulas
  int threads = 0;    // 0: as many as the machine has cores
  double limit = std::numeric_limits<double>::infinity();  // if finite, stop at the first magnitude past it
  double tile_limit = std::numeric_limits<double>::infinity();  // likewise of what a block keeps in float32
  // Arguments of exp: past 4, one unit in the last place of an f16 argument moves exp by more than `compare` allows, and
  // a comparison would judge the rounding of the argument, not the kernel. Past it counts as past `limit`.
  double exp_limit = std::numeric_limits<double>::infinity();
  bool errors =
      false;  // find out, too, what rounding alone explains (rounding.hpp); takes a few times as long
  std::uint64_t sample =
      0;  // not 0, with `errors`: not the reference but one run that rounding has moved at random
  // With `errors`: the same graph with all roundings that were asked for (left_out.hpp). A right kernel may have any of those that
  // are left out here, or another in its place, such as that of a product's operand.
  const KernelGraph* stated = nullptr;
  bool spread = false;  // with `errors`: keep what such runs take, too
  // With `sample`, a run with `spread`: what it found out of rounding is taken over, custom operators' excepted.
  const struct Reference* around = nullptr;

  bool stops_at(const Magnitude& m) const {
    return limit < std::numeric_limits<double>::infinity() && !m.within(limit);
  }
};

/// A block tensor that a matmul reads and that the block itself computes; measured as the matmul sees it.
struct BlockOperand {
  int op = -1, tensor = -1;  // indices into KernelGraph::ops and BlockGraph::tensors
  Magnitude magnitude;       // over all blocks and iterations
};

struct Reference {
  std::vector<Array> tensors;  // by index into KernelGraph::tensors; the graph's inputs stay empty here
  std::vector<Magnitude> magnitudes;  // likewise, the inputs included
  std::vector<BlockOperand> operands;
  std::vector<Array> errors;  // by tensor: how far a right kernel may lie from it; empty unless asked for
  // With `spread`: the errors before storage, the part of the operator alone, and whether both are 0 everywhere.
  std::vector<Array> before, own;
  std::vector<bool> exact;
  bool stopped = false;  // a magnitude went past the limit: what comes later was not computed

  bool within(double limit) const;  // is every magnitude finite and at most `limit`?
};

/// Throws Error if the machine has too little memory to hold the graph's tensors as float64.
void check_memory(const KernelGraph&);

/// The graph must be valid. Inputs are rounded to their dtype first, unless rounding is off.
Reference run(const KernelGraph&, const std::vector<Array>& inputs, const ReferenceOptions& = {});
std::vector<Array> run_reference(const KernelGraph&, const std::vector<Array>& inputs,
                                 const ReferenceOptions& = {});

}  // namespace zellige::graph
