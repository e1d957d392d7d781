#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/compose.hpp"
#include "graph/matrices.hpp"
#include "graph/view.hpp"
#include "kernel/index_width.hpp"
#include "kernel/launches.hpp"
#include "lower/align.hpp"
#include "lower/lower.hpp"
#include "lower/product_tiles.hpp"
#include "lower/views.hpp"
#include "select/layouts.hpp"

namespace zellige::plan {
namespace {

using graph::KernelOp;

/// Lowers one operator that is not custom to tile programs; see lower_kernel(). Their grids are one-dimensional, so
/// that CUDA's limits of grid.y and grid.z do not apply: div and mod of a Cut compute the tile index per dimension.
class KernelLowering {
 public:
  KernelLowering(Program& program, const KernelOp& op, const std::string& name, const target::Target& target,
                 std::optional<retile::ProductTile>& product, const TileOf& tile_of)
      : program_(program), op_(op), name_(name), target_(target), product_(product), tile_of_(tile_of) {}

  TileProgram copy(int from, int to) const { return box(from, to, to, 0, shape(to), 0); }

  /// Returns the operator's tile programs in launch order.
  std::vector<TileProgram> run() {
    switch (op_.kind) {
      case OpKind::matmul:
        return matmul();
      case OpKind::reduction:
        return {rows({op_.attributes.dim})};
      case OpKind::rotary_interleaved:
        return {rows({static_cast<int>(shape(op_.outputs[0]).size()) - 1})};
      case OpKind::concat:
      case OpKind::split:
        return pieces();
      case OpKind::gather:
        return gather();
      case OpKind::scatter:
        return scatter();
      case OpKind::slice_scatter:
        return slice_scatter();
      case OpKind::custom:
      case OpKind::input:
      case OpKind::output:
        fail("{}: {} is not a pre-defined operator", name_, graph::name(op_.kind));
      default:
        if (graph::is_composed(op_.kind))
          return {rows(graph::composed_dims(op_.kind, op_.attributes, shape(op_.inputs[0])))};
        return {elementwise()};
    }
  }

 private:
  const Shape& shape(int tensor) const { return program_.shape(tensor); }

  /// Returns a program without operators, for steps[d] tiles along dimension d of the result, one per block.
  TileProgram program(const Shape& steps, std::int64_t threads) const {
    TileProgram p;
    p.name = name_, p.grid = {graph::size(steps), 1, 1}, p.block = {threads, 1, 1};
    return p;
  }

  /// Adds a load of a tile of `tensor` to `p`; returns its node.
  int load(TileProgram& p, int tensor, View view) const {
    view.move(program_.starts(tensor));
    return p.add(program_.access(NodeKind::load, tensor, std::move(view)));
  }

  void store(TileProgram& p, int value, int tensor, View view) const {
    Node n = program_.access(NodeKind::store, tensor, std::move(view));
    n.in = {value}, n.shape = p.nodes[value].shape;
    p.add(std::move(n));
  }

  /// Returns a view of `tensor` with the last two dimensions swapped.
  int transposed(int tensor) const {
    std::vector<int> dims(shape(tensor).size());
    std::iota(dims.begin(), dims.end(), 0);
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    return permuted_view(program_, tensor, dims, target_);
  }

