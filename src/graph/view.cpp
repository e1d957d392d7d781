#include "graph/view.hpp"

#include <utility>

#include "graph/ops.hpp"
#include "graph/unfold.hpp"

namespace zellige::graph {
namespace {

/// Returns strides with which a tensor of shape `from` and strides `strides` can be read as shape `to`, or
/// nullopt if that needs a copy. From the last dimension to the first, merges dimensions that are contiguous
/// with each other and splits them into dimensions of `to`.
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

/// Sets v.starts so that the view's result begins where the operand begins. `starts` is the operand's offset
/// in memory, in elements per dimension of the operand. The offset along each dimension is added to a
/// dimension of the result: one of extent 1, whose step may be chosen, or one whose step divides the offset.
/// Returns false if the result has no such dimension.
bool begin_at(Viewed& v, const Shape& result, const Shape& starts, const Strides& strides) {
  for (std::size_t d = 0; d < starts.size(); ++d) {
    const std::int64_t way = starts[d] * strides[d];
    if (way == 0) continue;
    std::size_t along = 0;
    while (along < result.size() && (result[along] != 1 || v.starts[along] != 0)) ++along;
    if (along < result.size()) {
      v.steps[along] = strides[d], v.starts[along] = starts[d];
      continue;
    }
    for (std::size_t to = 0; to < result.size(); ++to)
      if (result[to] != 1 && v.steps[to] != 0 && way % v.steps[to] == 0 &&
          (along == result.size() || v.steps[to] > v.steps[along]))
        along = to;
    if (along == result.size()) return false;
    v.starts[along] += way / v.steps[along];
  }
  return true;
}

}  // namespace

bool is_view(OpKind kind) { return family(kind) == OpFamily::view; }
bool is_whole_view(OpKind kind) { return kind == OpKind::permute || kind == OpKind::reshape; }

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
      Shape repeated = from;  // offset along repeated dimensions
      for (std::size_t d = 0; d < operand.size(); ++d)
        if (operand[d] == result[d + more])
          v.steps[d + more] = strides[d], v.starts[d + more] = std::exchange(repeated[d], 0);
      if (!begin_at(v, result, repeated, strides)) return std::nullopt;
      return v;
    }
    case OpKind::slice:
      v = {strides, from};
      v.starts[a.dim] += a.start;
      return v;
    case OpKind::unfold: {
      const Unfold u = unfold_of(a);
      if (u.padded()) return std::nullopt;
      v.steps = strides, v.steps[a.dim] *= u.step, v.steps.push_back(strides[a.dim] * u.dilation);
      if (!begin_at(v, result, from, strides)) return std::nullopt;
      return v;
    }
    case OpKind::reshape: {
      const std::optional<Strides> steps = reshaped(operand, strides, result);
      if (!steps) return std::nullopt;
      v.steps = *steps;
      if (!begin_at(v, result, from, strides)) return std::nullopt;
      return v;
    }
    default:
      fail("{} is no view", name(kind));
  }
}

std::optional<Strides> operand_strides(const KernelOp& view, const Shape& operand, const Shape& result,
                                       const Strides& strides) {
  Attributes back{.sizes = operand};
  for (std::size_t d = 0; view.kind == OpKind::permute && d < operand.size(); ++d)
    back.sizes[view.attributes.sizes[d]] = static_cast<std::int64_t>(d);
  const std::optional<Viewed> seen = viewed(view.kind, back, result, strides, operand);
  if (!seen) return std::nullopt;
  return seen->steps;
}

}  // namespace zellige::graph
