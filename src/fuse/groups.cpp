#include "fuse/groups.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "fuse/steps.hpp"
#include "graph/view.hpp"

namespace zellige::fuse {

std::size_t Set::count() const {
  std::size_t n = 0;
  for (std::uint64_t w : words_) n += static_cast<std::size_t>(std::popcount(w));
  return n;
}

std::vector<int> Set::list() const {
  std::vector<int> result;
  for (std::size_t i = 0; i < 64 * words_.size(); ++i)
    if (has(static_cast<int>(i))) result.push_back(static_cast<int>(i));
  return result;
}

Order order_of(const graph::KernelGraph& g) {
  std::vector<int> maker(g.tensors.size(), -1);
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    for (int t : g.ops[i].outputs) maker[t] = static_cast<int>(i);
  Order o;
  for (const graph::KernelOp& op : g.ops) {
    Set direct(g.ops.size()), all(g.ops.size());
    for (int t : op.inputs)
      if (maker[t] >= 0) direct.add(maker[t]), all.add(maker[t]), all.add(o.all[maker[t]]);
    o.direct.push_back(direct), o.all.push_back(all);
  }
  return o;
}

bool is_convex(const Set& s, const Order& o) {
  for (std::size_t i = 0; i < o.all.size(); ++i) {
    const int x = static_cast<int>(i);
    if (s.has(x) || !o.all[i].meets(s)) continue;
    for (int y : s.list())
      if (o.all[y].has(x)) return false;
  }
  return true;
}

std::vector<int> neighbours(const graph::KernelGraph& g, const Set& s, const Order& o) {
  std::vector<int> shown(g.tensors.size());  // what a view shows
  std::iota(shown.begin(), shown.end(), 0);
  for (const graph::KernelOp& op : g.ops)
    if (graph::is_view(op.kind)) shown[op.outputs[0]] = shown[op.inputs[0]];
  std::set<int> read;
  for (int i : s.list())
    for (int t : g.ops[i].inputs) read.insert(shown[t]);
  std::vector<int> result;
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    const int x = static_cast<int>(i);
    if (s.has(x) || !fusable(g, x)) continue;
    const bool makes = std::ranges::any_of(s.list(), [&](int y) { return o.direct[y].has(x); });
    const bool shares = std::ranges::any_of(g.ops[i].inputs, [&](int t) { return read.count(shown[t]) > 0; });
    if (makes || shares || o.direct[i].meets(s)) result.push_back(x);
  }
  return result;
}

}  // namespace zellige::fuse
