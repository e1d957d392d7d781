#include "passes.hpp"

#include "plan/agents.hpp"
#include "plan/group.hpp"
#include "plan/layouts.hpp"
#include "plan/lower.hpp"
#include "plan/pipeline.hpp"
#include "plan/select.hpp"
#include "plan/share.hpp"
#include "plan/slice.hpp"
#include "plan/swizzle.hpp"

namespace zellige::plan {

std::string_view name(Pass pass) {
  static constexpr std::string_view names[] = {"lower",   "select",   "layouts", "group", "copies",
                                               "swizzle", "pipeline", "memory",  "slice", "agents"};
  return names[static_cast<int>(pass)];
}

const std::vector<Pass>& all_passes() {
  static const std::vector<Pass> all = {Pass::lower,  Pass::select,  Pass::layouts,  Pass::group,
                                        Pass::copies, Pass::swizzle, Pass::pipeline, Pass::memory,
                                        Pass::slice,  Pass::agents};
  return all;
}

Plan plan_until(const graph::KernelGraph& graph, const target::Target& target, Pass last) {
  Plan plan;
  plan.target = std::string(target.name);
  plan.program = lower(graph, target);
  for (BlockProgram& kernel : plan.program.kernels) {
    share(kernel);
    plan.kernels.emplace_back().program = kernel;
  }
  const auto each = [&](Pass pass, auto run) {
    if (last >= pass)
      for (KernelPlan& kernel : plan.kernels) run(kernel);
  };
  each(Pass::select, [&](KernelPlan& k) { select(k, target); });
  if (last >= Pass::layouts) resolve_layouts(plan.program, plan.kernels, target);
  each(Pass::group, [&](KernelPlan& k) { group(k, plan.program, target); });  // decides the copies too
  each(Pass::swizzle, [&](KernelPlan& k) { arrange_buffers(k, target); });
  each(Pass::pipeline, [&](KernelPlan& k) { pipeline(k, target, true); });
  each(Pass::memory, [&](KernelPlan& k) {
    if (place_buffers(k, target)) return;
    pipeline(k, target, false);
    require_buffers(k, target);
  });
  if (last >= Pass::memory) plan.device = place_tensors(plan.program);
  each(Pass::slice, [](KernelPlan& k) { slice_fragments(k); });
  each(Pass::agents, [](KernelPlan& k) { build_schedule(k); });
  return plan;
}

}  // namespace zellige::plan
