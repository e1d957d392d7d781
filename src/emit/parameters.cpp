#include "emit/parameters.hpp"

#include <algorithm>
#include <set>

#include "emit/source_lines.hpp"
#include "tile/size_expression.hpp"

namespace zellige::emit {

namespace {

/// Returns whether threads read the load's tensor for the bounds of their loop, also where a copy of the tile is TMA's.
bool bounds(const kernel::Kernel& kernel, int load) { return kernel.loop_bounds && kernel.loop_bounds->reads(load); }

/// Returns the sizes that the source of a kernel names, outside of TMA's descriptors: where a check of bounds compares with
/// the end of a view, or an access with the end of its tensor.
std::set<int> sizes_of(const kernel::Kernel& kernel, const tile::TilePrograms& program) {
  std::set<int> all;
  const auto add = [&](const tile::SymbolicNumber& n) {
    if (!n.is_constant()) all.merge(tile::SizeExpression::of(n, program.sizes).sizes());
  };
  const std::vector<tile::Node>& nodes = kernel.program.nodes;
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    const tile::Node& n = nodes[i];
    for (int d = 0; d < n.view.rank(); ++d) {
      add(n.view.along(d, kernel.program).origin(program.sizes));
      const bool reads = !kernel.uses_tma(i) || bounds(kernel, i);
      if (reads) add(n.view.along(d, kernel.program).end(program.sizes));
      if (n.tensor >= 0 && reads) add(program.extent(n.tensor, d)), add(program.stride(n.tensor, d));
    }
    for (const int size : {n.tril_size, n.triu_size, n.length_size, n.count_size})
      if (size >= 0) add(tile::SymbolicNumber::of(program.sizes, size));
  }
  add(kernel.program.iterations(program.sizes));
  return all;
}

}  // namespace

std::vector<Parameter> parameters(const kernel::Kernel& kernel, const tile::TilePrograms& program) {
  std::vector<Parameter> list;
  std::set<int> reads, writes;
  const std::vector<tile::Node>& nodes = kernel.program.nodes;
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i) {
    const bool store = nodes[i].kind == tile::NodeKind::store;
    if (!store && nodes[i].kind != tile::NodeKind::load) continue;
    if (kernel.uses_tma(i)) list.push_back({nodes[i].tensor, store, i});
    if (!kernel.uses_tma(i) || bounds(kernel, i)) (store ? writes : reads).insert(nodes[i].tensor);
  }
  if (kernel.symmetric) {
    const kernel::SymmetricExchange& m = *kernel.symmetric;
    if (m.published >= 0) reads.insert(m.published);
    if (m.sum >= 0) reads.insert(m.sum);
    if (m.result >= 0) writes.insert(m.result);
    writes.insert(m.state);
    if (!m.at_end()) (m.gathers ? reads : writes).insert(m.window);
    for (const auto* all : {&m.flags, &m.sums}) writes.insert(all->begin(), all->end());
    if (!m.alternates() || m.gathers) writes.insert(m.windows.begin(), m.windows.end());
  }
  for (int t : reads)
    if (!writes.count(t)) list.push_back({t, false, -1});
  for (int t : writes) list.push_back({t, true, -1});
  if (!program.sizes.empty())
    for (const int size : sizes_of(kernel, program)) list.push_back({.size = size});
  return list;
}

std::vector<Parameter> parameters(std::span<const kernel::Kernel> programs, const tile::TilePrograms& program) {
  std::vector<Parameter> list, sizes;
  for (const bool writes : {false, true})
    for (const kernel::Kernel& kernel : programs)
      for (const Parameter& p : parameters(kernel, program)) {
        const auto same = [&](const Parameter& other) { return other.tensor == p.tensor && other.size == p.size; };
        std::vector<Parameter>& to = p.size < 0 ? list : sizes;
        if (p.writes == writes && std::ranges::none_of(to, same)) to.push_back(p);
      }
  list.insert(list.end(), sizes.begin(), sizes.end());
  return list;
}

bool fits_int(const tile::SymbolicNumber& n) { return n.high() < (std::int64_t{1} << 31) - (1 << 20); }

int bytes_of_size(const tile::TilePrograms& program, int size) {
  bool fits = fits_int(tile::SymbolicNumber::of(program.sizes, size));
  const auto add = [&](const tile::SymbolicNumber& n) { fits = fits && (n.is_constant() || fits_int(n)); };
  for (const tile::TileProgram& kernel : program.kernels)
    for (const tile::Node& n : kernel.nodes)
      for (int d = 0; d < n.view.rank(); ++d) add(n.view.along(d, kernel).end(program.sizes));
  return fits ? 4 : 8;
}

std::string parameter_name(const Parameter& p, const tile::TilePrograms& program, Names& names) {
  return p.size >= 0 ? names.size(program.sizes[p.size].name) : names.pointer(program.tensors[p.tensor].name);
}

std::string parameter_text(const Parameter& p, const tile::TilePrograms& program, Names& names) {
  const std::string name = parameter_name(p, program, names);
  if (p.size >= 0)
    return fmt::format("[[maybe_unused]] {} {}", bytes_of_size(program, p.size) == 4 ? "int" : "long long", name);
  return fmt::format("gmem<{}{}> {}", p.writes ? "" : "const ", type_name(program.tensors[p.tensor].dtype), name);
}

}  // namespace zellige::emit
