#include "plan/estimate.hpp"

#include <algorithm>
#include <map>

namespace zellige::plan {

predict::CostEstimate estimate(const graph::KernelGraph& g, const target::Target& target) {
  return estimate_cost(sketch(g, target), target);
}

graph::KernelGraph part_of(const graph::KernelGraph& g, const std::vector<int>& ops) {
  graph::KernelGraph part;
  part.name = g.name;
  std::map<int, int> at;  // by tensor of the graph: the part's
  const auto tensor = [&](int t) {
    const auto [found, is_new] = at.insert({t, static_cast<int>(part.tensors.size())});
    if (is_new) part.tensors.push_back(g.tensors[t]), part.tensors.back().memory = -1;
    return found->second;
  };
  std::vector<bool> read(g.tensors.size());  // within the part
  for (const int i : ops) {
    graph::KernelOp op = g.ops[i];
    for (int& t : op.inputs) {
      read[t] = true;
      const bool is_input = !at.contains(t);
      t = tensor(t);
      if (is_input) part.inputs.push_back(t);
    }
    for (int& t : op.outputs) t = tensor(t);
    part.ops.push_back(std::move(op));
  }
  for (const int i : ops)
    for (const int t : g.ops[i].outputs) {
      const bool leaves =
          std::ranges::count(g.outputs, t) > 0 || std::ranges::any_of(g.ops, [&](const graph::KernelOp& other) {
            return std::ranges::count(ops, static_cast<int>(&other - g.ops.data())) == 0 &&
                   std::ranges::count(other.inputs, t) > 0;
          });
      if (leaves || !read[t]) part.outputs.push_back(at.at(t));
    }
  return part;
}

}  // namespace zellige::plan
