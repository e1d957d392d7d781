#include "plan/dependence.hpp"

#include <algorithm>

#include "target/instructions.hpp"

namespace zellige::plan {
namespace {

std::string said(const Step& step, std::size_t index) {
  return step.what.empty() ? fmt::format("step {} ({})", index, name(step.kind))
                           : fmt::format("step '{}'", step.what);
}

/// Whether the agent waits.
bool verify_agent(const Schedule& s, const Agent& agent, const std::string& kernel) {
  bool waited = false;
  int depth = 0;
  for (std::size_t i = 0; i < agent.steps.size(); ++i) {
    const Step& step = agent.steps[i];
    if (step.kind == StepKind::loop_begin) ++depth;
    if (step.kind == StepKind::loop_end) --depth;
    if (depends(step.kind) && !s.programmatic)
      fail(
          "{}: {}, {}, stands in a kernel that starts when the one before has ended; only one that is "
          "launched early waits or lets the next start",
          kernel, agent.name, said(step, i));
    if (depends(step.kind) && depth > 0)
      fail("{}: {}, {}, stands in a loop; once, in front of it, is enough", kernel, agent.name,
           said(step, i));
    if (step.kind == StepKind::griddep_launch_dependents && !waited)
      fail(
          "{}: {} lets the next kernel start in {} before its griddep_wait: that kernel could then not rely "
          "on the end of "
          "those before this one; wait first",
          kernel, agent.name, said(step, i));
    waited = waited || step.kind == StepKind::griddep_wait;
    if (s.programmatic && step.global == Global::anything && !waited)
      fail(
          "{}: {} touches global memory that the kernel before may still write or read in {}, before its "
          "griddep_wait; "
          "only constants may be read there: wait before this step",
          kernel, agent.name, said(step, i));
  }
  return waited;
}

}  // namespace

void dependence(KernelPlan& plan, const Program& program, const target::Target& target) {
  plan.programmatic = target::has_programmatic_launch(target);
  if (!plan.programmatic) return;
  for (int i = 0; i < static_cast<int>(plan.program.nodes.size()); ++i) {
    const Node& n = plan.program.nodes[i];
    // Where a number says what is read, the number is read too.
    if (n.kind == NodeKind::load && number_of(n) < 0 && program.tensors[program.memory_of(n.tensor)].constant)
      plan.constants.insert(i);
  }
}

void let_next_start(KernelPlan& plan, const Program& program, const target::Target& target) {
  if (!plan.programmatic || program.kernels.size() > 1 || plan.constants.empty()) return;
  const std::int64_t blocks = plan.blocks > 0 ? plan.blocks : plan.program.grid.count();
  const std::int64_t room = std::min<std::int64_t>(
      {target.shared_per_multiprocessor / (plan.shared_bytes + target.shared_reserved_per_block),
       target.threads_per_multiprocessor / plan.schedule.threads, target.blocks_per_multiprocessor});
  if (2 * blocks > room * target.multiprocessors) return;
  std::vector<Step>& steps = plan.schedule.agents.front().steps;
  const auto wait = std::find_if(steps.begin(), steps.end(),
                                 [](const Step& s) { return s.kind == StepKind::griddep_wait; });
  if (wait == steps.end()) return;
  Step next;
  next.kind = StepKind::griddep_launch_dependents;
  steps.insert(wait + 1, next);
}

void verify_dependence(const Schedule& s, const std::string& kernel) {
  bool waits = false;
  for (const Agent& agent : s.agents) waits = verify_agent(s, agent, kernel) || waits;
  if (s.programmatic && !waits)
    fail(
        "{}: is launched early and no agent of it waits: the kernel behind it could start while those before "
        "it still run; "
        "one griddep_wait is needed",
        kernel);
}

}  // namespace zellige::plan
