#include "plan/barriers.hpp"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <utility>

#include "graph/error.hpp"

namespace zellige::plan {
namespace {

using i64 = std::int64_t;
using TaskSet = std::uint64_t;         // a set of tasks, one bit per task
constexpr std::size_t max_exact = 64;  // maximum number of tasks for the exact search

/// The tasks' dependence graph and bounds derived from it.
struct DependenceGraph {
  const std::vector<TaskToOrder>& tasks;
  std::vector<int> order;                 // topological, lowest index first
  std::vector<std::vector<int>> readers;  // by task: the tasks that depend on it in either way
  std::vector<int> depth, height;         // by task: number of barriers required before and after it
  int barriers = 0;                       // the least number in any order
  i64 min_peak = 0;                       // lower bound: maximum bytes of a task's operands and result together
};

/// Returns the dependence graph of the tasks. Throws Error if the dependences have a cycle, if a dependence is not
/// the number of another task, or if a number of bytes is negative.
DependenceGraph analyse(const std::vector<TaskToOrder>& tasks) {
  const int n = static_cast<int>(tasks.size());
  DependenceGraph g{tasks, {}, std::vector<std::vector<int>>(n), std::vector<int>(n), std::vector<int>(n)};
  std::vector<int> missing(n, 0);
  for (int t = 0; t < n; ++t) {
    if (tasks[t].produces < 0) fail("barriers: task {} produces {} bytes; at least 0 is needed", t, tasks[t].produces);
    i64 alive = tasks[t].produces;
    for (const auto* from : {&tasks[t].after, &tasks[t].after_same})
      for (int s : *from) {
        if (s < 0 || s >= n || s == t)
          fail("barriers: task {} depends on task {}; another of the {} tasks is needed", t, s, n);
        if (std::ranges::find(g.readers[s], t) != g.readers[s].end()) continue;
        g.readers[s].push_back(t);
        ++missing[t];
        alive += tasks[s].produces;
      }
    g.min_peak = std::max(g.min_peak, alive);
  }
  for (;;) {
    int next = -1;
    for (int t = n - 1; t >= 0; --t)
      if (missing[t] == 0) next = t;
    if (next < 0) break;
    missing[next] = -1;
    g.order.push_back(next);
    for (int r : g.readers[next]) --missing[r];
  }
  if (static_cast<int>(g.order.size()) < n)
    fail("barriers: only {} of {} tasks can be ordered; the others depend on each other in a cycle", g.order.size(), n);
  for (int t : g.order) {
    for (int s : tasks[t].after) g.depth[t] = std::max(g.depth[t], g.depth[s] + 1);
    for (int s : tasks[t].after_same) g.depth[t] = std::max(g.depth[t], g.depth[s]);
    g.barriers = std::max(g.barriers, g.depth[t]);
  }
  for (auto t = g.order.rbegin(); t != g.order.rend(); ++t) {
    for (int s : tasks[*t].after) g.height[s] = std::max(g.height[s], g.height[*t] + 1);
    for (int s : tasks[*t].after_same) g.height[s] = std::max(g.height[s], g.height[*t]);
  }
  return g;
}

/// Searches locally for an order of the tasks with the fewest barriers. Starts once with every task as early as possible,
/// and once with every task as late as possible. Moves single tasks to other phases as long as that lowers the peak
/// (maximum number of bytes alive at a time).
TaskPhases climb(const DependenceGraph& g) {
  const int n = static_cast<int>(g.tasks.size()), count = g.barriers + 1;
  TaskPhases best;
  std::vector<int> phase(n);
  for (int latest = 0; latest < 2; ++latest) {
    for (int t = 0; t < n; ++t) phase[t] = latest ? count - 1 - g.height[t] : g.depth[t];
    auto measure = [&] {
      // The peak; of equal peaks the sum of squares of each phase's live bytes, so that moves across a plateau
      // count as progress.
      std::vector<i64> alive(count, 0);
      for (int t = 0; t < n; ++t) {
        int last = phase[t];
        for (int r : g.readers[t]) last = std::max(last, phase[r]);
        for (int p = phase[t]; p <= last; ++p) alive[p] += g.tasks[t].produces;
      }
      double squares = 0;
      for (i64 a : alive) squares += static_cast<double>(a) * static_cast<double>(a);
      return std::pair(std::ranges::max(alive), squares);
    };
    auto now = measure();
    bool moved = true;
    for (int pass = 0; moved && pass < 8; ++pass) {
      moved = false;
      for (int t = 0; t < n; ++t) {
        int low = 0, high = count - 1;
        for (int s : g.tasks[t].after) low = std::max(low, phase[s] + 1);
        for (int s : g.tasks[t].after_same) low = std::max(low, phase[s]);
        for (int r : g.readers[t]) {
          const auto& barred = g.tasks[r].after;
          high = std::min(high, phase[r] - (std::ranges::find(barred, t) != barred.end()));
        }
        int selected = phase[t];
        for (int p = low; p <= high; ++p) {
          phase[t] = p;
          if (const auto next = measure(); next < now) now = next, selected = p, moved = true;
        }
        phase[t] = selected;
      }
    }
    TaskPhases found{std::vector<std::vector<int>>(count), g.barriers};
    for (int t : g.order) found.phases[phase[t]].push_back(t);
    found.peak = peak_memory(g.tasks, found.phases);
    if (best.phases.empty() || found.peak < best.peak) best = found;
  }
  return best;
}

/// Returns a lower bound of the peak (maximum number of bytes of results alive at a time) that holds for every order
/// with the fewest barriers. In each phase some results are alive in every such order; the bound is the maximum of
/// their total size over all phases. A result is alive from its task's latest phase to the earliest phase of its last
/// reader, if the first is not later; and in its task's phase, if it has only one.
i64 min_by_phases(const DependenceGraph& g) {
  std::vector<i64> alive(g.barriers + 1);
  for (int t : g.order) {
    const int latest = g.barriers - g.height[t];
    int last = g.depth[t];
    for (int r : g.readers[t]) last = std::max(last, g.depth[r]);
    for (int p = latest; p <= last; ++p) alive[p] += g.tasks[t].produces;
  }
  return std::ranges::max(alive);
}

/// Exact search over the orders of the tasks, phase by phase; a state is the set of finished tasks. Replaces `best` by
/// every better order.
class PhaseSearch {
 public:
  PhaseSearch(const DependenceGraph& graph, i64 effort, TaskPhases& best) : g_(graph), best_(best), effort_(effort) {
    const int n = static_cast<int>(g_.tasks.size());
    all_ = g_.tasks.size() == max_exact ? ~TaskSet{0} : (TaskSet{1} << n) - 1;
    for (int t = 0; t < n; ++t) {
      TaskSet after = 0, same = 0, readers = 0;
      for (int s : g_.tasks[t].after) after |= TaskSet{1} << s;
      for (int s : g_.tasks[t].after_same) same |= TaskSet{1} << s;
      for (int r : g_.readers[t]) readers |= TaskSet{1} << r;
      after_.push_back(after), same_.push_back(same), readers_.push_back(readers);
    }
  }

