// Launches several tile programs as one CUDA kernel: the grid is divided among them, and each block runs one program
// (horizontal fusion).
//
//   for (const LaunchGroup& l : launches(plan.kernels)) ...    // plan.kernels[l.first] to plan.kernels[l.last - 1]
//   TileProgram::same_launch                             // set on each program of a launch but the first
//
// For example, a concatenation of N operands is N programs in one launch: the first blocks copy the first operand, the
// next ones the second, and so on. Each program is planned and verified separately. Since blocks run in any order,
// verify_launches() proves that no program accesses memory that another program of its launch writes.
#pragma once
#include <vector>

#include "kernel/kernel.hpp"

namespace zellige::kernel {

/// Maximum number of programs per launch: their pointers must fit into a kernel's 4 KB of parameters.
inline constexpr std::size_t max_programs = 128;

/// The programs first <= i < last of a list, which are launched together.
struct LaunchGroup {
  std::size_t first = 0, last = 0;
  std::size_t count() const { return last - first; }
};

/// Returns the launches of a list of planned programs, in order. A program with TileProgram::same_launch belongs to
/// the same launch as the program before it in the list.
std::vector<LaunchGroup> launches(const std::vector<Kernel>&);

/// Assigns all programs to one launch, or to several launches of at most 128 (max_programs) programs. Sets each
/// program's number of threads per block to the maximum over all programs.
void launch_together(std::vector<tile::TileProgram>&);

/// Throws Rejected if kernels that share a launch
///
/// - differ in their number of threads per block;
/// - use clusters, warp specialisation, TMA or persistent blocks;
/// - access memory that another kernel of the launch writes.
void verify_launches(const std::vector<Kernel>&, const tile::TilePrograms&);

}  // namespace zellige::kernel
