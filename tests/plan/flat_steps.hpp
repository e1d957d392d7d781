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

inline kernel::Step end() { return {.is = kernel::Loop{.trip_count = -1}}; }
/// The loop that a step of such a list begins; nullptr: it begins none.
inline const kernel::Loop* begins_loop(const kernel::Step& step) {
  const kernel::Loop* loop = kernel::as<kernel::Loop>(step);
  return loop && loop->trip_count != -1 ? loop : nullptr;
}
inline bool is_end(const kernel::Step& step) { return kernel::as<kernel::Loop>(step) && !begins_loop(step); }

inline std::vector<kernel::Step> flat(const std::vector<kernel::Step>& steps) {
  std::vector<kernel::Step> all;
  for (const kernel::Step& step : steps) {
    all.push_back(step);
    const kernel::Loop* loop = kernel::as<kernel::Loop>(step);
    if (!loop) continue;
    kernel::as<kernel::Loop>(all.back())->body.clear();
    for (kernel::Step& inner : flat(loop->body)) all.push_back(std::move(inner));
    all.push_back(end());
  }
  return all;
}

/// A list that is nested already stays as it is.
inline std::vector<kernel::Step> nested(const std::vector<kernel::Step>& all) {
  if (!kernel::find_step(all, is_end)) return all;
  std::vector<std::vector<kernel::Step>> open(1);
  for (const kernel::Step& step : all) {
    if (is_end(step)) {
      if (open.size() == 1) throw std::logic_error("an end() without a loop");
      std::vector<kernel::Step> body = std::move(open.back());
      open.pop_back();
      kernel::as<kernel::Loop>(open.back().back())->body = std::move(body);
      continue;
    }
    open.back().push_back(step);
    if (begins_loop(step)) open.emplace_back();
  }
  if (open.size() != 1) throw std::logic_error("a loop without an end()");
  return open[0];
}

/// A kernel without a name becomes "kernel".
inline kernel::Kernel nested(kernel::Kernel s) {
  if (s.program.name.empty()) s.program.name = "kernel";
  for (kernel::Agent& agent : s.agents) agent.steps = nested(agent.steps);
  return s;
}

}  // namespace zellige::plan