  /// Returns true if the search was exhaustive, so that `best_` is optimal. Returns false if it has used up its effort.
  bool run() {
    states_.push_back({0, 0, -1, 0});
    std::vector<int> layer{0};
    for (int k = 0; !layer.empty(); ++k) {  // k phases are done
      std::unordered_map<TaskSet, int> next;
      for (int s : layer)
        if (!expand(s, k, next)) return false;
      layer.clear();
      for (const auto& [done, s] : next) layer.push_back(s);
      std::ranges::sort(layer);
    }
    return true;
  }

 private:
  /// Finished tasks at the end of a phase, and how they were reached.
  struct State {
    TaskSet done;
    i64 peak;       // of all phases up to here, in bytes
    int parent;     // index of the state at the end of the previous phase
    TaskSet phase;  // the last phase's tasks
  };
  /// Returns the bytes of the results of the tasks `done` that are still alive: those that an unfinished task reads.
  i64 alive(TaskSet done) const {
    i64 sum = 0;
    for (TaskSet rest = done; rest; rest &= rest - 1) {
      const int t = std::countr_zero(rest);
      if (readers_[t] & ~done) sum += g_.tasks[t].produces;
    }
    return sum;
  }
  /// Returns the tasks that phase `k` must have, for the others to run in the phases after it: those that must be
  /// before all barriers that are left, and what these read in the same threads.
  TaskSet required(TaskSet done, int k) const {
    TaskSet tasks = 0;
    for (TaskSet rest = all_ & ~done; rest; rest &= rest - 1)
      if (const int t = std::countr_zero(rest); g_.height[t] >= g_.barriers - k) tasks |= TaskSet{1} << t;
    for (TaskSet added = tasks; added;) {
      const int t = std::countr_zero(added);
      const TaskSet more = same_[t] & ~done & ~tasks;
      tasks |= more, added = (added & (added - 1)) | more;
    }
    return tasks;
  }
  /// Returns the tasks of a phase in an order in which each follows those that it reads.
  std::vector<int> ordered(TaskSet phase) const {
    std::vector<int> backwards;
    for (TaskSet rest = phase; rest; rest &= ~(TaskSet{1} << backwards.back())) {
      TaskSet read = 0;
      for (TaskSet by = rest; by; by &= by - 1) read |= same_[std::countr_zero(by)];
      backwards.push_back(std::countr_zero(rest & ~read));
    }
    return {backwards.rbegin(), backwards.rend()};
  }

