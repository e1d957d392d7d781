#include "explain/timeline.hpp"

#include <algorithm>
#include <map>

#include "kernel/step.hpp"

namespace zellige::explain {
namespace {

using kernel::Step;

// Of the picture alone: how long work lasts, and how much longer what is asynchronous is in flight.
constexpr int of_work = 4, of_issue = 1, of_flight = 10;

/// A step that is carried out, in the iteration of its loop.
struct ShownStep {
  const Step* step;
  std::int64_t iteration;
};

/// The steps of a warp role with its loops unrolled, without `removed` iterations after the first `kept`.
struct Unrolled {
  std::int64_t kept, removed;
  std::vector<ShownStep> steps{};

  /// Returns what a bound of a loop becomes. Loops begin and end near the first iteration or near the last.
  std::int64_t bound(std::int64_t i) const { return i <= kept ? i : std::max(kept, i - removed); }
  void add(const std::vector<Step>& all, std::int64_t iteration) {
    for (const Step& step : all) {
      const auto* loop = kernel::as<kernel::Loop>(step);
      if (!loop) {
        steps.push_back({&step, iteration});
      } else if (loop->kind == kernel::Loop::tiles) {
        add(loop->body, 0);  // one output tile
      } else if (loop->kind == kernel::Loop::slices) {
        for (std::int64_t i = loop->from; i < loop->trip_count; ++i) add(loop->body, iteration);
      } else {
        for (std::int64_t i = bound(loop->from); i < bound(loop->trip_count); ++i) add(loop->body, i);
      }
    }
  }
};

/// A warp role at work: its next step, the time, and when the asynchronous groups that it has closed are complete.
struct Running {
  std::vector<ShownStep> steps;
  std::size_t next = 0;
  int now = 0, open = 0;                              // open: when what was started since the last commit is complete
  std::map<int, std::vector<int>> groups{};           // by channel; -1: the only kind
  std::map<int, std::size_t> acquired{}, released{};  // by channel
};

class RolesAtWork {
 public:
  explicit RolesAtWork(const kernel::Kernel& k) : k_(k), filled_(k.channels.size()), read_(k.channels.size()) {
    timeline_.of = k.iterations_per_block();
    timeline_.iterations = std::min<std::int64_t>(timeline_.of, 2 * k.stages() + 1);
    for (const kernel::Agent& a : k.agents) {
      timeline_.agents.push_back(a.name);
      Unrolled unrolled{k.stages() + 1, timeline_.of - timeline_.iterations};
      unrolled.add(a.steps, 0);
      agents_.push_back({.steps = std::move(unrolled.steps)});
    }
  }
  Timeline run() {
    for (bool any = true; any;) {
      any = false;
      for (std::size_t a = 0; a < agents_.size(); ++a)
        while (agents_[a].next < agents_[a].steps.size() && step(static_cast<int>(a))) any = true;
    }
    return std::move(timeline_);
  }

 private:
  void add(int agent, const std::string& what, int begin, int end, Span::Kind kind) {
    if (end > begin) timeline_.spans.push_back({agent, what, begin, end, kind});
  }
  /// The role waits for something that happens at `until`.
  void wait(int agent, const std::string& what, int until) {
    Running& r = agents_[agent];
    add(agent, what, r.now, until, Span::Kind::wait);
    r.now = std::max(r.now, until);
  }
  void work(int agent, const std::string& what, int duration) {
    Running& r = agents_[agent];
    add(agent, what, r.now, r.now + duration, Span::Kind::work);
    r.now += duration;
  }
  /// Returns whether the role could take its next step; if not, another role has to go on first.
  bool step(int agent) {
    Running& r = agents_[agent];
    const ShownStep e = r.steps[r.next];
    const std::string what = e.step->what;
    bool done = true;
    kernel::match(
        *e.step,
        [&](const kernel::Copy& c) {
          if (c.guard_lag > 0 && e.iteration + c.guard_lag >= timeline_.iterations) return;
          work(agent, what, of_issue);
          const int arrival = r.now + of_flight;
          add(agent, what, r.now, arrival, Span::Kind::flight);
          r.open = std::max(r.open, arrival);
          if (c.channel < 0 || k_.channels[c.channel].consumers.empty()) return;
          std::vector<int>& filled = filled_[c.channel];
          if (filled.empty()) filled.push_back(0);
          filled.back() = std::max(filled.back(), arrival);
        },
        [&](const kernel::Mma&) {
          work(agent, what, of_issue);
          const int end = r.now + of_work + 2;
          add(agent, what, r.now, end, Span::Kind::flight);
          r.open = std::max(r.open, end);
        },
        [&](const kernel::Compute& c) {
          if (c.guard_lag > 0 && e.iteration + c.guard_lag >= timeline_.iterations) return;
          work(agent, what, of_work);
        },
        [&](const kernel::Commit& c) { r.groups[c.channel].push_back(std::exchange(r.open, 0)); },
        [&](const kernel::WaitGroup& w) {
          const std::vector<int>& closed = r.groups[w.channel];
          if (const std::size_t pending = w.pending; closed.size() > pending)
            wait(agent, "asynchronous groups", closed[closed.size() - 1 - pending]);
        },
        [&](const kernel::Acquire& a) { done = acquire(agent, a.channel); },
        [&](const kernel::Release& a) {
          // A producer's release marks a stage as full besides its copies, which count already.
          if (k_.channels[a.channel].producer != agent) read_[a.channel].push_back(r.now);
        },
        [&](const kernel::Barrier&) { work(agent, "barrier", of_issue); },
        [](const kernel::OneOf<kernel::Start, kernel::Loop, kernel::Drain, kernel::MbarrierInit, kernel::FenceInit,
                               kernel::FenceProxy, kernel::GriddepWait, kernel::GriddepLaunchDependents,
                               kernel::WarpBarrier, kernel::ClusterBarrier> auto&) {});
    r.next += done ? 1 : 0;
    return done;
  }
  /// A consumer waits until its next stage is filled; a producer until the use before the last one of all stages is read.
  bool acquire(int agent, int channel) {
    const kernel::Channel& c = k_.channels[channel];
    Running& r = agents_[agent];
    const std::size_t number = r.acquired[channel];
    const bool producer = c.producer == agent;
    const std::vector<int>& events = producer ? read_[channel] : filled_[channel];
    const std::size_t consumers = std::max<std::size_t>(1, c.consumers.size()),
                      stages = static_cast<std::size_t>(c.stages);
    if (!producer || number >= stages) {
      const std::size_t needed = producer ? (number - stages + 1) * consumers : number + 1;
      if (events.size() < needed) return false;
      wait(agent, producer ? "until " + c.name + " is empty" : "until " + c.name + " is full", events[needed - 1]);
    }
    ++r.acquired[channel];
    if (producer) filled_[channel].push_back(r.now);  // when it is filled, unless copies say later
    return true;
  }

  const kernel::Kernel& k_;
  std::vector<Running> agents_;
  std::vector<std::vector<int>> filled_, read_;  // by channel: when stages were filled, and read
  Timeline timeline_;
};

}  // namespace

Timeline timeline(const kernel::Kernel& k) { return RolesAtWork(k).run(); }

}  // namespace zellige::explain
