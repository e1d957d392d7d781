// What a GPU has, as data: one record per architecture, and the instructions of the atom room that it admits.
// Sources: CUDA C++ Programming Guide, "Compute Capabilities" tables; PTX ISA, target ISA notes of each instruction.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::target {

/// What a price is made of (plan/price.hpp), as bench/fit_price.py fits it on an H200. Other records take clock and DRAM from
/// their data sheets and the rest from there: prices order the plans of one target.
struct Costs {
  double clock = 1.755;           // GHz, as it stays under load
  double dram = 4100, l2 = 6300;  // GB/s
  std::int64_t l2_bytes = 50 << 20;
  double l2_bulk = 12000;                 // GB/s, by copies that the tensor memory accelerator makes
  double l2_cycle = 90, bulk_cycle = 50;  // bytes a cycle into one multiprocessor; by such copies
  double sustained = 0.82;  // of the tensor cores' rate at that clock, that warpgroups' products reach
  double sustained_fma =
      0.85;  // of the slots in which warps issue, that ordinary products fill with multiply-adds
  double launch = 2.8, next = 0.54;  // us of a program's first kernel, and of each further one
  double load = 1270;                // cycles from a load's issue until its data are used, barrier included
  double step = 3.4;                 // cycles of a warp's instruction that waits for the one before
  double step_apart = 2.5;           // of one of elementwise work, which has several values at hand
  double barrier = 190, barrier_warp = 26;  // cycles of four warps, and of each further one
  double turn =
      110;  // cycles of each iteration of a chain on warpgroups, in which products wait for what lies between
  double rest = 0.1;          // the share of everything but the slowest that does not overlap with it
  double rest_parted = 0.05;  // likewise, where copies have warps of their own
  double tile =
      900;  // cycles of a tile's end on warpgroups and of the next one's beginning, in which nothing is multiplied
  double power = 0.1;  // of what warpgroups' products take to read from the L2: the clock gives way for it
  double few_stages = 5, stalled = 1.06;  // rings of fewer stages keep warpgroups waiting: so much longer
  bool measured = false;                  // on a GPU of the target; else what it is taken for
};

struct Target {
  std::string_view name;          // as NVRTC and nvcc spell it: sm_80, sm_90a
  int compute_capability;         // 80, 86, 89, 90
  std::int64_t shared_per_block;  // bytes of dynamic shared memory a block may opt in to
  std::int64_t shared_per_multiprocessor;
  std::int64_t shared_reserved_per_block;  // bytes the system takes from each block
  int threads_per_block, threads_per_multiprocessor, blocks_per_multiprocessor;
  int registers_per_thread, registers_per_multiprocessor;
  int multiprocessors;  // of the largest part, for tile choice only
  std::int64_t grid_x, grid_y, grid_z;
  std::int64_t block_z = 64;       // threads along z; along x and y a block may have all it has
  int banks = 32, bank_bytes = 4;  // of shared memory
  int access_bytes = 16;           // of a thread's widest load or store
  Costs costs{};
};

const std::vector<Target>& all();
/// Throws Error that lists the known names.
const Target& find(std::string_view name);

}  // namespace zellige::target
