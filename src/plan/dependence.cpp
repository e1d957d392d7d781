#include "plan/dependence.hpp"

#include <algorithm>

#include "target/instructions.hpp"

namespace zellige::plan {
namespace {

/// Returns whether `step` acquires a full ring stage for agent (warp role) number `agent`, from a producer that
/// waits for earlier kernels before it fills the first stage. After such a step the agent, too, can rely on earlier
/// kernels having ended.
bool full_after_wait(const Kernel& s, int agent, const Step& step) {
  const Acquire* full = as<Acquire>(step);
  if (!full || full->channel < 0) return false;
  const Channel& c = s.channels[full->channel];
  if (!consumes(c, agent) || c.by != Synchronisation::mbarrier_bytes || c.producer < 0) return false;
  const Step* first = find_step(s.agents[c.producer].steps, [&](const Step& of) {
    return as<GriddepWait>(of) || (channel_of(of) == full->channel && !as<Acquire>(of));
  });
  return first && as<GriddepWait>(*first);
}

/// Throws Rejected if agent (warp role) number `a` accesses global memory other than constant inputs, or lets the
/// next kernel start, before a wait ensures that earlier kernels have ended. Returns whether the agent itself has
/// such a wait (griddepcontrol.wait).
bool verify_agent(const Kernel& s, std::size_t a) {
  const Agent& agent = s.agents[a];
  bool waits = false, waited = false;  // whether it waited itself; whether it or a ring's producer did
  walk(agent.steps, [&](const Step& step, const Position& at) {
    const bool lets_start = as<GriddepLaunchDependents>(step), depends = lets_start || as<GriddepWait>(step);
    if (depends && !s.programmatic)
      reject(
          "{}: {}, {}, is in a kernel that starts when the one before has ended; only one that is "
          "launched early waits or lets the next start",
          s.name(), agent.name, describe(step, at.index));
    if (depends && at.in_loop())
      reject("{}: {}, {}, is in a loop; once, before it, is enough", s.name(), agent.name, describe(step, at.index));
    if (lets_start && !waited)
      reject(
          "{}: {} lets the next kernel start in {} before its griddep_wait: that kernel could then not rely "
          "on the end of those before this one; wait first",
          s.name(), agent.name, describe(step, at.index));
    waits = waits || as<GriddepWait>(step);
    waited = waited || waits || full_after_wait(s, static_cast<int>(a), step);
    if (s.programmatic && step.global == Global::anything && !waited)
      reject(
          "{}: {} touches global memory that the kernel before may still write or read in {}, before its "
          "griddep_wait; only constants may be read there: wait before this step",
          s.name(), agent.name, describe(step, at.index));
  });
  return waits;
}

}  // namespace

bool reads_constant(const Node& n, const Program& program) {
  // A load with indices also reads the indices.
  return n.kind == NodeKind::load && number_of(n) < 0 && program.tensors[program.memory_of(n.tensor)].constant;
}

void let_next_start(Kernel& plan, const Program& program, const target::Target& target) {
  const auto constant = [&](const Node& n) { return reads_constant(n, program); };
  if (!plan.programmatic || program.kernels.size() > 1 || std::ranges::none_of(plan.program.nodes, constant)) return;
  const std::int64_t blocks = plan.blocks > 0 ? plan.blocks : plan.program.grid.count();
  const std::int64_t room =
      std::min<std::int64_t>({target.shared_per_multiprocessor / (plan.shared_bytes + target.shared_reserved_per_block),
                              target.threads_per_multiprocessor / plan.threads, target.blocks_per_multiprocessor});
  if (2 * blocks > room * target.multiprocessors) return;
  for (Agent& agent : plan.agents) {
    const auto wait = std::ranges::find_if(agent.steps, [](const Step& s) { return as<GriddepWait>(s); });
    if (wait == agent.steps.end()) continue;
    agent.steps.insert(wait + 1, {.is = GriddepLaunchDependents{}});
    return;
  }
}

void verify_dependence(const Kernel& s) {
  bool waits = false;
  for (std::size_t a = 0; a < s.agents.size(); ++a) waits = verify_agent(s, a) || waits;
  if (s.programmatic && !waits)
    reject(
        "{}: is launched early and no agent of it waits: the kernel after it could start while those before "
        "it still run; one griddep_wait is needed",
        s.name());
}

}  // namespace zellige::plan
