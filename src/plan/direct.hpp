// Loads that are read in global memory where they are used: where a copy into shared memory would bring nothing together.
//
//   plan.direct[load] = read_in_place(plan, program, target, load, reads, loads, too_big);
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Whether tiles that no tensor core reads go through shared memory where that pays, or never: the latter where they
/// would not fit. (Shared memory also turns a tile around; read in place, it is read along the tensor's own strides.)
enum class Loads : std::uint8_t { as_fits, in_place };

/// A task that evaluates a load, and whether it does so at its own coordinates.
using LoadReads = std::vector<std::pair<int, bool>>;

/// `too_big`: a kernel's loads do not fit shared memory together.
bool read_in_place(const KernelPlan&, const Program&, const target::Target&, int load, const LoadReads&,
                   Loads, bool too_big);

/// How a store's threads bring, without shared memory between, what it stores as a load finds it: in accesses that begin anywhere, all of
/// a thread's under way at once. Nothing where that cannot be, or another way is as good.
std::optional<Copy> fetched(const KernelPlan&, const Program&, const target::Target&, int store);

/// Whether any product of the kernel is on warpgroups.
bool on_warpgroups(const KernelPlan&);

}  // namespace zellige::plan
