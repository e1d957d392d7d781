#include <algorithm>
#include <utility>

#include "graph/view.hpp"
#include "kernel/index_width.hpp"
#include "kernel/launches.hpp"
#include "lower/lower.hpp"
#include "lower/views.hpp"
#include "selection/layouts.hpp"

namespace zellige::lower {
namespace {

using graph::KernelOp;

/// Returns the shape of the tiles that a block copies, of at most 2048 elements, of a tensor of shape `extent`. A tile is
/// filled from the last dimension on. Its extents divide those of the tensor, or leave a last tile that is almost full.
graph::Shape tile_of(const graph::Shape& extent) {
  std::int64_t elements = 2048;
  graph::Shape tile(extent.size(), 1);
  for (int d = static_cast<int>(extent.size()) - 1; d >= 0; --d) {
    tile[d] = even_tile(extent[d], elements);
    elements = std::max<std::int64_t>(1, elements / tile[d]);
  }
  return tile;
}

/// Lowers one operator that views or copies to tile programs of one name; see lower_copies(). Their grids are
/// one-dimensional, so that CUDA's limits of grid.y and grid.z do not apply: div and mod of a Cut compute the tile index per
/// dimension.
class CopyLowering {
 public:
  CopyLowering(tile::TilePrograms& program, const KernelOp& op, const std::string& name, const target::Target& target)
      : program_(program), op_(op), name_(name), target_(target) {}

  /// Returns the operator's tile programs in launch order.
  std::vector<tile::TileProgram> run() {
    if (graph::is_view(op_.kind)) return view();
    switch (op_.kind) {
      case graph::OpKind::concat:
      case graph::OpKind::split:
        return pieces();
      case graph::OpKind::gather:
        return gather();
      case graph::OpKind::scatter:
        return scatter();
      case graph::OpKind::slice_scatter:
        return slice_scatter();
      default:
        fault("{}: {} was to be a custom operator before it is lowered", name_, graph::name(op_.kind));
    }
  }

 private:
  const graph::Shape& shape(int tensor) const { return program_.shape(tensor); }
  tile::TileProgram copy(int from, int to) const { return box(from, to, to, 0, shape(to), 0); }

  /// Adds a load of a tile of `tensor` to `p`; returns its node.
  int load(tile::TileProgram& p, int tensor, tile::TileView view) const {
    view.move(program_.starts(tensor));
    return p.add(program_.access(tile::NodeKind::load, tensor, std::move(view)));
  }

  std::vector<tile::TileProgram> view() const {
    const int from = op_.inputs[0], to = op_.outputs[0];
    if (program_.memory_of(from) == to) return {};  // the operand was computed in the result's memory
    const graph::Shape result = program_.tensors[to].shape, operand = program_.shape(from);
    const std::string label = program_.tensors[to].name;
    if (op_.kind == graph::OpKind::unfold || program_.windows(from))
      return view_windows(program_, op_, target_, [&](int a, int b) { return copy(a, b); });
    const graph::KernelTensor& t = program_.tensors[from];
    const graph::Strides padded = selection::padded_strides(t.shape, static_cast<int>(t.shape.size()) - 1,
                                                            graph::elements_in(target_.access_bytes, t.dtype));
    // A reshape may be a view only if its operand has no padding between rows.
    const bool dense = op_.kind == graph::OpKind::reshape && t.strides.empty() &&
                       !graph::viewed(op_.kind, op_.attributes, t.shape, padded, result);
    settle_strides(program_, from, dense, target_);
    auto seen =
        graph::viewed(op_.kind, op_.attributes, operand, program_.tensors[from].strides, result, program_.starts(from));
    // Whether the result has prescribed strides. It then needs memory of its own, as outputs of the program do.
    const bool declared = !program_.tensors[to].strides.empty();
    const bool own = declared || std::ranges::count(program_.outputs, to) > 0;
    std::vector<tile::TileProgram> kernels;
    int base = from;
    if (!seen) {
      program_.notes.push_back(fmt::format("{}: the {} of {} {} to {} is no layout of its memory: it is copied", label,
                                           graph::name(op_.kind), program_.tensors[from].name,
                                           graph::to_string(operand), graph::to_string(result)));
      if (op_.kind == graph::OpKind::reshape && !declared && own) {  // one copy, into a view of the result
        settle_strides(program_, to, true, target_);
        const graph::Shape starts(operand.size(), 0);
        return {copy(from, new_view(program_, to, operand, graph::row_major(operand), starts, label + "_view"))};
      }
      base = add_tensor(program_, program_.tensors[from].dtype, operand, graph::row_major(operand), label + "_dense");
      kernels.push_back(copy(from, base));
      seen = graph::viewed(op_.kind, op_.attributes, operand, graph::row_major(operand), result);
    }
    if (own)
      kernels.push_back(copy(new_view(program_, base, result, seen->steps, seen->starts, label + "_view"), to));
    else
      make_view(program_, to, base, result, seen->steps, seen->starts);
    return kernels;
  }

