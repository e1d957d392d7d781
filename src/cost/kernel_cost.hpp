// The cost of one kernel launch: how many bytes, instructions and waits it takes of each resource of the GPU, and the
// times that follow.
#pragma once
#include <string>

#include "target/target.hpp"
#include "tile/program.hpp"
#include "zellige/atom/instruction.hpp"

namespace zellige::cost {

/// What one kernel launch does, the quantities that its expected time follows from; and that time.
struct KernelCost {
  std::string name;
  double launched = 1;            // blocks of the launch
  bool first_kernel = true;       // the launch is its program's first
  int blocks_each = 1;            // blocks resident per multiprocessor, limited by shared memory, threads and registers
  bool warp_specialized = false;  // producer warps load for consumer warps
  bool stalls = false;            // warp-specialised matmuls without a chain: stall if the ring is short
  int matmuls = 0;
  bool chained = false;  // two matmuls on wgmma, the second of which reads the first's result
  // Per launch: bytes that move out of DRAM; that the L2 sends if it serves each block for itself; that it sends, where it
  // serves two adjacent blocks a common tile at once. Per block: bytes that it receives.
  double dram_bytes = 0, l2_bytes = 0, served_bytes = 0, received_bytes = 0;
  double dram_runs = 0;                                 // per launch: contiguous runs of which the DRAM bytes consist
  double wavefronts = 0, tensor_cycles = 0, slots = 0;  // per block; slots: warp instructions issued
  double narrow_copies = 0;  // per block: warp instructions of cp.async of fewer than 16 bytes
  double anywhere = 0;       // per block: warps' loads of 16 bytes each from lines that begin anywhere, into registers
  double requests = 0;       // per block: what cp.async of 16 bytes asks of the L2 (requests_of)
  // Per block: loop iterations; the number of them whose loads are in flight; dependent instructions per warp.
  double trip_count = 0, in_flight = 0, chain = 0;
  // Per block: warps; barriers; rounds of loads into registers that threads wait for.
  double warps = 4, barriers = 0, rounds = 0;
  double tiles = 0;   // output tiles per block, in a matmul on wgmma
  double values = 0;  // its accumulators per thread and tile
  // Per block, if blocks of a cluster add up their parts of K: bytes that it receives from the others.
  double exchanged_bytes = 0;
  bool spills = false;      // threads need more registers than there are
  bool multicasts = false;  // blocks of a cluster load parts of a tile for each other
  bool overlaps = false;    // the next tile is multiplied while warps store one

  // Set by time_of().
  std::int64_t blocks_of_busiest = 1;  // number of blocks that the busiest multiprocessor runs in all
  double waves = 1;                    // blocks_of_busiest / blocks_each, rounded up
  // Microseconds: launch and first load, each resource alone, and the total.
  double launch = 0, first = 0, dram = 0, l2 = 0, shared = 0, tensor = 0, issue = 0, latency = 0, us = 0;
};

/// Of a multiprocessor. Each has issue slots and a tensor core of its own; the warps of a block take turns.
inline constexpr int partitions = 4;

/// Returns the number of issue slots (warp instructions) that an elementwise operator needs per 32 elements.
double slots_of(graph::OpKind);
/// Returns that of numbers of this type: instructions of float64 take more slots than those of float32.
double slots_of(graph::OpKind, graph::DType, const target::Costs&);
/// The unit in which the L2 serves the rows of a TMA box. Products whose operands have rows of 16 bytes
/// more than a multiple of 128 took up to 1.5 times as long as those with multiples of 128 (docs/log.md).
inline constexpr std::int64_t half_line_bytes = 64;

/// Returns how many blocks of `size` bytes `run` contiguous bytes touch, averaged over all start addresses that are multiples
/// of `step`; 0: of `size`.
double blocks_touched(double run, std::int64_t step, std::int64_t size);
/// Returns how many requests a copy of `run` contiguous bytes makes: one for each line of 128 bytes that it covers, and one
/// for each half of one that it touches otherwise. On average over all start addresses, as blocks_touched().
double requests_of(double run, std::int64_t step);
/// Returns the total size, in bytes, of the sectors that `run` contiguous bytes touch, averaged over all start addresses
/// that are multiples of `run`, as those of a dense tensor's rows are.
double in_sectors(double run);
/// Returns the fraction of the tiles of resident blocks, `bytes` in all, that the L2 is expected not to hold any more when
/// the blocks read them again. Each block reads its tile at its own time.
double evicted_of_rows(double bytes, const target::Target&);
/// Returns the time of a wgmma divided by its nominal tensor-core cycles. The ratio is at least the inverse of the
/// rate that tensor cores sustain. It is larger if reading B (and A, unless it is in registers) from shared memory takes
/// longer than the multiplication, as it does with few columns.
double of_its_cycles(const Instruction&, const target::Target&);
/// Returns a launch with its expected time. `missed`: fraction of the bytes of DRAM that the L2 does not have.
KernelCost time_of(KernelCost, const target::Target&, double missed = 1);

}  // namespace zellige::cost
