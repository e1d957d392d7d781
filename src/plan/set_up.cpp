#include "plan/set_up.hpp"

namespace zellige::plan {
namespace {

constexpr int warp = 32;

Step of(StepKind kind, int channel = -1) {
  Step step;
  step.kind = kind, step.channel = channel;
  return step;
}

/// Number of warps that release a stage of the channel; in an exchange, of all other ranks together.
int arrivals(const Schedule& s, const Channel& c) {
  if (c.by == Synchronisation::mbarrier_cluster) return (s.ranks - 1) * s.agents[c.producer].warps;
  int warps = 0;
  for (int consumer : c.consumers) warps += s.agents[consumer].warps;
  return warps;
}

void count_threads(Schedule& s) {
  const auto names = [](const Agent& agent, int id) {
    return find_step(agent.steps, [id](const Step& x) { return is_named_barrier(x.kind) && x.id == id; }) !=
           nullptr;
  };
  for (Agent& agent : s.agents)
    walk(agent.steps, [&](Step& step, const Position&) {
      if (!is_named_barrier(step.kind)) return;
      step.threads = 0;
      if (step.id == 0) return;
      for (const Agent& other : s.agents)
        if (names(other, step.id)) step.threads += warp * other.warps;
    });
}

}  // namespace

void set_up(Schedule& s) {
  const auto block_or_cluster_barrier = s.ranks > 1 ? StepKind::cluster_barrier : StepKind::barrier;
  for (int c = 0; c < static_cast<int>(s.channels.size()); ++c) {
    const Channel& channel = s.channels[c];
    if (barrier_bytes(channel) == 0) continue;
    s.setup.push_back(of(StepKind::init, c));
    s.setup.back().arrivals = arrivals(s, channel);
    if (ranks_of(s, c) == 1) continue;
    s.agents[channel.producer].steps.push_back(of(StepKind::drain, c));
    s.teardown = {of(StepKind::warp_barrier), of(StepKind::cluster_barrier)};
    s.teardown.back().what = "nobody leaves while others write here";
  }
  if (!s.setup.empty())
    s.setup.push_back(of(StepKind::fence_init)), s.setup.push_back(of(block_or_cluster_barrier));
  count_threads(s);
}

}  // namespace zellige::plan
