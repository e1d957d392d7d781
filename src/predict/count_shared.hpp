// Predicts how many ordinary loads and stores of shared memory a loop nest executes, by access width and in
// wavefronts. The predictions equal the counts of the emulator, which runs the CUDA source on the CPU. Part of
// predict.hpp, which predicts all counters of a kernel.
#pragma once
#include "kernel/evaluation.hpp"
#include "predict/predict.hpp"

namespace zellige::predict {

/// The counters of one loop nest, and whether they equal what the emulator would count.
struct SharedCounts {
  Counts counts;
  // False if the active lanes depend on the block, or there are too many elements to enumerate: `counts` is incomplete.
  bool exact = true;
  // Some lanes skip an access that others execute, and execute a later one: the emulator then combines accesses of
  // different instructions, and wavefronts differ.
  bool mixed = false;
  // Some lanes execute fewer accesses than others. If the nest runs twice without a barrier, it counts as `mixed`.
  bool ragged = false;
};

/// Returns the counters of the shared-memory accesses (executions by width, wavefronts) of one block that executes
/// these steps once. They are evaluated together in one loop nest.
SharedCounts count_shared(const kernel::Kernel&, kernel::StepSpan);
/// Returns the counters of the shared-memory stores that initialise the loop state of a work. Returns no counters if it
/// has no loop state in shared memory.
SharedCounts count_start(const kernel::Kernel&, const kernel::Work&);

}  // namespace zellige::predict
