// Two products of a loop, one behind the other, on warpgroups: the sums of the first, made into other numbers and rounded, are the A
// of the second, which never leaves the registers.
//
//   s = q k            q: resident, before the loop         k, v: a ring that TMA fills
//   p = round(f(s))    f: elementwise, with statistics of rows
//   o = o * r + p v
//
// Each four warps take 64 rows, of q and p and o alike. From there on the passes read the rows, as they do of warpgroups.hpp's.
// Before: select, resolve_layouts. After: both products' rows and warps, where they apply.
#pragma once
#include <optional>
#include <string>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Empty where the plan has changed; else why it stays as it is, for the reader of a note. nullopt where the loop has no two such
/// products, or more.
std::optional<std::string> warpgroup_chain(KernelPlan&, const Program&, const target::Target&);

/// Of a map between the products of a chain that is kept in registers, the product whose accumulators lie as it does; -1: it is evaluated
/// where it is read. Kept is what becomes the second one's operand, while the product before still reads that, and what several read
/// and takes long to evaluate again: what is loaded meets the scores, or a function that takes long.
int kept_beside(const KernelPlan&, int node);

/// Whether a kernel's products on warpgroups are such a chain.
bool has_warpgroup_chain(const KernelPlan&);

}  // namespace zellige::plan