  /// Returns the program of a matmul, preceded by a program that copies operands to aligned rows if that pays.
  std::vector<TileProgram> matmul() {
    const graph::Matrices of = graph::matrices(shape(op_.inputs[0]), shape(op_.inputs[1]));
    Shape out = of.product;
    const int rank = static_cast<int>(out.size());
    int left = seen_as(program_, op_.inputs[0], padded_rank(of.a, out.size()), target_),
        right = seen_as(program_, op_.inputs[1], padded_rank(of.b, out.size()), target_);
    std::vector<TileProgram> kernels;
    const DType dtype = program_.tensors[op_.inputs[0]].dtype;
    if (of.a.back() > 192) {  // several iterations
      constexpr int wide = 128;
      LineCopies copies;
      left = aligned_operand(program_, left, ceil_div(out[rank - 1], wide), copies, name_, target_);
      right = aligned_operand(program_, right, ceil_div(out[rank - 2], wide), copies, name_, target_);
      if (!copies.empty()) kernels.push_back(copy_lines(program_, copies, name_));
    }
    const bool lines =
        lines_begin_at(program_, left, target_.access_bytes) && lines_begin_at(program_, right, target_.access_bytes);
    const ProductSize size =
        product_size(of, program_.tensors[left], program_.tensors[right], op_.attributes.tf32, lines);
    if (!product_) product_ = tile_of_ ? tile_of_(size) : product_tiles(size, target_).front();
    const retile::ProductTile t = *product_;
    const Shape given = out;  // the result's shape before A and B are swapped
    if (t.swap_ab) {
      std::swap(left, right);
      left = transposed(left), right = transposed(right);
      std::swap(out[rank - 2], out[rank - 1]);
    }
    const Shape a = shape(left), b = shape(right);
    const std::int64_t m = out[rank - 2], k = a[rank - 1], n = out[rank - 1];
    // With A and B swapped the original rows are wgmma's N, which is a multiple of 8: the tile is padded.
    const std::int64_t tm = std::min<std::int64_t>(t.m, m), tn = t.swap_ab ? t.n : std::min<std::int64_t>(t.n, n);
    const std::int64_t tk = std::min<std::int64_t>(t.k, k);
    Shape tile(rank, 1), steps(rank, 1);
    for (int d = 0; d < rank - 2; ++d) steps[d] = out[d];
    tile[rank - 2] = tm, tile[rank - 1] = tn;
    steps[rank - 2] = ceil_div(m, tm), steps[rank - 1] = ceil_div(n, tn);
    TileProgram p = program(steps, t.threads);
    p.loop = ceil_div(k, tk);
    const auto looped = [&](int d, View s) {  // the loop is along dimension d of an operand
      s.cuts[d] = {.axis = -1, .loop = p.loop > 1, .tile = tk, .extent = k, .overhang = k % tk != 0};
      return s;
    };
    // With A and B swapped a single original row is padded, too; over_grid() takes an extent of 1 for a broadcast one.
    const auto over_grid = [&](const Shape& extent) {
      View v = View::over_grid(extent, tile, steps);
      if (Cut& columns = v.cuts[rank - 1]; t.swap_ab && columns.extent == 1)
        columns.tile = tn, columns.overhang = tn > columns.extent;
      return v;
    };
    const View c = over_grid(out);
    Shape ea = a, eb = b;  // batches of 1 are broadcast
    ea[rank - 1] = n, eb[rank - 2] = m;
    const int x = load(p, left, looped(rank - 1, View::over_grid(ea, tile, steps)));
    const int y = load(p, right, looped(rank - 2, over_grid(eb)));
    Node product;
    product.kind = NodeKind::matmul;
    product.in = lower_operands(program_, p, x, y, dtype, dtype, target_);
    product.shape = tile;
    product.carried = p.loop > 1;
    product.tf32 = op_.attributes.tf32;
    product.dtype = kept_in(dtype);
    int z = p.add(std::move(product));
    if (op_.inputs.size() > 2) {
      // The bias has the result's shape, from which operands that are vectors have removed dimensions.
      Shape bias = padded_rank(shape(op_.inputs[2]), shape(op_.outputs[0]).size());
      if (shape(op_.inputs[1]).size() == 1) bias.push_back(1);
      if (bias.size() < out.size()) bias.insert(bias.end() - 1, 1);
      int seen = seen_as(program_, op_.inputs[2], bias, target_);
      if (t.swap_ab) seen = transposed(seen);
      const int added = load(p, seen, View::over_grid(shape(seen), tile, steps));
      z = lower_operator(p, OpKind::add, {}, {z, added});
    }
    const int to = seen_as(program_, op_.outputs[0], given, target_);
    store(p, z, t.swap_ab ? transposed(to) : to, c);
    kernels.push_back(std::move(p));
    return kernels;
  }

  static constexpr std::int64_t copied = 2048;  // elements that a block copies, or evaluates element by element

  /// Returns the shape of tiles of at most `elements` elements for a tensor of shape `extent`. A tile is filled from
  /// the last dimension on. Its extents divide those of the tensor, or leave a last tile that is almost full.
  Shape tile_of(const Shape& extent, std::int64_t elements) const {
    Shape tile(extent.size(), 1);
    for (int d = static_cast<int>(extent.size()) - 1; d >= 0; --d) {
      tile[d] = even_tile(extent[d], elements);
      elements = std::max<std::int64_t>(1, elements / tile[d]);
    }
    return tile;
  }

  /// Returns the number of tiles along each dimension.
  static Shape steps_of(const Shape& extent, const Shape& tile) {
    Shape steps(extent.size());
    for (std::size_t d = 0; d < extent.size(); ++d) steps[d] = ceil_div(extent[d], tile[d]);
    return steps;
  }

  /// Returns the program of the elementwise operator over the complete output.
  TileProgram elementwise() const {
    const Shape extent = shape(op_.outputs[0]), tile = tile_of(extent, copied), steps = steps_of(extent, tile);
    TileProgram p = program(steps, graph::size(tile) <= 1024 ? 128 : 256);
    std::vector<int> in;
    for (int t : op_.inputs) {
      const int seen = seen_as(program_, t, padded_rank(shape(t), extent.size()), target_);
      in.push_back(load(p, seen, View::over_grid(shape(seen), tile, steps)));
    }
    const View s = View::over_grid(extent, tile, steps);
    const int value = lower_operator(p, op_.kind, op_.attributes, in);
    if (op_.kind == OpKind::mask) p.nodes[value].view = s;
    store(p, value, op_.outputs[0], s);
    return p;
  }

