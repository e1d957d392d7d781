#include "reference/cut.hpp"

#include <algorithm>
#include <map>

#include "graph/block_tiles.hpp"
#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/kept.hpp"
#include "graph/ops.hpp"

namespace zellige::reference {
namespace {

/// Returns whether a block operator computes the same in a block of a smaller grid as in the corresponding
/// block of the whole grid. False if the operator handles partial tiles or stores a slice, because its result
/// then depends on the block's position in the grid.
bool anywhere(const graph::BlockOp& op) {
  // Else some blocks store nothing, or a partial tile. The bounds of a mask are shifted to the smaller grid's origin.
  if (op.kind == graph::OpKind::output) return op.attributes.dim < 0 && op.attributes.sizes.empty();
  return op.kind != graph::OpKind::input || op.attributes.sizes.empty();
}

/// Builds the subgraph for one region, from the requested tensor back to known tensors. Each region of a
/// tensor is computed once.
class Cutter {
 public:
  Cutter(const graph::KernelGraph& g, const std::vector<bool>& known)
      : g_(g), known_(known), producer_(g.tensors.size(), -1) {
    known_.resize(g.tensors.size());
    for (int t : g.inputs) known_[t] = true;
    for (std::size_t i = 0; i < g.ops.size(); ++i)
      for (int t : g.ops[i].outputs) producer_[t] = static_cast<int>(i);
    cut_.graph.name = g.name;
  }

  RegionGraph run(int tensor, const TensorRegion& r) {
    cut_.graph.outputs = {computed(tensor, r)};
    return std::move(cut_);
  }

  const graph::Shape& shape(int t) const { return g_.tensors[t].shape; }

  /// Returns the index of the subgraph's tensor that holds region `r` of tensor `t`. If the values of `t` are
  /// known, that tensor is an input of the subgraph; otherwise adds the operators that compute it.
  int need(int t, const TensorRegion& r) {
    const auto at = made_.find({t, r});
    if (at != made_.end()) return at->second;
    int index = -1;
    if (known_[t]) {
      index = add(t, r);
      cut_.graph.inputs.push_back(index);
      cut_.inputs.push_back({t, r});
    } else {
      index = computed(t, r);
    }
    return made_[{t, r}] = index;
  }

  /// Returns the region of `operand`, which broadcasts, that an elementwise operator reads to compute region
  /// `r` of its result.
  TensorRegion broadcast(const TensorRegion& r, int operand) const {
    const graph::Shape& shape = g_.tensors[operand].shape;
    TensorRegion part = whole(shape);
    const std::size_t skip = r.extent.size() - shape.size();
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (shape[d] != 1) part.origin[d] = r.origin[d + skip], part.extent[d] = r.extent[d + skip];
    return part;
  }

  /// Adds an operator to the subgraph, whose results are the regions `given` of `tensors`. Returns the index in the
  /// subgraph of region `r` of tensor `t`, one of these: of the result itself, or of a slice.
  int emit(graph::KernelOp op, const std::vector<int>& tensors, const std::vector<TensorRegion>& given, int t,
           const TensorRegion& r) {
    for (std::size_t i = 0; i < tensors.size(); ++i) op.outputs.push_back(add(tensors[i], given[i]));
    const auto at = std::ranges::find(tensors, t) - tensors.begin();
    const int index = op.outputs[at];
    cut_.graph.ops.push_back(std::move(op));
    return slice(index, t, given[at], r);
  }
  /// Adds an operator whose one result is region `r` of tensor `t`. Returns the result's index in the subgraph.
  int emit(graph::KernelOp op, int t, const TensorRegion& r) { return emit(std::move(op), {t}, {r}, t, r); }

 private:
  /// Adds a tensor of the shape of region `r`, with the dtype and name of tensor `t`, to the subgraph.
  /// Returns its index.
  int add(int t, const TensorRegion& r) {
    const graph::KernelTensor& whole = g_.tensors[t];
    cut_.graph.tensors.push_back({whole.dtype, r.extent, graph::row_major(r.extent), whole.name});
    return static_cast<int>(cut_.graph.tensors.size()) - 1;
  }

