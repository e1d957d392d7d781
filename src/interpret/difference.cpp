#include "interpret/difference.hpp"

#include <algorithm>
#include <cmath>

#include "graph/shown.hpp"
#include "reference/compare.hpp"

namespace zellige::plan {
namespace {

/// Returns the element that differs most beyond its error bound, of the first store of which one does; none if none does.
std::optional<Difference> compared(const Memory& memory, int tensor, const graph::Array& expected,
                                   const graph::Array& errors) {
  constexpr double slack = 1e-9;  // of float64, relative to the element
  const graph::Array found = memory.values(tensor);
  std::optional<Difference> worst;
  double most = 0;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const double x = found.values[i], y = expected.values[i];
    if (!std::isfinite(y)) continue;
    const double beyond = graph::distance(x, y) - errors.values[i] - slack * std::fabs(y);
    if (!(beyond > 0)) continue;
    ++count;
    const Shape at = graph::coordinates(static_cast<std::int64_t>(i), found.shape);
    const Writer by = memory.writer(tensor, at);
    if (worst && (by > worst->by || (by == worst->by && beyond <= most))) continue;
    worst = {tensor, at, x, y, by}, most = beyond;
  }
  if (worst) worst->count = count, worst->of = static_cast<std::int64_t>(found.values.size());
  return worst;
}

}  // namespace

std::vector<std::pair<int, int>> stored_tensors(const Program& p, const graph::KernelGraph& g) {
  std::vector<std::pair<int, int>> all;
  for (std::size_t i = 0; i < g.outputs.size(); ++i)
    if (std::ranges::count(g.inputs, g.outputs[i]) == 0) all.emplace_back(p.outputs[i], g.outputs[i]);
  for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t) {
    const graph::KernelTensor& own = p.tensors[t];
    const bool argument = std::ranges::count(p.inputs, t) + std::ranges::count(p.outputs, t) > 0;
    const bool written = std::ranges::any_of(p.kernels, [&](const TileProgram& k) {
      return std::ranges::any_of(
          k.nodes, [&](const Node& n) { return n.kind == NodeKind::store && p.memory_of(n.tensor) == t; });
    });
    if (argument || !written || p.views.contains(t) || own.memory >= 0) continue;
    for (const graph::KernelOp& op : g.ops)
      for (const int made : op.outputs)
        if (g.tensors[made].name == own.name && g.tensors[made].shape == own.shape) all.emplace_back(t, made);
  }
  return all;
}

std::optional<Difference> difference(const Program& p, const graph::KernelGraph& g,
                                     const std::vector<graph::Array>& inputs) {
  const graph::Reference reference = graph::run(g, inputs, {.round = false, .errors = true});
  const Memory memory = interpret(p, inputs, Rounding::none);
  std::optional<Difference> first;
  for (const auto& [tensor, own] : stored_tensors(p, g)) {
    const auto found = compared(memory, tensor, reference.tensors[own], reference.errors[own]);
    if (found && (!first || found->by < first->by)) first = found;
  }
  return first;
}

std::string Difference::text(const Program& p) const {
  const std::string where = fmt::format("{} {}", graph::shown(p.tensors[tensor].name), graph::to_string(at));
  const std::string others = count > 1 ? fmt::format("; {} of its {} elements differ", count, of) : "";
  if (by.kernel < 0) return fmt::format("no store writes {}, where the graph has {:.6g}{}", where, expected, others);
  const std::string number = found == found ? fmt::format("{:.6g}", found) : "nan";
  return fmt::format("store %{} writes {} to {}, where the graph has {:.6g}{}", by.node, number, where, expected,
                     others);
}

}  // namespace zellige::plan
