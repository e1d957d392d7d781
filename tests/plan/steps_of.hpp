// The steps of a kernel that do its works: for each work the first one, without those that only start it.
#pragma once
#include <algorithm>

#include "kernel/kernel.hpp"

namespace zellige::plan {

inline std::vector<const kernel::Step*> steps_of(const kernel::Kernel& k) {
  std::vector<const kernel::Step*> all;
  for (const kernel::Agent& agent : k.agents)
    kernel::walk(agent.steps, [&](const kernel::Step& step, const kernel::StepPosition&) {
      const auto is_same = [&](const kernel::Step* other) { return other->work == step.work; };
      if (step.work.node >= 0 && !kernel::as<kernel::Start>(step) && std::ranges::none_of(all, is_same))
        all.push_back(&step);
    });
  return all;
}

/// Changes all steps of a work, also those that start it.
template <class F>
void change(kernel::Kernel& k, const kernel::Work& work, const F& how) {
  const kernel::Work was = work;
  for (kernel::Agent& agent : k.agents)
    kernel::walk(agent.steps, [&](kernel::Step& step, const kernel::StepPosition&) {
      if (step.work == was) how(step);
    });
}

/// The first work of a kind, and others by number.
inline kernel::Work work_of(const kernel::Kernel& k, kernel::WorkKind kind, int nth = 0) {
  for (const kernel::Work& work : kernel::works(k))
    if (work.kind == kind && nth-- == 0) return work;
  return {};
}

}  // namespace zellige::plan
