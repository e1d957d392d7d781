#include "plan/dependence.hpp"

#include <algorithm>

#include "kernel/widened.hpp"
#include "target/instructions.hpp"

namespace zellige::plan {
namespace {

/// Returns whether `step` acquires a full ring stage for agent (warp role) number `agent`, from a producer that
/// waits for earlier kernels before it fills the first stage. After such a step the agent, too, can rely on earlier
/// kernels having ended.
bool full_after_wait(const kernel::Kernel& s, int agent, const kernel::Step& step) {
  const kernel::Acquire* full = kernel::as<kernel::Acquire>(step);
  if (!full || full->channel < 0) return false;
  const kernel::Channel& c = s.channels[full->channel];
  if (!kernel::consumes(c, agent) || c.by != kernel::Synchronisation::mbarrier_bytes || c.producer < 0) return false;
  const kernel::Step* first = kernel::find_step(s.agents[c.producer].steps, [&](const kernel::Step& of) {
    return kernel::as<kernel::GriddepWait>(of) ||
           (kernel::channel_of(of) == full->channel && !kernel::as<kernel::Acquire>(of));
  });
  return first && kernel::as<kernel::GriddepWait>(*first);
}

/// Throws Rejected if agent (warp role) number `a` accesses global memory other than constant inputs, or lets the
/// next kernel start, before a wait ensures that earlier kernels have ended. Returns whether the agent itself has
/// such a wait (griddepcontrol.wait).
bool verify_agent(const kernel::Kernel& s, std::size_t a) {
  const kernel::Agent& agent = s.agents[a];
  bool waits = false, waited = false;  // whether it waited itself; whether it or a ring's producer did
  kernel::walk(agent.steps, [&](const kernel::Step& step, const kernel::StepPosition& at) {
    const bool lets_start = kernel::as<kernel::GriddepLaunchDependents>(step),
               depends = lets_start || kernel::as<kernel::GriddepWait>(step);
    if (depends && !s.programmatic)
      reject(
          "{}: {}, {}, is in a kernel that starts when the one before has ended; only one that is "
          "launched early waits or lets the next start",
          s.name(), agent.name, kernel::describe(step, at.index));
    if (depends && at.in_loop())
      reject("{}: {}, {}, is in a loop; once, before it, is enough", s.name(), agent.name,
             kernel::describe(step, at.index));
    if (lets_start && !waited)
      reject(
          "{}: {} lets the next kernel start in {} before its griddep_wait: that kernel could then not rely "
          "on the end of those before this one; wait first",
          s.name(), agent.name, kernel::describe(step, at.index));
    waits = waits || kernel::as<kernel::GriddepWait>(step);
    waited = waited || waits || full_after_wait(s, static_cast<int>(a), step);
    if (s.programmatic && step.global == kernel::Global::anything && !waited)
      reject(
          "{}: {} touches global memory that the kernel before may still write or read in {}, before its "
          "griddep_wait; only constants may be read there: wait before this step",
          s.name(), agent.name, kernel::describe(step, at.index));
  });
  return waits;
}

}  // namespace

bool reads_constant(const tile::Node& n, const tile::TilePrograms& program) {
  // A load with indices also reads the indices.
  return n.kind == tile::NodeKind::load && tile::number_of(n) < 0 &&
         program.tensors[program.memory_of(n.tensor)].constant;
}

WidenedLoads widened_loads(const kernel::Kernel& kernel, selection::Tasks& tasks, const tile::TilePrograms& program) {
  WidenedLoads all;
  for (const selection::WorkItem& product : tasks) {
    if (product.kind != kernel::WorkKind::mma || !product.matmul.asynchronous()) continue;
    const auto w = kernel::widened_operand(kernel.program, product.node, product.matmul);
    if (!w) continue;
    const auto constant = [&](int i) { return i < 0 || reads_constant(kernel.program.nodes[i], program); };
    for (selection::WorkItem& t : tasks)
      if (t.kind == kernel::WorkKind::to_operand && t.node == w->round)
        t.constant = kernel.programmatic && constant(w->scale) && constant(w->zero);
    all.bytes.push_back(w->bytes);
    for (const int i : {w->scale, w->zero})
      if (i >= 0) all.numbers.push_back(i);
  }
  return all;
}

void let_next_start(kernel::Kernel& kernel, const tile::TilePrograms& program, const target::Target& target) {
  const auto constant = [&](const tile::Node& n) { return reads_constant(n, program); };
  if (!kernel.programmatic || program.kernels.size() > 1 || std::ranges::none_of(kernel.program.nodes, constant))
    return;
  const std::int64_t blocks = kernel.blocks > 0 ? kernel.blocks : kernel.program.grid.count();
  const std::int64_t room = std::min<std::int64_t>(
      {target.shared_per_multiprocessor / (kernel.shared_bytes + target.shared_reserved_per_block),
       target.threads_per_multiprocessor / kernel.threads, target.blocks_per_multiprocessor});
  if (2 * blocks > room * target.multiprocessors) return;
  for (kernel::Agent& agent : kernel.agents) {
    const auto wait =
        std::ranges::find_if(agent.steps, [](const kernel::Step& s) { return kernel::as<kernel::GriddepWait>(s); });
    if (wait == agent.steps.end()) continue;
    agent.steps.insert(wait + 1, {.is = kernel::GriddepLaunchDependents{}});
    return;
  }
}

void verify_dependence(const kernel::Kernel& s) {
  bool waits = false;
  for (std::size_t a = 0; a < s.agents.size(); ++a) waits = verify_agent(s, a) || waits;
  if (s.programmatic && !waits)
    reject(
        "{}: is launched early and no agent of it waits: the kernel after it could start while those before "
        "it still run; one griddep_wait is needed",
        s.name());
}

}  // namespace zellige::plan
