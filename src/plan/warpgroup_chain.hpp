// Two consecutive matmuls of a loop on warpgroups: the accumulators of the first, transformed and rounded,
// are the A operand of the second, and stay in registers.
//
//   s = q k            q: resident, before the loop         k, v: a ring filled by TMA
//   p = round(f(s))    f: elementwise, with row statistics
//   o = o * r + p v
//
// Each four warps take 64 rows of q, p and o. Later passes read the instruction descriptors, as for
// warpgroups.hpp.
// Before: select, resolve_layouts. After: both matmuls' instructions and warps, if they apply.
#pragma once
#include <optional>
#include <string>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Returns an empty string if the plan was changed, otherwise the reason, for a note. Returns nullopt if the
/// loop does not have exactly two such matmuls.
std::optional<std::string> warpgroup_chain(KernelPlan&, const Program&, const target::Target&);

/// For a map between the matmuls of a chain that is kept in registers: the matmul whose accumulators have its
/// layout; -1: it is evaluated where it is read. Kept are the second matmul's operand, while the previous
/// matmul still reads it, and values with several users that are expensive to recompute: loads combined with
/// the scores, or an expensive function.
int accumulators_to_keep_in(const KernelPlan&, int node);

/// Returns whether a kernel's matmuls on warpgroups are such a chain.
bool has_warpgroup_chain(const KernelPlan&);

}  // namespace zellige::plan
