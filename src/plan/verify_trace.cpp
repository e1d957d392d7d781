#include "plan/verify_trace.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include "graph/error.hpp"

namespace zellige::plan {
namespace {

constexpr std::int64_t always_whole = 16;        // loops up to here are run whole
constexpr std::int64_t most_events = 2'000'000;  // an agent

struct Shortening {
  std::int64_t modulus = 1, least = 0;
  std::int64_t together = -1;  // what every loop loses, where agents must stay in step

  /// An iteration's number at which a loop begins or ends. What stands in front of the first iteration is not lost.
  std::int64_t operator()(std::int64_t trips) const {
    if (trips <= 1) return trips;
    if (together >= 0) return trips - together;
    return trips - lost(trips);
  }
  std::int64_t lost(std::int64_t trips) const {
    return trips <= always_whole || trips <= least ? 0 : (trips - least) / modulus * modulus;
  }
};

Shortening shortening(const Schedule& s) {
  Shortening result;
  std::int64_t reach = 0;
  std::set<std::int64_t> trips;
  for (const SharedTensor& t : s.tensors) result.modulus = std::lcm(result.modulus, std::int64_t{t.stages});
  for (const Channel& c : s.channels) result.modulus = std::lcm(result.modulus, std::int64_t{c.stages});
  for (const Agent& agent : s.agents)
    for (const Step& step : agent.steps) {
      if (step.kind == StepKind::loop_begin && step.loop != Loop::tiles && step.trips > 1)
        trips.insert(step.trips);
      reach = std::max<std::int64_t>({reach, step.guard_lag, step.pending});
      for (const auto* list : {&step.reads, &step.writes})
        for (const Access& a : *list) reach = std::max<std::int64_t>(reach, std::abs(a.lag));
    }
  result.least = std::max(always_whole, 2 * result.modulus + 2 + 2 * reach);
  // Agents that meet in channels must stay in step: all their loops lose as much, where they are of one length, or of one
  // less where an agent does the first iteration before its loop.
  if (s.agents.size() > 1)
    result.together = trips.empty() || *trips.rbegin() - *trips.begin() > 1 ? 0 : result.lost(*trips.begin());
  return result;
}

struct Unroller {
  const std::string& kernel;
  const Agent& agent;
  const Shortening& shorten;
  std::vector<Event> line;

  /// The steps [begin, end) in one iteration of the loop around them, in the tile whose first iteration is `base`.
  void run(int begin, int end, std::int64_t iteration, std::int64_t trips, std::int64_t real, bool in_loop,
           std::int64_t base = 0) {
    bool loop_seen = false;
    for (int k = begin; k < end; ++k) {
      const Step& step = agent.steps[k];
      if (step.kind == StepKind::loop_begin) {
        const int close = static_cast<int>(closing(agent.steps, static_cast<std::size_t>(k)));
        if (step.loop == Loop::slices) {  // twice in the same iteration: a slice and the one behind it
          for (std::int64_t i = 0; i < std::min<std::int64_t>(step.trips, 2); ++i)
            run(k + 1, close, iteration, trips, real, in_loop, base);
          k = close;
          continue;
        }
        if (step.loop == Loop::tiles) {  // enough of them to meet every stage first
          const std::int64_t each = step.each - std::max<std::int64_t>(shorten.together, 0);
          for (std::int64_t t = 0; t < std::min(step.trips, shorten.modulus + 2); ++t)
            run(k + 1, close, 0, 1, 1, false, t * each);
          k = close;
          continue;
        }
        const std::int64_t count = shorten(step.trips);
        for (std::int64_t i = shorten(step.from); i < count; ++i)
          run(k + 1, close, i, count, step.trips, true, base);
        loop_seen = true;
        k = close;
        continue;
      }
      // A guard before the loop is about the loop that follows: a prologue copies only what the loop will
      // want.
      const std::int64_t bound = in_loop ? trips : step.guard_lag > 0 ? next_trips(k) : 1;
      if (iteration + step.guard_lag >= bound && step.guard_lag > 0) continue;
      using Place = Event::Place;
      const Place place = in_loop              ? Place::in_loop
                          : loop_seen          ? Place::after_loop
                          : next_trips(k) >= 0 ? Place::before_loop
                                               : Place::no_loop;
      const std::int64_t shown = 2 * iteration < trips ? iteration : iteration + real - trips;
      line.push_back({&step, k, base + iteration, shown, place});
      if (static_cast<std::int64_t>(line.size()) > most_events)
        does_not_fit(
            "{}: agent {} runs more than {} steps even with its loops shortened; a proof takes at most that "
            "many",
            kernel, agent.name, most_events);
    }
  }

  std::int64_t next_trips(int from) const {
    for (int k = from; k < static_cast<int>(agent.steps.size()); ++k)
      if (agent.steps[k].kind == StepKind::loop_begin) return shorten(agent.steps[k].trips);
    return -1;
  }
};

}  // namespace

std::vector<std::vector<Event>> unroll(const Schedule& s, const std::string& kernel) {
  const Shortening shorten = shortening(s);
  std::vector<std::vector<Event>> lines;
  for (const Agent& agent : s.agents) {
    Unroller u{kernel, agent, shorten, {}};
    u.run(0, static_cast<int>(agent.steps.size()), 0, 1, 1, false);
    lines.push_back(std::move(u.line));
  }
  return lines;
}

std::string describe(const Event& e) {
  const std::string step = e.step->what.empty() ? fmt::format("step {} ({})", e.index, name(e.step->kind))
                                                : fmt::format("step '{}'", e.step->what);
  switch (e.place) {
    case Event::Place::before_loop:
      return step + " before the loop";
    case Event::Place::in_loop:
      return fmt::format("{} of iteration {}", step, e.shown);
    case Event::Place::after_loop:
      return step + " after the loop";
    default:
      return step;
  }
}

}  // namespace zellige::plan
