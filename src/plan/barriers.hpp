// Orders a block's operators: fewest barriers first, then least peak memory (or a weighted sum of the two).
//
//   // 0 and 1 load, 2 adds them through shared memory.
//   Phases p = order_tasks({{.produces = 1}, {.produces = 1}, {.after = {0, 1}, .produces = 1}});
//   // p.phases == {{0, 1}, {2}}, p.barriers == 1, p.peak == 3, p.optimal
//
// A phase is a list of tasks; consecutive phases are separated by a barrier. A task that reads another's
// result through shared memory (`after`) must be in a later phase; one that only needs it in the same threads
// (`after_same`) must come later in the order, possibly in the same phase. The least number of barriers is
// the length of the longest chain of `after`.
//
// The peak is the largest sum of bytes alive at once (what `pack` may then exceed). A result is alive from
// its task to its last reader. The memory of a dead result may be written again after a barrier, because
// until then a slow thread may still read it: this is Reuse::after_barrier, and race-free. With
// Reuse::at_once a reader frees its operand at once, which is right for a single thread or warp.
//
// A loop's back edge adds one barrier to every order, so it does not change which order is best.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace zellige::plan {

struct Work {
  std::vector<int> after;       // reads their results through shared memory: needs a barrier in between
  std::vector<int> after_same;  // reads their results in the same threads: order, no barrier
  std::int64_t produces = 0;    // bytes of its result in shared memory
  bool kept = false;            // the result stays alive to the end
};

enum class Reuse { after_barrier, at_once };

struct Preference {
  /// Unset: fewest barriers, then least peak. Set: least barriers * bytes_per_barrier + peak.
  std::optional<double> bytes_per_barrier = std::nullopt;
  Reuse reuse = Reuse::after_barrier;
  std::int64_t effort = 400'000;  // bound on the steps of the exact search
};

struct Phases {
  std::vector<std::vector<int>> phases;
  int barriers = 0;       // phases - 1
  std::int64_t peak = 0;  // bytes
  bool optimal = true;    // proven, by an exhaustive search
};

Phases order_tasks(const std::vector<Work>& tasks, const Preference& preference = {});

/// The peak of a given order. Throws Error if the order omits, repeats or misorders a task.
std::int64_t peak_memory(const std::vector<Work>& tasks, const std::vector<std::vector<int>>& phases,
                         Reuse reuse = Reuse::after_barrier);

}  // namespace zellige::plan
