#include "kernel/kernel.hpp"

#include <algorithm>

#include "graph/error.hpp"

namespace zellige::plan {

std::string_view name(Synchronisation by) {
  static constexpr std::string_view names[] = {"block_barrier",   "named_barrier", "cp_async_group",
                                               "mbarrier_bytes",  "commit_group",  "bulk_group",
                                               "mbarrier_cluster"};
  static_assert(std::size(names) == std::size_t(Synchronisation::mbarrier_cluster) + 1);
  if (by <= Synchronisation::mbarrier_cluster) return names[std::size_t(by)];
  fail("kernel: {} is no synchronisation; the last is mbarrier_cluster", static_cast<int>(by));
}

std::int64_t barrier_bytes(const Channel& c) {
  constexpr std::int64_t mbarrier_bytes_each = 8;
  if (is_exchange(c)) return mbarrier_bytes_each;
  // A full and an empty barrier per stage.
  return c.by == Synchronisation::mbarrier_bytes ? 2 * mbarrier_bytes_each * c.stages : 0;
}

std::vector<Work> works(const Kernel& k) {
  std::vector<Work> all;
  for (const Agent& agent : k.agents)
    walk(agent.steps, [&](const Step& step, const Position&) {
      if (step.work.node >= 0 && std::ranges::find(all, step.work) == all.end()) all.push_back(step.work);
    });
  return all;
}

int ranks_of(const Kernel& s, int channel) {
  for (const Agent& agent : s.agents)
    if (find_step(agent.steps, [&](const Step& x) {
          const Copy* copy = as<Copy>(x);
          return copy && copy->multicast && copy->channel == channel;
        }))
      return s.ranks;
  return 1;
}

int arrivals_of(const Kernel& s, int channel) {
  for (const Step& step : s.setup)
    if (const MbarrierInit* init = as<MbarrierInit>(step); init && init->channel == channel)
      return init->arrivals;
  return 0;
}

bool consumes(const Channel& c, int agent) {
  return std::find(c.consumers.begin(), c.consumers.end(), agent) != c.consumers.end();
}

bool fills_only(const Agent& agent) {
  return !find_step(agent.steps, [](const Step& s) {
    return match(
        s, [&](const Copy& copy) { return copy.channel < 0 || !s.reads.empty(); },
        [](const OneOf<Acquire, Drain, GriddepWait, GriddepLaunchDependents, Loop> auto&) { return false; },
        [](const OneOf<Mma, Compute, Start, Commit, WaitGroup, Barrier, Release, MbarrierInit, FenceInit,
                       FenceProxy, WarpBarrier, ClusterBarrier> auto&) { return true; });
  });
}

}  // namespace zellige::plan
