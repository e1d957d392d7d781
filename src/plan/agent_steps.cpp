#include "plan/agent_steps.hpp"

#include <fmt/format.h>

namespace zellige::plan {

void AgentSteps::depend() {
  if (!plan_.programmatic || waited_) return;
  waited_ = true;
  step(kernel::GriddepWait{});
}

std::string AgentSteps::describe(const selection::WorkItem& task) const {
  const std::string& of = task.tensor >= 0 ? plan_.tensors[task.tensor].name : plan_.program.nodes[task.node].name;
  return fmt::format("{} {}", kernel::name(task.kind), of.empty() ? fmt::format("%{}", task.node) : of);
}

kernel::Step& AgentSteps::run(int t, int lag) {
  const selection::WorkItem& task = tasks_[t];
  kernel::Step& s = travels(t) || uses_tma(t)
                        ? step(kernel::Copy{.channel = travels(t) ? cp_async_ : -1, .guard_lag = lag}, describe(task))
                        : step(kernel::Compute{.guard_lag = lag}, describe(task));
  s.work = task;
  s.global = accessed_by(task);
  s.reads = task.reads;
  // same_thread: each element belongs to the same thread in every iteration.
  const bool writes = task.tensor >= 0 && task.kind != kernel::WorkKind::to_global;
  if (writes && task.kind == kernel::WorkKind::accumulate) s.reads.push_back({task.tensor, 0, true});
  if (writes) s.writes.push_back({task.tensor, lag, !uses_tma(t)});
  return s;
}

kernel::Global AgentSteps::accessed_by(const selection::WorkItem& task) const {
  const bool stays = task.kind == kernel::WorkKind::mma;
  return task.constant ? kernel::Global::constants : stays ? kernel::Global::nothing : kernel::Global::anything;
}

kernel::Step& AgentSteps::start(int t) {
  kernel::Step& s = step(kernel::Start{}, fmt::format("%{}", tasks_[t].node));
  s.work = tasks_[t];
  return s;
}

}  // namespace zellige::plan
