#include "kernel/nests.hpp"

#include "kernel/sliced.hpp"

namespace zellige::plan {

std::vector<int> side_by_side(const Kernel& plan, const std::vector<Step>& steps, std::size_t first) {
  const auto copies = [&](const Step& s) { return is_global_load(plan.tasks[s.task].kind); };
  const Step& one = steps[first];
  const bool warp_specialized =
      plan.warp_specialized();  // then each asynchronous copy is emitted as a step of its own
  const auto fusible = [&](const Step& s) {
    return s.task >= 0 && !as<Start>(s) && !as<Mma>(s) &&
           (s.is.index() == one.is.index() || !warp_specialized) && copies(s) == copies(one) &&
           guard_lag_of(s) == guard_lag_of(one);
  };
  std::vector<int> tasks;
  for (std::size_t i = first; i < steps.size() && fusible(steps[i]); ++i) tasks.push_back(steps[i].task);
  return tasks;
}

bool in_nest(const Kernel& plan, const Task& t) {
  if (t.kind == TaskKind::to_global) return t.buffer < 0;
  if (t.kind == TaskKind::reduce) return plan.contexts[t.context].row != nullptr;
  return t.kind == TaskKind::to_shared || t.kind == TaskKind::to_operand || t.kind == TaskKind::accumulate ||
         t.kind == TaskKind::rescale || t.kind == TaskKind::to_lines || t.kind == TaskKind::to_registers;
}

std::vector<std::vector<int>> nests(const Kernel& plan, const std::vector<int>& tasks) {
  std::vector<std::vector<int>> result;
  const Task* before = nullptr;
  for (int t : tasks) {
    const Task& task = plan.tasks[t];
    const bool together = before && in_nest(plan, *before) && in_nest(plan, task) &&
                          before->context == task.context && slices(plan, *before) == slices(plan, task);
    if (!together) result.emplace_back();
    result.back().push_back(t);
    before = &task;
  }
  return result;
}

}  // namespace zellige::plan
