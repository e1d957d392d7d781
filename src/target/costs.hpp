// The constants of the cost model, each once, with what it was fitted on; docs/reference/costs.md explains the formulas.
// bench/fit_price.py reads them from this file by their names, and prints better ones.
#pragma once
#include <algorithm>
#include <cstdint>

namespace zellige::target {

/// The constants of one target. The defaults are of an H200. Other targets have clock, bandwidths and L2 size of their
/// data sheets and these defaults otherwise, which suffices to rank the plans of one target.
struct Costs {
  // Of a kernel's time (cost/kernel_cost.hpp): fitted by bench/fit_price.py --fit to bench/results/tilings_h200.jsonl,
  // the times of 494 plans of saved graphs.
  double clock = 1.755;           // GHz, sustained under load
  double dram = 4100, l2 = 6300;  // GB/s, of DRAM and of the L2 cache
  double l2_cycle = 90;           // bytes per cycle from the L2 into one multiprocessor
  double launch = 2.8;            // us, for a program's first kernel
  double load = 1270;             // cycles from the issue of a load to the use of its data, a barrier included
  // Of the loads of an iteration by cp.async, or into registers, in place of `load`: cycles until the first byte; bytes per
  // cycle of the others. Fitted to 2,847 times of tiles of 298 matmuls on an H100 and an H200.
  double stage = 1100, stage_rate = 64;
  double step = 3.4;                        // cycles of an instruction that depends on the preceding one
  double barrier = 190, barrier_warp = 26;  // cycles of a barrier of four warps, and of each further warp
  // us for each further kernel; cycles that a multiprocessor takes to begin a block; the first bytes of a matmul of one iteration,
  // as a multiple of the time of the same bytes in a pipeline. Fitted to 736 plans of 368 graphs of bench/pairs.py (seeds 5961, 5971)
  // on an H200, together with `ring` and `narrow_copy`, next to the times of tiles of matmuls: 450 blocks of 8 rows took 0.35 us
  // longer than 135, and a second kernel 0.3 us longer than the fit of saved graphs, whose L2 is warm, says.
  double next = 0.85, block = 130, arrives = 1;
  // Share of another iteration's work that overlaps with that of an only one: warps load, multiply and store at different times.
  double overlap = 0.3;
  // Factor of the time of a kernel whose threads need more registers than there are, without wgmma: attention over 197 keys of
  // depth 256 took 115 us on an H200, and 41 were expected.
  double spilled = 2.8;
  double rest = 0.1;     // fraction of the time of all but the slowest resource that does not overlap with it
  double run_bytes = 8;  // bytes of DRAM's time that a contiguous run of a tile costs besides its own

  // Of the same formulas for TMA and wgmma. The first line: fitted to twelve standalone matmuls on an H200 (docs/log.md).
  // The others: fitted by bench/fit_price.py --tiles to bench/results/tiles_h100.jsonl, 2,075 times of tiles of matmuls.
  double sustained = 0.82, bulk_cycle = 50,
         rest_warp_specialized = 0.05;  // share of wgmma's peak; as l2_cycle, as `rest`
  double l2_bulk = 9800;                // as l2, for TMA copies
  double tile = 400, tile_value = 7.6;  // cycles without wgmma at the end of a tile, and per accumulator of a thread
  // Cycles of a cluster whose blocks add up their parts of K; bytes per cycle that a block receives from the others. Chosen
  // with the times of 60 products in up to ten forms on an H200 (docs/log.md).
  double exchange = 2000, exchange_cycle = 7;
  // Of blocks that load parts of a tile for each other: time of their wgmma, as they wait for each other; cycles to begin
  // and end.
  double multicast = 1.05, cluster = 2000;
  // Cycles of a multiprocessor for a warp's cp.async of 4 or 8 bytes each, besides its wavefronts: 7 to 20 in all, with
  // runs of 64 and 32 bytes, on an H100; 6 fitted there, and 7 to the pairs of `next`, where
  // warps that issue them wait longer: `rest` is `rest_narrow` larger in a matmul of one block a multiprocessor.
  double narrow_copy = 7, rest_narrow = 0.15;
  // Cycles of a multiprocessor for a warp's loads of 16 bytes each from lines that begin at no multiple of 4, on their way to
  // shared memory: 30 to 60 in matmuls of 1599, 951, 773, 2975 and 1933 along the lines, among the same pairs and those of seed 5971.
  double anywhere = 40;
  // Cycles of an iteration of a ring that TMA fills, in which the roles of warps wait for each other, whatever it loads: 18
  // iterations of 64 along K took 2.4 us less than 36 of 32, of the same boxes twice as large. Fitted as `next`.
  double ring = 190;
  // Factor of the bytes of a store of fewer than 4 bytes a thread, which leaves sectors partial: results of 4840 x 1759 f16 and
  // 7308 x 1039 bf16 took 35 and 49 us on an H200, and 9 and 15 were expected.
  double partial_store = 7;
  double request =
      2.1;  // cycles of a multiprocessor for what cp.async of 16 bytes asks of the L2: a line, or half of one
  double power = 0.17;  // additional time, as a fraction of that of wgmma's L2 reads, because the clock drops
  // With fewer ring stages than this, wgmma loops take `stalled` times as long, with two `starved` times: a QKV projection
  // of 2048 x 3584 to 4608 in tiles of 128 x 288 took 180 us on an H100.
  double few_stages = 5, stalled = 1.06, starved = 1.6;

