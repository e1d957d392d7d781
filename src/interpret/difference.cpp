#include "interpret/difference.hpp"

#include <algorithm>
#include <cmath>

#include "reference/compare.hpp"
#include "strings/shown.hpp"

namespace zellige::interpret {
namespace {

/// Returns the root mean square of the finite values.
double root_mean_square(const reference::Array& a) {
  double squares = 0, count = 0;
  for (const double v : a.values)
    if (std::isfinite(v)) squares += v * v, ++count;
  return std::sqrt(squares / std::max(count, 1.0));
}

/// The elements of a tensor that differ, and the one that differs most of the first store of which one does.
struct Elements {
  std::optional<Difference> worst;
  double max_excess = 0;
  std::int64_t count = 0;

  void add(const Difference& one, double beyond) {
    ++count;
    if (worst && (one.by > worst->by || (one.by == worst->by && beyond <= max_excess))) return;
    worst = one, max_excess = beyond;
  }
  std::optional<Difference> first(std::size_t of) {
    if (worst) worst->count = count, worst->of = static_cast<std::int64_t>(of);
    return worst;
  }
};

/// Returns the element that differs most beyond its error bound, of the first store of which one does. Where bounds are wide, as
/// next to a jump of a cast to integers, more than a few differences that float64 does not make are differences, too.
std::optional<Difference> compared(const Memory& memory, int tensor, const reference::Array& expected,
                                   const reference::Array& errors) {
  constexpr double slack = 1e-9, much = 1e-4, noise = 1e-6;  // relative to the element, to the tensor, to its bound
  constexpr std::size_t few = 64;                            // of that number of elements one may be next to a jump
  const reference::Array found = memory.values(tensor);
  const double size = root_mean_square(expected);
  Elements wrong, doubtful;
  for (std::size_t i = 0; i < found.values.size(); ++i) {
    const double x = found.values[i], y = expected.values[i], bound = errors.values[i];
    if (!std::isfinite(y)) continue;
    const double by = reference::distance(x, y);
    const bool is_wrong = by > bound + slack * std::fabs(y);
    const bool is_doubtful = by > much * (std::fabs(y) + size) && by > (std::isfinite(bound) ? noise * bound : 0);
    if (!is_wrong && !is_doubtful) continue;
    const graph::Shape at = graph::coordinates(static_cast<std::int64_t>(i), found.shape);
    const Difference one{tensor, at, x, y, memory.writer(tensor, at)};
    if (is_wrong) wrong.add(one, by - bound);
    if (is_doubtful) doubtful.add(one, by);
  }
  if (wrong.count > 0) return wrong.first(found.values.size());
  if (static_cast<std::size_t>(doubtful.count) > found.values.size() / few) return doubtful.first(found.values.size());
  return std::nullopt;
}

}  // namespace

std::vector<std::pair<int, int>> stored_tensors(const tile::TilePrograms& p, const graph::KernelGraph& g) {
  std::vector<std::pair<int, int>> all;
  for (std::size_t i = 0; i < g.outputs.size(); ++i)
    if (std::ranges::count(g.inputs, g.outputs[i]) == 0) all.emplace_back(p.outputs[i], g.outputs[i]);
  for (int t = 0; t < static_cast<int>(p.tensors.size()); ++t) {
    const graph::KernelTensor& own = p.tensors[t];
    const bool argument = std::ranges::count(p.inputs, t) + std::ranges::count(p.outputs, t) > 0;
    const bool written = std::ranges::any_of(p.kernels, [&](const tile::TileProgram& k) {
      return std::ranges::any_of(
          k.nodes, [&](const tile::Node& n) { return n.kind == tile::NodeKind::store && p.memory_of(n.tensor) == t; });
    });
    if (argument || !written || p.views.contains(t) || own.memory >= 0) continue;
    for (const graph::KernelOp& op : g.ops)
      for (const int made : op.outputs)
        if (g.tensors[made].name == own.name && g.tensors[made].shape == own.shape) all.emplace_back(t, made);
  }
  return all;
}

std::optional<Difference> difference(const tile::TilePrograms& p, const graph::KernelGraph& g,
                                     const std::vector<reference::Array>& inputs) {
  const reference::Reference reference = reference::run(g, inputs, {.round = false, .errors = true});
  const Memory memory = interpret(p, inputs, Rounding::none);
  std::optional<Difference> first;
  for (const auto& [tensor, own] : stored_tensors(p, g)) {
    const auto found = compared(memory, tensor, reference.tensors[own], reference.errors[own]);
    if (found && (!first || found->by < first->by)) first = found;
  }
  return first;
}

std::string Difference::text(const tile::TilePrograms& p) const {
  const std::string where = fmt::format("{} {}", strings::shown(p.tensors[tensor].name), graph::to_string(at));
  const std::string others = count > 1 ? fmt::format("; {} of its {} elements differ", count, of) : "";
  if (by.kernel < 0) return fmt::format("no store writes {}, where the graph has {:.6g}{}", where, expected, others);
  const std::string number = found == found ? fmt::format("{:.6g}", found) : "nan";
  return fmt::format("store %{} writes {} to {}, where the graph has {:.6g}{}", by.node, number, where, expected,
                     others);
}

}  // namespace zellige::interpret
