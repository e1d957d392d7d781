// The cost model: estimates how long a planned program takes, in microseconds, from the instructions and memory
// accesses of its plan. The planner compares tilings by it.
//
//   CostEstimate p = estimate_cost(plan, target);
//   p.us                   // of the whole program
//   p.kernels[0].dram      // of the first kernel if DRAM bandwidth were its only limit
//
// The time of a kernel is the sum of its launch, the latency of its first loads, the time of its slowest resource,
// and a share of the time of all other resources, which do not overlap with it completely. In a block of one
// iteration nothing overlaps, and the share is 1. The resources are
//
// - of the GPU: DRAM and L2;
// - of the multiprocessor with the most blocks: shared memory, tensor cores, issue slots, and latency (of loads,
//   barriers and dependent instructions, if too few blocks are resident to hide it).
//
// The constants are the target's (target::Costs), fitted to measurements by bench/fit_price.py. An estimate ranks
// plans; it does not replace a measurement.
#pragma once
#include <string>
#include <vector>

#include "cost/kernel_cost.hpp"
#include "kernel/kernel.hpp"

namespace zellige::predict {

/// The expected time of a program: one entry per launch, and their total in microseconds.
struct CostEstimate {
  std::vector<cost::KernelCost> kernels;
  double us = 0;
  // The total if the L2 is warm, as in repeated runs: it holds the program's tensors as far as they fit, and reads of
  // these do not go to DRAM.
  double warm_us = 0;
};

/// Whether kernels are planned in full, or sketched: then their buffers have no swizzles (plan::sketch).
enum class Detail : std::uint8_t { planned, sketched };

/// Returns the expected time of a program's kernels, in launch order.
CostEstimate estimate_cost(const tile::TilePrograms&, const std::vector<kernel::Kernel>&, Detail,
                           const target::Target&);

/// Returns the estimate as a string: one line per kernel, with its expected time and the time of each resource.
std::string print(const CostEstimate&);

}  // namespace zellige::predict
