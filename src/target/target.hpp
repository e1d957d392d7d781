// Properties of GPU architectures as data: limits, memory sizes and parameters of the cost model, one record
// per architecture. The limits and sizes are from the tables "Compute Capabilities" of the CUDA C++
// Programming Guide; the cost model's parameters are measured or from data sheets (see Costs).
//
//   const Target& t = find("sm_90a");   // t.shared_per_block == 227 * 1024
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace zellige::target {

/// Parameters of the cost model (cost/cost_estimate.hpp). The defaults are fitted by bench/fit_price.py to
/// measurements on an H200. Other targets have clock, bandwidths and L2 size of their data sheets and these
/// defaults otherwise, which suffices to rank the plans of one target.
struct Costs {
  double clock = 1.755;           // GHz, sustained under load
  double dram = 4100, l2 = 6300;  // GB/s, of DRAM and of the L2 cache
  // Size of the L2 cache in bytes.
  std::int64_t l2_bytes = 50 << 20;
  double l2_bulk = 12000;  // GB/s of the L2 cache for TMA copies
  // Bytes per cycle from the L2 into one multiprocessor; by TMA copies.
  double l2_cycle = 90, bulk_cycle = 50;
  double sustained = 0.82;           // fraction of the tensor cores' peak rate that wgmma reaches
  double sustained_fma = 0.85;       // fraction of issue slots that SIMT matmuls fill with FMAs
  double launch = 2.8, next = 0.54;  // us, for a program's first kernel and for each further kernel
  // Cycles from the issue of a load to the use of its data, a barrier included.
  double load = 1270;
  double step = 3.4;              // cycles of an instruction that depends on the preceding one
  double elementwise_step = 2.5;  // the same in elementwise work, which has several independent values
  double barrier = 190, barrier_warp = 26;  // cycles of a barrier of four warps, and of each further warp
  // Additional cycles per iteration of an attention loop on warpgroups, whose wgmma waits for other work.
  double chain_iteration = 110;
  // Fraction of the time of all but the slowest resource that does not overlap with it.
  double rest = 0.1;
  double rest_warp_specialized = 0.05;  // the same if copies have warps of their own
  double tile = 900;                    // cycles without wgmma between two tiles of a persistent block
  double power = 0.1;  // additional time, as a fraction of that of wgmma's L2 reads, because the clock drops
  // With fewer ring stages than this, wgmma loops take 1.06 times as long.
  double few_stages = 5, stalled = 1.06;
  // The parameters were measured on a GPU of the target; otherwise assumed.
  bool measured = false;
};

/// The properties of one GPU architecture. Sizes are in bytes.
struct Target {
  std::string_view name;          // as NVRTC and nvcc spell it: sm_80, sm_90a
  int compute_capability;         // 80, 86, 89, 90
  std::int64_t shared_per_block;  // maximum dynamic shared memory of a block, with opt-in
  std::int64_t shared_per_multiprocessor;
  std::int64_t shared_reserved_per_block;  // reserved by the system in each block
  int threads_per_block, threads_per_multiprocessor, blocks_per_multiprocessor;
  int registers_per_thread, registers_per_multiprocessor;
  int multiprocessors;  // of the largest GPU of the architecture; affects only the choice of tiles
  std::int64_t grid_x, grid_y, grid_z;
  std::int64_t block_z = 64;       // maximum threads of a block along z; along x and y threads_per_block
  int banks = 32, bank_bytes = 4;  // of shared memory
  int access_bytes = 16;           // widest load or store of a thread
  Costs costs{};
};

/// Returns all supported targets.
const std::vector<Target>& all();
/// Returns the target with this name; "sm_90" means sm_90a. Throws Error, with the known names, if there is
/// no such target.
const Target& find(std::string_view name);

}  // namespace zellige::target