  /// Returns the programs of a concat or split, all in one launch. A concat has one program per operand and a split
  /// one per result; the program copies this operand or result, which begins at TileProgram::part_begin.
  std::vector<TileProgram> pieces() const {
    std::vector<TileProgram> kernels;
    std::int64_t start = 0;
    const int dim = op_.attributes.dim;
    const bool split = op_.kind == OpKind::split;
    const auto& parts = split ? op_.outputs : op_.inputs;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Shape extent = shape(parts[i]);
      const int whole = split ? op_.inputs[0] : op_.outputs[0];
      kernels.push_back(box(split ? whole : parts[i], split ? parts[i] : whole, whole, dim, extent, start));
      if (i > 0) kernels.back().name += fmt::format("_{}", i);
      if (start <= max_int32) {  // the parameter is an int
        kernels.back().part_begin = start;
        for (Node& n : kernels.back().nodes)
          if (n.kind == (split ? NodeKind::load : NodeKind::store)) n.view.cuts[dim].of_part = true;
      }
      start += extent[dim];
    }
    launch_together(kernels);
    return kernels;
  }

  /// Returns a view of `tensor` with the shape `as`. If no strides express it, returns a view of a new dense tensor,
  /// and adds a program to `kernels` that copies `tensor` to that if `read`, and that to `tensor` otherwise.
  int flat(int tensor, const Shape& as, std::vector<TileProgram>& kernels, bool read) const {
    if (shape(tensor) == as) return tensor;
    settle_strides(program_, tensor, true, target_);
    int from = tensor;
    auto v = graph::viewed(OpKind::reshape, {}, shape(from), program_.tensors[from].strides, as, program_.starts(from));
    if (!v) {
      const Shape whole = shape(tensor);
      from = add_tensor(program_, program_.tensors[tensor].dtype, whole, graph::row_major(whole),
                        program_.tensors[tensor].name + "_dense");
      kernels.push_back(read ? copy(tensor, from) : copy(from, tensor));
      v = graph::viewed(OpKind::reshape, {}, whole, graph::row_major(whole), as);
    }
    return new_view(program_, from, as, v->steps, v->starts, program_.tensors[tensor].name + "_rows");
  }

  /// Returns the program that copies a box of shape `extent` from tensor `from` to tensor `to`. In `table`, one of the
  /// two, it begins along dimension `dim` at index `start`, or where the tensor `numbers` says, if there is one: it has
  /// an index per row, or only that of the first row. (`extent` is a copy: views reallocate the tensors.)
  TileProgram box(int from, int to, int table, int dim, Shape extent, std::int64_t start, int numbers = -1) const {
    const Shape tile = tile_of(extent, copied), steps = steps_of(extent, tile);
    TileProgram p = program(steps, graph::size(tile) <= 1024 ? 128 : 256);
    const View s = View::over_grid(extent, tile, steps);
    View in_table = s;
    if (numbers < 0) {
      in_table.cuts[dim].offset = start;
      store(p, load(p, from, from == table ? in_table : s), to, to == table ? in_table : s);
      return p;
    }
    const bool rows = shape(numbers)[0] == extent[0] && shape(numbers) != Shape{1};
    Shape one(extent.size(), 1);
    if (rows) one[0] = extent[0];
    const int seen = seen_as(program_, numbers, one, target_);
    const int number = load(p, seen, View::over_grid(one, tile, steps));
    if (rows) in_table.cuts[0] = {.tile = shape(table)[0], .extent = shape(table)[0]};
    const int value = load(p, from, from == table ? in_table : s);
    store(p, value, to, to == table ? in_table : s);
    Node& numbered = from == table ? p.nodes[value] : p.nodes.back();
    numbered.in.push_back(number);
    numbered.dim = dim, numbered.to = rows ? 1 : extent[dim];
    p.nodes[value].shape = p.nodes.back().shape = tile;
    if (to == table) numbered.view.move(program_.starts(table));
    return p;
  }

  /// Returns the programs of a gather: result = table[indices], along dimension 0 of the table.
  std::vector<TileProgram> gather() const {
    const int table = op_.inputs[0];
    Shape extent = shape(table);
    extent[0] = graph::size(shape(op_.inputs[1]));
    std::vector<TileProgram> kernels, following;
    const int numbers = flat(op_.inputs[1], {extent[0]}, kernels, true);
    const int rows = flat(op_.outputs[0], extent, following, false);
    kernels.push_back(box(table, rows, table, 0, extent, 0, numbers));
    for (TileProgram& k : following) kernels.push_back(std::move(k));
    return named(std::move(kernels));
  }

