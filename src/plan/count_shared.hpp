// Counts ordinary loads and stores of shared memory as the emulator does: by width, and in wavefronts. Part
// of predict.
#pragma once
#include "plan/predict.hpp"

namespace zellige::plan {

struct SharedCounts {
  Counts counts;
  // False: the active lanes depend on the block, or there are too many cases; nothing was counted.
  bool exact = true;
  // Some lanes skip what others execute, so that the emulator combines accesses of different instructions.
  bool mixed = false;
  bool ragged = false;  // some lanes execute less; executed again before a barrier, the same happens
};

/// Counts for one execution by one block of tasks that are evaluated together, or of a single one.
SharedCounts count_shared(const KernelPlan&, const std::vector<int>& tasks);
/// Counts for initialising a state in shared memory.
SharedCounts count_start(const KernelPlan&, int task);

}  // namespace zellige::plan
