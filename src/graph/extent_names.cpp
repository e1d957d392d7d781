#include "graph/extent_names.hpp"

#include <algorithm>
#include <array>

#include "graph/collective.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "graph/sized_graph.hpp"

namespace zellige::graph {
namespace {

/// Finds which dimensions of a graph's tensors are one extent.
class ExtentsOfGraph {
 public:
  explicit ExtentsOfGraph(const KernelGraph& g) : g_(g), shapes_(g.tensors.size()) {
    for (int t : g.inputs) shapes_[t] = settled({}, g.tensors[t].shape);
    for (const KernelOp& op : g.ops) {
      if (op.kind == OpKind::custom)
        custom(op);
      else if (is_collective(op.kind))
        place(operands(op.inputs.empty() ? std::vector{op.outputs[0]} : op.inputs, shapes_), op);
      else
        place(infer_shapes({}, op.kind, op.attributes, operands(op.inputs, shapes_)), op);
    }
  }

  ExtentNames names(const ExtentNames& known) const {
    std::map<int, std::string> by_set;
    const std::vector<SymbolicShape> sizes = g_.sizes ? extents(g_) : std::vector<SymbolicShape>();
    const auto each = [&](const auto& visit) {
      for (std::size_t t = 0; t < shapes_.size(); ++t)
        for (std::size_t d = 0; d < shapes_[t].size(); ++d) visit(t, d, shapes_[t][d].set());
    };
    each([&](std::size_t t, std::size_t d, int set) {
      if (set >= 0 && !sizes.empty() && !sizes[t][d].sizes().empty()) by_set.try_emplace(set, to_string(sizes[t][d]));
    });
    each([&](std::size_t t, std::size_t d, int set) {
      const auto of = known.find(g_.tensors[t].name);
      if (set >= 0 && of != known.end() && d < of->second.size() && of->second[d] != "1")
        by_set.try_emplace(set, of->second[d]);
    });
    each([&](std::size_t t, std::size_t d, int set) {
      if (set >= 0) by_set.try_emplace(set, fmt::format("{}.{}", g_.tensors[t].name, d));
    });
    ExtentNames all = known;
    for (std::size_t t = 0; t < shapes_.size(); ++t) {
      std::vector<std::string> of;
      for (const NamedExtent& e : shapes_[t]) of.push_back(e.set() < 0 ? "1" : by_set.at(e.set()));
      all.try_emplace(g_.tensors[t].name, std::move(of));
    }
    return all;
  }

 private:
  /// Returns the shape, each of whose extents is in the set that the rules found, or in one of its own.
  NamedShape settled(const NamedShape& found, const Shape& shape) {
    NamedShape all;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      const int set = d < found.size() ? found[d].set() : -1;
      const bool same = set >= 0 && sets_.value(set) == shape[d];
      all.emplace_back(shape[d], sets_, same ? set : sets_.add(shape[d]));
    }
    return all;
  }

  static std::vector<NamedShape> operands(const std::vector<int>& tensors, const std::vector<NamedShape>& shapes) {
    std::vector<NamedShape> all;
    for (int t : tensors) all.push_back(shapes[t]);
    return all;
  }

  void place(std::vector<NamedShape> results, const KernelOp& op) {
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      if (op.kind == OpKind::reshape || op.kind == OpKind::expand)
        keep_ends(shapes_[op.inputs[0]], results[i], op.kind);
      shapes_[op.outputs[i]] = settled(results[i], g_.tensors[op.outputs[i]].shape);
    }
  }

  /// Gives the extents at the ends of a reshape's or expand's result those of its operand, as far as they are equal.
  static void keep_ends(const NamedShape& x, NamedShape& y, OpKind kind) {
    const std::size_t both = std::min(x.size(), y.size());
    std::size_t first = 0;
    for (; kind == OpKind::reshape && first < both && x[first].value() == y[first].value(); ++first)
      y[first] = x[first];
    for (std::size_t d = 1; d + first <= both; ++d) {
      const NamedExtent &from = x[x.size() - d], &to = y[y.size() - d];
      if (from.value() == to.value())
        y[y.size() - d] = from;
      else if (kind == OpKind::reshape)
        return;
    }
  }

  /// Follows the extents through the tiles of a custom operator. What one axis of the grid divides, or the loop, is one extent.
  void custom(const KernelOp& op) {
    const BlockGraph& b = *op.block;
    std::vector<NamedShape> tiles(b.tensors.size());
    std::array<std::vector<int>, 4> divided;  // sets, by axis; the last ones the loop divides
    for (const BlockOp& of : b.ops) {
      if (of.kind == OpKind::output) {
        shapes_[op.outputs[of.kernel_tensor]] =
            stored(of, tiles[of.inputs[0]], g_.tensors[op.outputs[of.kernel_tensor]].shape, divided);
        continue;
      }
      if (of.kind == OpKind::input) {
        const NamedShape& whole = shapes_[op.inputs[of.kernel_tensor]];
        for (std::size_t d = 0; d < whole.size(); ++d)
          tiles[of.outputs[0]].emplace_back(b.tensors[of.outputs[0]].shape[d], sets_, whole[d].set());
        for (int by = 0; by < 4; ++by)
          if (const int dim = by < 3 ? of.map[by] : of.loop_dim; dim >= 0) divide(divided[by], whole[dim].set());
        continue;
      }
      const std::vector<NamedShape> results = infer_shapes({}, of.kind, of.attributes, operands(of.inputs, tiles));
      for (std::size_t i = 0; i < of.outputs.size(); ++i) tiles[of.outputs[i]] = results[i];
    }
  }

