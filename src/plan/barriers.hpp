// Orders the tasks of a thread block into phases separated by barriers. Minimises the number of barriers first, and
// then the peak of shared-memory use.
//
//   // Tasks 0 and 1 load a value each, and task 2 adds the values through shared memory. Every result has 1 byte.
//   Phases p = order_tasks({{.produces = 1}, {.produces = 1}, {.after = {0, 1}, .produces = 1}});
//   // p.phases == {{0, 1}, {2}}, p.barriers == 1, p.peak == 3, p.optimal
//
// - A task that reads another task's result through shared memory (`after`) must be in a later phase. A task that
//   reads the result only in the same threads (`after_same`) must come later, but may be in the same phase. The least
//   number of barriers is the length of the longest chain of `after` dependences.
// - A result is alive from its task to its last reader. The peak is the maximum number of bytes alive at a time; an
//   assignment of addresses (packing.hpp) may need more.
// - The memory of a dead result is free after the next barrier, because until then a slow thread may read it.
// - The barrier at a loop's back edge is the same for every order, and not counted.
#pragma once
#include <cstdint>
#include <vector>

namespace zellige::plan {

/// One task to order: its dependences, as indices of other tasks, and its result in shared memory.
struct TaskToOrder {
  std::vector<int> after;       // tasks whose results it reads through shared memory: after a barrier
  std::vector<int> after_same;  // tasks whose results it reads in the same threads: later, without a barrier
  std::int64_t produces = 0;    // bytes of its result in shared memory
};

/// An order of all tasks: lists of task numbers, with a barrier between consecutive lists.
struct TaskPhases {
  std::vector<std::vector<int>> phases;
  int barriers = 0;       // phases - 1
  std::int64_t peak = 0;  // bytes
  bool optimal = true;    // whether no better order exists; false: not proved
};

/// Returns the best order of the tasks that was found: the one with the fewest barriers and then the least peak of
/// memory. A heuristic finds a first order; for up to 64 tasks an exact search of at most `effort` steps improves it.
/// Throws Error if the dependences have a cycle, if a dependence is not the number of another task, or if a number of
/// bytes is negative.
TaskPhases order_tasks(const std::vector<TaskToOrder>& tasks, std::int64_t effort = 400'000);

/// Returns the maximum number of bytes of results that are alive at a time if the tasks run in the given phases.
/// Throws Error if a task is missing, listed twice, or ordered before a task that it depends on.
std::int64_t peak_memory(const std::vector<TaskToOrder>& tasks, const std::vector<std::vector<int>>& phases);

}  // namespace zellige::plan
