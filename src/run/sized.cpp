#include "run/sized.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <set>

#include "graph/compose.hpp"
#include "graph/kept.hpp"
#include "graph/ops.hpp"
#include "interpret/difference.hpp"
#include "lower/size_marks.hpp"
#include "reference/cut.hpp"
#include "reference/inputs.hpp"
#include "tile/at_sizes.hpp"
#include "tile/found_sizes.hpp"
#include "tile/sections.hpp"

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

/// Returns the index along dimension j minus that along i of the last elements of a mask, which is 0 on a diagonal that ends there.
graph::SymbolicExtent diagonal(const graph::KernelOp& op, const graph::SymbolicShape& x) {
  const auto [i, j] = graph::mask_dims(op.attributes, x.size());
  return x[j] - x[i];
}

/// Returns whether the integer at this place may follow from sizes in a plan: extents of inputs, the strides of row-major inputs,
/// shapes of views, lengths of masks, and diagonals of masks that end at the last elements, as of T queries on P + T keys.
bool may_follow(const graph::KernelGraph& g, const graph::IntegerPlace& p, const graph::SymbolicExtent& e,
                const std::vector<graph::SymbolicShape>& shapes) {
  if (p.of == Of::shape) return true;
  if (p.of == Of::strides) return graph::row_major(shapes[p.index])[static_cast<std::size_t>(p.entry)] == e;
  const graph::KernelOp& op = g.ops[p.index];
  if (p.of == Of::sizes) return op.kind == OpKind::reshape || op.kind == OpKind::expand;
  if (p.of == Of::start || p.of == Of::end) return op.kind == OpKind::slice;
  if (p.of == Of::length) return op.kind == OpKind::mask;
  return (p.of == Of::tril || p.of == Of::triu) && e.low() >= 0 && diagonal(op, shapes[op.inputs[0]]) == e;
}

/// Returns an extent as a number of the sizes of a plan, which lack those with one value.
tile::SymbolicNumber number_of(const graph::SymbolicExtent& e, const tile::SizeList& list) {
  return e.as<tile::SymbolicNumber>([&](const graph::NamedSize& s) -> tile::SymbolicNumber {
    const auto at = std::ranges::find(list, s.name, &tile::Size::name);
    if (at == list.end()) return s.minimum();
    return tile::SymbolicNumber::of(list, static_cast<int>(at - list.begin()));
  });
}

/// Returns whether an operator has a constant that follows from sizes in its kernels, or that they could take for one: the divisor of
/// a mean, the diagonal or the length of a mask, or the ends of a slice.
bool has_count(const graph::KernelGraph& g, const std::vector<graph::SymbolicShape>& shapes) {
  for (const auto& [place, e] : g.sizes->integers)
    if (place.of == Of::length && !e.constant()) return true;
  return std::ranges::any_of(g.ops, [&](const graph::KernelOp& op) {
    const graph::SymbolicShape& x = shapes[op.inputs[0]];
    if (op.kind == OpKind::mask) return !diagonal(op, x).constant();
    if (op.kind == OpKind::slice) {
      const auto d = static_cast<std::size_t>(op.attributes.dim);
      return !x[d].constant() || !shapes[op.outputs[0]][d].constant();
    }
    const bool sums = op.kind == OpKind::sum || op.kind == OpKind::mean || op.kind == OpKind::reduction ||
                      op.kind == OpKind::rms_norm || op.kind == OpKind::layer_norm;
    if (!sums) return false;
    return std::ranges::any_of(graph::composed_dims(op.kind, op.attributes, graph::Shape(x.size(), 1)),
                               [&](int d) { return !x[static_cast<std::size_t>(d)].constant(); });
  });
}

/// Returns values near the least ones, other ones of each size.
graph::SizeValues near_minimum(const graph::KernelGraph& g, std::int64_t steps) {
  graph::SizeValues values;
  for (const graph::NamedSize& s : graph::sizes_of(g)) {
    values[s.name] = std::min(s.greatest(), s.minimum() + steps * s.multiple);
    if (steps > 0) ++steps;
  }
  return values;
}

