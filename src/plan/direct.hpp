// Decides which loads are read in place from global memory, because a copy into shared memory would not
// improve the accesses.
//
//   plan.direct[load] = read_in_place(plan, program, target, load, reads, loads, too_big);
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "plan/kernel_plan.hpp"

namespace zellige::plan {

/// Whether tiles that no tensor core reads go through shared memory if that pays, or never, which is for
/// kernels where they would not fit. (Shared memory can also transpose a tile; in place, it is read along the
/// tensor's own strides.)
enum class Loads : std::uint8_t { as_fits, in_place };

/// A task that evaluates a load, and whether it does so at its own coordinates.
using LoadReads = std::vector<std::pair<int, bool>>;

/// `too_big`: the loads of the kernel do not fit shared memory together.
bool read_in_place(const KernelPlan&, const Program&, const target::Target&, int load, const LoadReads&,
                   Loads, bool too_big);

/// Returns how the threads of a store can load its value without shared memory: by unaligned accesses, all of
/// a thread's in flight at once; nullopt if that is impossible, or another way is as good.
std::optional<CopyChoice> fetched(const KernelPlan&, const Program&, const target::Target&, int store);

/// Returns whether any matmul of the kernel uses warpgroups.
bool on_warpgroups(const KernelPlan&);

}  // namespace zellige::plan
