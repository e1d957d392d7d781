#include "emit/parameters.hpp"

#include <set>

namespace zellige::emit {

std::vector<Parameter> parameters(const plan::KernelPlan& plan) {
  std::vector<Parameter> list;
  std::set<int> reads, writes;
  const std::vector<plan::Node>& nodes = plan.program.nodes;
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    const bool store = nodes[i].kind == plan::NodeKind::store;
    if (!store && nodes[i].kind != plan::NodeKind::load) continue;
    if (plan.boxed(i))
      list.push_back({nodes[i].tensor, store, i});
    else
      (store ? writes : reads).insert(nodes[i].tensor);
  }
  for (int t : reads)
    if (!writes.count(t)) list.push_back({t, false, -1});
  for (int t : writes) list.push_back({t, true, -1});
  return list;
}

}  // namespace zellige::emit
