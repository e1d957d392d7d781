#include "kernel/kernel.hpp"

#include <algorithm>

#include "graph/error.hpp"

namespace zellige::plan {
namespace {

std::string quoted(const std::string& what) { return what.empty() ? "" : fmt::format(" '{}'", what); }

/// Returns the string of an access, for example "sA[i+2]" for the stage two iterations later. The stage is
/// taken modulo the number of stages; outside loops i is 0.
std::string access(const Kernel& s, const Access& a, bool in_loop) {
  if (a.tensor < 0 || a.tensor >= static_cast<int>(s.tensors.size()))
    return fmt::format("tensor #{}", a.tensor);
  const SmemTensor& t = s.tensors[a.tensor];
  std::string stage;
  if (t.stages > 1 && in_loop) stage = fmt::format("[i{}]", a.lag == 0 ? "" : fmt::format("{:+}", a.lag));
  if (t.stages > 1 && !in_loop) stage = fmt::format("[{}]", ((a.lag % t.stages) + t.stages) % t.stages);
  return t.name + stage + (a.same_thread ? " (same thread)" : "");
}

std::string accesses(const Kernel& s, const std::vector<Access>& list, bool in_loop) {
  std::string text;
  for (const Access& a : list) text += fmt::format("{}{}", text.empty() ? "" : ", ", access(s, a, in_loop));
  return text;
}

std::string channel_name(const Kernel& s, int channel) {
  if (channel < 0 || channel >= static_cast<int>(s.channels.size()))
    return fmt::format("channel #{}", channel);
  return s.channels[channel].name;
}

std::string agent_name(const Kernel& s, int agent) {
  if (agent < 0 || agent >= static_cast<int>(s.agents.size())) return "-";
  return s.agents[agent].name;
}

std::string agent_names(const Kernel& s, const std::vector<int>& agents) {
  std::string text;
  for (int a : agents) text += (text.empty() ? "" : ", ") + agent_name(s, a);
  return text.empty() ? "-" : text;
}

/// Returns the line that print() shows for a loop, such as "loop i < 16". `what` is appended to it.
std::string header(const Loop& loop, const std::string& what) {
  return fmt::format("{} < {}{}",
                     loop.kind == Loop::slices  ? "slice"
                     : loop.kind == Loop::tiles ? "tile t"
                     : loop.from == loop.trip_count
                         ? "loop on i"
                         : fmt::format("{} {}i", loop.kind == Loop::prologue ? "prologue" : "loop",
                                       loop.from > 0 ? fmt::format("{} <= ", loop.from) : ""),
                     loop.trip_count,
                     loop.whole     ? ", as far as the mask keeps all"
                     : loop.bounded ? ", as far as the mask keeps any"
                                    : quoted(what));
}

}  // namespace

std::string_view name(Synchronisation by) {
  static constexpr std::string_view names[] = {"block_barrier",   "named_barrier", "cp_async_group",
                                               "mbarrier_bytes",  "commit_group",  "bulk_group",
                                               "mbarrier_cluster"};
  static_assert(std::size(names) == std::size_t(Synchronisation::mbarrier_cluster) + 1);
  if (by <= Synchronisation::mbarrier_cluster) return names[std::size_t(by)];
  fail("kernel: {} is no synchronisation; the last is mbarrier_cluster", static_cast<int>(by));
}

int Kernel::stages() const {
  int most = 1;
  for (const SmemTensor& t : tensors) most = std::max(most, t.stages);
  return most;
}

const Work* Kernel::product_of(int node) const {
  if (program.nodes[node].kind != NodeKind::matmul) return nullptr;
  return find_work(*this, [&](const Work& w) {
    return w.node == node && (w.kind == WorkKind::mma || w.kind == WorkKind::reduce);
  });
}

const CopyChoice* Kernel::copy_of(int node) const {
  const Work* work = find_work(*this, [&](const Work& w) {
    return w.node == node && (is_global_load(w.kind) || w.kind == WorkKind::to_global);
  });
  return work ? &work->copy : nullptr;
}

bool Kernel::uses_tma(int node) const {
  const CopyChoice* copy = copy_of(node);
  return copy && copy->by_tensor_map();
}

int Kernel::vector_of(int node) const {
  const auto read = read_in_place.find(node);
  const CopyChoice* copy = copy_of(node);
  return read != read_in_place.end() ? read->second.vector : copy ? copy->vector : 1;
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
  const bool shared = find_step(s, [&](const Step& x) {
    const Copy* copy = as<Copy>(x);
    return copy && copy->multicast && copy->channel == channel;
  });
  return shared ? s.ranks : 1;
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

std::string print(const Kernel& s, const Step& step, bool in_loop) {
  if (const Loop* loop = as<Loop>(step)) return header(*loop, step.what);
  std::string operand, after;
  const auto through = [&] {
    if (const int channel = channel_of(step); channel >= 0) after += " through " + channel_name(s, channel);
    if (const int lag = guard_lag_of(step); lag != 0)
      after +=
          in_loop ? fmt::format(" while i+{} < trip_count", lag) : fmt::format(" if {} < trip_count", lag);
  };
  match(
      step,
      [&](const Copy& copy) {
        after = copy.multicast ? fmt::format(" of {} ranks, a part each", s.ranks) : "", through();
      },
      [&](const Compute& compute) { after = compute.to_cluster ? " of the other ranks" : "", through(); },
      [&](const OneOf<Mma, Commit> auto&) { through(); },
      [&](const WaitGroup& wait) { operand = fmt::format(" {}", wait.pending), through(); },
      [&](const Barrier& barrier) { operand = barrier.id == 0 ? "" : fmt::format(" {}", barrier.id); },
      [&](const OneOf<Acquire, Release, Drain> auto& of) { operand = " " + channel_name(s, of.channel); },
      [&](const MbarrierInit& init) {
        operand = " " + channel_name(s, init.channel);
        if (init.arrivals > 0) after = fmt::format(" for {} arrivals", init.arrivals);
      },
      [](const OneOf<Start, FenceInit, FenceProxy, GriddepWait, GriddepLaunchDependents, WarpBarrier,
                     ClusterBarrier, Loop> auto&) {});
  std::string text = std::string(name(step)) + operand + quoted(step.what);
  if (!step.reads.empty()) text += " reads " + accesses(s, step.reads, in_loop);
  if (!step.writes.empty()) text += " writes " + accesses(s, step.writes, in_loop);
  return text + after;
}

std::string print(const Agent& agent, const std::function<std::string(const Step&, bool)>& line) {
  std::string text;
  walk(agent.steps, [&](const Step& step, const Position& at) {
    text += std::string(2 + 2 * static_cast<std::size_t>(at.depth), ' ') + line(step, at.in_loop()) + "\n";
  });
  return text;
}

std::string print(const Kernel& s, const Channel& c) {
  const bool known = c.tensor >= 0 && c.tensor < static_cast<int>(s.tensors.size());
  return fmt::format("channel {}: {}, {} stage{}, {} -> {}, {}", c.name,
                     known ? s.tensors[c.tensor].name : "registers", c.stages, c.stages == 1 ? "" : "s",
                     agent_name(s, c.producer), agent_names(s, c.consumers), name(c.by));
}

std::string heading(const Agent& a) {
  return fmt::format("agent {}: {} warp{}{}", a.name, a.warps, a.warps == 1 ? "" : "s",
                     a.registers > 0 ? fmt::format(", {} registers a thread", a.registers) : "");
}

std::string print(const Kernel& s) {
  std::int64_t end = 0;
  std::size_t width = 0;
  for (const SmemTensor& t : s.tensors) {
    end = std::max(end, t.offset + t.bytes());
    width = std::max(width, t.name.size());
  }
  std::string text = fmt::format("{} threads, {} bytes of shared memory{}\n", s.threads, end,
                                 s.ranks > 1 ? fmt::format(", {} ranks", s.ranks) : "");
  for (const SmemTensor& t : s.tensors) {
    text += fmt::format("tensor {:{}}  bytes [{}, {})", t.name, width, t.offset, t.offset + t.bytes());
    text += t.stages > 1 ? fmt::format(", {} stages of {}\n", t.stages, t.bytes() / t.stages) : "\n";
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
