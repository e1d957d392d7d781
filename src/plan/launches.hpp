// Block programs that share a launch: the grid is divided among them, and each block runs one.
//
//   for (const Launch& l : launches(plan.kernels)) ...    // plan.kernels[l.first] to plan.kernels[l.last - 1]
//   BlockProgram::same_launch                             // set on each program of a launch but the first
//
// A concatenation of N operands is N programs and one launch: blocks 0 to b0 copy the first operand, the next
// ones the second. Each program is planned and verified separately; verify_launches proves that no program
// accesses what another one of its launch writes, because their blocks run in any order.
#pragma once
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Maximum number of programs per launch: their pointers must fit into a kernel's 4 KB of parameters.
inline constexpr std::size_t max_programs = 128;

struct Launch {
  std::size_t first = 0, last = 0;
  std::size_t count() const { return last - first; }
};

/// Returns the launches in order.
std::vector<Launch> launches(const std::vector<KernelPlan>&);
std::vector<Launch> launches(const std::vector<BlockProgram>&);

/// Puts all programs into one launch, or several if there are more than max_programs, and gives them the
/// thread count of the largest.
void launch_together(std::vector<BlockProgram>&);

/// Sets where the program's part of a concatenation begins, and marks its nodes of that kind along `dim`.
void set_part_begin(BlockProgram&, NodeKind, int dim, std::int64_t begin);

/// Throws Rejected if programs of one launch differ in threads, use what such a program cannot have
/// (clusters, agents, tensor maps, persistent blocks), or access memory that another of them writes.
void verify_launches(const std::vector<KernelPlan>&, const Program&);

}  // namespace zellige::plan
