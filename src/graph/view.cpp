#include "graph/view.hpp"

#include <algorithm>

#include "graph/ops.hpp"

namespace zellige::graph {
namespace {

/// Dimensions that lie in one another are joined to runs, and the result's take the runs apart, both from the last one on.
std::optional<Strides> reshaped(const Shape& from, const Strides& strides, const Shape& to) {
  struct Run {
    std::int64_t extent, step;
  };
  std::vector<Run> runs;
  for (std::size_t d = from.size(); d-- > 0;) {
    if (from[d] == 1) continue;
    if (!runs.empty() && strides[d] == runs.back().step * runs.back().extent)
      runs.back().extent *= from[d];
    else
      runs.push_back({from[d], strides[d]});
  }
  Strides steps(to.size(), 1);
  std::size_t at = 0;
  for (std::size_t d = to.size(); d-- > 0;) {
    if (to[d] == 1) continue;
    while (runs.at(at).extent == 1) ++at;
    Run& run = runs[at];
    if (run.extent % to[d] != 0) return std::nullopt;
    steps[d] = run.step;
    run.extent /= to[d], run.step *= to[d];
  }
  return steps;
}

}  // namespace

bool is_view(OpKind kind) { return family(kind) == OpFamily::view; }

std::optional<Viewed> viewed(OpKind kind, const Attributes& a, const Shape& operand, const Strides& strides,
                             const Shape& result, const Shape& starts) {
  const Shape from = starts.empty() ? Shape(operand.size(), 0) : starts;
  Viewed v{Strides(result.size(), 0), Shape(result.size(), 0)};
  switch (kind) {
    case OpKind::permute:
      for (std::size_t d = 0; d < result.size(); ++d) {
        const auto of = static_cast<std::size_t>(a.sizes[d]);
        v.steps[d] = strides[of], v.starts[d] = from[of];
      }
      return v;
    case OpKind::expand: {
      const std::size_t more = result.size() - operand.size();
      for (std::size_t d = 0; d < operand.size(); ++d)
        if (operand[d] == result[d + more])
          v.steps[d + more] = strides[d], v.starts[d + more] = from[d];
        else if (from[d] != 0)
          return std::nullopt;  // one row of many, again and again
      return v;
    }
    case OpKind::slice:
      v = {strides, from};
      v.starts[static_cast<std::size_t>(a.dim)] += a.start;
      return v;
    case OpKind::reshape: {
      if (std::ranges::any_of(from, [](std::int64_t s) { return s != 0; })) return std::nullopt;
      const std::optional<Strides> steps = reshaped(operand, strides, result);
      if (!steps) return std::nullopt;
      v.steps = *steps;
      return v;
    }
    default:
      fail("{} is no view", name(kind));
  }
}

}  // namespace zellige::graph