  /// Returns the programs of a concat or split, all in one launch. A concat has one program per operand and a split
  /// one per result; the program copies this operand or result, which begins at TileProgram::part_begin.
  std::vector<tile::TileProgram> pieces() const {
    std::vector<tile::TileProgram> kernels;
    std::int64_t start = 0;
    const int dim = op_.attributes.dim;
    const bool split = op_.kind == graph::OpKind::split;
    const auto& parts = split ? op_.outputs : op_.inputs;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const graph::Shape extent = shape(parts[i]);
      const int whole = split ? op_.inputs[0] : op_.outputs[0];
      kernels.push_back(box(split ? whole : parts[i], split ? parts[i] : whole, whole, dim, extent, start));
      if (start <= kernel::max_int32) {  // the parameter is an int
        kernels.back().part_begin = start;
        for (tile::Node& n : kernels.back().nodes)
          if (n.kind == (split ? tile::NodeKind::load : tile::NodeKind::store)) n.view.cuts[dim].of_part = true;
      }
      start += extent[dim];
    }
    kernel::launch_together(kernels);
    return kernels;
  }

  /// Returns a view of `tensor` with the shape `as`. If no strides express it, returns a view of a new dense tensor,
  /// and adds a program to `kernels` that copies `tensor` to that if `read`, and that to `tensor` otherwise.
  int flat(int tensor, const graph::Shape& as, std::vector<tile::TileProgram>& kernels, bool read) const {
    if (shape(tensor) == as) return tensor;
    settle_strides(program_, tensor, true, target_);
    int from = tensor;
    auto v = graph::viewed(graph::OpKind::reshape, {}, shape(from), program_.tensors[from].strides, as,
                           program_.starts(from));
    if (!v) {
      const graph::Shape whole = shape(tensor);
      from = add_tensor(program_, program_.tensors[tensor].dtype, whole, graph::row_major(whole),
                        program_.tensors[tensor].name + "_dense");
      kernels.push_back(read ? copy(tensor, from) : copy(from, tensor));
      v = graph::viewed(graph::OpKind::reshape, {}, whole, graph::row_major(whole), as);
    }
    return new_view(program_, from, as, v->steps, v->starts, program_.tensors[tensor].name + "_rows");
  }

