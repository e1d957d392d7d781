// Predicts what one launch of a planned kernel executes, as counters of the emulator, by walking its
// schedule.
//
//   Counts c = predict(kernel);
//   c.at(emulate::Counter::barrier)            // 320: over all blocks
//   c.count(emulate::Counter::shuffle)         // 0: a counter that the plan does not determine exactly is absent
//
// Contexts, buffers and layouts are evaluated; nothing is estimated. tests/predict checks it against the
// emulator's counters. docs/explanation/planner.md says what is not predicted, and why.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "plan/kernel_plan.hpp"
#include "zellige/emulate/counters.hpp"

namespace zellige::plan {

/// Counters that are 0 are present; counters that are not predicted are absent.
using Counts = std::map<emulate::Counter, std::uint64_t>;

/// Requires a plan that has passed build_schedule.
Counts predict(const KernelPlan&);

/// "barrier 5, mma 64": the nonzero ones.
std::string print(const Counts&);

}  // namespace zellige::plan
