#include <algorithm>
#include <limits>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/reductions.hpp"
#include "graph/view.hpp"
#include "lower/lower.hpp"
#include "lower/packed.hpp"
#include "lower/pages.hpp"
#include "lower/repeats.hpp"
#include "lower/views.hpp"

namespace zellige::lower {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A block graph, and the tile program to which it is lowered. All nodes have the highest rank in the block graph, so
/// that vectors and matrices can be combined: tiles of a lower one have leading extents of 1.
struct BlockTiles {
  BlockTiles(tile::TilePrograms& programs, const graph::KernelOp& custom, const std::string& name,
             const target::Target& device)
      : whole(programs),
        target(device),
        op(custom),
        block(*op.block),
        flat(block.grid.y > target.grid_y || block.grid.z > target.grid_z) {
    program.name = name;
    program.grid = flat ? graph::Dim3{block.grid.count(), 1, 1} : block.grid;
    program.block = block.block;
    if (block.block.z > target.block_z)
      program.block = {block.block.count(), 1, 1};  // threads are only identified by their index
    program.loop = block.loop;
    for (const graph::BlockTensor& t : block.tensors) rank = std::max(rank, t.shape.size());
    for (int t : op.outputs)
      // A view that starts at a run-time index has an additional first dimension.
      rank = std::max(rank, whole.shape(t).size());
    for (const graph::BlockOp& inner : block.ops)
      // A matmul of vectors has one, too.
      if (inner.kind == graph::OpKind::matmul) rank = std::max<std::size_t>(rank, 2);
  }

  tile::TilePrograms& whole;
  const target::Target& target;
  const graph::KernelOp& op;
  const graph::BlockGraph& block;
  std::size_t rank = 1;
  bool flat;  // the grid exceeds CUDA's limits along y or z: all blocks are along x
  tile::TileProgram program;
  bool read_otherwise = false;  // a permuted or indexed copy was added: nodes may have lost their readers

  graph::Shape tile_shape(int tensor) const { return padded_rank(block.tensors[tensor].shape, rank); }
  int dim(int tensor, int d) const {
    return d < 0 ? d : d + static_cast<int>(rank - block.tensors[tensor].shape.size());
  }
  std::array<int, 3> map_of(const graph::BlockOp& op, int tensor) const {
    return {dim(tensor, op.map[0]), dim(tensor, op.map[1]), dim(tensor, op.map[2])};
  }
  int seen(int tensor) { return seen_as(whole, tensor, padded_rank(whole.shape(tensor), rank), target); }
  bool looped() const { return block.loop > 1; }
  const tile::Node& node(int i) const { return program.nodes[i]; }
  int add(tile::NodeKind kind, std::vector<int> in, graph::Shape shape) {
    tile::Node n{.kind = kind, .in = std::move(in), .shape = std::move(shape)};
    if (!n.in.empty() && !graph::is_narrow(node(n.in[0]).dtype)) n.dtype = node(n.in[0]).dtype;
    return program.add(std::move(n));
  }
  int clamp(int x, const graph::Shape& shape, double lo, double hi) {
    return lower_operator(program, graph::OpKind::clamp, {.lo = lo, .hi = hi}, {x}, shape);
  }

  int reduce(int x, int dim, std::int64_t to, bool carried = false, graph::OpKind op = graph::OpKind::reduction) {
    graph::Shape shape = node(x).shape;
    shape[dim] = to;
    const int id = lower_operator(program, op, {.dim = dim}, {x}, shape);
    program.nodes[id].carried = carried;
    return id;
  }

  int accumulate(graph::OpKind op, std::vector<int> in) {
    const graph::Shape shape = node(in[0]).shape;
    const int id = add(tile::NodeKind::accumulate, std::move(in), shape);
    tile::Node& n = program.nodes[id];
    n.op = op;
    if (op == graph::OpKind::accum) n.dtype = tile::kept_in(n.dtype);
    return id;
  }

  int permute(int value, const std::vector<int>& order) {
    const int y = lower_permute(whole, program, value, order, target);
    read_otherwise = read_otherwise || y != value;
    return y;
  }

