// The part of the proof that needs no simulation: indices that exist, loops that close, and what the target
// has.
#pragma once
#include <string>

#include "plan/schedule.hpp"
#include "target/target.hpp"

namespace zellige::plan {

/// Every index names something, every step has the fields that its kind needs and no others.
void check_structure(const Schedule&, const std::string& kernel);

/// Shared memory, threads, registers, barriers and instructions of the target. Precondition: check_structure
/// passed.
void check_limits(const Schedule&, const std::string& kernel, const target::Target&);

/// Counts of the mbarriers that no phase of the run shows: of mbarrier_peers, at which each rank arrives once, and of channels none of
/// whose stages is given back.
void check_other_arrivals(const Schedule&, const std::string& kernel);

/// What a commit or wait_group counts. Each agent has its own groups of each.
enum class Groups : std::uint8_t { cp_async, wgmma, bulk };
constexpr int group_kinds = 3;

/// The groups that a step starts, commits or waits for.
Groups groups_of(const Schedule&, const std::string& kernel, const Agent&, const Step&);

/// A TMA load: a copy that completes on an mbarrier.
bool is_tma_load(const Schedule&, const Step&);

}  // namespace zellige::plan
