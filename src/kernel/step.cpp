#include "kernel/step.hpp"

#include <fmt/format.h>

namespace zellige::kernel {
std::string_view name(WorkKind kind) {
  static constexpr std::string_view names[] = {
      "copy in",  "fetch",        "mma",     "to shared", "to operand", "to global",       "accumulate",
      "to lines", "to registers", "rescale", "reduce",    "finish",     "to other blocks", "from other blocks"};
  static_assert(std::size(names) == std::size_t(WorkKind::from_cluster) + 1);
  return kind <= WorkKind::from_cluster ? names[std::size_t(kind)] : "?";
}

tile::Section section_of(const Work& work, const tile::Sections& sections) {
  const bool updates = work.kind == WorkKind::mma || work.kind == WorkKind::rescale || work.kind == WorkKind::reduce ||
                       work.kind == WorkKind::accumulate;
  return updates ? sections.of(work.node) : sections.complete(work.node);
}

std::string_view name(const Step& step) {
  using namespace std::string_view_literals;
  return match(
      step, [](const Copy&) { return "copy"sv; }, [](const Mma&) { return "async_work"sv; },
      [](const Compute&) { return "work"sv; }, [](const Start&) { return "start"sv; },
      [](const Commit&) { return "commit"sv; }, [](const WaitGroup&) { return "wait_group"sv; },
      [](const Barrier& barrier) { return barrier.waits ? "barrier"sv : "arrive"sv; },
      [](const Acquire&) { return "acquire"sv; }, [](const Release&) { return "release"sv; },
      [](const Drain&) { return "drain"sv; }, [](const MbarrierInit&) { return "init"sv; },
      [](const FenceInit&) { return "fence_init"sv; }, [](const FenceProxy&) { return "fence_proxy"sv; },
      [](const GriddepWait&) { return "griddep_wait"sv; },
      [](const GriddepLaunchDependents&) { return "griddep_launch_dependents"sv; },
      [](const WarpBarrier&) { return "warp_barrier"sv; }, [](const ClusterBarrier&) { return "cluster_barrier"sv; },
      [](const Loop&) { return "loop"sv; });
}

std::string describe(const Step& step, int index) {
  return step.what.empty() ? fmt::format("step {} ({})", index, name(step)) : fmt::format("step '{}'", step.what);
}

int channel_of(const Step& step) {
  return match(
      step,
      [](const OneOf<Copy, Mma, Compute, Commit, WaitGroup, Acquire, Release, Drain, MbarrierInit> auto& of) {
        return of.channel;
      },
      [](const OneOf<Start, Barrier, FenceInit, FenceProxy, GriddepWait, GriddepLaunchDependents, WarpBarrier,
                     ClusterBarrier, Loop> auto&) { return -1; });
}

int acquired_channel_of(const Step& step) {
  const Copy* copy = as<Copy>(step);
  const Release* release = as<Release>(step);
  const int acquired = copy ? copy->acquired_channel : release ? release->acquired_channel : -1;
  return acquired >= 0 ? acquired : channel_of(step);
}

int guard_lag_of(const Step& step) {
  return match(
      step, [](const OneOf<Copy, Compute> auto& guarded) { return guarded.guard_lag; },
      [](const OneOf<Mma, Start, Sync, Loop> auto&) { return 0; });
}

}  // namespace zellige::kernel