  /// Returns the view of a tensor of shape `full` in tiles of shape `tile`. Grid axis a divides dimension axes[a], the
  /// loop loop_dim; -1: none.
  tile::TileView view(const graph::Shape& tile, const graph::Shape& full, const std::array<int, 3>& axes,
                      int loop_dim) const {
    tile::TileView v;
    std::int64_t before = 1;  // number of blocks per step along the axis
    for (std::size_t d = 0; d < tile.size(); ++d)
      v.cuts.push_back({.loop = looped() && loop_dim == static_cast<int>(d), .tile = tile[d], .extent = full[d]});
    for (int axis = 0; axis < 3; before *= block.grid[axis], ++axis) {
      if (axes[axis] < 0 || block.grid[axis] == 1) continue;
      tile::Cut& s = v.cuts[axes[axis]];
      s.axis = flat ? 0 : axis;
      if (flat) s.div = before, s.mod = block.grid[axis];
    }
    for (int d = 0; d < v.rank(); ++d) v.cuts[d].overhang = v.along(d, program).reach() > v.end(d);
    return v;
  }
};

/// Returns whether the operator joins the iterations element by element; without a loop it returns its operand.
bool accumulates(graph::OpKind kind) {
  const graph::ReductionRow* row = graph::reduction_of(kind);
  return row && row->along == graph::Along::iterations;
}

/// Returns the inverse of the permutation `order`.
std::vector<int> back_from(const std::vector<int>& order) {
  std::vector<int> back(order.size());
  for (std::size_t d = 0; d < order.size(); ++d) back[order[d]] = static_cast<int>(d);
  return back;
}

/// Returns, for each dimension of shape `to`, the dimension of shape `from` that becomes it. The shapes may differ
/// only in the positions of extents of 1; returns an empty list if they differ otherwise.
std::vector<int> moved(const graph::Shape& from, const graph::Shape& to) {
  std::vector<int> ones, others, dims;
  for (std::size_t d = 0; d < from.size(); ++d) (from[d] == 1 ? ones : others).push_back(static_cast<int>(d));
  std::size_t one = 0, other = 0;
  for (std::int64_t extent : to) {
    const bool small = extent == 1;
    if (small ? one == ones.size() : other == others.size()) return {};
    dims.push_back(small ? ones[one++] : others[other++]);
    if (from[dims.back()] != extent) return {};
  }
  return dims;
}

/// Returns which part of the masked tensor the block's tile of shape `shape` is.
tile::TileView masked_part(const BlockTiles& b, const graph::BlockOp& op, const graph::Shape& shape) {
  const auto axes = b.map_of(op, op.inputs[0]);
  const int along = b.dim(op.inputs[0], op.loop_dim);
  graph::Shape whole = shape;
  for (int axis = 0; axis < 3; ++axis)
    if (axes[axis] >= 0) whole[axes[axis]] *= b.block.grid[axis];
  if (along >= 0) whole[along] *= b.block.loop;
  return b.view(shape, whole, axes, along);
}

/// Adds the load of the tile that an input operator reads. Returns its node.
int load_tile(BlockTiles& b, const graph::BlockOp& op, const graph::Shape& shape) {
  const int given = b.op.inputs[op.kernel_tensor];
  if (const auto paged = b.whole.paged.find(given); paged != b.whole.paged.end()) {
    const graph::Shape rows = padded_rank(b.whole.shape(given), b.rank);
    b.read_otherwise = true;
    return load_pages(b.whole, b.program, paged->second,
                      b.view(shape, rows, b.map_of(op, op.outputs[0]), b.dim(op.outputs[0], op.loop_dim)));
  }
  const graph::Shape times = padded_rank(repeats(b.whole, given), b.rank);
  const int tensor = b.seen(repeated(b.whole, given));
  graph::Shape whole = b.whole.shape(tensor);
  for (std::size_t d = 0; d < b.rank; ++d) whole[d] *= times[d];
  tile::TileView v = b.view(shape, whole, b.map_of(op, op.outputs[0]), b.dim(op.outputs[0], op.loop_dim));
  for (std::size_t d = 0; d < b.rank; ++d) v.cuts[d] = of_repeated(v.cuts[d], times[d]);
  v.move(b.whole.starts(tensor));
  tile::Node n = b.whole.access(tile::NodeKind::load, tensor, std::move(v));
  int loaded =
      graph::is_weight_only(n.dtype) ? load_packed(b.whole, b.program, std::move(n)) : b.program.add(std::move(n));
  for (std::size_t d = 0; d < b.rank; ++d) {
    const tile::Node& x = b.node(loaded);
    if (x.shape[d] == shape[d]) continue;  // else the tile has runs of equal elements
    tile::Node repeat{.kind = tile::NodeKind::repeat, .in = {loaded}, .shape = x.shape, .dtype = x.dtype};
    repeat.dim = static_cast<int>(d), repeat.to = times[d], repeat.shape[d] = shape[d];
    loaded = b.program.add(std::move(repeat));
  }
  return loaded;
}

/// Adds the store of node `value`, the tile that an output operator writes, whose dimensions are in the order `order`.
void store_tile(BlockTiles& b, const graph::BlockOp& op, int value, const std::vector<int>& order) {
  const int given = b.op.outputs[op.kernel_tensor];
  int tensor = b.seen(given);
  tile::TileView v = b.view(b.tile_shape(op.inputs[0]), b.whole.shape(tensor), b.map_of(op, op.inputs[0]), -1);
  if (const int d = b.dim(op.inputs[0], op.attributes.dim); d >= 0) {  // an output slice
    tile::Cut& s = v.cuts[d];
    s.offset = -op.attributes.start, s.extent -= s.offset;  // elements before the slice are not written
    s.overhang = true;
  }
  v.move(b.whole.starts(tensor));
  if (!order.empty()) {  // in the value's order
    const std::vector<int> back = back_from(order);
    tensor = permuted_view(b.whole, tensor, back, b.target);
    v.cuts = permuted(v.cuts, back);
  }
  int number = -1;  // the node that loads the index at which a view starts at run time
  if (const auto view = b.whole.views.find(given); view != b.whole.views.end() && view->second.number >= 0) {
    const int start = seen_as(b.whole, view->second.number, graph::Shape(b.rank, 1), b.target);
    number = b.program.add(b.whole.access(tile::NodeKind::load, start, {std::vector<tile::Cut>(b.rank)}));
  }
  tile::Node n = b.whole.access(tile::NodeKind::store, tensor, std::move(v));
  n.in = {value};
  if (number >= 0) {  // the store adds the index along the view's first dimension
    const std::size_t first = b.rank - b.whole.shape(given).size();
    n.in.push_back(number);
    n.dim = order.empty() ? static_cast<int>(first) : order[first];
  }
  b.program.add(std::move(n));
}

/// Adds the mean of node `x`, or of its squares, along dimension `last` over the loop. Returns its node.
int carried_mean(BlockTiles& b, int x, int last, bool squares, const graph::Shape& shape) {
  const auto n = static_cast<double>(b.node(x).shape[last] * b.block.loop);
  if (squares) x = lower_operator(b.program, graph::OpKind::square, {}, {x});
  const int sum = b.reduce(x, last, 1, b.looped());
  return lower_operator(b.program, graph::OpKind::mul_scalar, {.scalar = 1 / n}, {sum}, shape);
}

/// Adds a matmul and, if it has a third operand, the addition of this operand. Returns the node of the result. A
/// vector counts as a row if it is the left operand, and as a column if it is the right one.
int multiply_tiles(BlockTiles& b, const graph::BlockOp& op, const std::vector<int>& in) {
  const graph::BlockTensor &x = b.block.tensors[op.inputs[0]], &y = b.block.tensors[op.inputs[1]];
  const graph::Shape shape = padded_rank(graph::matrices(x.shape, y.shape).product, b.rank);
  int right = in[1];
  if (y.shape.size() == 1) {
    std::vector<int> column;
    for (int d = 0; d < static_cast<int>(b.rank); ++d) column.push_back(d);
    std::swap(column[b.rank - 2], column[b.rank - 1]);
    right = b.permute(right, column);
  }
  // With 1 where only the result has batches.
  const std::vector<int> operands = lower_operands(b.whole, b.program, in[0], right, x.dtype, y.dtype, b.target);
  const int product = b.add(tile::NodeKind::matmul, operands, shape);
  b.program.nodes[product].tf32 = op.attributes.tf32;
  b.program.nodes[product].to_dtype = op.attributes.dtype;
  b.program.nodes[product].dtype = tile::kept_in(b.block.tensors[op.outputs[0]].dtype);
  if (in.size() < 3) return product;
  const std::vector<int> back = back_from(moved(shape, b.tile_shape(op.outputs[0])));
  return lower_operator(b.program, graph::OpKind::add, {}, {product, b.permute(in[2], back)}, shape);
}

/// Lowers a gather of rows of a loaded tile to a load of these rows alone, by index. Returns the node of the rows.
int gather_rows(BlockTiles& b, const graph::BlockOp& op, const std::vector<int>& in, const graph::Shape& shape) {
  const graph::BlockTensor &table = b.block.tensors[op.inputs[0]], &numbers = b.block.tensors[op.inputs[1]];
  const bool loads = b.node(in[0]).kind == tile::NodeKind::load && b.node(in[1]).kind == tile::NodeKind::load &&
                     b.node(in[0]).in.empty();
  if (!loads || numbers.shape.size() != 1)
    fail(
        "{}: inside a block gather reads rows of what is loaded by one dimension of numbers that are "
        "loaded, found {} {} and {} {}: gather outside",
        b.program.name, table.name, graph::to_string(table.shape), numbers.name, graph::to_string(numbers.shape));
  const std::size_t dim = b.rank - table.shape.size();
  tile::Node number = b.node(in[1]), rows = b.node(in[0]);
  graph::Shape one(b.rank, 1);
  one[dim] = b.whole.shape(number.tensor).back();
  std::swap(number.view.cuts[dim], number.view.cuts.back());
  number.tensor = seen_as(b.whole, number.tensor, one, b.target);
  one[dim] = numbers.shape[0];
  number.shape = one;
  rows.in = {b.program.add(std::move(number))};
  rows.dim = static_cast<int>(dim), rows.to = 1;
  rows.shape = shape;
  b.read_otherwise = true;
  return lower_operator(b.program, graph::OpKind::expand, {}, {b.program.add(std::move(rows))}, shape);
}

/// Replaces each accumulate node that joins a matmul, or a row's reduction with a carrier, over the loop by that node
/// itself, which then accumulates over the loop (Node::carried). Does so only if the node has no other reader.
void carry_sums(tile::TileProgram& program, std::size_t rank) {
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const tile::Node& sum = program.nodes[i];
    if (sum.kind != tile::NodeKind::accumulate) continue;
    const int from = sum.in[0];
    tile::Node& made = program.nodes[from];
    const graph::Monoid& of = graph::monoid_of(made.op);
    const bool product = made.kind == tile::NodeKind::matmul && sum.op == graph::OpKind::accum;
    const bool pair = made.kind == tile::NodeKind::reduce && !of.carrier.empty() && &of == &graph::monoid_of(sum.op) &&
                      made.dim + 1 == static_cast<int>(rank);
    if ((!product && !pair) || program.consumers(from).size() != 1) continue;
    made.carried = true;
    for (tile::Node& n : program.nodes)
      for (int& in : n.in)
        if (in == static_cast<int>(i)) in = from;
    program.nodes[i].in.clear();  // dead: it has no users
  }
}

