// Implements zellige_cost_* of the C API: which of two ways to compute something is taken.
#include <cmath>

#include "api/caller_memory.hpp"
#include "api/guard.hpp"
#include "cost/pays.hpp"
#include "graph/error.hpp"

using namespace zellige;
using namespace zellige::api;

namespace {

/// Returns the caller's cost. Throws Error if it cannot be read, or if it is none.
cost::WayCost cost_at(const zellige_cost* given, std::string_view parameter) {
  const zellige_cost c = structure_at(given, parameter, "zellige_cost");
  if (std::isnan(c.us)) fail("{}, us: expected microseconds, found nan", parameter);
  if (std::isnan(c.host_us)) fail("{}, host_us: expected microseconds, found nan", parameter);
  if (c.launches < 0) fail("{}, launches: expected 0 or more, found {}", parameter, c.launches);
  return {c.us, static_cast<std::size_t>(c.launches), c.host_us, c.workspace};
}

/// Returns whether two costs have a relation. Throws Error if there is no such relation.
bool have(zellige_relation relation, const cost::WayCost& a, const cost::WayCost& b) {
  switch (relation) {
    case ZELLIGE_BETTER:
      return cost::better(a, b, target::Costs::Search{});
    case ZELLIGE_FASTER:
      return cost::faster(a, b);
    case ZELLIGE_FASTER_GPU_BOUND:
      return cost::faster_gpu_bound(a, b);
    case ZELLIGE_CLEARLY_FASTER:
      return cost::clearly_faster(a, b);
    case ZELLIGE_MAY_BE_FASTER:
      return cost::may_be_faster(a, b);
    case ZELLIGE_WORTH_MEASURING:
      return cost::worth_measuring(a, b);
  }
  fail("zellige_cost_compare: expected 0 to 5, found {}", static_cast<int>(relation));
}

}  // namespace

int zellige_cost_compare(zellige_relation relation, const zellige_cost* a, const zellige_cost* b) {
  return guarded_or(-1, [&] { return int{have(relation, cost_at(a, "a"), cost_at(b, "b"))}; });
}
double zellige_cost_time(const zellige_cost* cost) {
  return guarded_or(std::nan(""), [&] { return cost::total_us(cost_at(cost, "cost")); });
}
int zellige_cost_pays(const zellige_cost* before, const zellige_cost* after, const zellige_cost* whole) {
  return guarded_or(
      -1, [&] { return int{cost::pays(cost_at(before, "before"), cost_at(after, "after"), cost_at(whole, "whole"))}; });
}
int zellige_cost_worth(const zellige_cost* saved, const zellige_cost* call, const zellige_cost* whole) {
  return guarded_or(
      -1, [&] { return int{cost::worth(cost_at(saved, "saved"), cost_at(call, "call"), cost_at(whole, "whole"))}; });
}
