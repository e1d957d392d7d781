// Implements the verifier's checks that need no simulation: whether the indices and numbers in a schedule are
// valid, and whether the schedule is within the target's limits.
#pragma once
#include "target/target.hpp"
#include "verify/words.hpp"

namespace zellige::verify {

/// Throws Rejected if an index in the schedule is invalid, if a step may not occur where it is (such as an
/// MbarrierInit outside of setup), or if a step has impossible numbers.
void check_structure(const Kernel&);

/// Checks shared memory, threads, registers, barriers and instructions against the target. Throws DoesNotFit if the
/// target lacks what the schedule needs, and Rejected if the schedule is invalid. Call check_structure() first.
void check_limits(const Kernel&, const target::Target&);

/// Throws Rejected if certain mbarriers are initialised for a wrong number of arrivals: those of exchanges between
/// blocks, at which each block arrives once, and those of channels that are never released. verify() itself counts the
/// arrivals at all other mbarriers.
void check_other_arrivals(const Kernel&);

/// The kinds of asynchronous groups that commit and wait_group count. Each warp role has its own groups of each kind.
enum class Groups : std::uint8_t { cp_async, wgmma, bulk };
constexpr int group_kinds = 3;
/// Returns how the instructions complete that are in groups of this kind.
constexpr Completion completion(Groups kind) {
  constexpr Completion of[group_kinds] = {Completion::copy_group, Completion::commit_group, Completion::bulk_group};
  return of[static_cast<std::size_t>(kind)];
}

/// Returns the kind of asynchronous group that a step starts, commits or waits for. Throws Rejected if the step names a
/// channel that has no asynchronous groups, or if it names none and its warp role starts groups of several kinds.
Groups groups_of(const Kernel&, const Agent&, const Step&);

/// Returns whether a step is a TMA load: a copy that completes on an mbarrier.
bool is_tma_load(const Kernel&, const Step&);

}  // namespace zellige::verify