/// Removes all nodes that contribute to no store.
void drop_unread(tile::TileProgram& p) {
  const std::vector<bool> needed = p.needed();
  p.rebuild([&](std::size_t i, tile::Node n) { return needed[i] ? p.add(std::move(n)) : -1; });
}

/// Lowers one block graph to a tile program; see lower_block(). `value_[t]` is the node that computes tensor t.
class BlockLowering {
 public:
  explicit BlockLowering(BlockTiles&& tiles)
      : b_(std::move(tiles)), value_(b_.block.tensors.size(), -1), order_(b_.block.tensors.size()) {}

  tile::TileProgram run() {
    for (const graph::BlockOp& op : b_.block.ops) lower(op);
    if (b_.read_otherwise) drop_unread(b_.program);
    carry_sums(b_.program, b_.rank);
    return std::move(b_.program);
  }

 private:
  void lower(const graph::BlockOp& op) {
    const int out = op.outputs.empty() ? -1 : op.outputs[0];
    if (graph::is_whole_view(op.kind)) {
      value_[out] = value_[op.inputs[0]];
      const std::vector<int>& first = order_[op.inputs[0]];
      const std::vector<int> then = op.kind == graph::OpKind::permute ? whole_order(op) : squeezed(op);
      order_[out] = first.empty() ? then : permuted(first, then);
      if (std::ranges::is_sorted(order_[out])) order_[out].clear();
      return;
    }
    std::vector<int> in;
    const bool keeps = op.kind == graph::OpKind::output || keeps_order(op);
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      in.push_back(!keeps   ? in_order(op.inputs[i])
                   : i == 0 ? value_[op.inputs[0]]
                            : b_.permute(in_order(op.inputs[i]), back_from(order_[op.inputs[0]])));
    const graph::Shape shape = out < 0 ? graph::Shape{} : keeps ? b_.node(in[0]).shape : b_.tile_shape(out);
    const int result = compute(op, in, shape);
    if (out >= 0 && result >= 0) {
      value_[out] = result;
      if (b_.program.nodes[result].name.empty()) b_.program.nodes[result].name = b_.block.tensors[out].name;
      if (keeps) order_[out] = order_[op.inputs[0]];
      if (op.kind == graph::OpKind::matmul || (graph::reduces(op.kind) && !op.attributes.keepdim))
        order_[out] = moved(b_.node(result).shape, shape);
      if (std::ranges::is_sorted(order_[out])) order_[out].clear();
    }
  }