  /// Returns the result of an operator that overwrites a part of its first operand: a view of the operand or, if it has
  /// memory of its own, a copy, whose program it adds to `kernels`.
  int changed(std::vector<TileProgram>& kernels) const {
    const int old = op_.inputs[0], y = op_.outputs[0];
    if (program_.tensors[y].memory < 0) {
      kernels.push_back(copy(old, y));
    } else {
      make_view(program_, y, old, shape(old), program_.tensors[old].strides, program_.starts(old), y);
    }
    return y;
  }

  /// Returns the programs of a scatter, which overwrites the rows of a table that are given by indices.
  std::vector<TileProgram> scatter() const {
    std::vector<TileProgram> kernels;
    const int table = changed(kernels);
    Shape extent = shape(table);
    extent[0] = graph::size(shape(op_.inputs[1]));
    const int numbers = flat(op_.inputs[1], {extent[0]}, kernels, true);
    const int rows = flat(op_.inputs[2], extent, kernels, true);
    kernels.push_back(box(rows, table, table, 0, extent, 0, numbers));
    return named(std::move(kernels));
  }

  /// Returns the programs of a slice_scatter: the slice of the table starts at a constant, or at an index in a tensor.
  std::vector<TileProgram> slice_scatter() const {
    std::vector<TileProgram> kernels;
    const int table = changed(kernels), part = op_.inputs[1], dim = op_.attributes.dim;
    const int numbers = op_.inputs.size() > 2 ? op_.inputs[2] : -1;
    kernels.push_back(box(part, table, table, dim, shape(part), op_.attributes.start, numbers));
    return named(std::move(kernels));
  }

  /// Returns the programs with _1, _2 ... appended to the names of all but the first.
  static std::vector<TileProgram> named(std::vector<TileProgram> kernels) {
    for (std::size_t i = 1; i < kernels.size(); ++i) kernels[i].name += fmt::format("_{}", i);
    return kernels;
  }

  /// Returns the number of threads per block for rows of `line` elements, between 128 and 1024. It is 128 for up to
  /// 4096 elements. For longer rows a thread gets about 32 elements, or about 8 if the grid has fewer blocks than the
  /// GPU has multiprocessors.
  std::int64_t threads_along(std::int64_t line, std::int64_t blocks) const {
    std::int64_t threads = 128;
    if (line <= 4096) return threads;
    const std::int64_t each = blocks < target_.multiprocessors ? 8 : 32;
    while (threads < 1024 && threads * each < line) threads *= 2;
    return threads;
  }

  /// Returns the program of a reduction, softmax or similar operator: each block has complete rows along `dims`.
  TileProgram rows(const std::vector<int>& dims) const {
    const Shape x = shape(op_.inputs[0]);  // a copy: views reallocate the tensors
    Shape extent = x;
    std::int64_t line = 1;
    for (int d : dims) line *= std::exchange(extent[d], 1);  // only the other dimensions are split into tiles
    const std::int64_t lines = std::max<std::int64_t>(1, 4096 / line);
    const Shape tile = tile_of(extent, lines), steps = steps_of(extent, tile);
    TileProgram p = program(steps, threads_along(line, graph::size(steps)));
    const auto whole = [&](Shape size) {
      const Shape of = size;
      for (int d : dims) size[d] = 1;
      View s = View::over_grid(size, tile, steps);
      for (int d : dims) s.cuts[d] = {.tile = of[d], .extent = of[d]};
      return s;
    };
    std::vector<int> in;
    for (int t : op_.inputs) {
      const int seen = seen_as(program_, t, padded_rank(shape(t), extent.size()), target_);
      in.push_back(load(p, seen, whole(shape(seen))));
    }
    const int value = lower_operator(p, op_.kind, op_.attributes, in);
    Shape result = x;  // the tile keeps reduced dimensions that the operator drops
    for (int d : dims) result[d] = p.nodes[value].shape[d];
    store(p, value, seen_as(program_, op_.outputs[0], result, target_), whole(result));
    return p;
  }

  Program& program_;
  const KernelOp& op_;
  std::string name_;
  const target::Target& target_;
  std::optional<retile::ProductTile>& product_;  // the tile of a matmul; empty: not chosen yet
  const TileOf& tile_of_;
};

}  // namespace

TileProgram lower_copy(Program& program, int from, int to, const std::string& name, const target::Target& target) {
  const KernelOp none;
  std::optional<retile::ProductTile> no_product;
  const TileOf no_choice;
  return KernelLowering(program, none, name, target, no_product, no_choice).copy(from, to);
}

std::vector<TileProgram> lower_kernel(Program& program, const KernelOp& op, const std::string& name,
                                      const target::Target& target, std::optional<retile::ProductTile>& product,
                                      const TileOf& tile_of) {
  return KernelLowering(program, op, name, target, product, tile_of).run();
}

}  // namespace zellige::plan
