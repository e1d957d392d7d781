#include "plan/agents.hpp"

#include <algorithm>

namespace zellige::plan {
namespace {

class Builder {
 public:
  explicit Builder(KernelPlan& plan) : plan_(plan) {}

  Schedule run() {
    schedule_.threads = plan_.program.threads();
    for (const Buffer& b : plan_.buffers) schedule_.tensors.push_back({b.name, b.offset, b.bytes, b.stages});
    agent_.name = "block";
    agent_.warps = (plan_.program.threads() + 31) / 32;
    if (!plan_.loop_copies.empty()) {
      for (int t : plan_.loop_copies)
        schedule_.channels.push_back({plan_.buffers[plan_.tasks[t].buffer].name, plan_.tasks[t].buffer,
                                      plan_.stages, 0, 0, Synchronisation::cp_async_group});
    }
    const bool looped = plan_.program.loop > 1;
    if (looped) loop();
    if (looped && plan_.after_barrier) barrier();
    straight(plan_.after);
    schedule_.agents.push_back(std::move(agent_));
    return std::move(schedule_);
  }

 private:
  Step& step(StepKind kind, std::string what = "") {
    agent_.steps.push_back({});
    agent_.steps.back().kind = kind;
    agent_.steps.back().what = std::move(what);
    return agent_.steps.back();
  }
  void barrier() { step(StepKind::barrier); }
  void wait(int pending) { step(StepKind::wait_group).pending = pending; }

  void task(int t, int lag = 0) {
    const Task& task = plan_.tasks[t];
    const bool async = task.kind == TaskKind::copy_in && plan_.copies.at(task.node).async();
    Step& s = step(async ? StepKind::copy : StepKind::work,
                   fmt::format("{} {}", name(task.kind),
                               task.buffer >= 0 ? plan_.buffers[task.buffer].name
                                                : plan_.program.nodes[task.node].name));
    s.task = t;
    for (int b : task.reads) {
      bool same = false;
      for (int w : task.after_same) same = same || plan_.tasks[w].buffer == b;
      s.reads.push_back({b, 0, same});
    }
    // A context gives each element to the same thread in every iteration.
    if (task.buffer >= 0 && task.kind != TaskKind::to_global) s.writes.push_back({task.buffer, lag, true});
    if (task.kind == TaskKind::copy_in && plan_.tasks[t].section == Section::inside && plan_.stages > 1)
      s.guard_lag = lag;
  }

  void loop() {
    const int lag = plan_.stages - 1;
    for (int t : plan_.before.front()) task(t);
    if (plan_.loop_copies.empty()) {
      if (!plan_.before.front().empty()) step(StepKind::commit), wait(0);
      if (plan_.before_barrier) barrier();
    } else if (plan_.stages == 1 && !plan_.before.front().empty()) {
      step(StepKind::commit);
    }
    for (int s = 0; s < lag; ++s) {
      for (int t : plan_.loop_copies) task(t, s);
      step(StepKind::commit);
      for (Step& written : agent_.steps) written.guard_lag = 0;
    }
    step(StepKind::loop_begin).trips = plan_.program.loop;
    if (!plan_.loop_copies.empty()) {
      if (plan_.stages > 1) {
        wait(lag - 1);
        if (plan_.top_barrier) barrier();
        for (int t : plan_.loop_copies) task(t, lag);
        step(StepKind::commit);
      } else {
        if (plan_.top_barrier) barrier();
        for (int t : plan_.loop_copies) task(t);
        step(StepKind::commit);
        wait(0);
        if (plan_.top_barrier) barrier();
      }
    } else if (plan_.top_barrier) {
      barrier();
    }
    for (std::size_t i = 0; i < plan_.inside.size(); ++i) {
      if (i > 0) barrier();
      for (int t : plan_.inside[i]) task(t);
    }
    step(StepKind::loop_end);
  }

  void straight(const std::vector<std::vector<int>>& phases) {
    bool pending = false;
    for (std::size_t i = 0; i < phases.size(); ++i) {
      if (i > 0) {
        if (pending) step(StepKind::commit), wait(0), pending = false;
        barrier();
      }
      for (int t : phases[i]) {
        const bool copies = plan_.tasks[t].kind == TaskKind::copy_in;
        if (!copies && pending && needs_wait(t)) step(StepKind::commit), wait(0), pending = false;
        task(t);
        pending = pending || (copies && plan_.copies.at(plan_.tasks[t].node).async());
      }
    }
  }

  bool needs_wait(int t) const {
    for (int w : plan_.tasks[t].after_same)
      if (plan_.tasks[w].kind == TaskKind::copy_in) return true;
    return false;
  }

  KernelPlan& plan_;
  Schedule schedule_;
  Agent agent_;
};

}  // namespace

void build_schedule(KernelPlan& plan) { plan.schedule = Builder(plan).run(); }

}  // namespace zellige::plan
