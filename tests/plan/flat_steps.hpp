// Steps as one list, for tests that take one out or put one in: the body of each loop ends with an end().
//
//   std::vector<Step> all = flat(agent.steps);
//   all.erase(all.begin() + 3);
//   agent.steps = nested(all);
#pragma once
#include <stdexcept>
#include <utility>

#include "plan/schedule.hpp"

namespace zellige::plan {

inline Step end() { return {.kind = StepKind::loop, .trip_count = -1}; }
inline bool is_end(const Step& step) { return step.kind == StepKind::loop && step.trip_count == -1; }
inline bool begins_loop(const Step& step) { return step.kind == StepKind::loop && !is_end(step); }

inline std::vector<Step> flat(const std::vector<Step>& steps) {
  std::vector<Step> all;
  for (const Step& step : steps) {
    all.push_back(step);
    if (step.kind != StepKind::loop) continue;
    all.back().body.clear();
    for (Step& inner : flat(step.body)) all.push_back(std::move(inner));
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
      open.back().back().body = std::move(body);
      continue;
    }
    open.back().push_back(step);
    if (step.kind == StepKind::loop) open.emplace_back();
  }
  if (open.size() != 1) throw std::logic_error("a loop without an end()");
  return open[0];
}

inline Schedule nested(Schedule s) {
  for (Agent& agent : s.agents) agent.steps = nested(agent.steps);
  return s;
}

}  // namespace zellige::plan
