// Ordinary loads and stores of shared memory, counted as the emulator counts them: by width, and in wavefronts. Part of predict.
#pragma once
#include "plan/predict.hpp"

namespace zellige::plan {

struct SharedCounts {
  Counts counts;
  bool exact =
      true;  // false: which lanes take part depends on the block, or they are too many; nothing was counted
  bool mixed =
      false;  // some lanes pass over what others do in between: the emulator puts those together that are not
  bool ragged = false;  // some lanes do less: done again before a barrier, the same happens
};

/// Of one execution, by one block, of tasks that are evaluated together, or of one that is not.
SharedCounts count_shared(const KernelPlan&, const std::vector<int>& tasks);
/// Of the start of a state that lies in shared memory.
SharedCounts count_start(const KernelPlan&, int task);

}  // namespace zellige::plan