/// Returns the number of elements that the interpreter evaluates of a program's tiles, which are those of the greatest sizes.
double interpreted(const tile::TilePrograms& program) {
  double elements = 0;
  for (const tile::TileProgram& kernel : program.kernels) {
    const tile::Sections sections(kernel);
    double of_block = 0;
    for (std::size_t i = 0; i < kernel.nodes.size(); ++i) {
      const bool repeated = sections.inside(static_cast<int>(i));
      of_block +=
          static_cast<double>(graph::size(kernel.nodes[i].shape)) * static_cast<double>(repeated ? kernel.loop : 1);
    }
    elements += of_block * static_cast<double>(kernel.grid.count());
  }
  return elements;
}

using SizeNames = std::set<std::string>;

SizeNames names_in(const graph::SymbolicExtent& e) {
  SizeNames names;
  for (const graph::NamedSize* s : e.sizes())
    if (s->minimum() < s->greatest()) names.insert(s->name);
  return names;
}

SizeNames common(const SizeNames& a, const SizeNames& b) {
  SizeNames both;
  std::ranges::set_intersection(a, b, std::inserter(both, both.end()));
  return both;
}

/// Throws Error if an operator sums over a dimension with a size what is relative to a sum over it, as a variance does: kernels that
/// do both in one pass have the number of elements of a block's part as a constant.
void refuse_centred(const graph::KernelGraph& g, const std::vector<graph::SymbolicShape>& shapes) {
  std::vector<SizeNames> summed(g.tensors.size()), relative(g.tensors.size()), in_shape(g.tensors.size());
  for (std::size_t t = 0; t < shapes.size(); ++t)
    for (const graph::SymbolicExtent& e : shapes[t]) in_shape[t].merge(names_in(e));
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    const graph::KernelOp& op = g.ops[i];
    const int x = op.inputs[0];
    SizeNames along, sums, away;
    if (graph::reduces(op.kind) || graph::is_composed(op.kind) || op.kind == OpKind::reduction)
      for (int d : graph::composed_dims(op.kind, op.attributes, g.tensors[x].shape))
        along.merge(names_in(shapes[x][static_cast<std::size_t>(d)]));
    if (const SizeNames found = common(along, relative[x]); !found.empty())
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

std::vector<std::int64_t> values_of_shapes(const graph::KernelGraph& g,
                                           const std::vector<std::optional<graph::Shape>>& inputs) {
  if (inputs.size() != g.inputs.size())
    fail("graph {}: expected the shapes of {} inputs, found {}", g.name, g.inputs.size(), inputs.size());
  tile::SizeList sizes;
  for (const graph::NamedSize& s : graph::sizes_of(g))
    sizes.push_back({.name = s.name, .low = s.minimum(), .high = s.greatest(), .multiple = s.multiple});
  std::deque<tile::SizeExpression> expressions;  // of which the extents have addresses
  std::vector<tile::FoundExtent> extents;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    const graph::KernelTensor& t = g.tensors[g.inputs[i]];
    if (inputs[i]->size() != t.shape.size())
      fail("graph {}, input {}: expected {} dimensions, found {}", g.name, t.name, t.shape.size(), inputs[i]->size());
    for (int d = 0; d < std::ssize(t.shape); ++d) {
      const graph::SymbolicExtent e = graph::integer_of(g, {Of::shape, g.inputs[i], d});
      expressions.push_back(e.as<tile::SizeExpression>([&](const graph::NamedSize& s) {
        return tile::SizeExpression::of(
            sizes, static_cast<int>(std::ranges::find(sizes, s.name, &tile::Size::name) - sizes.begin()));
      }));
      extents.push_back({&expressions.back(), (*inputs[i])[static_cast<std::size_t>(d)], "input", t.name, d});
    }
  }
  return tile::found_sizes({"graph", g.name, sizes}, extents);
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
    if (s.minimum() < s.greatest())
      list.push_back({.name = s.name, .low = s.minimum(), .high = s.greatest(), .multiple = s.multiple});
  if (list.empty()) return list;
  for (const auto& [place, e] : g.sizes->integers) {
    if (e.constant()) continue;
    if (!may_follow(g, place, e, shapes))
      fail("graph {}: {} is {}, and kernels need it as a constant", g.name, shown(g, place), e);
    if (place.of == Of::shape && e.size())
      std::ranges::find(list, e.size()->name, &tile::Size::name)->of.emplace_back(place.index, place.entry);
  }
  SizeNames in_inputs;
  for (const auto& [place, e] : g.sizes->integers)
    if (place.of == Of::shape) in_inputs.merge(names_in(e));
  for (const auto& [place, e] : g.sizes->integers)  // after all names, which the launch gives
    if (place.of == Of::shape && !e.size() && !e.constant())
      list[static_cast<std::size_t>(size_of(list, number_of(e, list)))].of.emplace_back(place.index, place.entry);
  for (const auto& [place, e] : g.sizes->integers)
    if ((place.of == Of::start || place.of == Of::end) && !e.constant()) {
      const graph::KernelOp& op = g.ops[place.index];
      list[static_cast<std::size_t>(size_of(list, number_of(e, list)))].marks.emplace_back(g.tensors[op.inputs[0]].name,
                                                                                           op.attributes.dim);
    }
  for (const auto& [place, e] : g.sizes->integers)
    if (place.of == Of::length && !e.constant())
      list[static_cast<std::size_t>(size_of(list, number_of(e, list)))].marks.emplace_back(
          g.tensors[g.ops[place.index].outputs[0]].name, lower::mask_length);
  refuse_centred(g, shapes);
  for (const tile::Size& s : list)
    if (s.of.empty() && !s.computed && !in_inputs.contains(s.name))
      fail("graph {}: expected size {} to be a dimension of an input, found none", g.name, s.name);
  return list;
}

