// The warp role of a persistent block that only multiplies: one thread issues the products of one output tile after another into sets of
// columns of tensor memory alternately, while other warps load and store the tile before (block/product_sets.hpp).
//
//   const int sets = sets_of_columns(kernel, tasks, phases, target);   // 2; 0: whoever stores the tiles multiplies, too
//   if (sets > 0) kernel.agents.push_back(multiplier(inputs));
#pragma once
#include "plan/agent_steps.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Returns the number of sets of columns with which output tiles follow each other soonest, if another agent multiplies than the one that
/// stores; 0 if none does: the products of the loop are not alone, no block has several tiles, or columns or registers do not suffice.
int sets_of_columns(const kernel::Kernel&, const selection::Tasks&, const selection::PhasedTasks&,
                    const target::Target&);

/// Returns the agent that multiplies. Requires the channels, and the loop with this role.
kernel::Agent multiplier(const AgentInputs&);

}  // namespace zellige::plan
