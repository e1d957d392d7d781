#include "plan/arrivals.hpp"

#include <algorithm>

namespace zellige::plan {

void count_arrivals(Schedule& s) {
  constexpr int warp = 32;
  for (Channel& c : s.channels) {
    c.arrivals = 0;
    if (c.by == Synchronisation::mbarrier_bytes)
      for (int consumer : c.consumers) c.arrivals += s.agents[consumer].warps;
    if (c.by == Synchronisation::mbarrier_peers) c.arrivals = (s.ranks - 1) * s.agents[c.producer].warps;
  }
  const auto names = [](const Agent& agent, int id) {
    return std::ranges::any_of(agent.steps, [id](const Step& x) { return meets(x.kind) && x.id == id; });
  };
  for (Agent& agent : s.agents)
    for (Step& step : agent.steps) {
      if (!meets(step.kind)) continue;
      step.threads = 0;
      if (step.id == 0) continue;
      for (const Agent& other : s.agents)
        if (names(other, step.id)) step.threads += warp * other.warps;
    }
}

}  // namespace zellige::plan
