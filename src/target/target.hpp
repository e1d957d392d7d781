// Properties of GPU architectures as data: limits, memory sizes and parameters of the cost model, one record
// per architecture. The limits and sizes are from the tables "Compute Capabilities" of the CUDA C++
// Programming Guide; the cost model's parameters are in costs.hpp.
//
//   const Target& t = find("sm_90a");   // t.shared_per_block == 227 * 1024
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "target/costs.hpp"

namespace zellige::target {

// ---- The same on every GPU ----

/// Threads of a warp; bytes that the banks of shared memory serve at once; bytes that a miss of the L2 loads.
inline constexpr int warp_threads = 32, bank_row_bytes = 128, sector_bytes = 32;
/// Bytes of dynamic shared memory of a block that a kernel has without asking for them.
inline constexpr std::int64_t shared_without_asking = 48 * 1024;

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
  // Of GPCs, groups of multiprocessors that a cluster lies within; 0: no clusters. How many multiprocessors the smallest
  // lacks, where the others are as even as possible. They affect only the choice of clusters.
  int gpcs = 0, smallest_lacks = 0;
  std::int64_t block_z = 64;  // maximum threads of a block along z; along x and y threads_per_block
  int banks = 32, bank_bytes = bank_row_bytes / banks;  // of shared memory
  int access_bytes = 16;                                // widest load or store of a thread
  Costs costs{};

  /// Returns whether rows of `bytes` bytes, which a block reads again, leave its shared memory too little room: they
  /// take more than half of it.
  bool half_exceeded(std::int64_t bytes) const { return 2 * bytes > shared_per_block; }
  /// Returns how many clusters of `blocks` blocks are resident at the same time, with one block per multiprocessor. The
  /// GPCs consist of pairs of multiprocessors.
  std::int64_t clusters(int blocks) const;
};

/// Returns all supported targets.
const std::vector<Target>& all();
/// Returns their names.
std::vector<std::string> names();
/// Returns the target with this name; "sm_90" means sm_90a. Throws Error, with the known names, if there is
/// no such target.
const Target& find(std::string_view name);

}  // namespace zellige::target
