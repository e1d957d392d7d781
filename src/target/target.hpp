// Properties of GPUs as data: one record per architecture, and the instructions of include/zellige/atom that
// it admits. Sources: CUDA C++ Programming Guide, "Compute Capabilities" tables; PTX ISA, target ISA notes of
// each instruction.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::target {

/// Parameters of the cost model (plan/cost_estimate.hpp), as bench/fit_price.py fits them on an H200. Other records
/// take clock and DRAM bandwidth from their data sheets and the rest from there: estimates only need to rank
/// the plans of one target.
struct Costs {
  double clock = 1.755;           // GHz, sustained under load
  double dram = 4100, l2 = 6300;  // GB/s
  std::int64_t l2_bytes = 50 << 20;
  double l2_bulk = 12000;                 // GB/s, by TMA copies
  double l2_cycle = 90, bulk_cycle = 50;  // bytes per cycle into one multiprocessor; by TMA copies
  double sustained = 0.82;      // share of the tensor cores' rate at that clock that warpgroup MMAs reach
  double sustained_fma = 0.85;  // share of the warps' issue slots that SIMT matmuls fill with FMAs
  double launch = 2.8, next = 0.54;  // us for a program's first kernel, and for each further one
  double load = 1270;                // cycles from a load's issue to the use of its data, barrier included
  double step = 3.4;                 // cycles of an instruction that depends on the previous one
  double elementwise_step = 2.5;     // the same for elementwise work, with several independent values
  double barrier = 190, barrier_warp = 26;  // cycles for four warps, and for each further one
  double chain_iteration = 110;  // cycles per iteration of a warpgroup chain, whose MMAs wait for the rest
  double rest = 0.1;             // share of everything but the slowest resource that does not overlap with it
  double rest_warp_specialized = 0.05;  // likewise, if copies have warps of their own
  double tile = 900;   // cycles of a warpgroup tile's end and the next one's beginning without MMAs
  double power = 0.1;  // extra time as a share of warpgroup MMAs' L2 reads: the clock drops
  double few_stages = 5, stalled = 1.06;  // with fewer stages, warpgroups stall: time times `stalled`
  bool measured = false;                  // on a GPU of the target; otherwise assumed
};

struct Target {
  std::string_view name;          // as NVRTC and nvcc spell it: sm_80, sm_90a
  int compute_capability;         // 80, 86, 89, 90
  std::int64_t shared_per_block;  // maximum bytes of dynamic shared memory per block (opt-in)
  std::int64_t shared_per_multiprocessor;
  std::int64_t shared_reserved_per_block;  // bytes that the system reserves in each block
  int threads_per_block, threads_per_multiprocessor, blocks_per_multiprocessor;
  int registers_per_thread, registers_per_multiprocessor;
  int multiprocessors;  // of the largest part; used for tile choice only
  std::int64_t grid_x, grid_y, grid_z;
  std::int64_t block_z = 64;  // maximum number of threads along z; x and y allow all of a block's threads
  int banks = 32, bank_bytes = 4;  // of shared memory
  int access_bytes = 16;           // of a thread's widest load or store
  Costs costs{};
};

const std::vector<Target>& all();
/// Throws Error with the known names.
const Target& find(std::string_view name);

}  // namespace zellige::target