  /// Tries every set of tasks that can form phase `k` after state `s`, which is the set of tasks finished in earlier
  /// phases. Adds the resulting states to `next`. Returns false if the search has used up its effort.
  bool expand(int s, int k, std::unordered_map<TaskSet, int>& next) {
    const TaskSet done = states_[s].done;
    const i64 base = alive(done), before = states_[s].peak;
    TaskSet can = all_ & ~done;  // unfinished tasks that depend on no unfinished task through shared memory
    for (TaskSet rest = can; rest; rest &= rest - 1)
      if (const int t = std::countr_zero(rest); after_[t] & ~done) can &= ~(TaskSet{1} << t);
    const TaskSet first = required(done, k);
    if (first & ~can) return true;
    // Nothing dies within a phase: its peak is what was alive before it and all of its results.
    const auto peak_of = [&](TaskSet phase) { return std::max(before, base + bytes(phase)); };
    std::vector<TaskSet> phases, larger;
    if (peak_of(first) < best_.peak) phases.push_back(first);
    for (std::vector<TaskSet> grown = phases; !grown.empty();) {
      for (const TaskSet phase : grown)
        for (TaskSet rest = can & ~phase; rest; rest &= rest - 1) {
          const int t = std::countr_zero(rest);
          if (same_[t] & ~(done | phase)) continue;
          if (--effort_ < 0) return false;
          if (const TaskSet with = phase | TaskSet{1} << t; peak_of(with) < best_.peak) larger.push_back(with);
        }
      std::ranges::sort(larger);
      larger.erase(std::ranges::unique(larger).begin(), larger.end());
      grown = std::exchange(larger, {});
      phases.insert(phases.end(), grown.begin(), grown.end());
    }
    for (const TaskSet phase : phases) {
      const TaskSet all = done | phase;
      const i64 peak = peak_of(phase);
      if (peak >= best_.peak) continue;
      const auto known = lowest_.find(all);
      if (known != lowest_.end() && known->second <= peak) continue;
      lowest_[all] = peak;
      states_.push_back({all, peak, s, phase});
      next[all] = static_cast<int>(states_.size()) - 1;
      if (all == all_) adopt(static_cast<int>(states_.size()) - 1);
    }
    return true;
  }

  /// Returns the total bytes of the results of `tasks`.
  i64 bytes(TaskSet tasks) const {
    i64 sum = 0;
    for (; tasks; tasks &= tasks - 1) sum += g_.tasks[std::countr_zero(tasks)].produces;
    return sum;
  }

  /// Sets `best_` to the order of tasks that led to the search state `s`, in which all tasks are finished.
  void adopt(int s) {
    best_ = {.phases = {}, .barriers = g_.barriers, .peak = states_[s].peak};
    for (; states_[s].parent >= 0; s = states_[s].parent) best_.phases.push_back(ordered(states_[s].phase));
    std::ranges::reverse(best_.phases);
  }

  const DependenceGraph& g_;
  TaskPhases& best_;
  i64 effort_;
  TaskSet all_ = 0;
  std::vector<TaskSet> after_, same_, readers_;
  std::vector<State> states_;
  std::unordered_map<TaskSet, i64> lowest_;  // lowest peak of the states in which exactly this set is finished
};

}  // namespace

std::int64_t peak_memory(const std::vector<TaskToOrder>& tasks, const std::vector<std::vector<int>>& phases) {
  const int n = static_cast<int>(tasks.size());
  std::vector<int> phase(n, -1), step(n, -1);
  int steps = 0;
  for (std::size_t p = 0; p < phases.size(); ++p)
    for (int t : phases[p]) {
      if (t < 0 || t >= n || phase[t] >= 0)
        fail("barriers: phase {} lists task {}, which is not one of {} tasks or is listed before", p, t, n);
      phase[t] = static_cast<int>(p), step[t] = steps++;
    }
  if (steps < n) fail("barriers: the phases list {} of {} tasks; all are needed", steps, n);
  std::vector<int> last = phase;
  for (int t = 0; t < n; ++t) {
    for (int s : tasks[t].after) {
      if (phase[s] >= phase[t])
        fail("barriers: task {} in phase {} reads task {} of phase {}; a barrier must lie between", t, phase[t], s,
             phase[s]);
      last[s] = std::max(last[s], phase[t]);
    }
    for (int s : tasks[t].after_same) {
      if (step[s] >= step[t])
        fail("barriers: task {} at step {} needs task {} of step {}; it must come later", t, step[t], s, step[s]);
      last[s] = std::max(last[s], phase[t]);
    }
  }
  std::vector<i64> alive(phases.size(), 0);
  for (int t = 0; t < n; ++t)
    for (int i = phase[t]; i <= last[t]; ++i) alive[i] += tasks[t].produces;
  return alive.empty() ? 0 : std::ranges::max(alive);
}

TaskPhases order_tasks(const std::vector<TaskToOrder>& tasks, std::int64_t effort) {
  if (tasks.empty()) return {};
  const DependenceGraph g = analyse(tasks);
  TaskPhases best = climb(g);
  if (best.peak <= std::max(g.min_peak, min_by_phases(g))) return best;
  best.optimal = tasks.size() <= max_exact && PhaseSearch(g, effort, best).run();
  return best;
}

}  // namespace zellige::plan
