// The part of the verifier that needs no simulation: valid indices, closed loops, and the target's limits.
#pragma once
#include <string>

#include "plan/schedule.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Checks that every index is valid, and that the numbers of every step are possible where it is.
void check_structure(const Schedule&, const std::string& kernel);

/// Checks shared memory, threads, registers, barriers and instructions against the target. Precondition:
/// check_structure passed.
void check_limits(const Schedule&, const std::string& kernel, const target::Target&);

/// Checks the arrival counts of mbarriers that no phase of the simulation shows: those of mbarrier_cluster, at
/// which each rank arrives once, and of channels without releases.
void check_other_arrivals(const Schedule&, const std::string& kernel);

/// The kinds of groups that commit and wait_group count. Each agent has its own groups of each kind.
enum class Groups : std::uint8_t { cp_async, wgmma, bulk };
constexpr int group_kinds = 3;

/// The groups that a step starts, commits or waits for.
Groups groups_of(const Schedule&, const std::string& kernel, const Agent&, const Step&);

/// A TMA load: a copy that completes on an mbarrier.
bool is_tma_load(const Schedule&, const Step&);

}  // namespace zellige::plan