  /// Returns a node with the dimensions of block tensor `tile` in the tensor's own order. If the node that computes
  /// the tensor has them in another order, adds nodes that permute it.
  int in_order(int tile) {
    if (order_[tile].empty()) return value_[tile];
    value_[tile] = b_.permute(value_[tile], order_[tile]);
    order_[tile].clear();
    return value_[tile];
  }

  /// Returns whether the operator's first operand is permuted, and the operator, which works element by element, can
  /// be computed before this permutation instead of after it.
  bool keeps_order(const graph::BlockOp& op) const {
    const bool alone = accumulates(op.kind) || graph::is_elementwise(op.kind);
    const bool rotates = op.kind == graph::OpKind::rotary_interleaved;
    return ((op.inputs.size() == 1 && alone) || rotates) && !order_[op.inputs[0]].empty();
  }

  std::vector<int> whole_order(const graph::BlockOp& op) const {
    std::vector<int> dims;
    const std::size_t front = b_.rank - op.attributes.sizes.size();
    for (std::size_t d = 0; d < front; ++d) dims.push_back(static_cast<int>(d));
    for (std::int64_t d : op.attributes.sizes) dims.push_back(static_cast<int>(front) + static_cast<int>(d));
    return dims;
  }

  std::vector<int> squeezed(const graph::BlockOp& op) const {
    const graph::Shape from = b_.tile_shape(op.inputs[0]), to = b_.tile_shape(op.outputs[0]);
    std::vector<int> dims = moved(from, to);
    if (dims.empty())
      fail(
          "{}: inside a block a reshape may add and take dimensions of 1 alone, found {} {} to {}: reshape "
          "the tensor outside",
          b_.program.name, b_.block.tensors[op.inputs[0]].name, graph::to_string(b_.block.tensors[op.inputs[0]].shape),
          graph::to_string(b_.block.tensors[op.outputs[0]].shape));
    return dims;
  }

