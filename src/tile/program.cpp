#include "tile/program.hpp"

#include <algorithm>

#include "graph/reductions.hpp"
#include "tile/sections.hpp"

namespace zellige::tile {

std::string_view name(NodeKind kind) {
  static constexpr std::string_view names[] = {"load",       "map",         "round",        "matmul",  "reduce",
                                               "accumulate", "running_max", "running_diff", "slice",   "concat",
                                               "rotate",     "unpack",      "repeat",       "permute", "store"};
  static_assert(std::size(names) == std::size_t(NodeKind::store) + 1);
  return kind <= NodeKind::store ? names[std::size_t(kind)] : "?";
}

std::vector<int> TileProgram::consumers(int node) const {
  std::vector<int> result;
  for (int i = 0; i < static_cast<int>(nodes.size()); ++i)
    if (std::ranges::count(nodes[i].in, node) > 0) result.push_back(i);
  return result;
}

std::vector<bool> TileProgram::needed() const {
  std::vector<bool> result(nodes.size());
  for (std::size_t i = nodes.size(); i-- > 0;) {
    result[i] = result[i] || nodes[i].kind == NodeKind::store;
    if (result[i])
      for (int in : nodes[i].in) result[in] = true;
  }
  return result;
}

std::vector<SymbolicNumber> TileProgram::grid_of(const SizeList& sizes) const {
  std::vector<SymbolicNumber> result{grid.x, grid.y, grid.z};
  for (const Node& n : nodes)
    for (int d = 0; d < n.view.rank(); ++d) {
      const Interval along = n.view.along(d, *this);
      if (along.counted() && along.axis() >= 0) result[along.axis()] = along.tiles(sizes) * along.run();
    }
  return result;
}

bool TileProgram::has_sized_loop() const {
  for (const Node& n : nodes)
    for (int d = 0; d < n.view.rank(); ++d)
      if (const Interval along = n.view.along(d, *this); n.view.iterates(d) && along.size() >= 0)
        if (along.counted() || along.axis() >= 0) return true;  // all blocks, or those in whose part the size ends
  return false;
}

SymbolicNumber TileProgram::iterations(const SizeList& sizes) const {
  for (const Node& n : nodes)
    for (int d = 0; d < n.view.rank(); ++d)
      if (n.view.iterates(d) && n.view.along(d, *this).counted()) return n.view.along(d, *this).iterations(sizes);
  return loop;
}

SymbolicNumber TilePrograms::start(int tensor, int dim) const {
  const TensorView* of = view(tensor);
  if (!of) return 0;
  const auto found = of->start_sizes.find(dim);
  return found == of->start_sizes.end() ? SymbolicNumber(of->starts[dim]) : SymbolicNumber::of(sizes, found->second);
}

SymbolicNumber TilePrograms::stride(int tensor, int dim) const {
  const auto found = strides.find(tensor);
  return found == strides.end() ? tensors[tensor].strides[dim] : found->second[dim];
}

SymbolicNumber TilePrograms::extent(int tensor, int dim) const {
  for (std::size_t s = 0; s < sizes.size(); ++s)
    if (std::ranges::count(sizes[s].of, std::pair(tensor, dim)) > 0)
      return SymbolicNumber::of(sizes, static_cast<int>(s));
  return tensors[tensor].shape[dim];
}

graph::KernelTensor TilePrograms::minimally_aligned(int tensor) const {
  graph::KernelTensor t = tensors[tensor];
  if (strides.contains(tensor))
    for (int d = 0; d < static_cast<int>(t.strides.size()); ++d) t.strides[d] = stride_unit(tensor, d);
  return t;
}

std::int64_t TilePrograms::line_padding(int tensor, int dim) const {
  if (windows(tensor)) return 0;
  const graph::KernelTensor &seen = tensors[tensor], &memory = tensors[memory_of(tensor)];
  if (std::ranges::count(inputs, memory_of(tensor)) > 0 || memory.memory >= 0) return 0;
  std::int64_t line = 0, next = 0;  // extent of the contiguous dimension; least stride of the others
  for (std::size_t d = 0; d < memory.shape.size(); ++d) {
    if (memory.shape[d] == 1) continue;
    if (memory.strides[d] == 1)
      line = memory.shape[d];
    else
      next = next == 0 ? memory.strides[d] : std::min(next, memory.strides[d]);
  }
  const bool whole = seen.shape[dim] == line && seen.strides[dim] == 1 && starts(tensor)[dim] == 0;
  return whole && line > 1 ? std::max<std::int64_t>(next - line, 0) : 0;
}

Node TilePrograms::access(NodeKind kind, int tensor, TileView view) const {
  Node n;
  n.kind = kind, n.tensor = tensor;
  n.dtype = tensors[tensor].dtype, n.name = tensors[tensor].name;
  n.unfolded = windows(tensor) != nullptr;
  for (int d = 0; d < view.rank(); ++d) n.shape.push_back(view.tile(d));
  n.view = std::move(view);
  return n;
}

}  // namespace zellige::tile
