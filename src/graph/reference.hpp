// The reference: computes the meaning of a graph, rounding included.
//
//   std::vector<Array> inputs = ...;                          // one per graph input, in the caller's order
//   std::vector<Array> outputs = run_reference(g, inputs);    // one per graph output
//   Reference all = run(g, inputs);                           // every kernel-level tensor, and its magnitude
//
// Everything is computed in float64. Rounding (to nearest, ties to even) happens in `cast` and in two other
// places: a kernel-level tensor is rounded to its dtype, and the operands of a block-level matmul are rounded
// on their way into it; other consumers of the same block tensor read it unrounded. An accumulator is
// rounded, if at all, after the loop.
#pragma once
#include <limits>

#include "graph/array.hpp"

namespace zellige::graph {

/// Limit for what must stay finite in float32: inputs that overflow there test nothing.
constexpr double finite_limit = 0x1p100;

struct ReferenceOptions {
  bool round = true;  // false: float64 throughout, for comparison with closed formulas
  int threads = 0;    // 0: all cores
  double limit = std::numeric_limits<double>::infinity();  // if finite, stop at the first magnitude above it
  // the same limit for what a block keeps in float32
  double tile_limit = std::numeric_limits<double>::infinity();
  // Limit of exp's arguments: above 4, one ulp of an f16 argument moves exp by more than `compare` allows,
  // and a comparison would judge the rounding of the argument, not the kernel. Above it counts as above
  // `limit`.
  double exp_limit = std::numeric_limits<double>::infinity();
  bool errors = false;  // also compute what rounding alone explains (rounding.hpp); takes a few times as long
  std::uint64_t sample = 0;  // with `errors`, if not 0: one run with random rounding instead of the reference
  // With `errors`: the same graph with all requested roundings (omit_roundings.hpp). A right kernel may perform any
  // of those omitted here, or another instead, such as that of a matmul's operand.
  const KernelGraph* declared = nullptr;
  bool spread = false;  // with `errors`: also keep what such runs need
  // With `sample`: a run with `spread` whose rounding errors are reused, except those of custom operators.
  const struct Reference* around = nullptr;

  bool stops_at(const Magnitude& m) const {
    return limit < std::numeric_limits<double>::infinity() && !m.within(limit);
  }
};

/// A block tensor that the block computes and a matmul reads; measured as rounded for the matmul.
struct BlockOperand {
  int op = -1, tensor = -1;  // indices into KernelGraph::ops and BlockGraph::tensors
  Magnitude magnitude;       // over all blocks and iterations
};

struct Reference {
  std::vector<Array> tensors;         // by index into KernelGraph::tensors; empty for the graph's inputs
  std::vector<Magnitude> magnitudes;  // likewise, including the inputs
  std::vector<BlockOperand> operands;
  std::vector<Array> errors;  // per tensor: how far a right kernel may deviate; empty unless requested
  // With `spread`: the errors before storage, the operator's own contribution, and whether both are 0
  // everywhere.
  std::vector<Array> before, own;
  std::vector<bool> exact;
  bool stopped = false;  // a magnitude exceeded the limit: what follows was not computed

  bool within(double limit) const;  // whether every magnitude is finite and at most `limit`
};

/// Throws Error if the machine has too little memory for the graph's tensors in float64.
void check_memory(const KernelGraph&);

/// The graph must be valid. Inputs are rounded to their dtype first, unless rounding is off.
Reference run(const KernelGraph&, const std::vector<Array>& inputs, const ReferenceOptions& = {});
std::vector<Array> run_reference(const KernelGraph&, const std::vector<Array>& inputs,
                                 const ReferenceOptions& = {});

}  // namespace zellige::graph