  int compute(const graph::BlockOp& op, const std::vector<int>& in, const graph::Shape& shape) {
    const int last = in.empty() ? 0 : static_cast<int>(b_.node(in[0]).shape.size()) - 1;
    graph::Attributes a = op.attributes;
    if (!op.inputs.empty()) a.dim = b_.dim(op.inputs[0], a.dim);
    if (graph::reduces(op.kind))
      for (std::int64_t& d : a.sizes) d = b_.dim(op.inputs[0], static_cast<int>(d));
    if (b_.looped() && accumulates(op.kind)) return b_.accumulate(op.kind, in);
    switch (op.kind) {
      case graph::OpKind::input:
        return load_tile(b_, op, shape);
      case graph::OpKind::output:
        store_tile(b_, op, in[0], order_[op.inputs[0]]);
        return -1;
      case graph::OpKind::matmul:
        return multiply_tiles(b_, op, in);
      case graph::OpKind::reduction_max:
        return running_max(op, b_.reduce(in[0], a.dim, a.to, false, graph::OpKind::reduction_max), shape);
      case graph::OpKind::split:
        return split(op, in[0], a.dim);
      case graph::OpKind::accum:
        return b_.node(in[0]).dtype == graph::DType::int8 ? b_.reduce(in[0], 0, b_.node(in[0]).shape[0]) : in[0];
      case graph::OpKind::accum_max:
        return b_.clamp(in[0], shape, graph::start_in(graph::monoids::max, b_.node(in[0]).dtype), infinity);
      case graph::OpKind::accum_red_sum_rescale:
        if (!b_.looped()) return b_.reduce(in[0], last, 1);
        if (b_.node(in[1]).shape[last] == 1)
          return b_.accumulate(graph::OpKind::accum_rescale, {b_.reduce(in[0], last, 1), in[1]});
        return b_.reduce(b_.accumulate(graph::OpKind::accum_rescale, {in[0], in[1]}), last, 1);
      case graph::OpKind::accum_red_sum:
      case graph::OpKind::accum_redtox_sum:
        return b_.reduce(in[0], last, a.to, b_.looped());
      case graph::OpKind::accum_red_mean:
        return carried_mean(b_, in[0], last, false, shape);
      case graph::OpKind::accum_red_rms:
        return lower_operator(b_.program, graph::OpKind::sqrt, {}, {carried_mean(b_, in[0], last, true, shape)});
      case graph::OpKind::custom:
        fail("{}: a custom operator inside a block graph", b_.program.name);
      case graph::OpKind::mask: {
        for (std::int64_t& d : a.sizes) d = b_.dim(op.inputs[0], static_cast<int>(d));
        const int id = lower_operator(b_.program, op.kind, a, in);
        b_.program.nodes[id].view = masked_part(b_, op, shape);
        return id;
      }
      case graph::OpKind::rotary_interleaved: {
        const int id = lower_operator(b_.program, op.kind, a, in, shape);
        if (const std::vector<int>& order = order_[op.inputs[0]]; !order.empty())
          b_.program.nodes[id].dim = order.back();
        return id;
      }
      case graph::OpKind::gather:
        return gather_rows(b_, op, in, shape);
      case graph::OpKind::concat:
      case graph::OpKind::slice:
      case graph::OpKind::expand:
        return lower_operator(b_.program, op.kind, a, in, shape);
      default:
        return accumulates(op.kind) ? in[0] : lower_operator(b_.program, op.kind, a, in);
    }
  }