  /// Slices tensor `from` of the subgraph, which holds the region `given` of tensor `t`, to the region `r`.
  /// Adds one split per dimension in which the regions differ. Returns the slice's index in the subgraph.
  int slice(int from, int t, TensorRegion given, const TensorRegion& r) {
    for (std::size_t d = 0; d < r.extent.size(); ++d) {
      if (given.extent[d] == r.extent[d]) continue;
      const std::int64_t before = r.origin[d] - given.origin[d], after = given.extent[d] - before - r.extent[d];
      graph::KernelOp split{graph::OpKind::split, {from}, {}, {}, nullptr};
      split.attributes.dim = static_cast<int>(d);
      const auto piece = [&](std::int64_t extent) {
        if (extent == 0) return -1;
        TensorRegion smaller = given;
        smaller.extent[d] = extent;
        split.attributes.sizes.push_back(extent);
        split.outputs.push_back(add(t, smaller));
        return split.outputs.back();
      };
      piece(before);
      const int kept = piece(r.extent[d]);
      piece(after);
      cut_.graph.ops.push_back(std::move(split));
      from = kept;
      given.origin[d] = r.origin[d], given.extent[d] = r.extent[d];
    }
    return from;
  }

  /// Adds the operators that compute region `r` of tensor `t`. Returns the index of the subgraph's tensor
  /// that holds the region.
  int computed(int t, const TensorRegion& r);

  const graph::KernelGraph& g_;
  std::vector<bool> known_;
  std::vector<int> producer_;  // per tensor: the operator
  std::map<std::pair<int, TensorRegion>, int> made_;
  RegionGraph cut_;
};

// Each rule adds an operator to the subgraph, restricted to region `r` of its result `t` if that is possible, and
// returns the index that the region has in the subgraph.

/// Of an operator that no other rule handles: does not restrict it, but slices its result.
int everything(Cutter& c, const graph::KernelOp& op, int t, const TensorRegion& r) {
  graph::KernelOp same{op.kind, {}, {}, op.attributes, op.block};
  std::vector<TensorRegion> given;
  for (int operand : op.inputs) same.inputs.push_back(c.need(operand, whole(c.shape(operand))));
  for (int out : op.outputs) given.push_back(whole(c.shape(out)));
  return c.emit(std::move(same), op.outputs, given, t, r);
}

/// Of an elementwise operator or mask.
int same_part(Cutter& c, const graph::KernelOp& op, int t, const TensorRegion& r) {
  graph::KernelOp smaller{op.kind, {}, {}, op.attributes, nullptr};
  if (op.kind == graph::OpKind::mask) smaller.attributes = graph::mask_from(op.attributes, r.origin);
  for (int operand : op.inputs) smaller.inputs.push_back(c.need(operand, c.broadcast(r, operand)));
  return c.emit(std::move(smaller), t, r);
}

/// Of a matmul: it needs rows of the left operand, columns of the right one, and all of K.
int product_part(Cutter& c, const graph::KernelOp& op, int t, const TensorRegion& r) {
  graph::KernelOp smaller{op.kind, {}, {}, op.attributes, nullptr};
  const auto shape_of = [&](std::size_t i) -> const graph::Shape& { return c.shape(op.inputs[i]); };
  const bool row = shape_of(0).size() > 1,
             column = shape_of(1).size() > 1;  // otherwise vectors: the result lacks it
  const std::size_t rank = r.extent.size(), batches = row || column ? rank - row - column : 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const graph::Shape& shape = shape_of(i);
    TensorRegion part = whole(shape);  // all of K
    if (shape.size() > 1) {
      const std::size_t own = shape.size() - 2, outer = own + i, from = i == 0 ? batches : rank - 1;
      part.origin[outer] = r.origin[from], part.extent[outer] = r.extent[from];
      for (std::size_t d = 0; d < own; ++d)
        if (shape[d] != 1) part.origin[d] = r.origin[batches - own + d], part.extent[d] = r.extent[batches - own + d];
    }
    smaller.inputs.push_back(c.need(op.inputs[i], part));
  }
  if (op.inputs.size() > 2) smaller.inputs.push_back(c.need(op.inputs[2], c.broadcast(r, op.inputs[2])));
  return c.emit(std::move(smaller), t, r);
}

/// Of an operator such as softmax, which reads and computes the dimensions `dims` as a whole: restricts it along the
/// other dimensions, then slices the result.
int along(Cutter& c, const graph::KernelOp& op, int t, const TensorRegion& r, const std::vector<int>& dims) {
  TensorRegion given = r, read = r;
  for (int dim : dims) {
    given.origin[dim] = read.origin[dim] = 0;
    given.extent[dim] = c.shape(t)[dim];
    read.extent[dim] = c.shape(op.inputs[0])[dim];
  }
  graph::KernelOp smaller{op.kind, {c.need(op.inputs[0], read)}, {}, op.attributes, nullptr};
  for (std::size_t i = 1; i < op.inputs.size(); ++i) {
    TensorRegion part = c.broadcast(given, op.inputs[i]);
    const graph::Shape& shape = c.shape(op.inputs[i]);
    for (int dim : dims) {  // the other operands need whole dimensions, too
      const auto own = static_cast<std::size_t>(dim) + shape.size() - r.extent.size();
      if (own < shape.size()) part.origin[own] = 0, part.extent[own] = shape[own];
    }
    smaller.inputs.push_back(c.need(op.inputs[i], part));
  }
  return c.emit(std::move(smaller), {t}, {given}, t, r);
}

/// Of a reduction over the dimensions `dims`, which it reads as a whole.
int reduced(Cutter& c, const graph::KernelOp& op, int t, const TensorRegion& r, const std::vector<int>& dims) {
  const graph::Shape& shape = c.shape(op.inputs[0]);
  TensorRegion read = whole(shape);
  std::size_t from = 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const bool over = std::ranges::count(dims, static_cast<int>(d)) > 0;
    if (!over) read.origin[d] = r.origin[from], read.extent[d] = r.extent[from];
    from += !over || op.attributes.keepdim;
  }
  return c.emit({op.kind, {c.need(op.inputs[0], read)}, {}, op.attributes, nullptr}, t, r);
}

