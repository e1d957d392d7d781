#include "explain/waits.hpp"

#include <fmt/ranges.h>

#include <map>
#include <set>

#include "kernel/step.hpp"

namespace zellige::explain {
namespace {

using kernel::Step;

/// A step of the unrolled list: its number in the order of printing, and the iteration of the loop around it.
struct UnrolledStep {
  const Step* step;
  int index;
  std::int64_t iteration;
};

/// Appends the steps with loops unrolled: at most `limit` iterations of each.
void unroll(const std::vector<Step>& steps, std::int64_t iteration, std::int64_t limit, int& index,
            std::vector<UnrolledStep>& out) {
  for (const Step& step : steps) {
    out.push_back({&step, index++, iteration});
    const auto* loop = kernel::as<kernel::Loop>(step);
    if (!loop) continue;
    const int body = index;
    for (std::int64_t i = loop->from; i < std::max(loop->from + 1, std::min(loop->trip_count, loop->from + limit));
         ++i) {
      index = body;
      unroll(loop->body, loop->kind == kernel::Loop::iterations || loop->kind == kernel::Loop::prologue ? i : iteration,
             limit, index, out);
    }
  }
}

/// What a barrier separates: tensors that are read after it and were written before it, and the other way round.
struct Separated {
  std::set<std::string> read_after, overwritten_after;
};

/// Returns by the number of the barrier's step what it separates. The first barrier between two accesses counts.
std::map<int, Separated> separated(const kernel::Kernel& k, const std::vector<UnrolledStep>& steps) {
  std::map<int, Separated> all;
  using Stage = std::pair<int, std::int64_t>;
  struct Last {
    int barrier = -1;  // number of barriers before the access
    bool pending = false;
  };
  std::map<Stage, Last> written, read;
  std::vector<int> barriers;  // the steps of those that were passed
  const auto stage = [&](const kernel::Access& a, std::int64_t i) {
    return Stage{a.tensor, (i + a.lag) % std::max(1, k.tensors[a.tensor].stages)};
  };
  const auto passed = [&](Last& last) {
    if (!last.pending || last.barrier >= static_cast<int>(barriers.size())) return -1;
    last.pending = false;
    return barriers[last.barrier];
  };
  for (const UnrolledStep& e : steps) {
    const auto* barrier = kernel::as<kernel::Barrier>(*e.step);
    if (barrier && barrier->waits) barriers.push_back(e.index);
    for (const kernel::Access& a : e.step->reads) {
      if (const int by = passed(written[stage(a, e.iteration)]); by >= 0)
        all[by].read_after.insert(k.tensors[a.tensor].name);
      read[stage(a, e.iteration)] = {static_cast<int>(barriers.size()), true};
    }
    for (const kernel::Access& a : e.step->writes) {
      if (const int by = passed(read[stage(a, e.iteration)]); by >= 0)
        all[by].overwritten_after.insert(k.tensors[a.tensor].name);
      written[stage(a, e.iteration)] = {static_cast<int>(barriers.size()), true};
    }
  }
  return all;
}

std::string of_barrier(const Separated& s) {
  std::vector<std::string> why;
  if (!s.read_after.empty())
    why.push_back(fmt::format("what was written to {} is read after it", fmt::join(s.read_after, ", ")));
  if (!s.overwritten_after.empty())
    why.push_back(
        fmt::format("all threads have read {} before it is overwritten", fmt::join(s.overwritten_after, ", ")));
  if (why.empty()) return "all threads are here before any goes on";
  return fmt::format("{}", fmt::join(why, "; "));
}

std::string tensor_of(const kernel::Kernel& k, const kernel::Channel& c) {
  return c.tensor >= 0 ? k.tensors[c.tensor].name : "registers";
}

std::string of_acquire(const kernel::Kernel& k, int agent, int channel) {
  const kernel::Channel& c = k.channels[channel];
  if (c.producer != agent || kernel::is_exchange(c))
    return fmt::format("until {} has filled the stage of {}", k.agents[c.producer].name, tensor_of(k, c));
  std::vector<std::string> readers;
  for (const int reader : c.consumers) readers.push_back(k.agents[reader].name);
  return fmt::format("until {} has read the stage of {}, which is one of {}", fmt::join(readers, " and "),
                     tensor_of(k, c), c.stages);
}

/// Returns what the groups of the agent's WaitGroup hold: the tensors that its copies write, or the products it starts.
std::string of_wait(const kernel::Kernel& k, const std::vector<UnrolledStep>& steps, const kernel::WaitGroup& wait) {
  std::set<std::string> under_way;
  for (const UnrolledStep& e : steps) {
    const bool product = kernel::as<kernel::Mma>(*e.step);
    if (!product && !kernel::as<kernel::Copy>(*e.step)) continue;
    if (wait.channel >= 0 && kernel::channel_of(*e.step) != wait.channel) continue;
    if (product) under_way.insert(e.step->what);
    for (const kernel::Access& a : product ? std::vector<kernel::Access>{} : e.step->writes)
      under_way.insert(k.tensors[a.tensor].name);
  }
  const std::string what = under_way.empty() ? "asynchronous work" : fmt::format("{}", fmt::join(under_way, ", "));
  return wait.pending == 0 ? fmt::format("until {} is complete", what)
                           : fmt::format("until all but the last {} group{} of {} are complete", wait.pending,
                                         wait.pending == 1 ? "" : "s", what);
}

}  // namespace

std::vector<std::string> reasons(const kernel::Kernel& k, int agent) {
  const std::vector<Step>& own = k.agents[agent].steps;
  std::vector<UnrolledStep> steps;
  int count = 0;
  unroll(own, 0, 2 * k.stages() + 2, count, steps);
  const std::map<int, Separated> by_barrier = separated(k, steps);
  std::vector<std::string> all;
  kernel::walk(own, [&](const Step& step, const kernel::StepPosition& at) {
    std::string& why = all.emplace_back();
    if (const auto* acquire = kernel::as<kernel::Acquire>(step)) why = of_acquire(k, agent, acquire->channel);
    if (const auto* wait = kernel::as<kernel::WaitGroup>(step)) why = of_wait(k, steps, *wait);
    if (const auto* drain = kernel::as<kernel::Drain>(step))
      why = fmt::format("until all stages of {} have been read", tensor_of(k, k.channels[drain->channel]));
    if (kernel::as<kernel::GriddepWait>(step)) why = "until the kernels before this one have ended";
    if (const auto* barrier = kernel::as<kernel::Barrier>(step); barrier && barrier->waits) {
      const auto found = by_barrier.find(at.index);
      why = of_barrier(found == by_barrier.end() ? Separated{} : found->second);
    }
  });
  return all;
}

}  // namespace zellige::explain
