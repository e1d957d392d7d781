#include "verify/verify_trace.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

#include "graph/error.hpp"

namespace zellige::verify {
namespace {

constexpr std::int64_t always_whole = 16;       // trip counts up to this are not shortened
constexpr std::int64_t max_modulus = 1 << 20;   // number of iterations after which all stages recur
constexpr std::int64_t max_events = 2'000'000;  // per agent

/// How the verifier shortens loops: to a trip count of at least `minimum`, congruent to the real one modulo `modulus`.
struct Shortening {
  std::int64_t modulus = 1, minimum = 0;
  std::int64_t together = -1;  // if >= 0: iterations that every loop drops, so that agents stay in step

  /// Returns the bound of the shortened loop that corresponds to `trip_count`, a bound of the real loop: its
  /// first iteration or its trip count. Returns 0 and 1 unchanged.
  std::int64_t operator()(std::int64_t trip_count) const {
    if (trip_count <= 1) return trip_count;
    return trip_count - (together >= 0 ? together : lost(trip_count));
  }
  /// Returns how many iterations are removed from a loop with this trip count.
  std::int64_t lost(std::int64_t trip_count) const {
    return trip_count <= always_whole || trip_count <= minimum ? 0 : (trip_count - minimum) / modulus * modulus;
  }
};

/// Returns the modulus and the minimum trip count with which the loops of a schedule are shortened.
Shortening shortening(const Kernel& s) {
  Shortening result;
  std::int64_t reach = 0;
  std::set<std::int64_t> trip_count;
  const auto recur = [&](std::int64_t stages) {
    result.modulus = std::lcm(result.modulus, stages);
    if (result.modulus > max_modulus)
      does_not_fit("{}: its stages recur together after {} iterations; a proof takes at most {}", s.name(),
                   result.modulus, max_modulus);
  };
  for (const SmemTensor& t : s.tensors) recur(t.stages);
  for (const Channel& c : s.channels) recur(c.stages);
  for (const Agent& agent : s.agents)
    walk(agent.steps, [&](const Step& step, const StepPosition&) {
      if (const Loop* loop = as<Loop>(step); loop && loop->kind != Loop::tiles && loop->trip_count > 1)
        trip_count.insert(loop->trip_count);
      const WaitGroup* wait = as<WaitGroup>(step);
      reach = std::max<std::int64_t>({reach, kernel::guard_lag_of(step), wait ? wait->pending : 0});
      for (const auto* list : {&step.reads, &step.writes})
        for (const Access& a : *list) reach = std::max<std::int64_t>(reach, std::abs(a.lag));
    });
  result.minimum = std::max(always_whole, 2 * result.modulus + 2 + 2 * reach);
  // Agents that communicate through channels must stay in step. All loops drop the same number of iterations, if their
  // trip counts differ by at most one (an agent may run the first iteration before its loop); otherwise none.
  if (s.agents.size() > 1)
    result.together =
        trip_count.empty() || *trip_count.rbegin() - *trip_count.begin() > 1 ? 0 : result.lost(*trip_count.begin());
  return result;
}

/// The iteration of the innermost loop in which steps are unrolled.
struct Iteration {
  std::int64_t at = 0, trip_count = 1, real = 1;  // its number; the shortened and the real trip count
  bool in_loop = false;
  std::int64_t base = 0;   // number of iterations of earlier tiles
  std::int64_t next = -1;  // trip count of the next loop after the enclosing one; -1: none
  bool skips = false;      // a prologue of a bounded loop: copies for iterations that it does not have are omitted
  std::int64_t tile = 0;   // of a block that takes several
};

/// Unrolls the steps of one warp role.
struct Unroller {
  const std::string& kernel;
  const Agent& agent;
  const Shortening& shorten;
  std::vector<StepEvent> line;
  std::int64_t runs = 0;  // of a list of steps