/// Of a composite operator, reduction or rotation of pairs.
int composed_part(Cutter& c, const graph::KernelOp& op, int t, const TensorRegion& r) {
  const std::vector<int> dims = graph::composed_dims(op.kind, op.attributes, c.shape(op.inputs[0]));
  return graph::reduces(op.kind) ? reduced(c, op, t, r, dims) : along(c, op, t, r, dims);
}

/// Of a gather by index: it needs all rows of the table, but only the region's elements of each row.
int gathered(Cutter& c, const graph::KernelOp& op, int t, const TensorRegion& r) {
  if (op.kind != graph::OpKind::gather) return everything(c, op, t, r);
  TensorRegion table = whole(c.shape(op.inputs[0])), numbers = whole(c.shape(op.inputs[1]));
  const std::size_t front = numbers.extent.size();
  for (std::size_t d = 0; d < r.extent.size(); ++d) {
    TensorRegion& part = d < front ? numbers : table;
    const std::size_t at = d < front ? d : d - front + 1;
    part.origin[at] = r.origin[d], part.extent[at] = r.extent[d];
  }
  return c.emit({op.kind, {c.need(op.inputs[0], table), c.need(op.inputs[1], numbers)}, {}, op.attributes, nullptr}, t,
                r);
}

/// Of a split.
int taken(Cutter& c, const graph::KernelOp& op, int t, const TensorRegion& r) {
  const int dim = op.attributes.dim;
  TensorRegion part = r;
  for (std::size_t i = 0; op.outputs[i] != t; ++i) part.origin[dim] += op.attributes.sizes[i];
  graph::KernelOp smaller{op.kind, {c.need(op.inputs[0], part)}, {}, op.attributes, nullptr};
  smaller.attributes.sizes = {r.extent[dim]};
  return c.emit(std::move(smaller), t, r);
}

