#include "verify/set_up.hpp"

#include "target/target.hpp"

namespace zellige::verify {
namespace {

/// Returns the number of arrivals that complete a phase of the empty mbarriers of a channel, by which consumers say
/// that a stage may be filled again: one per warp of the consumers. If the blocks of a cluster exchange partial results
/// through the channel, it is one per producer warp of all other blocks.
int arrivals(const Kernel& s, const Channel& c) {
  if (kernel::is_exchange(c)) return (s.cluster - 1) * s.agents[c.producer].warps;
  int warps = 0;
  for (int consumer : c.consumers) warps += s.agents[consumer].warps;
  return warps;
}

/// Sets Barrier::threads of all named barriers: the number of threads of the warp roles that use the barrier.
void count_threads(Kernel& s) {
  for (Agent& agent : s.agents)
    walk(agent.steps, [&](Step& step, const StepPosition&) {
      Barrier* barrier = as<Barrier>(step);
      if (!barrier) return;
      barrier->threads = 0;
      if (barrier->id == 0) return;
      const auto uses = [&](const Step& x) { return as<Barrier>(x) && as<Barrier>(x)->id == barrier->id; };
      for (const Agent& other : s.agents)
        if (find_step(other.steps, uses)) barrier->threads += target::warp_threads * other.warps;
    });
}

}  // namespace

void set_up(Kernel& s) {
  for (int c = 0; c < static_cast<int>(s.channels.size()); ++c) {
    const Channel& channel = s.channels[c];
    if (kernel::barrier_bytes(channel) == 0) continue;
    s.setup.push_back({.is = MbarrierInit{.channel = c, .arrivals = arrivals(s, channel)}});
    if (kernel::cluster_of(s, c) == 1) continue;
    s.agents[channel.producer].steps.push_back({.is = Drain{c}});
    s.teardown = {{.is = WarpBarrier{}}, {.is = ClusterBarrier{}, .what = "nobody leaves while others write here"}};
  }
  if (!s.setup.empty()) {
    s.setup.push_back({.is = FenceInit{}});
    s.setup.push_back({.is = s.cluster > 1 ? Sync(ClusterBarrier{}) : Barrier{}});
  }
  count_threads(s);
}

}  // namespace zellige::verify
