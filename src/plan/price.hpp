// What a planned program is expected to take, in microseconds, by its steps and predicted counters: what tilings are chosen by.
//
//   Price p = price(plan, target);
//   p.us, p.kernels[0].dram, p.kernels[0].blocks_each        // the parts are what each limit alone would take
//
// A kernel takes its launch, the latency of its first loads, and then the slowest of what it needs: DRAM, the L2, and on its
// busiest multiprocessor shared memory, tensor cores, issue slots, or its blocks one after another where too few are resident to
// hide latencies; and a share of the others, since nothing overlaps wholly, and nothing at all in a block of one iteration. The constants are the target's (target/costs.hpp), fitted
// by bench/fit_price.py. Prices order plans; they are no measurements.
#pragma once
#include <string>
#include <vector>

#include "plan/plan.hpp"

namespace zellige::plan {

struct KernelPrice {
  std::string name;
  int blocks_each =
      1;  // resident together on a multiprocessor, as far as shared memory, threads and registers go
  std::int64_t most = 1;  // blocks that the busiest multiprocessor has
  double waves = 1;       // of them, one after another
  bool parted = false;    // copies have warps of their own, which run ahead of those that compute
  bool stalls = false;    // on a ring of few stages: products alone
  bool chained = false;   // on warpgroups
  // Of the whole launch or of one block, before constants make times of them.
  double dram_bytes = 0, l2_bytes = 0;                  // of the launch
  double wavefronts = 0, tensor_cycles = 0, slots = 0;  // of a block
  double trips = 0, in_flight = 0, chain = 0;           // iterations; how many are under way; a warp's steps
  double warps = 4, barriers = 0, rounds = 0;           // of a block; of loads that its threads wait for
  double tiles = 0;                                     // of warpgroups' products, one after another
  // Microseconds.
  double launch = 0, first = 0, dram = 0, l2 = 0, shared = 0, tensor = 0, issue = 0, latency = 0, us = 0;
};

struct Price {
  std::vector<KernelPrice> kernels;
  double us = 0;
};

/// `hot`: as `run --time` measures, with what of its tensors stays in the L2 there already.
Price price(const Plan&, const target::Target&, bool hot = false);

/// What elementwise operators take of a lane, and what runs of so many bytes take in whole sectors of DRAM and L2.
double slots_of(OpKind);
double in_sectors(double run);
/// How many times its cycles a warpgroup's instruction takes, which reads B, and A where it lies there, from shared memory: with few
/// columns that takes longer than to multiply.
double of_its_cycles(const Instruction&, bool a_in_shared, const target::Target&);
/// Microseconds from all else; `missed`: the share of what is read that the L2 does not have.
void settle(KernelPrice&, const target::Target&, double launched, bool first_kernel, double missed);

/// A line a kernel: what it takes and its parts.
std::string print(const Price&);

}  // namespace zellige::plan
