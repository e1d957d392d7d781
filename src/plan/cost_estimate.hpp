// The cost model: estimates the time of a planned program in microseconds from its steps and predicted
// counters, to choose tilings.
//
//   CostEstimate p = estimate_cost(plan, target);
//   p.us, p.kernels[0].dram, p.kernels[0].blocks_each        // each part is the time if only that limit applied
//
// A kernel takes its launch, the latency of its first loads, and then the slowest of: DRAM, the L2, and on
// its busiest multiprocessor shared memory, tensor cores, issue slots, or the latency of its blocks in
// sequence if too few are resident to hide it; plus a share of the others, since nothing overlaps completely,
// and nothing at all in a block of one iteration. The constants are the target's (target/costs.hpp), fitted
// by bench/fit_price.py. Estimates rank plans; they are no measurements.
#pragma once
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace zellige::plan {

struct KernelCost {
  std::string name;
  int blocks_each = 1;  // resident per multiprocessor, as limited by shared memory, threads and registers
  std::int64_t blocks_of_busiest = 1;  // blocks of the busiest multiprocessor
  double waves = 1;                    // sequential waves of them
  bool warp_specialized = false;       // warp-specialised: separate warps prefetch for those that compute
  bool stalls = false;                 // has a ring of few stages, and only matmuls
  bool chained = false;                // a chain on warpgroups
  // For the whole launch or one block, before constants convert them to times.
  double dram_bytes = 0, l2_bytes = 0;                  // per launch
  double wavefronts = 0, tensor_cycles = 0, slots = 0;  // per block
  // Iterations; how many of them are in flight; steps of a warp.
  double trip_count = 0, in_flight = 0, chain = 0;
  // Per block; rounds of loads that its threads wait for.
  double warps = 4, barriers = 0, rounds = 0;
  double tiles = 0;  // sequential wgmma tiles
  // Microseconds.
  double launch = 0, first = 0, dram = 0, l2 = 0, shared = 0, tensor = 0, issue = 0, latency = 0, us = 0;
};

struct CostEstimate {
  std::vector<KernelCost> kernels;
  double us = 0;
};

/// `hot`: warm L2, as `run --time` measures: tensors that fit in the L2 are there already.
CostEstimate estimate_cost(const Plan&, const target::Target&, bool hot = false);

/// Issue slots per lane of an elementwise operator; and the bytes of whole DRAM and L2 sectors that a
/// contiguous run of `run` bytes touches, on average.
double slots_of(OpKind);
double in_sectors(double run);
/// The factor by which a wgmma exceeds its tensor-core cycles because it reads B, and A if that is in shared
/// memory, too slowly: it does with few columns.
double of_its_cycles(const Instruction&, bool a_in_shared, const target::Target&);
/// Sets the microseconds from everything else; `missed`: the share of reads that miss the L2.
void settle(KernelCost&, const target::Target&, double launched, bool first_kernel, double missed);

/// One line per kernel: its estimated time and the parts of it.
std::string print(const CostEstimate&);

}  // namespace zellige::plan