/// Of a concat: it concatenates the parts of operands that lie in the region.
int joined(Cutter& c, const graph::KernelOp& op, int t, const TensorRegion& r) {
  if (op.kind == graph::OpKind::split) return taken(c, op, t, r);
  const int dim = op.attributes.dim;
  graph::KernelOp smaller{op.kind, {}, {}, op.attributes, nullptr};
  std::int64_t offset = 0;
  for (int operand : op.inputs) {
    const std::int64_t extent = c.shape(operand)[dim];
    const std::int64_t from = std::max(r.origin[dim], offset),
                       to = std::min(r.origin[dim] + r.extent[dim], offset + extent);
    if (from < to) {
      TensorRegion part = r;
      part.origin[dim] = from - offset, part.extent[dim] = to - from;
      smaller.inputs.push_back(c.need(operand, part));
    }
    offset += extent;
  }
  return c.emit(std::move(smaller), t, r);
}

/// Of a view (permute, expand, slice or reshape): the same view of a region of the operand.
int seen(Cutter& c, const graph::KernelOp& op, int t, const TensorRegion& r) {
  const int operand = op.inputs[0];
  graph::KernelOp smaller{op.kind, {}, {}, op.attributes, nullptr};
  TensorRegion given = r, part = r;
  switch (op.kind) {  // each view maps coordinates in its own way, and has its own attributes
    case graph::OpKind::permute:
      for (std::size_t d = 0; d < r.extent.size(); ++d) {
        const auto of = static_cast<std::size_t>(op.attributes.sizes[d]);
        part.origin[of] = r.origin[d], part.extent[of] = r.extent[d];
      }
      break;
    case graph::OpKind::expand:
      part = c.broadcast(r, operand);
      smaller.attributes.sizes = r.extent;
      break;
    case graph::OpKind::unfold:
      part.origin.pop_back(), part.extent.pop_back();
      part.origin[op.attributes.dim] = 0, part.extent[op.attributes.dim] = c.shape(operand)[op.attributes.dim];
      given.origin[op.attributes.dim] = given.origin.back() = 0;
      given.extent[op.attributes.dim] = c.shape(t)[op.attributes.dim], given.extent.back() = op.attributes.sizes[0];
      break;
    case graph::OpKind::slice:
      part.origin[op.attributes.dim] += op.attributes.start;
      smaller.attributes.start = 0, smaller.attributes.end = r.extent[op.attributes.dim];
      break;
    default: {  // reshape
      const Regrouped both = regroup(r, c.shape(t), c.shape(operand));
      given = both.seen, part = both.from;
      smaller.attributes.sizes = given.extent;
    }
  }
  smaller.inputs.push_back(c.need(operand, part));
  return c.emit(std::move(smaller), {t}, {given}, t, r);
}

