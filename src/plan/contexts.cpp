#include "plan/contexts.hpp"

#include <algorithm>

namespace zellige::plan {

int add_context(kernel::Kernel& kernel, kernel::Context c) {
  const auto same = std::ranges::find(kernel.rmem, c, &kernel::RmemTensor::layout);
  const auto index = static_cast<int>(same - kernel.rmem.begin());
  if (same == kernel.rmem.end()) kernel.rmem.push_back({std::move(c)});
  return index;
}

int add_blocked(kernel::Kernel& kernel, const graph::Shape& domain, int inner, int vector) {
  while (vector > 1 && domain[inner] % vector != 0) vector /= 2;
  return add_context(kernel, kernel::blocked_layout(domain, inner, vector, kernel.program.threads()));
}

int add_default_blocked(kernel::Kernel& kernel, const graph::Shape& domain, int inner) {
  int vector = kernel::max_elements_per_step;
  while (vector > 1 && graph::size(domain) / vector < kernel.program.threads()) vector /= 2;
  return add_blocked(kernel, domain, inner, vector);
}

int register_context(const kernel::Kernel& kernel, const tile::Sections& sections, int x, const graph::Shape& domain,
                     int reader) {
  int best = -1;
  std::int64_t maximum = 0;
  const std::vector<kernel::Leaf> all = kernel::leaves(kernel.program, x, domain);
  const bool pairs = std::ranges::any_of(all, [](const kernel::Leaf& leaf) { return leaf.at == kernel::At::pair; });
  for (const kernel::Leaf& leaf : all) {
    const int c = kernel.rmem_of(leaf.node);
    if (c < 0 || !leaf.identity() || sections.complete(leaf.node) != sections.of(reader)) continue;
    const kernel::Context& where = kernel.rmem[c].layout;
    if (pairs && !kernel::whole_pairs(where)) continue;
    const std::int64_t rank = where.row || where.replicated() ? 2 : 1;
    if (rank > maximum) maximum = rank, best = c;
  }
  return best;
}

bool in_registers(const kernel::Kernel& kernel, const tile::Sections& sections, const kernel::Leaf& leaf,
                  const selection::Task& task) {
  const tile::Node& node = kernel.program.nodes[leaf.node];
  const int evaluated = kernel.rmem_of(leaf.node);
  if (evaluated < 0 || leaf.at == kernel::At::elsewhere ||
      sections.complete(leaf.node) != kernel::section_of(task, sections))
    return false;
  const kernel::Context& c = kernel.layout_of(task);
  if (evaluated == task.context)
    return leaf.identity() || (leaf.at == kernel::At::pair && node.shape == c.domain && kernel::whole_pairs(c));
  return leaf.at != kernel::At::pair && kernel::lines_of(kernel.rmem[evaluated].layout, c);
}

}  // namespace zellige::plan
