#include "run/sized.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "graph/compose.hpp"
#include "graph/ops.hpp"

namespace zellige::run {
namespace {

using Of = graph::IntegerPlace::Of;
using graph::OpKind;

/// Returns the place of an integer of a graph as a message names it: "dimension 0 of x", "operator 3 (mask): its tril".
std::string shown(const graph::KernelGraph& g, const graph::IntegerPlace& p) {
  if (p.of == Of::shape) return fmt::format("dimension {} of {}", p.entry, g.tensors[p.index].name);
  if (p.of == Of::strides) return fmt::format("the stride of dimension {} of {}", p.entry, g.tensors[p.index].name);
  const char* names[] = {"shape", "strides", "sizes", "start", "end", "tril", "triu", "length"};
  return fmt::format("the {} of operator {} ({})", names[static_cast<int>(p.of)], p.index,
                     graph::name(g.ops[p.index].kind));
}

/// Returns whether the integer at this place may follow from sizes in a plan: a name as an input's extent, the strides of row-major
/// inputs, and shapes of views.
bool may_follow(const graph::KernelGraph& g, const graph::IntegerPlace& p, const graph::SymbolicExtent& e,
                const std::vector<graph::SymbolicShape>& shapes) {
  if (p.of == Of::shape) return e.size() != nullptr;
  if (p.of == Of::strides) return graph::row_major(shapes[p.index])[static_cast<std::size_t>(p.entry)] == e;
  const OpKind kind = p.of == Of::sizes ? g.ops[p.index].kind : OpKind::custom;
  return kind == OpKind::reshape || kind == OpKind::expand;
}

/// Throws Error if an operator divides by an extent that follows from a size, as means do: kernels multiply by a constant.
void refuse_means(const graph::KernelGraph& g, const std::vector<graph::SymbolicShape>& shapes) {
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    const graph::KernelOp& op = g.ops[i];
    if (op.kind != OpKind::mean && op.kind != OpKind::rms_norm && op.kind != OpKind::layer_norm) continue;
    const graph::KernelTensor& x = g.tensors[op.inputs[0]];
    for (int d : graph::composed_dims(op.kind, op.attributes, x.shape))
      if (const graph::SymbolicExtent& e = shapes[op.inputs[0]][static_cast<std::size_t>(d)]; !e.constant())
        fail("graph {}: {} is dimension {} of {}, and operator {} ({}) needs it as a constant: it divides by it",
             g.name, e, d, x.name, i, graph::name(op.kind));
  }
}

using Names = std::set<std::string>;

Names names_in(const graph::SymbolicExtent& e) {
  Names names;
  for (const graph::NamedSize* s : e.sizes())
    if (s->least() < s->greatest()) names.insert(s->name);
  return names;
}

Names common(const Names& a, const Names& b) {
  Names both;
  std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
  return both;
}

/// Throws Error if an operator sums over a dimension with a size what is relative to a sum over it, as a variance does: kernels that
/// do both in one pass have the number of elements of a block's part as a constant.
void refuse_centred(const graph::KernelGraph& g, const std::vector<graph::SymbolicShape>& shapes) {
  std::vector<Names> summed(g.tensors.size()), relative(g.tensors.size()), in_shape(g.tensors.size());
  for (std::size_t t = 0; t < shapes.size(); ++t)
    for (const graph::SymbolicExtent& e : shapes[t]) in_shape[t].merge(names_in(e));
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    const graph::KernelOp& op = g.ops[i];
    const int x = op.inputs[0];
    Names along, sums, away;
    if (graph::reduces(op.kind) || graph::is_composed(op.kind) || op.kind == OpKind::reduction)
      for (int d : graph::composed_dims(op.kind, op.attributes, g.tensors[x].shape))
        along.merge(names_in(shapes[x][static_cast<std::size_t>(d)]));
    if (const Names found = common(along, relative[x]); !found.empty())
      fail(
          "graph {}: {} is a dimension of {}, and operator {} ({}) needs it as a constant: it reduces what is relative "
          "to a sum "
          "along it",
          g.name, *found.begin(), g.tensors[x].name, i, graph::name(op.kind));
    if (op.kind == OpKind::sum || op.kind == OpKind::reduction) sums = along;
    for (int t : op.inputs)
      sums.insert(summed[t].begin(), summed[t].end()), away.insert(relative[t].begin(), relative[t].end());
    if (op.kind == OpKind::add || op.kind == OpKind::sub)
      for (int whole : op.inputs)
        for (int t : op.inputs) away.merge(common(in_shape[whole], summed[t]));
    for (int t : op.outputs) summed[t] = sums, relative[t] = away;
  }
}

}  // namespace

graph::KernelGraph bound_graph(const graph::KernelGraph& g, const graph::SizeValues& given) {
  return graph::at(g, graph::values_of(g, given));
}

std::string text_of(const graph::SizeValues& values) {
  std::string text;
  for (const auto& [name, value] : values) text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", name, value);
  return text;
}

tile::SizeList plan_sizes(const graph::KernelGraph& g) {
  const std::vector<graph::SymbolicShape> shapes = graph::extents(g);
  tile::SizeList list;
  for (const graph::NamedSize& s : graph::sizes_of(g))
    if (s.least() < s.greatest())
      list.push_back({.name = s.name, .low = s.least(), .high = s.greatest(), .multiple = s.multiple});
  if (list.empty()) return list;
  for (const auto& [place, e] : g.sizes->integers) {
    if (e.constant()) continue;
    if (!may_follow(g, place, e, shapes))
      fail("graph {}: {} is {}, and kernels need it as a constant or as the name of a size", g.name, shown(g, place),
           e);
    if (place.of == Of::shape)
      std::ranges::find(list, e.size()->name, &tile::Size::name)->of.emplace_back(place.index, place.entry);
  }
  refuse_means(g, shapes);
  refuse_centred(g, shapes);
  for (const tile::Size& s : list)
    if (s.of.empty()) fail("graph {}: expected size {} to be a dimension of an input, found none", g.name, s.name);
  return list;
}

tile::SizeList moved(tile::SizeList sizes, const std::vector<int>& inputs, const std::vector<int>& other_inputs) {
  for (tile::Size& s : sizes)
    for (auto& [tensor, dim] : s.of)
      if (const auto at = std::ranges::find(inputs, tensor); at != inputs.end())
        tensor = other_inputs.at(static_cast<std::size_t>(at - inputs.begin()));
  return sizes;
}

}  // namespace zellige::run
