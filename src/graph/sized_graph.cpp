#include "graph/sized_graph.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "graph/collective.hpp"
#include "graph/infer.hpp"
#include "strings/nearest.hpp"

namespace zellige::graph {
namespace {

using Of = IntegerPlace::Of;

/// Returns the integer at a place of the graph; nullptr if there is no such place.
template <class Graph>
auto integer_at(Graph& g, const IntegerPlace& p) -> decltype(g.tensors[0].shape.data()) {
  const bool of_tensor = p.of == Of::shape || p.of == Of::strides;
  if (p.index < 0 || p.index >= std::ssize(g.tensors) || p.entry < 0) return nullptr;
  const auto entry = static_cast<std::size_t>(p.entry);
  if (of_tensor) {
    auto& list = p.of == Of::shape ? g.tensors[p.index].shape : g.tensors[p.index].strides;
    return entry < list.size() ? &list[entry] : nullptr;
  }
  if (p.index >= std::ssize(g.ops)) return nullptr;
  auto& a = g.ops[p.index].attributes;
  switch (p.of) {
    case Of::sizes:
      return entry < a.sizes.size() ? &a.sizes[entry] : nullptr;
    case Of::start:
      return &a.start;
    case Of::end:
      return &a.end;
    case Of::tril:
      return a.kept.tril ? &*a.kept.tril : nullptr;
    case Of::triu:
      return a.kept.triu ? &*a.kept.triu : nullptr;
    default:
      return a.kept.length ? &*a.kept.length : nullptr;
  }
}

/// Sets the integers of the graph that depend on sizes to what they are at these values, and infers all shapes again.
void set_integers(KernelGraph& g, const SizeValues& values) {
  std::vector<bool> input(g.tensors.size(), false);
  for (int t : g.inputs) input[t] = true;
  for (std::size_t t = 0; t < g.tensors.size(); ++t)
    if (!input[t]) g.tensors[t].shape.clear();
  for (const auto& [place, expression] : g.sizes->integers) *integer_at(g, place) = evaluate(expression, values);
}

std::vector<std::string> names_of(const std::vector<NamedSize>& sizes) {
  std::vector<std::string> names;
  for (const NamedSize& s : sizes) names.push_back(s.name);
  return names;
}

/// Returns the graph's size of this name. Throws Error, with the names that there are, if there is none.
const NamedSize& size_named(const KernelGraph& g, std::string_view name) {
  const std::vector<NamedSize>& all = sizes_of(g);
  const auto at = std::ranges::find(all, name, &NamedSize::name);
  if (at != all.end()) return *at;
  if (all.empty())
    fail("graph {}: expected a graph with the size {}, found one whose extents are all constants", g.name, name);
  const std::vector<std::string> names = names_of(all);
  fail("graph {}: expected one of the sizes {}, found {}{}", g.name, fmt::join(names, ", "), name,
       did_you_mean(name, names));
}

/// Throws Error unless each stride of a tensor is beyond what the smaller ones reach, or its dimension has one element.
void check_nested(const Where& where, const KernelTensor& t, const SymbolicShape& shape, const SymbolicShape& strides) {
  std::vector<std::size_t> order;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) order.push_back(d);
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return strides[a].high() < strides[b].high(); });
  SymbolicExtent reach = 1;
  for (std::size_t d : order) {
    if (!always_less_equal(reach, strides[d]))
      fail_at(
          where,
          "expected strides that give each element of tensor {} an address of its own for all sizes, found {} for {}: "
          "the stride of dimension {} is {}, and the smaller ones reach {}",
          t.name, to_string(strides), to_string(shape), d, strides[d], reach);
    reach = reach + (shape[d] - 1) * strides[d];
  }
}

