#include "plan/contexts.hpp"

#include <algorithm>

namespace zellige::plan {

int add_context(Kernel& plan, Context c) {
  for (std::size_t i = 0; i < plan.contexts.size(); ++i)
    if (plan.contexts[i] == c) return static_cast<int>(i);
  plan.contexts.push_back(std::move(c));
  return static_cast<int>(plan.contexts.size()) - 1;
}

int add_blocked(Kernel& plan, const Shape& domain, int inner, int vector) {
  while (vector > 1 && domain[inner] % vector != 0) vector /= 2;
  return add_context(plan, blocked_layout(domain, inner, vector, plan.program.threads()));
}

int add_default_blocked(Kernel& plan, const Shape& domain, int inner) {
  int vector = max_elements_per_step;
  const std::int64_t elements = graph::size(domain);
  while (vector > 1 && elements / vector < plan.program.threads()) vector /= 2;
  return add_blocked(plan, domain, inner, vector);
}

Section value_section(const Node& n) {
  return n.carried || n.kind == NodeKind::accumulate ? Section::after : n.section;
}

int register_context(const Kernel& plan, int x, const Shape& domain, Section section) {
  int best = -1;
  std::int64_t maximum = 0;
  const std::vector<Leaf> all = leaves(plan.program, x, domain);
  const bool pairs = std::ranges::any_of(all, [](const Leaf& leaf) { return leaf.at == At::pair; });
  for (const Leaf& leaf : all) {
    const auto c = plan.context_of.find(leaf.node);
    if (c == plan.context_of.end() || !leaf.identity() ||
        value_section(plan.program.nodes[leaf.node]) != section)
      continue;
    const Context& where = plan.contexts[c->second];
    if (pairs && !whole_pairs(where)) continue;
    const std::int64_t rank = where.row || where.replicated() ? 2 : 1;
    if (rank > maximum) maximum = rank, best = c->second;
  }
  return best;
}

bool in_registers(const Kernel& plan, const Leaf& leaf, const Task& task) {
  const Node& node = plan.program.nodes[leaf.node];
  const auto evaluated = plan.context_of.find(leaf.node);
  if (evaluated == plan.context_of.end() || leaf.at == At::elsewhere || value_section(node) != task.section)
    return false;
  const Context& c = plan.contexts[task.context];
  if (evaluated->second == task.context)
    return leaf.identity() || (leaf.at == At::pair && node.shape == c.domain && whole_pairs(c));
  return leaf.at != At::pair && lines_of(plan.contexts[evaluated->second], c);
}

}  // namespace zellige::plan