  /// Returns the program that copies a box of shape `extent` from tensor `from` to tensor `to`. In `table`, one of the
  /// two, it begins along dimension `dim` at index `start`, or where the tensor `numbers` says, if there is one: it has
  /// an index per row, or only that of the first row. (`extent` is a copy: views reallocate the tensors.)
  tile::TileProgram box(int from, int to, int table, int dim, graph::Shape extent, std::int64_t start,
                        int numbers = -1) const {
    const graph::Shape tile = tile_of(extent);
    graph::Shape steps;  // tiles along each dimension
    for (std::size_t d = 0; d < extent.size(); ++d) steps.push_back(tile::ceil_div(extent[d], tile[d]));
    tile::TileProgram p;
    p.name = name_, p.grid = {graph::size(steps), 1, 1}, p.block = {graph::size(tile) <= 1024 ? 128 : 256, 1, 1};
    const tile::TileView s = tile::TileView::over_grid(extent, tile, steps);
    tile::TileView in_table = s;
    if (numbers < 0) in_table.cuts[dim].offset = start;
    const bool rows = numbers >= 0 && shape(numbers)[0] == extent[0] && shape(numbers) != graph::Shape{1};
    int number = -1;
    if (numbers >= 0) {
      graph::Shape one(extent.size(), 1);
      if (rows) one[0] = extent[0];
      const int seen = seen_as(program_, numbers, one, target_);
      number = load(p, seen, tile::TileView::over_grid(one, tile, steps));
    }
    if (rows) in_table.cuts[0] = {.tile = shape(table)[0], .extent = shape(table)[0]};
    const int value = load(p, from, from == table ? in_table : s);
    p.add(program_.access(tile::NodeKind::store, to, to == table ? in_table : s));
    p.nodes.back().in = {value}, p.nodes.back().shape = p.nodes[value].shape;
    if (number < 0) return p;
    tile::Node& numbered = from == table ? p.nodes[value] : p.nodes.back();
    numbered.in.push_back(number);
    numbered.dim = dim, numbered.to = rows ? 1 : extent[dim];
    p.nodes[value].shape = p.nodes.back().shape = tile;
    if (to == table) numbered.view.move(program_.starts(table));
    return p;
  }

  /// Returns the programs of a gather: result = table[indices], along dimension 0 of the table.
  std::vector<tile::TileProgram> gather() const {
    const int table = op_.inputs[0];
    graph::Shape extent = shape(table);
    extent[0] = graph::size(shape(op_.inputs[1]));
    std::vector<tile::TileProgram> kernels, following;
    const int numbers = flat(op_.inputs[1], {extent[0]}, kernels, true);
    const int rows = flat(op_.outputs[0], extent, following, false);
    kernels.push_back(box(table, rows, table, 0, extent, 0, numbers));
    for (tile::TileProgram& k : following) kernels.push_back(std::move(k));
    return kernels;
  }

  /// Returns the result of an operator that overwrites a part of its first operand: a view of the operand or, if it has
  /// memory of its own, a copy, whose program it adds to `kernels`.
  int changed(std::vector<tile::TileProgram>& kernels) const {
    const int old = op_.inputs[0], y = op_.outputs[0];
    if (program_.tensors[y].memory < 0)
      kernels.push_back(copy(old, y));
    else
      make_view(program_, y, old, shape(old), program_.tensors[old].strides, program_.starts(old), y);
    return y;
  }

  /// Returns the programs of a scatter, which overwrites the rows of a table that are given by indices.
  std::vector<tile::TileProgram> scatter() const {
    std::vector<tile::TileProgram> kernels;
    const int table = changed(kernels);
    graph::Shape extent = shape(table);
    extent[0] = graph::size(shape(op_.inputs[1]));
    const int numbers = flat(op_.inputs[1], {extent[0]}, kernels, true);
    const int rows = flat(op_.inputs[2], extent, kernels, true);
    kernels.push_back(box(rows, table, table, 0, extent, 0, numbers));
    return kernels;
  }

  /// Returns the programs of a slice_scatter: the slice of the table starts at a constant, or at an index in a tensor.
  std::vector<tile::TileProgram> slice_scatter() const {
    std::vector<tile::TileProgram> kernels;
    const int table = changed(kernels), part = op_.inputs[1], dim = op_.attributes.dim;
    const int numbers = op_.inputs.size() > 2 ? op_.inputs[2] : -1;
    kernels.push_back(box(part, table, table, dim, shape(part), op_.attributes.start, numbers));
    return kernels;
  }

  tile::TilePrograms& program_;
  const KernelOp& op_;
  std::string name_;
  const target::Target& target_;
};

}  // namespace

std::vector<tile::TileProgram> lower_copies(tile::TilePrograms& program, const KernelOp& op, const std::string& name,
                                            const target::Target& target) {
  std::vector<tile::TileProgram> kernels = CopyLowering(program, op, name, target).run();
  for (std::size_t i = 1; i < kernels.size(); ++i) kernels[i].name += fmt::format("_{}", i);
  return kernels;
}

}  // namespace zellige::lower