/// Of a custom operator, restricted to the blocks that write the region: the same block graph on a smaller grid, with
/// the regions of the operands that these blocks load. Then slices the result.
int blocks(Cutter& c, const graph::KernelOp& op, int t, const TensorRegion& r) {
  if (!std::ranges::all_of(op.block->ops, anywhere)) return everything(c, op, t, r);
  const graph::BlockGraph& b = *op.block;
  const auto position = static_cast<int>(std::ranges::find(op.outputs, t) - op.outputs.begin());
  const graph::BlockOp& store = *std::ranges::find_if(b.ops, [&](const graph::BlockOp& inner) {
    return inner.kind == graph::OpKind::output && inner.kernel_tensor == position;
  });
  std::array<std::int64_t, 3> first{0, 0, 0}, count{b.grid.x, b.grid.y, b.grid.z};
  for (int axis = 0; axis < 3; ++axis) {
    const int d = store.map[axis];
    if (d < 0) continue;
    const std::int64_t tile = c.shape(t)[d] / b.grid[axis];
    first[axis] = r.origin[d] / tile;
    count[axis] = (r.origin[d] + r.extent[d] + tile - 1) / tile - first[axis];
  }
  auto smaller = std::make_shared<graph::BlockGraph>(b);
  smaller->grid = {count[0], count[1], count[2]};
  const auto cut_to_blocks = [&](const graph::BlockOp& inner, int tensor) {
    TensorRegion part = whole(c.shape(tensor));
    for (int axis = 0; axis < 3; ++axis) {
      const int d = inner.map[axis];
      if (d < 0) continue;
      const std::int64_t share = c.shape(tensor)[d] / b.grid[axis];
      part.origin[d] = first[axis] * share, part.extent[d] = count[axis] * share;
    }
    return part;
  };
  graph::KernelOp custom{op.kind, {}, {}, op.attributes, nullptr};
  std::vector<TensorRegion> stored(op.outputs.size());
  for (graph::BlockOp& inner : smaller->ops) {
    if (inner.kind == graph::OpKind::input) {  // a tensor that two operators load may be restricted in two ways
      const int tensor = op.inputs[inner.kernel_tensor];
      inner.kernel_tensor = static_cast<int>(custom.inputs.size());
      custom.inputs.push_back(c.need(tensor, cut_to_blocks(inner, tensor)));
    } else if (inner.kind == graph::OpKind::output) {
      stored[inner.kernel_tensor] = cut_to_blocks(inner, op.outputs[inner.kernel_tensor]);
    } else if (inner.kind == graph::OpKind::mask) {
      const graph::Shape& tile = b.tensors[inner.outputs[0]].shape;
      inner.attributes = graph::mask_from(inner.attributes,
                                          graph::tile_origin(inner, tile, {first[0], first[1], first[2]}, 0, b.loop));
    }
  }
  custom.block = std::move(smaller);
  return c.emit(std::move(custom), op.outputs, stored, t, r);
}

int Cutter::computed(int t, const TensorRegion& r) {
  const graph::KernelOp& op = g_.ops[producer_[t]];
  using Rule = int (*)(Cutter&, const graph::KernelOp&, int, const TensorRegion&);
  static const std::map<graph::OpFamily, Rule> rules{{graph::OpFamily::elementwise, same_part},
                                                     {graph::OpFamily::mask, same_part},
                                                     {graph::OpFamily::composed, composed_part},
                                                     {graph::OpFamily::reduction, composed_part},
                                                     {graph::OpFamily::rotary, composed_part},
                                                     {graph::OpFamily::matmul, product_part},
                                                     {graph::OpFamily::rows, gathered},
                                                     {graph::OpFamily::join, joined},
                                                     {graph::OpFamily::view, seen},
                                                     {graph::OpFamily::custom, blocks}};
  const auto rule = rules.find(graph::family(op.kind));
  return rule == rules.end() ? everything(*this, op, t, r) : rule->second(*this, op, t, r);
}

}  // namespace

RegionGraph cut(const graph::KernelGraph& g, int tensor, const TensorRegion& r, const std::vector<bool>& known) {
  return Cutter(g, known).run(tensor, r);
}

double work(const graph::KernelGraph& g) {
  double sum = 0;
  const auto elements = [](const auto& tensors, const std::vector<int>& list) {
    double n = 0;
    for (int t : list) n += static_cast<double>(graph::size(tensors[t].shape));
    return n;
  };
  const auto one = [&](const auto& tensors, const auto& op) {
    if (op.kind == graph::OpKind::matmul)  // 2 per multiply-add
      return 2 * elements(tensors, op.outputs) * static_cast<double>(tensors[op.inputs[0]].shape.back());
    return work_an_element * std::max(elements(tensors, op.inputs), elements(tensors, op.outputs));
  };
  sum += work_an_element * elements(g.tensors, g.inputs);
  for (const graph::KernelOp& op : g.ops) {
    if (op.kind != graph::OpKind::custom) {
      sum += one(g.tensors, op);
      continue;
    }
    double block = 0;
    for (const graph::BlockOp& inner : op.block->ops) block += one(op.block->tensors, inner);
    sum += block * static_cast<double>(op.block->grid.count() * op.block->loop);
  }
  return sum;
}

double bytes(const graph::KernelGraph& g) {
  double sum = 0;
  for (const graph::KernelTensor& t : g.tensors) sum += 8 * static_cast<double>(graph::size(t.shape));
  return sum;
}

}  // namespace zellige::reference
