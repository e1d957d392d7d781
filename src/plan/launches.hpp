// Block programs that share a launch: the grid is split among them, and each block runs one.
//
//   for (const Launch& l : launches(plan.kernels)) ...    // plan.kernels[l.first] up to, not including, plan.kernels[l.last]
//   BlockProgram::same_launch                             // set on each program of a launch but the first
//
// A concatenation of N operands is N programs and one launch: blocks 0 to b0 copy the first operand, the next ones the second. Each
// program is planned and verified by itself; verify_launches proves that no program reads or overwrites what another one of its launch
// writes, since their blocks run in any order.
#pragma once
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Programs that a launch runs at most: the pointers of each fit into a kernel's 4 KB of parameters.
inline constexpr std::size_t most_programs = 128;

struct Launch {
  std::size_t first = 0, last = 0;
  std::size_t count() const { return last - first; }
};

/// In launch order.
std::vector<Launch> launches(const std::vector<KernelPlan>&);
std::vector<Launch> launches(const std::vector<BlockProgram>&);

/// Puts all programs into one launch, or, of more than most_programs, into several: gives them the threads of the largest.
void launch_together(std::vector<BlockProgram>&);

/// Says that the program's part of a concatenation begins there, and that its nodes of that kind have it along `dim`.
void set_part_begin(BlockProgram&, NodeKind, int dim, std::int64_t begin);

/// Throws Rejected where programs of one launch differ in threads, need what one program of a launch cannot have (clusters,
/// roles, tensor maps, blocks that take several tiles), or meet in memory that one of them writes.
void verify_launches(const std::vector<KernelPlan>&, const Program&);

}  // namespace zellige::plan