  /// Adds the maximum so far, whose node it returns, and by how much it has grown; `max` is that of one iteration.
  int running_max(const graph::BlockOp& op, int max, const graph::Shape& shape) {
    int running, diff;
    if (b_.looped() && !b_.block.tensors[op.outputs[0]].after_loop) {
      running = b_.add(tile::NodeKind::running_max, {max}, shape);
      diff = b_.add(tile::NodeKind::running_diff, {running}, shape);
    } else {
      running = b_.clamp(max, shape, graph::start_in(graph::monoids::max, b_.node(max).dtype), infinity);
      diff = b_.clamp(max, shape, 0, 0);
    }
    value_[op.outputs[1]] = diff;
    return running;
  }

  /// Adds the parts of node `whole` into which an operator splits it along `dim`. Returns the first part.
  int split(const graph::BlockOp& op, int whole, int dim) {
    std::int64_t start = 0;
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const graph::Shape part = b_.tile_shape(op.outputs[i]);
      value_[op.outputs[i]] =
          lower_operator(b_.program, graph::OpKind::slice, {.dim = dim, .start = start}, {whole}, part);
      start += part[dim];
    }
    return value_[op.outputs[0]];
  }

  BlockTiles b_;
  std::vector<int> value_;
  // By block tensor: for each of its dimensions that of `value_`, if the tensor is permuted; empty otherwise.
  std::vector<std::vector<int>> order_;
};

}  // namespace

tile::TileProgram lower_block(tile::TilePrograms& whole, const graph::KernelOp& op, const std::string& name,
                              const target::Target& target) {
  return BlockLowering({whole, op, name, target}).run();
}

}  // namespace zellige::lower
