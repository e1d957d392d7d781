// Launches several block programs as one CUDA kernel: the grid is divided among them, and each block runs one program
// (horizontal fusion).
//
//   for (const Launch& l : launches(plan.kernels)) ...    // plan.kernels[l.first] to plan.kernels[l.last - 1]
//   BlockProgram::same_launch                             // set on each program of a launch but the first
//
// For example, a concatenation of N operands is N programs in one launch: the first blocks copy the first operand, the
// next ones the second, and so on. Each program is planned and verified separately. Since blocks run in any order,
// verify_launches() proves that no program accesses memory that another program of its launch writes.
#pragma once
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Maximum number of programs per launch: their pointers must fit into a kernel's 4 KB of parameters.
inline constexpr std::size_t max_programs = 128;

/// The programs first <= i < last of a list, which are launched together.
struct Launch {
  std::size_t first = 0, last = 0;
  std::size_t count() const { return last - first; }
};

/// Returns the launches of a list of programs, in order: a program with BlockProgram::same_launch belongs to the launch
/// of the program before it.
std::vector<Launch> launches(const std::vector<KernelPlan>&);
std::vector<Launch> launches(const std::vector<BlockProgram>&);

/// Puts all programs into one launch, or into several of max_programs programs at most. Sets each program's number of
/// threads per block to the maximum over all programs.
void launch_together(std::vector<BlockProgram>&);

/// Sets BlockProgram::part_begin, a parameter of the program: the offset along `dim` at which its part of a
/// concatenated or split tensor begins. Loads or stores (of the given kind) use it, so that programs that differ only
/// in this offset have the same source. Does nothing if `begin` does not fit an int.
void set_part_begin(BlockProgram&, NodeKind, int dim, std::int64_t begin);

/// Throws Rejected in these cases: programs of one launch differ in their number of threads, one of them uses clusters,
/// warp specialisation, TMA or persistent blocks, or one accesses memory that another one writes.
void verify_launches(const std::vector<KernelPlan>&, const Program&);

}  // namespace zellige::plan
