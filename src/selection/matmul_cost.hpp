// Counts what a block executes for a matmul under an instruction and a warp layout: the parts of a KernelCost in which
// the choices for a matmul differ. The cost model (cost/kernel_cost.hpp) times them.
//
//   KernelCost k{.warps = 4, .trip_count = 16};
//   add_matmul(k, choice, {.m = 2, .n = 2}, {.passes = 16}, target);
//   const KernelCost timed = time_of(k, target);
//   timed.us - timed.launch - timed.first   // what the matmul adds
//
// Counts are those of the estimate of a plan (predict/cost_estimate.hpp), with three differences. Bank conflicts are
// unknown. Issue slots are counted for the quarter of the multiprocessor that has most warps with work. Each step along K
// waits for its operands, and for the sums of the preceding step.
#pragma once
#include "cost/kernel_cost.hpp"
#include "kernel/step.hpp"

namespace zellige::selection {

/// The work of one warp for one execution of a matmul, over all of its K.
struct WarpWork {
  double mma, loads, wavefronts;  // matrix instructions, loads of operands, and wavefronts of these
  double steps;                   // along K, one after another
};
/// Returns the work of each warp that has some, if `w` says how the block's warps divide the matmul. With
/// `a_in_registers`, A is not loaded.
WarpWork work_of_warp(const kernel::MatmulChoice&, const kernel::WarpLayout& w, bool a_in_registers);
/// Returns the issue slots of a warp for its matrix instructions and loads of operands.
double slots_of(const WarpWork&, const Instruction&);
/// Returns how long the matrix instructions and loads of a warp take, in units of Costs::step. An instruction takes one if
/// all of the block's `warps` multiply, and a cycle next to warps that do not (`working` do). Tensor cores may take
/// longer.
double chain_of(const WarpWork&, const kernel::MatmulChoice&, double working, double warps, const target::Costs&);

/// What a kernel does with a matmul, besides its instruction and warps.
struct MatmulUse {
  double passes = 1;            // how often a block executes the matmul
  bool a_in_registers = false;  // its A operand is the accumulators of another matmul
  double row_reductions = 0;    // number of reductions of the rows of its accumulators, per pass
  // Issue slots per accumulator of a thread and pass, of these reductions and of elementwise operators.
  double slots = 0;
};

/// Adds the work of a block for the matmul. `w` says how the block's warps divide it. `k` must have the block's warps.
void add_matmul(cost::KernelCost& k, const kernel::MatmulChoice&, const kernel::WarpLayout& w, const MatmulUse&,
                const target::Target&);
/// Adds the work of a block for one execution of a matmul without an instruction: a dot product per element.
void add_dot_products(cost::KernelCost& k, const kernel::MatmulChoice&);
/// Adds accesses of each of `warps` warps to `words` times four bytes per thread of shared memory, `width` at a time, or to
/// as much of registers that were spilled, which are in the L1.
void add_accesses(cost::KernelCost& k, double words, double warps, int width = 1);

}  // namespace zellige::selection