  void divide(std::vector<int>& sets, int set) {
    if (set < 0) return;
    for (const int other : sets) sets_.join(other, set);
    sets.push_back(set);
  }

  /// Returns a result that is made of tiles, whose dimensions of one element have what the grid divides.
  NamedShape stored(const BlockOp& op, NamedShape tile, const Shape& whole,
                    const std::array<std::vector<int>, 4>& divided) {
    for (int axis = 0; axis < 3; ++axis) {
      const int d = op.map[axis];
      if (d < 0 || tile[d].set() >= 0) continue;
      for (const int set : divided[axis])
        if (sets_.value(set) == whole[d]) tile[d] = NamedExtent(whole[d], sets_, set);
    }
    return settled(tile, whole);
  }

  const KernelGraph& g_;
  ExtentSets sets_;
  std::vector<NamedShape> shapes_;  // by tensor
};

/// Returns the name of a dimension; "1" of an operand that a tile has more often.
std::string_view name_of(const ExtentNames& names, const KernelTensor& t, int dim) {
  const auto of = names.find(t.name);
  return of == names.end() || dim >= std::ssize(of->second) ? "1" : std::string_view(of->second[dim]);
}

/// Returns which extents the grid and the loop of a custom operator divide: "x divides x.0, the loop x.1".
std::string divisions(const ExtentNames& names, const KernelGraph& g, const KernelOp& op) {
  std::string text;
  for (int by = 0; by < 4; ++by) {
    std::vector<std::string_view> found;
    for (const BlockOp& of : op.block->ops) {
      const int dim = by < 3 ? of.map[by] : of.loop_dim;
      if ((of.kind != OpKind::input && of.kind != OpKind::output) || dim < 0) continue;
      const int t = of.kind == OpKind::input ? op.inputs[of.kernel_tensor] : op.outputs[of.kernel_tensor];
      const std::string_view name = name_of(names, g.tensors[t], dim);
      if (std::ranges::count(found, name) == 0) found.push_back(name);
    }
    if (!found.empty())
      text += fmt::format("{}{} divides {}", text.empty() ? "" : ", ",
                          by < 3 ? std::string_view("xyz").substr(by, 1) : "the loop", fmt::join(found, " and "));
  }
  return text;
}

}  // namespace

int ExtentSets::add(std::int64_t value) {
  same_.push_back(static_cast<int>(same_.size())), values_.push_back(value);
  return same_.back();
}

int ExtentSets::root(int set) const {
  while (same_[static_cast<std::size_t>(set)] != set) set = same_[static_cast<std::size_t>(set)];
  return set;
}

void ExtentSets::join(int a, int b) {
  a = root(a), b = root(b);
  if (value(a) == value(b)) same_[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
}

Shape NamedShape::values() const {
  Shape all;
  for (const NamedExtent& e : *this) all.push_back(e.value());
  return all;
}

ExtentNames name_extents(const KernelGraph& g, const ExtentNames& known) { return ExtentsOfGraph(g).names(known); }

std::string to_string(const ExtentNames& names, const KernelGraph& g) {
  std::vector<std::pair<std::string, std::string>> lines;  // name and value, and the tensors that have it
  for (const KernelTensor& t : g.tensors)
    for (std::size_t d = 0; d < t.shape.size(); ++d) {
      const std::string_view name = name_of(names, t, static_cast<int>(d));
      if (name == "1") continue;
      const std::string begin = fmt::format("{} = {}", name, t.shape[d]);
      const auto line = std::ranges::find(lines, begin, &std::pair<std::string, std::string>::first);
      if (line == lines.end())
        lines.emplace_back(begin, t.name);
      else if (line->second != t.name && !line->second.ends_with(", " + t.name))
        line->second += ", " + t.name;
    }
  std::string text;
  for (const auto& [begin, tensors] : lines) text += fmt::format("{} of {}\n", begin, tensors);
  for (std::size_t i = 0; i < g.ops.size(); ++i)
    if (g.ops[i].kind == OpKind::custom)
      if (const std::string by = divisions(names, g, g.ops[i]); !by.empty())
        text += fmt::format("operator {}: {}\n", i, by);
  return text;
}

}  // namespace zellige::graph
