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

/// Tensors that a barrier protects in one way, and the steps after it for which it does. `ago`: iterations from the access before the
/// barrier to the one after it.
struct Protected {
  std::set<std::string> tensors, steps;
  std::set<std::int64_t> ago;
};
/// What a barrier separates: tensors that are read after it and were written before it, and the other way round.
struct Separated {
  Protected read_after, overwritten_after;
};

/// Returns by the number of the barrier's step what it separates. The first barrier between two accesses counts.
std::map<int, Separated> separated(const kernel::Kernel& k, const std::vector<UnrolledStep>& steps) {
  std::map<int, Separated> all;
  using Stage = std::pair<int, std::int64_t>;
  struct Last {
    int barrier = -1;  // number of barriers before the access
    bool pending = false;
    std::int64_t iteration = 0;
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
  // Several steps may read what one barrier has made visible: they are noted until another barrier or access comes between.
  const auto note = [&](Protected Separated::*way, std::map<Stage, Last>& before, const kernel::Access& a,
                        const UnrolledStep& e) {
    Last& last = before[stage(a, e.iteration)];
    if (const int by = passed(last); by >= 0) {
      Protected& protects = all[by].*way;
      protects.tensors.insert(k.tensors[a.tensor].name);
      protects.steps.insert(e.step->what);
      protects.ago.insert(e.iteration - last.iteration);
    }
  };
  for (const UnrolledStep& e : steps) {
    const auto* barrier = kernel::as<kernel::Barrier>(*e.step);
    if (barrier && barrier->waits) barriers.push_back(e.index);
    const Last now{static_cast<int>(barriers.size()), true, e.iteration};
    for (const kernel::Access& a : e.step->reads) {
      note(&Separated::read_after, written, a, e);
      read[stage(a, e.iteration)] = now;
    }
    for (const kernel::Access& a : e.step->writes) {
      note(&Separated::overwritten_after, read, a, e);
      written[stage(a, e.iteration)] = now;
    }
  }
  return all;
}

std::string of_barrier(const Separated& s) {
  std::vector<std::string> why;
  if (const Protected& p = s.read_after; !p.tensors.empty())
    why.push_back(fmt::format("what was written to {} is read after it, by {}", fmt::join(p.tensors, ", "),
                              fmt::join(p.steps, ", ")));
  if (const Protected& p = s.overwritten_after; !p.tensors.empty()) {
    const bool of_ring = p.ago.size() == 1 && *p.ago.begin() > 0;
    why.push_back(fmt::format("all threads have read {}{} before {} overwrites it", fmt::join(p.tensors, ", "),
                              of_ring ? fmt::format(" of iteration i - {}", *p.ago.begin()) : "",
                              fmt::join(p.steps, ", ")));
  }
  if (why.empty()) return "all threads are here before any goes on";
  return fmt::format("{}", fmt::join(why, "; "));
}

std::string tensor_of(const kernel::Kernel& k, const kernel::Channel& c) {
  return c.tensor >= 0 ? k.tensors[c.tensor].name : kernel::in_columns(c) ? "tensor memory" : "registers";
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
  if (wait.pending == 0) return fmt::format("until {} is complete", what);
  return fmt::format("until all groups of {} but the last {}are complete, which may stay in flight", what,
                     wait.pending == 1 ? "" : fmt::format("{} ", wait.pending));
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
