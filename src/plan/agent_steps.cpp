#include "plan/agent_steps.hpp"

#include <fmt/format.h>

namespace zellige::plan {

void AgentSteps::depend() {
  if (!plan_.programmatic || waited_) return;
  waited_ = true;
  step(GriddepWait{});
}

std::string AgentSteps::describe(const Task& task) const {
  const std::string& of = task.buffer >= 0 ? plan_.tensors[task.buffer].name : plan_.program.nodes[task.node].name;
  return fmt::format("{} {}", name(task.kind), of.empty() ? fmt::format("%{}", task.node) : of);
}

Step& AgentSteps::run(int t, int lag) {
  const Task& task = tasks_[t];
  Step& s = travels(t) || uses_tma(t)
                ? step(Copy{.channel = travels(t) ? cp_async_ : -1, .guard_lag = lag}, describe(task))
                : step(Compute{.guard_lag = lag}, describe(task));
  s.work = task;
  s.global = tasks_[t].constant ? Global::constants : task.kind == WorkKind::mma ? Global::nothing : Global::anything;
  s.reads = task.reads;
  // same_thread: each element belongs to the same thread in every iteration.
  const bool writes = task.buffer >= 0 && task.kind != WorkKind::to_global;
  if (writes && task.kind == WorkKind::accumulate) s.reads.push_back({task.buffer, 0, true});
  if (writes) s.writes.push_back({task.buffer, lag, !uses_tma(t)});
  return s;
}

Step& AgentSteps::start(int t) {
  Step& s = step(Start{}, fmt::format("%{}", tasks_[t].node));
  s.work = tasks_[t];
  return s;
}

}  // namespace zellige::plan
