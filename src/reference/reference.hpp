// Computes a graph in float64 on the CPU, with the roundings that the graph specifies. Results of kernels are
// compared with this reference.
//
//   std::vector<Array> inputs = ...;                          // one per graph input, in the caller's order
//   std::vector<Array> outputs = run_reference(g, inputs);    // one per graph output
//   Reference all = run(g, inputs);                           // all kernel-level tensors, with the largest
//                                                             // absolute value of each
//
// Rounding is to nearest, ties to even, and happens in three places: in `cast`, in every kernel-level tensor,
// and in the operands of a block-level matmul. Other consumers of such an operand read it unrounded. An
// accumulator is rounded, if at all, after the loop.
#pragma once
#include "reference/array.hpp"

namespace zellige::reference {

/// Limit for values that must stay finite in float32. Inputs whose results overflow test nothing.
constexpr double finite_limit = 0x1p100;

/// Options of a run of the reference.
struct ReferenceOptions {
  bool round = true;  // false: float64 throughout, for comparison with closed formulas
  int threads = 0;    // 0: all cores
  // Limit of the magnitudes of kernel-level tensors and of the matmul operands that a block computes. If
  // finite, the run stops at the first magnitude above it.
  double limit = infinity;
  // Limit of the magnitudes of block tensors to which `limit` does not apply, because they stay in float32.
  // If finite, the run stops at the first magnitude above it.
  double tile_limit = infinity;
  // Limit of the arguments of exp; the run treats a larger argument like a magnitude above `limit`. Above 4,
  // one ulp of an f16 argument changes exp by more than the tolerance, so that a comparison would judge the
  // rounding of the argument.
  double exp_limit = infinity;
  bool errors = false;       // also compute error bounds (rounding.hpp); takes a few times as long
  std::uint64_t sample = 0;  // with `errors`: if not 0, seed of a run with random rounding
  // With `errors`, if the graph omits roundings (omit_roundings.hpp): the graph that has all of them. A right kernel
  // may perform any of those that are omitted here, or another in its place, such as that of a matmul's operand.
  const graph::KernelGraph* declared = nullptr;
  bool spread = false;  // with `errors`: also keep what runs with `sample` reuse
  // With `sample`: a run with `spread`, whose error bounds are reused except in custom operators.
  const struct Reference* around = nullptr;

  bool stops_at(const Magnitude& m) const { return limit < infinity && !m.within(limit); }
};

/// The magnitude of a block tensor, in most cases one that a matmul reads; measured after rounding for the matmul.
struct BlockOperand {
  int op = -1, tensor = -1;  // indices into KernelGraph::ops and BlockGraph::tensors
  Magnitude magnitude;       // over all blocks and iterations
};

/// Results of a run: the values of all tensors, and what was measured.
struct Reference {
  std::vector<Array> tensors;          // by index into KernelGraph::tensors; empty for the graph's inputs
  std::vector<Magnitude> magnitudes;   // likewise; includes the graph's inputs
  std::vector<BlockOperand> operands;  // block tensors that matmuls read, or that exceed a limit
  std::vector<Array> errors;           // per tensor: error bounds; empty unless requested
  // With `spread`, per tensor: error bounds before storage in the dtype, errors of the operator alone, and
  // whether both are 0 everywhere.
  std::vector<Array> before, own;
  std::vector<bool> exact;
  bool stopped = false;  // a magnitude exceeded its limit: later operators were not computed

  bool within(double limit) const;  // whether every magnitude is finite and at most `limit`
};

/// Throws Error if the machine has too little memory for the graph's tensors in float64.
void check_memory(const graph::KernelGraph&);

/// Computes a valid graph in float64, as the reference for results of kernels. Returns the values of all
/// kernel-level tensors. Inputs are rounded to their dtype first, unless the option `round` is false. Throws
/// Error if the number or the shapes of the inputs are wrong, or if the machine has too little memory.
Reference run(const graph::KernelGraph&, const std::vector<Array>& inputs, const ReferenceOptions& = {});
/// Computes a valid graph in float64, as the reference for results of kernels, and returns its outputs in the
/// graph's order. Has the arguments and errors of run().
std::vector<Array> run_reference(const graph::KernelGraph&, const std::vector<Array>& inputs,
                                 const ReferenceOptions& = {});

}  // namespace zellige::reference
