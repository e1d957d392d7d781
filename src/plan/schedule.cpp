#include "plan/schedule.hpp"

#include <algorithm>

#include "graph/error.hpp"

namespace zellige::plan {
namespace {

constexpr std::int64_t mbarrier_bytes_each = 8;

std::string quoted(const std::string& what) { return what.empty() ? "" : fmt::format(" '{}'", what); }

/// sA[i+2]: the stage is taken modulo the number of stages; outside loops i is 0.
std::string access(const Schedule& s, const Access& a, bool in_loop) {
  if (a.tensor < 0 || a.tensor >= static_cast<int>(s.tensors.size()))
    return fmt::format("tensor #{}", a.tensor);
  const SharedTensor& t = s.tensors[a.tensor];
  std::string stage;
  if (t.stages > 1 && in_loop) stage = fmt::format("[i{}]", a.lag == 0 ? "" : fmt::format("{:+}", a.lag));
  if (t.stages > 1 && !in_loop) stage = fmt::format("[{}]", ((a.lag % t.stages) + t.stages) % t.stages);
  return t.name + stage + (a.same_thread ? " (same thread)" : "");
}

std::string accesses(const Schedule& s, const std::vector<Access>& list, bool in_loop) {
  std::string text;
  for (const Access& a : list) text += fmt::format("{}{}", text.empty() ? "" : ", ", access(s, a, in_loop));
  return text;
}

std::string channel_name(const Schedule& s, int channel) {
  if (channel < 0 || channel >= static_cast<int>(s.channels.size()))
    return fmt::format("channel #{}", channel);
  return s.channels[channel].name;
}

std::string agent_name(const Schedule& s, int agent) {
  if (agent < 0 || agent >= static_cast<int>(s.agents.size())) return "-";
  return s.agents[agent].name;
}

std::string agent_names(const Schedule& s, const std::vector<int>& agents) {
  std::string text;
  for (int a : agents) text += (text.empty() ? "" : ", ") + agent_name(s, a);
  return text.empty() ? "-" : text;
}

}  // namespace

std::string print(const Schedule& s, const Step& step, bool in_loop) {
  std::string text(name(step.kind));
  switch (step.kind) {
    case StepKind::loop:
      return fmt::format("{} < {}{}",
                         step.loop == Loop::slices  ? "slice"
                         : step.loop == Loop::tiles ? "tile t"
                         : step.from == step.trip_count
                             ? "loop on i"
                             : fmt::format("{} {}i", step.loop == Loop::prologue ? "prologue" : "loop",
                                           step.from > 0 ? fmt::format("{} <= ", step.from) : ""),
                         step.trip_count,
                         step.whole     ? ", as far as the mask keeps all"
                         : step.bounded ? ", as far as the mask keeps any"
                                        : quoted(step.what));
    case StepKind::wait_group:
      text += fmt::format(" {}", step.pending);
      break;
    case StepKind::barrier:
    case StepKind::arrive:
      if (step.id != 0) text += fmt::format(" {}", step.id);
      break;
    case StepKind::init:
    case StepKind::acquire:
    case StepKind::release:
    case StepKind::drain:
      text += " " + channel_name(s, step.channel);
      break;
    default:
      break;
  }
  text += quoted(step.what);
  if (!step.reads.empty()) text += " reads " + accesses(s, step.reads, in_loop);
  if (!step.writes.empty()) text += " writes " + accesses(s, step.writes, in_loop);
  if (step.to_cluster) text += " of the other ranks";
  if (step.multicast) text += fmt::format(" of {} ranks, a part each", s.ranks);
  const bool named = step.kind == StepKind::acquire || step.kind == StepKind::release ||
                     step.kind == StepKind::init || step.kind == StepKind::drain;
  if (step.arrivals > 0) text += fmt::format(" for {} arrivals", step.arrivals);
  if (step.channel >= 0 && !named) text += " through " + channel_name(s, step.channel);
  if (step.guard_lag != 0)
    text += in_loop ? fmt::format(" while i+{} < trip_count", step.guard_lag)
                    : fmt::format(" if {} < trip_count", step.guard_lag);
  return text;
}

std::string_view name(Synchronisation by) {
  switch (by) {
    case Synchronisation::block_barrier:
      return "block_barrier";
    case Synchronisation::named_barrier:
      return "named_barrier";
    case Synchronisation::cp_async_group:
      return "cp_async_group";
    case Synchronisation::mbarrier_bytes:
      return "mbarrier_bytes";
    case Synchronisation::commit_group:
      return "commit_group";
    case Synchronisation::bulk_group:
      return "bulk_group";
    case Synchronisation::mbarrier_cluster:
      return "mbarrier_cluster";
  }
  fail("schedule: {} is no synchronisation; the last is mbarrier_cluster", static_cast<int>(by));
}

std::string_view name(StepKind kind) {
  switch (kind) {
    case StepKind::start:
      return "start";
    case StepKind::work:
      return "work";
    case StepKind::copy:
      return "copy";
    case StepKind::commit:
      return "commit";
    case StepKind::wait_group:
      return "wait_group";
    case StepKind::barrier:
      return "barrier";
    case StepKind::arrive:
      return "arrive";
    case StepKind::acquire:
      return "acquire";
    case StepKind::release:
      return "release";
    case StepKind::async_work:
      return "async_work";
    case StepKind::fence_proxy:
      return "fence_proxy";
    case StepKind::griddep_wait:
      return "griddep_wait";
    case StepKind::griddep_launch_dependents:
      return "griddep_launch_dependents";
    case StepKind::init:
      return "init";
    case StepKind::fence_init:
      return "fence_init";
    case StepKind::drain:
      return "drain";
    case StepKind::warp_barrier:
      return "warp_barrier";
    case StepKind::cluster_barrier:
      return "cluster_barrier";
    case StepKind::loop:
      return "loop";
  }
  fail("schedule: {} is no kind of step; the last is loop", static_cast<int>(kind));
}

std::int64_t barrier_bytes(const Channel& c) {
  if (c.by == Synchronisation::mbarrier_cluster) return mbarrier_bytes_each;
  // A full and an empty barrier per stage.
  return c.by == Synchronisation::mbarrier_bytes ? 2 * mbarrier_bytes_each * c.stages : 0;
}

int ranks_of(const Schedule& s, int channel) {
  for (const Agent& agent : s.agents)
    if (find_step(agent.steps, [&](const Step& x) { return x.multicast && x.channel == channel; }))
      return s.ranks;
  return 1;
}

int arrivals_of(const Schedule& s, int channel) {
  for (const Step& step : s.setup)
    if (step.kind == StepKind::init && step.channel == channel) return step.arrivals;
  return 0;
}

bool consumes(const Channel& c, int agent) {
  return std::find(c.consumers.begin(), c.consumers.end(), agent) != c.consumers.end();
}

bool fills_only(const Agent& agent) {
  return !find_step(agent.steps, [](const Step& s) {
    return s.kind != StepKind::loop && s.kind != StepKind::acquire && s.kind != StepKind::drain &&
           !depends(s.kind) && (s.kind != StepKind::copy || s.channel < 0 || !s.reads.empty());
  });
}

std::string print(const Agent& agent, const std::function<std::string(const Step&, bool)>& line) {
  std::string text;
  walk(agent.steps, [&](const Step& step, const Position& at) {
    text += std::string(2 + 2 * static_cast<std::size_t>(at.depth), ' ') + line(step, at.in_loop()) + "\n";
  });
  return text;
}

std::string print(const Schedule& s, const Channel& c) {
  const bool known = c.tensor >= 0 && c.tensor < static_cast<int>(s.tensors.size());
  return fmt::format("channel {}: {}, {} stage{}, {} -> {}, {}", c.name,
                     known ? s.tensors[c.tensor].name : "registers", c.stages, c.stages == 1 ? "" : "s",
                     agent_name(s, c.producer), agent_names(s, c.consumers), name(c.by));
}

std::string heading(const Agent& a) {
  return fmt::format("agent {}: {} warp{}{}", a.name, a.warps, a.warps == 1 ? "" : "s",
                     a.registers > 0 ? fmt::format(", {} registers a thread", a.registers) : "");
}

std::string print(const Schedule& s) {
  std::int64_t end = 0;
  std::size_t width = 0;
  for (const SharedTensor& t : s.tensors) {
    end = std::max(end, t.offset + t.bytes);
    width = std::max(width, t.name.size());
  }
  std::string text = fmt::format("{} threads, {} bytes of shared memory{}\n", s.threads, end,
                                 s.ranks > 1 ? fmt::format(", {} ranks", s.ranks) : "");
  for (const SharedTensor& t : s.tensors) {
    text += fmt::format("tensor {:{}}  bytes [{}, {})", t.name, width, t.offset, t.offset + t.bytes);
    text += t.stages > 1 ? fmt::format(", {} stages of {}\n", t.stages, t.bytes / t.stages) : "\n";
  }
  for (const Channel& c : s.channels) text += print(s, c) + "\n";
  const auto of_all = [&](std::string_view title, const std::vector<Step>& steps) {
    if (!steps.empty()) text += fmt::format("{}\n", title);
    for (const Step& step : steps) text += "  " + print(s, step, false) + "\n";
  };
  of_all("setup", s.setup);
  for (const Agent& a : s.agents) {
    text += heading(a) + "\n";
    text += print(a, [&](const Step& step, bool in_loop) { return print(s, step, in_loop); });
  }
  of_all("teardown", s.teardown);
  return text;
}

}  // namespace zellige::plan