  /// Appends the events (executed steps) of `steps` in iteration `in` to `line`, the events of one warp role. `index`
  /// is the number of the first step within the warp role. Returns the number of the step after the last one.
  int run(const std::vector<Step>& steps, int index, const Iteration& in) {
    bool loop_seen = false;
    if (++runs > max_events) too_long();
    for (std::size_t k = 0; k < steps.size(); ++k, ++index) {
      const Step& step = steps[k];
      if (const Loop* loop = as<Loop>(step)) {
        const int begin = index + 1;
        Iteration each = in;
        each.next = next_trip_count(steps, k + 1, in.next);
        if (loop->kind == Loop::slices) {  // a slice and the next one, in the same iteration
          for (std::int64_t i = 0; i < std::min<std::int64_t>(loop->trip_count, 2); ++i)
            index = run(loop->body, begin, each) - 1;
          continue;
        }
        if (loop->kind == Loop::tiles) {  // enough tiles that every stage is once the first of a tile
          const std::int64_t length = loop->each - std::max<std::int64_t>(shorten.together, 0);
          for (std::int64_t t = 0; t < std::min(loop->trip_count, shorten.modulus + 2); ++t)
            index = run(loop->body, begin, {.base = t * length, .next = each.next, .tile = t}) - 1;
          continue;
        }
        each.skips = loop->kind == Loop::prologue && loop->bounded;
        each.trip_count = shorten(loop->trip_count), each.real = loop->trip_count, each.in_loop = true;
        walk(loop->body, [&](const Step&, const StepPosition&) { ++index; });
        for (each.at = shorten(loop->from); each.at < each.trip_count; ++each.at) run(loop->body, begin, each);
        loop_seen = true;
        continue;
      }
      // The guard of a step before a loop compares with that loop's trip count: a prologue loads only what it uses.
      if (in.skips && in.next >= 0 && in.at >= in.next && as<Copy>(step)) continue;
      const int lag = kernel::guard_lag_of(step);
      const std::int64_t bound = in.in_loop ? in.trip_count : lag > 0 ? next_trip_count(steps, k, in.next) : 1;
      if (in.at + lag >= bound && lag > 0) continue;
      using Place = StepEvent::Place;
      const Place place = in.in_loop                                ? Place::in_loop
                          : loop_seen                               ? Place::after_loop
                          : next_trip_count(steps, k, in.next) >= 0 ? Place::before_loop
                                                                    : Place::no_loop;
      const std::int64_t shown = 2 * in.at < in.trip_count ? in.at : in.at + in.real - in.trip_count;
      line.push_back({&step, index, in.base + in.at, shown, place, in.tile});
      if (static_cast<std::int64_t>(line.size()) > max_events) too_long();
    }
    return index;
  }

  [[noreturn]] void too_long() const {
    does_not_fit("{}: agent {} runs more than {} steps even with its loops shortened; a proof takes at most that many",
                 kernel, agent.name, max_events);
  }

  /// Returns the shortened trip count of the first loop at or after steps[from], or `after` if there is no loop.
  std::int64_t next_trip_count(const std::vector<Step>& steps, std::size_t from, std::int64_t after) const {
    for (; from < steps.size(); ++from)
      if (const Loop* loop = as<Loop>(steps[from])) return shorten(loop->trip_count);
    return after;
  }
};

}  // namespace

std::int64_t distinct_trip_counts(const Kernel& k) {
  const Shortening shorten = shortening(k);
  return shorten.minimum + shorten.modulus;
}

std::vector<std::vector<StepEvent>> unroll(const Kernel& s) {
  const Shortening shorten = shortening(s);
  std::vector<std::vector<StepEvent>> lines;
  for (const Agent& agent : s.agents) {
    Unroller u{s.name(), agent, shorten, {}, 0};
    u.run(agent.steps, 0, {});
    lines.push_back(std::move(u.line));
  }
  return lines;
}

std::string describe(const StepEvent& e) {
  const std::string step = kernel::describe(*e.step, e.index);
  if (e.place == StepEvent::Place::in_loop) return fmt::format("{} of iteration {}", step, e.shown);
  return step + (e.place == StepEvent::Place::before_loop  ? " before the loop"
                 : e.place == StepEvent::Place::after_loop ? " after the loop"
                                                           : "");
}

}  // namespace zellige::verify
