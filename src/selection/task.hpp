// WorkItem: a piece of a kernel's work before it has a place among the steps. Grouping (plan/group.hpp) makes the tasks, and
// those passes read them that order them; build_agents() makes steps of them.
#pragma once
#include "kernel/step.hpp"

namespace zellige::selection {

/// Work, with what must come before it. Integers are indices of tasks, if nothing else is said.
struct WorkItem : kernel::Work {
  std::vector<kernel::Access> reads;  // of tensors in shared memory
  std::vector<int> after;             // tasks whose shared-memory results other threads read: needs a barrier
  std::vector<int> after_same;        // tasks whose results the same threads read: no barrier
  bool constant = false;              // loads what no earlier work on the stream writes, such as weights
};
using Tasks = std::vector<WorkItem>;

/// Tasks that need no barrier between them, as indices of a list of tasks, in the order in which they are emitted.
using Phase = std::vector<int>;
/// A kernel's tasks in phases, by the section in which they are done. A barrier separates consecutive phases of a section.
struct PhasedTasks {
  // Copies of tiles to shared memory that start in advance and are in no phase: one before the loop, one an iteration.
  std::vector<int> copied_once, copied_each;
  std::vector<Phase> before, inside, after;
};

}  // namespace zellige::selection
