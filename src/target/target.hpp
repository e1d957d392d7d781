// What a GPU has, as data: one record per architecture, and the instructions of the atom room that it admits.
// Sources: CUDA C++ Programming Guide, "Compute Capabilities" tables; PTX ISA, target ISA notes of each instruction.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace zellige::target {

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
};

const std::vector<Target>& all();
/// Throws Error that lists the known names.
const Target& find(std::string_view name);

}  // namespace zellige::target