/// Returns the shape of a collective's result for all values of sizes. `x`: its operand's. Whether there is such a dimension is checked with
/// the integers at the greatest values.
SymbolicShape collective_extents(const Where& where, const KernelOp& op, SymbolicShape x, int ranks) {
  const auto dim = [&](std::int64_t d) -> SymbolicExtent* {
    return d >= 0 && d < std::ssize(x) ? &x[static_cast<std::size_t>(d)] : nullptr;
  };
  const auto split = [&](std::int64_t d) {
    SymbolicExtent* e = dim(d);
    if (e && !e->divides_into(ranks))
      fail_at(where, "expected {} ranks to divide dimension {} for all sizes, as they do {} * N, found {}", ranks, d,
              ranks, *e);
    if (e) *e = *e / ranks;
  };
  const auto join = [&](std::int64_t d) {
    if (SymbolicExtent* e = dim(d)) *e = *e * SymbolicExtent(ranks);
  };
  const Attributes& a = op.attributes;
  if (op.kind == OpKind::rank) return {SymbolicExtent(1)};
  if (op.kind == OpKind::all_gather) join(a.dim);
  if (op.kind == OpKind::reduce_scatter) split(a.dim);
  if (op.kind == OpKind::all_to_all && a.sizes.size() == 2) split(a.sizes[0]), join(a.sizes[1]);
  return x;
}

}  // namespace

SymbolicShape row_major(const SymbolicShape& shape) {
  SymbolicShape strides(shape.size());
  SymbolicExtent step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step = step * shape[d];
  }
  return strides;
}

const std::vector<NamedSize>& sizes_of(const KernelGraph& g) {
  static const std::vector<NamedSize> none;
  return g.sizes ? g.sizes->names : none;
}

SymbolicShape expressed(const SymbolicSizes& sizes, const std::vector<std::int64_t>& constants, IntegerPlace place) {
  SymbolicShape all(constants);
  for (SymbolicExtent& e : all) {
    if (const auto known = sizes.integers.find(place); known != sizes.integers.end()) e = known->second;
    ++place.entry;
  }
  return all;
}

SymbolicAttributes expressed(const SymbolicSizes& sizes, const Attributes& a, int op) {
  return {a, expressed(sizes, a.sizes, {Of::sizes, op}), expressed(sizes, {a.start}, {Of::start, op})[0],
          expressed(sizes, {a.end}, {Of::end, op})[0]};
}

SymbolicExtent integer_of(const KernelGraph& g, const IntegerPlace& place) {
  if (g.sizes)
    if (const auto known = g.sizes->integers.find(place); known != g.sizes->integers.end()) return known->second;
  return *integer_at(g, place);
}

ExtentInference::ExtentInference(const KernelGraph& g) : g_(g), shapes_(g.tensors.size()) {
  const Where top{g.name};
  if (g.sizes) {
    const SizeValues values = greatest(g.sizes->names);
    for (const NamedSize& s : g.sizes->names) check_size(to_string(top), s);
    if (values.size() != g.sizes->names.size()) fail_at(top, "expected each size once, found one twice");
    for (const auto& [place, expression] : g.sizes->integers) {
      const auto* found = integer_at(g, place);
      const std::int64_t expected = evaluate(expression, values);
      if (!found || *found != expected)
        fail_at(top, "expected the integer {} to be {}, that at the greatest sizes, found {}", expression, expected,
                found ? fmt::format("{}", *found) : "none");
    }
  }
  for (int t : g.inputs) {
    shapes_[t] = g.sizes ? expressed(*g.sizes, g.tensors[t].shape, {Of::shape, t}) : SymbolicShape(g.tensors[t].shape);
    check_shape(top, "input " + g.tensors[t].name, shapes_[t]);
  }
}

void ExtentInference::check_mask(const Where& where, int index) const {
  const Kept& k = g_.ops[index].attributes.kept;
  for (const auto& [of, name, set, minimum] : {std::tuple{Of::tril, "tril", k.tril.has_value(), -max_extent},
                                               {Of::triu, "triu", k.triu.has_value(), -max_extent},
                                               {Of::length, "length", k.length.has_value(), std::int64_t{0}}}) {
    if (!set) continue;
    const SymbolicExtent bound = integer_of(g_, {of, index});
    if (bound.low() < minimum || bound.high() > max_extent)
      fail_at(where, "expected {} to be {} to {} for all sizes, found {}, which is {} to {}", name, minimum, max_extent,
              bound, bound.low(), bound.high());
  }
}

