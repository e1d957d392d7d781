#include "graph/builder.hpp"

#include <algorithm>

#include "graph/block_tiles.hpp"
#include "graph/collective.hpp"
#include "graph/infer.hpp"

namespace zellige::graph {
namespace {

/// Appends an operator to `ops`, and a tensor for each of its results to `tensors`. Infers the shapes and, from the
/// first operand, the dtype. Returns the indices of the results.
template <class Op, class T>
std::vector<int> add(const Where& where, OpKind kind, const Attributes& attributes, const std::vector<int>& operands,
                     std::vector<Op>& ops, std::vector<T>& tensors) {
  std::vector<Shape> shapes;
  for (int t : operands) shapes.push_back(tensors[t].shape);
  const DType dtype = result_dtype(kind, attributes, tensors[operands.at(0)].dtype);
  Op op{.kind = kind, .inputs = operands, .attributes = attributes};
  for (Shape& shape : infer_shapes(where, kind, attributes, shapes)) {
    check_shape(where, "the result", shape);
    op.outputs.push_back(static_cast<int>(tensors.size()));
    tensors.push_back({.dtype = dtype, .shape = std::move(shape)});
  }
  ops.push_back(op);
  return op.outputs;
}

std::array<int, 3> map_of(const Split& split) { return {split.x, split.y, split.z}; }

}  // namespace

Builder::Builder(std::string name, int ranks) { graph_.name = std::move(name), graph_.ranks = ranks; }

SymbolicExtent Builder::size(NamedSize size) {
  check_size(to_string(Where{graph_.name}), size);
  if (std::ranges::count(sizes_.names, size.name, &NamedSize::name) > 0)
    fail_at({graph_.name}, "expected each size to have a name of its own, found {} twice", size.name);
  sizes_.names.push_back(size);
  return SymbolicExtent(std::move(size));
}

TensorHandle Builder::input(std::string name, const SymbolicShape& extents, DType dtype, const SymbolicShape& strides) {
  Shape shape = planned(extents);
  if (!is_constant(extents)) check_shape({graph_.name}, "input " + name, extents);
  check_shape({graph_.name}, "input " + name, shape);
  const int index = static_cast<int>(graph_.tensors.size());
  const SymbolicShape steps = strides.empty() ? row_major(extents) : strides;
  keep({IntegerPlace::Of::shape, index}, extents);
  keep({IntegerPlace::Of::strides, index}, steps);
  extents_.push_back(extents);
  graph_.inputs.push_back(index);
  graph_.tensors.push_back({dtype, std::move(shape), planned(steps), std::move(name)});
  return {this, index};
}

TensorHandle Builder::constant(std::string name, const SymbolicShape& shape, DType dtype,
                               const SymbolicShape& strides) {
  const TensorHandle tensor = input(std::move(name), shape, dtype, strides);
  graph_.tensors[tensor.index].constant = true;
  return tensor;
}

TensorHandle Builder::output(TensorHandle tensor, std::string name, const SymbolicShape& strides) {
  if (tensor.scope != this) fail_at({graph_.name}, "expected an output of this builder, found a tensor of another");
  KernelTensor& t = graph_.tensors[tensor.index];
  if (!name.empty()) t.name = std::move(name);
  if (!strides.empty()) t.strides = planned(strides), keep({IntegerPlace::Of::strides, tensor.index}, strides);
  graph_.outputs.push_back(tensor.index);
  return tensor;
}

void Builder::keep(IntegerPlace place, const SymbolicShape& list) {
  for (const SymbolicExtent& e : list) {
    for (const NamedSize* s : e.sizes())
      if (std::ranges::count(sizes_.names, *s) == 0)
        fail_at({graph_.name}, "expected sizes of this builder, found {} in {}", s->name, e);
    if (!e.sizes().empty()) sizes_.integers.insert_or_assign(place, e);
    ++place.entry;
  }
}

void Builder::follow(IntegerPlace::Of of, const SymbolicShape& list) {
  keep({of, static_cast<int>(graph_.ops.size())}, list);
}

TensorHandle Builder::in_place(TensorHandle y, TensorHandle x) {
  if (y.scope != this || x.scope != this)
    fail_at({graph_.name}, "expected tensors of this builder, found one of another");
  graph_.tensors[y.index].memory = x.index;
  return y;
}

std::vector<int> Builder::append(OpKind kind, const Attributes& attributes, const std::vector<int>& operands) {
  const Where where = Where{graph_.name}.at(static_cast<int>(graph_.ops.size()), name(kind));
  if (is_collective(kind)) {
    const KernelTensor* x = operands.empty() ? nullptr : &graph_.tensors[operands[0]];
    KernelTensor y = collective_result(where, kind, attributes, x, graph_.ranks);
    const int made = static_cast<int>(graph_.tensors.size());
    graph_.tensors.push_back(std::move(y));
    graph_.ops.push_back({.kind = kind, .inputs = operands, .outputs = {made}, .attributes = attributes});
    if (!sizes_.names.empty()) {
      KernelGraph so_far = graph_;
      so_far.sizes = std::make_shared<const SymbolicSizes>(sizes_);
      extents_ = extents(so_far);
    }
    return {made};
  }
  std::vector<SymbolicShape> extents;
  if (!sizes_.names.empty()) {
    std::vector<SymbolicShape> in;
    for (int t : operands) in.push_back(extents_[t]);
    extents = infer_shapes(where, kind, expressed(sizes_, attributes, static_cast<int>(graph_.ops.size())), in);
  }
  std::vector<int> results = add(where, kind, attributes, operands, graph_.ops, graph_.tensors);
  extents_.resize(graph_.tensors.size());
  for (std::size_t i = 0; i < extents.size(); ++i) extents_[results.at(i)] = std::move(extents[i]);
  return results;
}

TensorHandle Builder::rank() { return {this, append(OpKind::rank, {}, {})[0]}; }

std::vector<TensorHandle> Builder::custom(const CustomLaunch& launch, const std::function<void(BlockBuilder&)>& body) {
  BlockBuilder block(*this, launch);
  body(block);
  KernelOp op{.kind = OpKind::custom, .inputs = std::move(block.inputs_)};
  op.block = std::make_shared<const BlockGraph>(std::move(block.block_));
  std::vector<TensorHandle> results;
  for (KernelTensor& t : block.stored_) {
    op.outputs.push_back(static_cast<int>(graph_.tensors.size()));
    results.push_back({this, op.outputs.back()});
    extents_.emplace_back(t.shape);
    graph_.tensors.push_back(std::move(t));
  }
  graph_.ops.push_back(std::move(op));
  return results;
}

KernelGraph Builder::build() const {
  KernelGraph g = graph_;
  if (!sizes_.names.empty()) g.sizes = std::make_shared<const SymbolicSizes>(sizes_);
  g = infer(std::move(g));
  validate(g);
  return g;
}

BlockBuilder::BlockBuilder(Builder& kernel, const CustomLaunch& launch)
    : kernel_(kernel), block_{.grid = launch.grid, .block = launch.block, .loop = launch.loop} {
  const Where where = Where{kernel.graph_.name}.at(static_cast<int>(kernel.graph_.ops.size()), "custom");
  for (std::int64_t extent : {launch.grid.x, launch.grid.y, launch.grid.z, launch.loop})
    if (extent < 1) fail_at(where, "expected a grid and a loop of at least 1, found {}", extent);
}

void BlockBuilder::follow(IntegerPlace::Of, const SymbolicShape& list) {
  fail_at(here("custom"), "expected constants in a block graph, found {}", to_string(list));
}

Where BlockBuilder::here(std::string_view kind) const {
  return Where{kernel_.graph_.name}
      .at(static_cast<int>(kernel_.graph_.ops.size()), "custom")
      .inside(static_cast<int>(block_.ops.size()), kind);
}

TileHandle BlockBuilder::load(TensorHandle whole, Split split, std::string name) {
  const Where where = here("input");
  if (whole.scope != &kernel_) fail_at(where, "expected a kernel-level tensor of this builder, found one of another");
  const auto at = std::ranges::find(inputs_, whole.index);
  const BlockOp op{.kind = OpKind::input,
                   .outputs = {static_cast<int>(block_.tensors.size())},
                   .kernel_tensor = static_cast<int>(at - inputs_.begin()),
                   .map = map_of(split),
                   .loop_dim = split.loop};
  if (at == inputs_.end()) inputs_.push_back(whole.index);
  block_.tensors.push_back({.dtype = kernel_.graph_.tensors[whole.index].dtype,
                            .shape = input_tile(where, op, whole.shape(), block_.grid, block_.loop),
                            .name = std::move(name)});
  block_.ops.push_back(op);
  return {this, op.outputs[0]};
}

void BlockBuilder::store(TileHandle tile, Split split, std::string name, Strides strides, StoreSlice slice) {
  const Where where = here("output");
  if (tile.scope != this) fail_at(where, "expected a tile of this block graph, found one of another");
  if (split.loop != -1) fail_at(where, "expected an output that the loop does not split, found loop = {}", split.loop);
  BlockOp op{.kind = OpKind::output,
             .inputs = {tile.index},
             .attributes = {.dim = slice.dim, .start = slice.start, .end = slice.end},
             .kernel_tensor = static_cast<int>(stored_.size()),
             .map = map_of(split)};
  stored_.push_back({block_.tensors[tile.index].dtype, output_whole(where, op, tile.shape(), block_.grid),
                     std::move(strides), std::move(name)});
  block_.ops.push_back(std::move(op));
}

TileHandle BlockBuilder::mask(TileHandle x, const Kept& kept, Split split, double value,
                              std::vector<std::int64_t> dims) {
  return placed_mask({x}, {.sizes = std::move(dims), .kept = kept, .value = value}, split);
}

TileHandle BlockBuilder::mask(TileHandle x, TileHandle lengths, const Kept& kept, Split split, double value,
                              std::vector<std::int64_t> dims) {
  return placed_mask({x, lengths}, {.sizes = std::move(dims), .kept = kept, .value = value}, split);
}

TileHandle BlockBuilder::placed_mask(const std::vector<TileHandle>& operands, const Attributes& a, Split split) {
  const TileHandle y = graph::append<BlockLevel>(OpKind::mask, operands, a)[0];
  block_.ops.back().map = map_of(split);
  block_.ops.back().loop_dim = split.loop;
  return y;
}

std::vector<int> BlockBuilder::append(OpKind kind, const Attributes& attributes, const std::vector<int>& operands) {
  return add(here(graph::name(kind)), kind, attributes, operands, block_.ops, block_.tensors);
}

}  // namespace zellige::graph