void try_sizes(const tile::TilePrograms& program, const graph::KernelGraph& g) {
  constexpr double quick = 2e8, longest = 2e9;  // operations
  const bool needed = has_count(g, graph::extents(g));
  for (const std::int64_t steps : {0, 2}) {
    const graph::SizeValues values = near_minimum(g, steps);
    const graph::KernelGraph constants = graph::at(g, values);
    tile::ValuesBySize of;
    for (const tile::Size& s : program.sizes)
      if (!s.computed) of.push_back(values.at(s.name));
    const tile::TilePrograms at = tile::at_sizes(program, of);
    if (const double work = std::max(reference::work(constants), interpreted(at)); work > (needed ? longest : quick)) {
      if (!needed) return;
      fail(
          "graph {}: expected a graph with a mean or a mask along a size of at most {:.2g} operations at {}, so that "
          "its kernels "
          "are tried there, found {:.2g}",
          g.name, longest, text_of(values), work);
    }
    const reference::RandomInputs inputs = reference::random_inputs(constants, 1, {});
    if (const auto difference = interpret::difference(at, constants, inputs.arrays))
      fail("graph {}: what its kernels compute at {} is not what the graph does, so they need a size as a constant: {}",
           g.name, text_of(values), difference->text(at));
  }
}

tile::SizeList moved(tile::SizeList sizes, const std::vector<int>& inputs, const std::vector<int>& other_inputs) {
  for (tile::Size& s : sizes)
    for (auto& [tensor, dim] : s.of)
      if (const auto at = std::ranges::find(inputs, tensor); at != inputs.end())
        tensor = other_inputs.at(static_cast<std::size_t>(at - inputs.begin()));
  return sizes;
}

}  // namespace zellige::run