void ExtentInference::run(const Where& where, int index) {
  const KernelOp& op = g_.ops[index];
  std::vector<SymbolicShape> operands;
  for (int t : op.inputs) operands.push_back(shapes_[t]);
  if (op.kind == OpKind::custom) {
    for (std::size_t i = 0; i < operands.size(); ++i)
      for (std::size_t d = 0; d < operands[i].size(); ++d)
        if (!operands[i][d].constant())
          fail_at(
              where,
              "expected operands of constant extents, as a custom operator's tiles are, found {} in dimension {} of {}",
              operands[i][d], d, g_.tensors[op.inputs[i]].name);
    return;  // the caller takes the results
  }
  if (op.kind == OpKind::mask) check_mask(where, index);
  if (is_collective(op.kind)) {
    shapes_[op.outputs[0]] =
        collective_extents(where, op, operands.empty() ? SymbolicShape() : std::move(operands[0]), g_.ranks);
    return;
  }
  const SymbolicAttributes attributes = expressed(g_.sizes ? *g_.sizes : SymbolicSizes(), op.attributes, index);
  const std::vector<SymbolicShape> results = infer_shapes(where, op.kind, attributes, operands);
  for (std::size_t i = 0; i < results.size() && i < op.outputs.size(); ++i) {
    check_shape(where, "the result", results[i]);
    shapes_[op.outputs[i]] = results[i];
  }
}

void ExtentInference::take(int tensor) { shapes_[tensor] = SymbolicShape(g_.tensors[tensor].shape); }

std::vector<SymbolicShape> extents(const KernelGraph& g) {
  ExtentInference all(g);
  for (std::size_t i = 0; i < g.ops.size(); ++i) {
    const int index = static_cast<int>(i);
    all.run(Where{g.name}.at(index, name(g.ops[i].kind)), index);
    if (g.ops[i].kind == OpKind::custom)
      for (int t : g.ops[i].outputs) all.take(t);
  }
  return all.shapes();
}

void check_symbolic_strides(const KernelGraph& g) {
  const std::vector<SymbolicShape> shapes = extents(g);
  for (std::size_t t = 0; t < g.tensors.size(); ++t)
    if (g.tensors[t].strides.size() == shapes[t].size())
      check_nested({g.name}, g.tensors[t], shapes[t],
                   expressed(*g.sizes, g.tensors[t].strides, {Of::strides, static_cast<int>(t)}));
}

SizeValues greatest(const std::vector<NamedSize>& sizes) {
  SizeValues values;
  for (const NamedSize& s : sizes) values[s.name] = s.greatest();
  return values;
}

SizeValues values_of(const KernelGraph& g, const SizeValues& given) {
  for (const auto& [name, value] : given) check_value("graph " + g.name, size_named(g, name), value);
  SizeValues values = given;
  for (const NamedSize& s : sizes_of(g))
    values.try_emplace(s.name, s.typical.empty() ? s.greatest() : std::ranges::max(s.typical));
  return values;
}

KernelGraph at(const KernelGraph& g, const SizeValues& values) {
  if (!g.sizes) return g;
  for (const NamedSize& s : g.sizes->names) {
    const auto value = values.find(s.name);
    if (value == values.end()) fail("graph {}: expected a value of size {}, found none", g.name, s.name);
    check_value("graph " + g.name, s, value->second);
  }
  KernelGraph constants = g;
  set_integers(constants, values);
  constants.sizes = nullptr;
  return infer(std::move(constants));
}

KernelGraph narrowed(KernelGraph g, const std::vector<NamedSize>& to) {
  if (to.empty()) return g;
  for (const NamedSize& s : to) {
    const NamedSize& own = size_named(g, s.name);
    check_size("graph " + g.name, s);
    if (s.min < own.min || s.max > own.max)
      fail("graph {}: expected size {} from {} to {}, found {} to {}", g.name, s.name, own.min, own.max, s.min, s.max);
    if (s.multiple % own.multiple != 0)
      fail("graph {}: expected size {} to have a multiple that {} divides, found {}", g.name, s.name, own.multiple,
           s.multiple);
  }
  SymbolicSizes sizes = *g.sizes;
  for (NamedSize& s : sizes.names)
    if (const auto by = std::ranges::find(to, s.name, &NamedSize::name); by != to.end()) {
      std::vector<std::int64_t> typical = by->typical.empty() ? s.typical : by->typical;
      s = *by, s.typical = std::move(typical);
      std::erase_if(s.typical, [&](std::int64_t v) { return v < s.min || v > s.max || v % s.multiple != 0; });
    }
  for (auto& [place, expression] : sizes.integers) expression = replaced(expression, sizes.names);
  g.sizes = std::make_shared<const SymbolicSizes>(std::move(sizes));
  set_integers(g, greatest(g.sizes->names));
  return infer(std::move(g));
}

}  // namespace zellige::graph
