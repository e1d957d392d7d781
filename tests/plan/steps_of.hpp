// The steps of a kernel that do its works: for each work the first one, without those that only start it.
#pragma once
#include <algorithm>

#include "kernel/kernel.hpp"

namespace zellige::plan {

inline std::vector<const Step*> steps_of(const Kernel& k) {
  std::vector<const Step*> all;
  for (const Agent& agent : k.agents)
    walk(agent.steps, [&](const Step& step, const Position&) {
      const auto is_same = [&](const Step* other) { return other->work == step.work; };
      if (step.work.node >= 0 && !as<Start>(step) && std::ranges::none_of(all, is_same)) all.push_back(&step);
    });
  return all;
}

/// Changes all steps of a work, also those that start it.
template <class F>
void change(Kernel& k, const Work& work, const F& how) {
  const Work was = work;
  for (Agent& agent : k.agents)
    walk(agent.steps, [&](Step& step, const Position&) {
      if (step.work == was) how(step);
    });
}

/// The first work of a kind, and others by number.
inline Work work_of(const Kernel& k, WorkKind kind, int nth = 0) {
  for (const Work& work : works(k))
    if (work.kind == kind && nth-- == 0) return work;
  return {};
}

}  // namespace zellige::plan
