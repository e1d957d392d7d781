#include "candidate/grid_axes.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace zellige::candidate {

std::vector<GridAxes> grid_axes(const GroupSteps& s, const Axes& a) {
  const auto free = [&](int axis) { return axis >= 0 && !a.axes[axis].summed && !a.axes[axis].whole; };
  const auto share_value = [&](int x, int y) {
    return std::ranges::any_of(a.of, [&](const std::vector<int>& of) {
      return std::ranges::count(of, x) > 0 && std::ranges::count(of, y) > 0;
    });
  };
  std::vector<GridAxes> result;
  std::set<int> taken;
  const std::vector<int>& first = a.of[s.outputs[0]];
  for (std::size_t d = 0; d < first.size(); ++d) {
    if (!free(first[d]) || taken.count(first[d]) > 0) continue;
    GridAxes c{{first[d]}, a.axes[first[d]].extent, a.axes[first[d]].extent, static_cast<int>(first.size() - 1 - d)};
    bool all = true;
    for (int v : s.outputs) {
      if (std::ranges::any_of(c.axes, [&](int axis) { return a.has(v, axis); })) continue;
      const std::vector<int>& of = a.of[v];
      const int at = static_cast<int>(of.size()) - 1 - c.back;
      const int other = at >= 0 ? of[at] : -1;
      all = all && free(other) && taken.count(other) == 0 &&
            std::ranges::none_of(c.axes, [&](int axis) { return share_value(axis, other); });
      if (!all) break;
      c.axes.push_back(other);
      c.largest = std::max(c.largest, a.axes[other].extent);
      c.shared = std::gcd(c.shared, a.axes[other].extent);
    }
    if (!all || c.shared == 1) continue;
    taken.insert(c.axes.begin(), c.axes.end());
    result.push_back(std::move(c));
  }
  return result;
}

}  // namespace zellige::candidate
