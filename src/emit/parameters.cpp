#include "emit/parameters.hpp"

#include <algorithm>
#include <set>

#include "emit/source_lines.hpp"

namespace zellige::emit {

std::vector<Parameter> parameters(const kernel::Kernel& kernel) {
  std::vector<Parameter> list;
  std::set<int> reads, writes;
  const std::vector<tile::Node>& nodes = kernel.program.nodes;
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    const bool store = nodes[i].kind == tile::NodeKind::store;
    if (!store && nodes[i].kind != tile::NodeKind::load) continue;
    if (kernel.uses_tma(i))
      list.push_back({nodes[i].tensor, store, i});
    else
      (store ? writes : reads).insert(nodes[i].tensor);
  }
  for (int t : reads)
    if (!writes.count(t)) list.push_back({t, false, -1});
  for (int t : writes) list.push_back({t, true, -1});
  return list;
}

std::vector<Parameter> parameters(std::span<const kernel::Kernel> programs) {
  std::vector<Parameter> list;
  for (const bool writes : {false, true})
    for (const kernel::Kernel& kernel : programs)
      for (const Parameter& p : parameters(kernel)) {
        const auto same = [&](const Parameter& other) { return other.tensor == p.tensor; };
        if (p.writes == writes && std::ranges::none_of(list, same)) list.push_back(p);
      }
  return list;
}

std::string pointer_text(const Parameter& p, const tile::TilePrograms& program, Names& names) {
  const graph::KernelTensor& tensor = program.tensors[p.tensor];
  return fmt::format("gmem<{}{}> {}", p.writes ? "" : "const ", type_name(tensor.dtype), names.pointer(tensor.name));
}

}  // namespace zellige::emit
