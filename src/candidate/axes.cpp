#include "candidate/axes.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "graph/elementwise.hpp"
#include "graph/error.hpp"

namespace zellige::candidate {
namespace {

/// Union-find over the dimensions of all values of a group; each final set is an axis.
class Union {
 public:
  explicit Union(const GroupSteps& s) : steps_(s) {
    for (const StepValue& v : s.values) {
      first_.push_back(static_cast<int>(parent_.size()));
      parent_.resize(parent_.size() + v.shape.size());
    }
    std::iota(parent_.begin(), parent_.end(), 0);
    summed_.resize(parent_.size()), whole_.resize(parent_.size());
  }

  int rank(int v) const { return static_cast<int>(shape(v).size()); }
  const graph::Shape& shape(int v) const { return steps_.values[v].shape; }
  /// Returns the representative of the set (of dimensions that are one axis) that contains dimension number `x`.
  int find(int x) {
    while (parent_[x] != x) x = parent_[x] = parent_[parent_[x]];
    return x;
  }
  /// Returns the representative of the set (of dimensions that are one axis) that contains dimension `d` of value `v`.
  int at(int v, int d) { return find(first_[v] + d); }

  /// Makes dimension `d` of value `v` and dimension `e` of value `w` one axis. Does nothing if either has extent 1.
  void same(int v, int d, int w, int e) {
    if (shape(v)[d] == 1 || shape(w)[e] == 1) return;
    const int x = at(v, d), y = at(w, e);
    parent_[x] = y;
    summed_[y] = summed_[y] || summed_[x], whole_[y] = whole_[y] || whole_[x];
  }
  /// Records that a step reduces over the axis of dimension `d` of value `v`.
  void summed(int v, int d) { summed_[at(v, d)] = true; }
  /// Records that a step needs all of the axis of dimension `d` of value `v` in one block.
  void whole(int v, int d) { whole_[at(v, d)] = true; }

  /// Makes corresponding dimensions of values `v` and `w` one axis. As in broadcasting, dimensions correspond
  /// if they are equally far from the last dimension. The last `but` dimensions are skipped.
  void aligned(int v, int w, int but = 0) {
    for (int back = but + 1; back <= std::min(rank(v), rank(w)); ++back) same(v, rank(v) - back, w, rank(w) - back);
  }

  /// Returns the axes: one per set of dimensions, none for dimensions of extent 1. Throws Error if two
  /// dimensions of one value are in the same set.
  Axes axes() {
    Axes a;
    std::map<int, int> number;
    a.of.resize(steps_.values.size());
    for (int v = 0; v < static_cast<int>(steps_.values.size()); ++v)
      for (int d = 0; d < rank(v); ++d) {
        int axis = -1;
        if (shape(v)[d] > 1) {
          const int x = at(v, d);
          const auto [found, is_new] = number.insert({x, static_cast<int>(a.axes.size())});
          if (is_new) a.axes.push_back({shape(v)[d], summed_[x], whole_[x]});
          axis = found->second;
          if (std::ranges::count(a.of[v], axis) > 0)
            fail("two dimensions of {} would run together", graph::to_string(shape(v)));
        }
        a.of[v].push_back(axis);
      }
    return a;
  }

 private:
  const GroupSteps& steps_;
  std::vector<int> first_, parent_;  // by value: its first dimension; by dimension: its parent
  std::vector<bool> summed_, whole_;
};

}  // namespace

int Axes::dim(int value, int axis) const {
  const auto at = std::ranges::find(of[value], axis);
  return at == of[value].end() ? -1 : static_cast<int>(at - of[value].begin());
}

Axes axes_of(const GroupSteps& s) {
  Union u(s);
  for (const GroupStep& step : s.steps) {
    const int out = step.output, x = step.inputs[0];
    if (is_matmul(step)) {
      const int y = step.inputs[1];
      u.aligned(out, x, 2), u.aligned(out, y, 2);
      u.same(out, u.rank(out) - 2, x, u.rank(x) - 2);
      u.same(out, u.rank(out) - 1, y, u.rank(y) - 1);
      u.same(x, u.rank(x) - 1, y, u.rank(y) - 2);
      u.summed(x, u.rank(x) - 1);
    } else if (is_reduction(step.kind)) {
      const int dim = step.attributes.dim;
      for (int d = 0; d < u.rank(x); ++d)
        if (d != dim) u.same(out, d, x, d);
      u.summed(x, dim);
      if (step.attributes.to != 1) u.whole(x, dim), u.whole(out, dim);
    } else if (graph::is_elementwise(step.kind) || step.kind == graph::OpKind::mask) {
      for (int v : step.inputs) u.aligned(out, v);
    } else if (step.kind == graph::OpKind::permute) {
      for (int d = 0; d < u.rank(out); ++d) u.same(out, d, x, static_cast<int>(step.attributes.sizes[d]));
    } else {  // rotary embeddings need all of the last dimension
      u.aligned(out, x);
      for (int v : step.inputs) u.aligned(out, v, 1), u.whole(v, u.rank(v) - 1);
    }
  }
  return u.axes();
}

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
