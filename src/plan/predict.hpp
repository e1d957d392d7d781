// What one launch of a planned kernel executes, in the emulator's words: its schedule, walked.
//
//   Counts c = predict(kernel);
//   c.at(emulate::Counter::barrier)            // 320: of all blocks
//   c.count(emulate::Counter::shuffle)         // 0: what the plan does not say exactly is not there
//
// Contexts, buffers and layouts are evaluated for it; nothing is estimated. tests/predict holds it against what the
// emulator counts. docs/explanation/planner.md says what is left out, and why.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "plan/kernel_plan.hpp"
#include "zellige/emulate/counters.hpp"

namespace zellige::plan {

/// A counter that is 0 is there, one that is not predicted is not.
using Counts = std::map<emulate::Counter, std::uint64_t>;

/// Of a plan that has passed build_schedule.
Counts predict(const KernelPlan&);

/// "barrier 5, mma 64": those that are not 0.
std::string print(const Counts&);

}  // namespace zellige::plan