  // Of the same formulas, each fitted alone on the H200.
  double chain_iteration = 110;   // of attention: cycles that wgmma waits in an iteration for other work
  double elementwise_step = 2.5;  // as `step`, in elementwise work, which has several independent values
  // Of long rows, such as an l2 norm of 4482 x 8192 to 29944 bf16: loads in flight of a thread that reads a tile directly
  // from global memory (stores in between prevent more); bytes of L1 that shared memory usually leaves; the fraction of
  // the L2 in which data are found again.
  double reads_at_a_time = 4, l1_bytes = 128 * 1024, l2_held = 0.6;
  // Of float32 matmuls, set by hand.
  double sustained_fma = 0.85;  // fraction of issue slots that SIMT matmuls fill with FMAs
  // Issue slots that an instruction of float64 takes of one of float32: 128 results a cycle of a multiprocessor over those of the
  // table "Throughput of Native Arithmetic Instructions" of the CUDA C++ Programming Guide. Functions take some twelve
  // instructions for each of the special function unit.
  double float64 = 2, float64_special = 12;
  // Fraction of `sustained_fma` that four warps of a multiprocessor reach, and what each four more add.
  double fma_of_four_warps = 0.65, fma_of_four_more = 0.25;

  // Of the device, or assumed of it.
  std::int64_t l2_bytes = 50 << 20;
  // Cycles of a warp's matrix instruction as a multiple of its row's, which are of sm_80: 4 where the data sheet has a
  // quarter of sm_80's products a cycle of a multiprocessor.
  double matrix_cycles = 1;
  double shared_cycle = 128;                 // bytes per cycle of a multiprocessor's shared memory
  std::int64_t bytes_in_flight = 48 * 1024;  // of loads, per multiprocessor: hides a latency of about 700 ns
  int max_stages = 8;                        // most stages of a loop of cp.async
  bool measured = false;                     // these constants were measured on a GPU of the target; otherwise assumed

  /// Returns the fraction of sustained_fma that FMA matmuls reach with `warps` warps on a multiprocessor: few warps do
  /// not hide the latency of barriers and loads.
  double fma_share(double warps) const { return std::min(1.0, fma_of_four_warps + fma_of_four_more * (warps / 4 - 1)); }

  /// Of the searches for tilings and groups (tiling, candidate, fuse): how far an expected time is trusted.
  struct Search {
    // Relative gain, and in us, for which a tiling replaces the graph's own. Where launch and latency dominate (lora on
    // an H200), an estimated gain of 0.8 us was a loss of 0.2 us. Longer loops, of shorter iterations, must gain more:
    // their latencies are predicted worst.
    double clear_gain = 0.12, clear_us = 1, clear_gain_of_longer_loops = 0.3;
    // Of weights that are widened on the way into wgmma's registers: us to which the expected time is right, and what is added to
    // the rest. On an H200 products of 512 and 4096 rows took 1.3 and 1.4 times what is expected: their loops did, not their launches.
    double widened_us = 10, longer_widened = 0.4;
    // Least fraction of a block's warps that its matmuls keep busy. With a quarter, tilings that were estimated at 0.8 of
    // the original's time took up to 1.4 of it.
    double min_busy = 0.5;
    // Weight of the time with a warm L2, where some inputs are already. It is small, so that it only decides between
    // tilings which take equally long while they wait for DRAM.
    double warm = 0.06;
    // Share of the expected time of a sketch below which that of the plan is not expected to be: without swizzles a few
    // kernels differ by up to a twelfth (tests/retile/coarse_test.cpp).
    double hopeful = 0.9;
    // Blocks per multiprocessor below which the GPU is idle: by default, and of elementwise work.
    double idle_blocks = 0.5, idle_blocks_elementwise = 2;
    double tie = 0.05;     // smaller relative differences mean nothing (docs/reference/costs.md)
    double each = 0.4;     // us that a launch more must save: an H100 ran rows of 1 in one launch faster than in two
    double filled = 0.73;  // share of multiprocessors that must have a block for A and B to be swapped

    /// Returns what this number of launches counts as besides their work.
    double of_launches(std::size_t launches) const { return each * static_cast<double>(launches); }
  } search{};
};

}  // namespace zellige::target
