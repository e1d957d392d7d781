#include "timeline.hpp"

#include <algorithm>

namespace zellige::plan {
namespace {

class Run {
 public:
  explicit Run(const KernelPlan& plan) : plan_(plan) {}

  Timeline run() {
    if (plan_.program.loop > 1) {
      loop();
      if (plan_.after_barrier) barrier();
    }
    straight(plan_.after);
    arrive(0);
    line_.barriers = stretch_;
    return std::move(line_);
  }

 private:
  void barrier() { ++stretch_; }

  void start(int t, std::int64_t iteration, std::int64_t stage_of) {
    Moment m;
    m.task = t, m.iteration = iteration, m.stretch = m.arrives = stretch_;
    const Task& task = plan_.tasks[t];
    const int staged = task.buffer >= 0 ? plan_.buffers[task.buffer].stages : 1;
    m.stage = static_cast<int>(stage_of % staged), m.read_stage = static_cast<int>(iteration % plan_.stages);
    line_.moments.push_back(m);
    if (task.kind == TaskKind::copy_in && plan_.copies.at(task.node).async())
      open_.push_back(line_.moments.size() - 1);
  }

  /// cp.async.commit_group.
  void commit() { groups_.push_back(std::move(open_)), open_.clear(); }
  /// cp.async.wait_group: all but the last `pending` groups have arrived.
  void arrive(std::size_t pending) {
    if (pending == 0) commit();
    for (; groups_.size() > pending; groups_.erase(groups_.begin()))
      for (std::size_t i : groups_.front())
        line_.moments[i].arrives = stretch_, line_.moments[i].arrives_before = line_.moments.size();
  }

  void loop() {
    const int stages = plan_.stages, lag = stages - 1;
    const std::int64_t trips = std::min<std::int64_t>(plan_.program.loop, 2 * stages + 2);
    for (int t : plan_.before.front()) start(t, 0, 0);
    if (plan_.loop_copies.empty()) {
      arrive(0);
      if (plan_.before_barrier) barrier();
    }
    for (int s = 0; s < lag; ++s) {
      for (int t : plan_.loop_copies) start(t, 0, s);
      commit();
    }
    for (std::int64_t i = 0; i < trips; ++i) {
      if (!plan_.loop_copies.empty() && stages > 1) arrive(lag - 1);
      if (plan_.top_barrier) barrier();
      if (!plan_.loop_copies.empty()) {
        if (i + lag < trips)
          for (int t : plan_.loop_copies) start(t, i, i + lag);
        if (stages > 1) {
          commit();
        } else {
          arrive(0);
          if (plan_.top_barrier) barrier();
        }
      }
      phases(plan_.inside, i);
    }
  }

  void phases(const std::vector<std::vector<int>>& all, std::int64_t iteration) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) barrier();
      for (int t : all[i]) start(t, iteration, iteration);
    }
  }

  /// Copies are waited for before the next barrier, and before a task that needs them in its own threads.
  void straight(const std::vector<std::vector<int>>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i > 0) arrive(0), barrier();
      for (int t : all[i]) {
        for (int w : plan_.tasks[t].after_same)
          if (plan_.tasks[w].kind == TaskKind::copy_in) arrive(0);
        start(t, 0, 0);
      }
    }
  }

  const KernelPlan& plan_;
  Timeline line_;
  int stretch_ = 0;
  std::vector<std::size_t> open_;
  std::vector<std::vector<std::size_t>> groups_;
};

}  // namespace

Timeline timeline(const KernelPlan& plan) { return Run(plan).run(); }

}  // namespace zellige::plan
