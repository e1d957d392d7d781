// Predicts what one launch of a planned kernel executes (barriers, matrix instructions, bank conflicts, ...), by
// walking the kernel's schedule. The results are counters of the emulator, which runs the emitted source on the CPU.
//
//   Counts c = predict(kernel);
//   c.at(emulate::Counter::barrier)            // 320, the sum over all blocks
//   c.count(emulate::Counter::shuffle)         // 0: a counter that the plan does not determine exactly is absent
//
// The prediction is exact: the layouts and buffers of all steps are evaluated, nothing is estimated. tests/predict
// compares it with the emulator. docs/explanation/planner-rules.md lists what is predicted, and what is not.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "kernel/kernel.hpp"
#include "zellige/emulate/counters.hpp"

namespace zellige::predict {

/// Executions by counter, over all blocks of a launch. Counters may be 0; those that are not predicted are absent.
using Counts = std::map<emulate::Counter, std::uint64_t>;

/// Predicts how often one launch of the kernel executes each kind of operation (barriers, matrix instructions,
/// shared-memory wavefronts, ...). Returns the numbers by counter; a counter that the plan does not determine exactly
/// is absent. Requires a complete plan: a schedule with all buffers placed.
Counts predict(const kernel::Kernel&);

/// Returns the nonzero counters as a string: "barrier 5, mma 64".
std::string print(const Counts&);

}  // namespace zellige::predict
