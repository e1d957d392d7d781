// Steps as one list, for tests that take one out or put one in: the body of each loop ends with an end().
//
//   std::vector<Step> all = flat(agent.steps);
//   all.erase(all.begin() + 3);
//   agent.steps = nested(all);
#pragma once
#include <stdexcept>
#include <utility>

#include "kernel/kernel.hpp"

namespace zellige::plan {

inline Step end() { return {.is = Loop{.trip_count = -1}}; }
/// The loop that a step of such a list begins; nullptr: it begins none.
inline const Loop* begins_loop(const Step& step) {
  const Loop* loop = as<Loop>(step);
  return loop && loop->trip_count != -1 ? loop : nullptr;
}
inline bool is_end(const Step& step) { return as<Loop>(step) && !begins_loop(step); }

inline std::vector<Step> flat(const std::vector<Step>& steps) {
  std::vector<Step> all;
  for (const Step& step : steps) {
    all.push_back(step);
    const Loop* loop = as<Loop>(step);
    if (!loop) continue;
    as<Loop>(all.back())->body.clear();
    for (Step& inner : flat(loop->body)) all.push_back(std::move(inner));
    all.push_back(end());
  }
  return all;
}

/// A list that is nested already stays as it is.
inline std::vector<Step> nested(const std::vector<Step>& all) {
  if (!find_step(all, is_end)) return all;
  std::vector<std::vector<Step>> open(1);
  for (const Step& step : all) {
    if (is_end(step)) {
      if (open.size() == 1) throw std::logic_error("an end() without a loop");
      std::vector<Step> body = std::move(open.back());
      open.pop_back();
      as<Loop>(open.back().back())->body = std::move(body);
      continue;
    }
    open.back().push_back(step);
    if (begins_loop(step)) open.emplace_back();
  }
  if (open.size() != 1) throw std::logic_error("a loop without an end()");
  return open[0];
}

/// A kernel without a name becomes "kernel".
inline Kernel nested(Kernel s) {
  if (s.program.name.empty()) s.program.name = "kernel";
  for (Agent& agent : s.agents) agent.steps = nested(agent.steps);
  return s;
}

}  // namespace zellige::plan
