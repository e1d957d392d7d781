#include "plan/contexts.hpp"

#include <algorithm>

namespace zellige::plan {

int add_context(kernel::Kernel& plan, kernel::Context c) {
  const auto same = std::ranges::find(plan.rmem, c, &kernel::RmemTensor::layout);
  const auto index = static_cast<int>(same - plan.rmem.begin());
  if (same == plan.rmem.end()) plan.rmem.push_back({std::move(c)});
  return index;
}

int add_blocked(kernel::Kernel& plan, const graph::Shape& domain, int inner, int vector) {
  while (vector > 1 && domain[inner] % vector != 0) vector /= 2;
  return add_context(plan, kernel::blocked_layout(domain, inner, vector, plan.program.threads()));
}

int add_default_blocked(kernel::Kernel& plan, const graph::Shape& domain, int inner) {
  int vector = kernel::max_elements_per_step;
  while (vector > 1 && graph::size(domain) / vector < plan.program.threads()) vector /= 2;
  return add_blocked(plan, domain, inner, vector);
}

int register_context(const kernel::Kernel& plan, const tile::Sections& sections, int x, const graph::Shape& domain,
                     int reader) {
  int best = -1;
  std::int64_t maximum = 0;
  const std::vector<kernel::Leaf> all = kernel::leaves(plan.program, x, domain);
  const bool pairs = std::ranges::any_of(all, [](const kernel::Leaf& leaf) { return leaf.at == kernel::At::pair; });
  for (const kernel::Leaf& leaf : all) {
    const int c = plan.rmem_of(leaf.node);
    if (c < 0 || !leaf.identity() || sections.complete(leaf.node) != sections.of(reader)) continue;
    const kernel::Context& where = plan.rmem[c].layout;
    if (pairs && !kernel::whole_pairs(where)) continue;
    const std::int64_t rank = where.row || where.replicated() ? 2 : 1;
    if (rank > maximum) maximum = rank, best = c;
  }
  return best;
}

bool in_registers(const kernel::Kernel& plan, const tile::Sections& sections, const kernel::Leaf& leaf,
                  const selection::Task& task) {
  const tile::Node& node = plan.program.nodes[leaf.node];
  const int evaluated = plan.rmem_of(leaf.node);
  if (evaluated < 0 || leaf.at == kernel::At::elsewhere ||
      sections.complete(leaf.node) != kernel::section_of(task, sections))
    return false;
  const kernel::Context& c = plan.layout_of(task);
  if (evaluated == task.context)
    return leaf.identity() || (leaf.at == kernel::At::pair && node.shape == c.domain && kernel::whole_pairs(c));
  return leaf.at != kernel::At::pair && kernel::lines_of(plan.rmem[evaluated].layout, c);
}

}  // namespace zellige::plan
