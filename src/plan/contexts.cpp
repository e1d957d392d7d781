#include "plan/contexts.hpp"

#include <algorithm>

namespace zellige::plan {

int add_context(Kernel& plan, Context c) {
  const auto same = std::ranges::find(plan.rmem, c, &RmemTensor::layout);
  const auto index = static_cast<int>(same - plan.rmem.begin());
  if (same == plan.rmem.end()) plan.rmem.push_back({std::move(c)});
  return index;
}

int add_blocked(Kernel& plan, const Shape& domain, int inner, int vector) {
  while (vector > 1 && domain[inner] % vector != 0) vector /= 2;
  return add_context(plan, blocked_layout(domain, inner, vector, plan.program.threads()));
}

int add_default_blocked(Kernel& plan, const Shape& domain, int inner) {
  int vector = max_elements_per_step;
  while (vector > 1 && graph::size(domain) / vector < plan.program.threads()) vector /= 2;
  return add_blocked(plan, domain, inner, vector);
}

int register_context(const Kernel& plan, const Sections& sections, int x, const Shape& domain, int reader) {
  int best = -1;
  std::int64_t maximum = 0;
  const std::vector<Leaf> all = leaves(plan.program, x, domain);
  const bool pairs = std::ranges::any_of(all, [](const Leaf& leaf) { return leaf.at == At::pair; });
  for (const Leaf& leaf : all) {
    const int c = plan.rmem_of(leaf.node);
    if (c < 0 || !leaf.identity() || sections.complete(leaf.node) != sections.of(reader)) continue;
    const Context& where = plan.rmem[c].layout;
    if (pairs && !whole_pairs(where)) continue;
    const std::int64_t rank = where.row || where.replicated() ? 2 : 1;
    if (rank > maximum) maximum = rank, best = c;
  }
  return best;
}

bool in_registers(const Kernel& plan, const Sections& sections, const Leaf& leaf, const Task& task) {
  const Node& node = plan.program.nodes[leaf.node];
  const int evaluated = plan.rmem_of(leaf.node);
  if (evaluated < 0 || leaf.at == At::elsewhere || sections.complete(leaf.node) != section_of(task, sections))
    return false;
  const Context& c = plan.layout_of(task);
  if (evaluated == task.context)
    return leaf.identity() || (leaf.at == At::pair && node.shape == c.domain && whole_pairs(c));
  return leaf.at != At::pair && lines_of(plan.rmem[evaluated].layout, c);
}

}  // namespace zellige::plan
