#include <algorithm>
#include <limits>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/matrices.hpp"
#include "graph/reductions.hpp"
#include "graph/view.hpp"
#include "lower/lower.hpp"
#include "lower/lower_permute.hpp"
#include "lower/repeats.hpp"
#include "lower/views.hpp"

namespace zellige::lower {
namespace {

constexpr double lowest = graph::monoids::max.start;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Lowers one block graph to a tile program; see lower_block(). `value_[t]` is the node that computes tensor t.
class BlockLowering {
 public:
  BlockLowering(tile::TilePrograms& whole, const graph::KernelOp& op, const std::string& name,
                const target::Target& target)
      : whole_(whole),
        target_(target),
        op_(op),
        block_(*op.block),
        value_(block_.tensors.size(), -1),
        order_(block_.tensors.size()),
        flat_(block_.grid.y > target.grid_y || block_.grid.z > target.grid_z) {
    program_.name = name;
    program_.grid = flat_ ? graph::Dim3{block_.grid.count(), 1, 1} : block_.grid;
    program_.block = block_.block;
    if (block_.block.z > target.block_z)
      program_.block = {block_.block.count(), 1, 1};  // threads are only identified by their index
    program_.loop = block_.loop;
    for (const graph::BlockTensor& t : block_.tensors) rank_ = std::max(rank_, t.shape.size());
    for (int t : op.outputs)
      // A view that starts at a run-time index has an additional first dimension.
      rank_ = std::max(rank_, whole.shape(t).size());
    for (const graph::BlockOp& inner : block_.ops)
      // A matmul of vectors has one, too.
      if (inner.kind == graph::OpKind::matmul) rank_ = std::max<std::size_t>(rank_, 2);
  }

  tile::TileProgram run() {
    for (const graph::BlockOp& op : block_.ops) lower(op);
    if (read_otherwise_) drop_unread(program_);
    carry();
    return std::move(program_);
  }

 private:
  /// Returns the shape of a block tensor's tile, with leading extents of 1 up to the highest rank in the block graph.
  /// All nodes have this rank, so that vectors and matrices can be combined.
  graph::Shape tile_shape(int tensor) const { return padded_rank(block_.tensors[tensor].shape, rank_); }
  int dim(int tensor, int d) const {
    return d < 0 ? d : d + static_cast<int>(rank_ - block_.tensors[tensor].shape.size());
  }
  std::array<int, 3> map_of(const graph::BlockOp& op, int tensor) const {
    return {dim(tensor, op.map[0]), dim(tensor, op.map[1]), dim(tensor, op.map[2])};
  }
  int seen(int tensor) { return seen_as(whole_, tensor, padded_rank(whole_.shape(tensor), rank_), target_); }

  bool looped() const { return block_.loop > 1; }

  int add(tile::NodeKind kind, std::vector<int> in, graph::Shape shape) {
    tile::Node n{.kind = kind, .in = std::move(in), .shape = std::move(shape)};
    if (!n.in.empty() && graph::is_integer(node(n.in[0]).dtype)) n.dtype = node(n.in[0]).dtype;
    return program_.add(std::move(n));
  }
  const tile::Node& node(int i) const { return program_.nodes[i]; }

  int clamp(int x, const graph::Shape& shape, double lo, double hi) {
    return lower_operator(program_, graph::OpKind::clamp, {.lo = lo, .hi = hi}, {x}, shape);
  }

  int reduce(graph::OpKind op, int x, int dim, std::int64_t to, bool carried) {
    graph::Shape shape = node(x).shape;
    shape[dim] = to;
    const int id = lower_operator(program_, op, {.dim = dim}, {x}, shape);
    program_.nodes[id].carried = carried;
    return id;
  }

  int accumulate(graph::OpKind op, std::vector<int> in) {
    const graph::Shape shape = node(in[0]).shape;
    const int id = add(tile::NodeKind::accumulate, std::move(in), shape);
    tile::Node& n = program_.nodes[id];
    n.op = op;
    if (op == graph::OpKind::accum) n.dtype = tile::kept_in(n.dtype);
    return id;
  }

  /// Returns the view of a tensor of shape `whole` in tiles of shape `tile`. Grid axis a divides dimension axes[a], the
  /// loop loop_dim; -1: none.
  tile::TileView view(const graph::Shape& tile, const graph::Shape& whole, const std::array<int, 3>& axes,
                      int loop_dim) const {
    tile::TileView v;
    std::int64_t before = 1;  // number of blocks per step along the axis
    for (std::size_t d = 0; d < tile.size(); ++d)
      v.cuts.push_back({.loop = looped() && loop_dim == static_cast<int>(d), .tile = tile[d], .extent = whole[d]});
    for (int axis = 0; axis < 3; before *= block_.grid[axis], ++axis) {
      if (axes[axis] < 0 || block_.grid[axis] == 1) continue;
      tile::Cut& s = v.cuts[axes[axis]];
      s.axis = flat_ ? 0 : axis;
      if (flat_) s.div = before, s.mod = block_.grid[axis];
    }
    for (int d = 0; d < v.rank(); ++d) v.cuts[d].overhang = v.along(d, program_).reach() > v.end(d);
    return v;
  }

  void lower(const graph::BlockOp& op) {
    const int out = op.outputs.empty() ? -1 : op.outputs[0];
    if (graph::is_whole_view(op.kind)) {
      value_[out] = value_[op.inputs[0]];
      const std::vector<int>& first = order_[op.inputs[0]];
      const std::vector<int> then = op.kind == graph::OpKind::permute ? whole_order(op) : squeezed(op);
      order_[out] = first.empty() ? then : lower::permuted(first, then);
      if (std::ranges::is_sorted(order_[out])) order_[out].clear();
      return;
    }
    std::vector<int> in;
    const bool keeps = op.kind == graph::OpKind::output || keeps_order(op);
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      in.push_back(!keeps   ? in_order(op.inputs[i])
                   : i == 0 ? value_[op.inputs[0]]
                            : permuted(in_order(op.inputs[i]), back_from(order_[op.inputs[0]])));
    const graph::Shape shape = out < 0 ? graph::Shape{} : keeps ? node(in[0]).shape : tile_shape(out);
    const int result = lower(op, in, shape);
    if (out >= 0 && result >= 0) {
      value_[out] = result;
      if (program_.nodes[result].name.empty()) program_.nodes[result].name = block_.tensors[out].name;
      if (keeps) order_[out] = order_[op.inputs[0]];
      if (op.kind == graph::OpKind::matmul || (graph::reduces(op.kind) && !op.attributes.keepdim))
        order_[out] = moved(node(result).shape, shape);
      if (std::ranges::is_sorted(order_[out])) order_[out].clear();
    }
  }

  /// Returns a node with the dimensions of block tensor `tile` in the tensor's own order. If the node that computes
  /// the tensor has them in another order, adds nodes that permute it.
  int in_order(int tile) {
    if (order_[tile].empty()) return value_[tile];
    value_[tile] = permuted(value_[tile], order_[tile]);
    order_[tile].clear();
    return value_[tile];
  }
  int permuted(int value, const std::vector<int>& order) {
    const int y = lower_permute(whole_, program_, value, order, target_);
    read_otherwise_ = read_otherwise_ || y != value;
    return y;
  }

  /// Returns whether the operator joins the iterations element by element; without a loop it returns its operand.
  static bool accumulates(graph::OpKind kind) {
    const graph::ReductionRow* row = graph::reduction_of(kind);
    return row && row->along == graph::Along::iterations;
  }

  /// Returns whether the operator's first operand is permuted, and the operator, which works element by element, can
  /// be computed before this permutation instead of after it.
  bool keeps_order(const graph::BlockOp& op) const {
    const bool alone = accumulates(op.kind) || graph::is_elementwise(op.kind);
    const bool rotates = op.kind == graph::OpKind::rotary_interleaved;
    return ((op.inputs.size() == 1 && alone) || rotates) && !order_[op.inputs[0]].empty();
  }

  /// Returns the inverse of the permutation `order`.
  static std::vector<int> back_from(const std::vector<int>& order) {
    std::vector<int> back(order.size());
    for (std::size_t d = 0; d < order.size(); ++d) back[order[d]] = static_cast<int>(d);
    return back;
  }

  std::vector<int> whole_order(const graph::BlockOp& op) const {
    std::vector<int> dims;
    const std::size_t front = rank_ - op.attributes.sizes.size();
    for (std::size_t d = 0; d < front; ++d) dims.push_back(static_cast<int>(d));
    for (std::int64_t d : op.attributes.sizes) dims.push_back(static_cast<int>(front) + static_cast<int>(d));
    return dims;
  }

  /// Returns, for each dimension of shape `to`, the dimension of shape `from` that becomes it. The shapes may differ
  /// only in the positions of extents of 1; returns an empty list if they differ otherwise.
  static std::vector<int> moved(const graph::Shape& from, const graph::Shape& to) {
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

  std::vector<int> squeezed(const graph::BlockOp& op) const {
    const graph::Shape from = tile_shape(op.inputs[0]), to = tile_shape(op.outputs[0]);
    std::vector<int> dims = moved(from, to);
    if (dims.empty())
      fail(
          "{}: inside a block a reshape may add and take dimensions of 1 alone, found {} {} to {}: reshape "
          "the tensor outside",
          program_.name, block_.tensors[op.inputs[0]].name, graph::to_string(block_.tensors[op.inputs[0]].shape),
          graph::to_string(block_.tensors[op.outputs[0]].shape));
    return dims;
  }

  /// Adds a load of the index at which a view starts at run time; returns its node, or -1 if `tensor` is no such view.
  int number_of_view(int tensor) {
    const auto view = whole_.views.find(tensor);
    if (view == whole_.views.end() || view->second.number < 0) return -1;
    const int number = seen_as(whole_, view->second.number, graph::Shape(rank_, 1), target_);
    return program_.add(whole_.access(tile::NodeKind::load, number, {std::vector<tile::Cut>(rank_)}));
  }

  int lower(const graph::BlockOp& op, const std::vector<int>& in, const graph::Shape& shape) {
    const int last = in.empty() ? 0 : static_cast<int>(node(in[0]).shape.size()) - 1;
    graph::Attributes a = op.attributes;
    if (!op.inputs.empty()) a.dim = dim(op.inputs[0], a.dim);
    if (graph::reduces(op.kind))
      for (std::int64_t& d : a.sizes) d = dim(op.inputs[0], static_cast<int>(d));
    if (looped() && accumulates(op.kind)) return accumulate(op.kind, in);
    switch (op.kind) {
      case graph::OpKind::input:
        return load(op, shape);
      case graph::OpKind::output:
        store(op, in[0]);
        return -1;
      case graph::OpKind::matmul:
        return matmul(op, in);
      case graph::OpKind::reduction_max:
        return running_max(op, reduce(graph::OpKind::reduction_max, in[0], a.dim, a.to, false), shape);
      case graph::OpKind::split:
        return split(op, in[0], a.dim);
      case graph::OpKind::accum:
        return node(in[0]).dtype == graph::DType::int8
                   ? reduce(graph::OpKind::reduction, in[0], 0, node(in[0]).shape[0], false)
                   : in[0];
      case graph::OpKind::accum_max:
        return clamp(in[0], shape, lowest, infinity);
      case graph::OpKind::accum_red_sum_rescale:
        if (!looped()) return reduce(graph::OpKind::reduction, in[0], last, 1, false);
        if (node(in[1]).shape[last] == 1)
          return accumulate(graph::OpKind::accum_rescale,
                            {reduce(graph::OpKind::reduction, in[0], last, 1, false), in[1]});
        return reduce(graph::OpKind::reduction, accumulate(graph::OpKind::accum_rescale, {in[0], in[1]}), last, 1,
                      false);
      case graph::OpKind::accum_red_sum:
      case graph::OpKind::accum_redtox_sum:
        return carried_sum(in[0], last, a.to);
      case graph::OpKind::accum_red_mean:
      case graph::OpKind::accum_red_rms: {
        const bool squares = op.kind == graph::OpKind::accum_red_rms;
        const graph::Shape whole = node(in[0]).shape;
        const int x = squares ? lower_operator(program_, graph::OpKind::square, {}, {in[0]}) : in[0];
        const auto n = static_cast<double>(whole[last] * block_.loop);
        const int mean =
            lower_operator(program_, graph::OpKind::mul_scalar, {.scalar = 1 / n}, {carried_sum(x, last, 1)}, shape);
        return squares ? lower_operator(program_, graph::OpKind::sqrt, {}, {mean}) : mean;
      }
      case graph::OpKind::custom:
        fail("{}: a custom operator inside a block graph", program_.name);
      case graph::OpKind::mask: {
        for (std::int64_t& d : a.sizes) d = dim(op.inputs[0], static_cast<int>(d));
        const int id = lower_operator(program_, op.kind, a, in);
        program_.nodes[id].view = masked_part(op, shape);
        return id;
      }
      case graph::OpKind::rotary_interleaved: {
        const int id = lower_operator(program_, op.kind, a, in, shape);
        if (const std::vector<int>& order = order_[op.inputs[0]]; !order.empty()) program_.nodes[id].dim = order.back();
        return id;
      }
      case graph::OpKind::gather:
        return gather(op, in, shape);
      case graph::OpKind::concat:
      case graph::OpKind::slice:
      case graph::OpKind::expand:
        return lower_operator(program_, op.kind, a, in, shape);
      default:
        return accumulates(op.kind) ? in[0] : lower_operator(program_, op.kind, a, in);
    }
  }

  /// Adds the load of the tile that an input operator reads. Returns its node.
  int load(const graph::BlockOp& op, const graph::Shape& shape) {
    const int given = op_.inputs[op.kernel_tensor];
    const graph::Shape times = padded_rank(repeats(whole_, given), rank_);
    const int tensor = seen(repeated(whole_, given));
    graph::Shape whole = whole_.shape(tensor);
    for (std::size_t d = 0; d < rank_; ++d) whole[d] *= times[d];
    tile::TileView v = view(shape, whole, map_of(op, op.outputs[0]), dim(op.outputs[0], op.loop_dim));
    for (std::size_t d = 0; d < rank_; ++d) v.cuts[d] = of_repeated(v.cuts[d], times[d]);
    v.move(whole_.starts(tensor));
    return program_.add(whole_.access(tile::NodeKind::load, tensor, std::move(v)));
  }

  /// Adds the store of node `value`, the tile that an output operator writes.
  void store(const graph::BlockOp& op, int value) {
    const int given = op_.outputs[op.kernel_tensor];
    int tensor = seen(given);
    const std::vector<int>& order = order_[op.inputs[0]];
    tile::TileView v = view(tile_shape(op.inputs[0]), whole_.shape(tensor), map_of(op, op.inputs[0]), -1);
    if (const int d = dim(op.inputs[0], op.attributes.dim); d >= 0) {  // an output slice
      tile::Cut& s = v.cuts[d];
      s.offset = -op.attributes.start, s.extent -= s.offset;  // elements before the slice are not written
      s.overhang = true;
    }
    v.move(whole_.starts(tensor));
    if (!order.empty()) {  // in the value's order
      const std::vector<int> back = back_from(order);
      tensor = permuted_view(whole_, tensor, back, target_);
      v.cuts = lower::permuted(v.cuts, back);
    }
    const int number = number_of_view(given);
    tile::Node n = whole_.access(tile::NodeKind::store, tensor, std::move(v));
    n.in = {value};
    if (number >= 0) {  // the store adds the index along the view's first dimension
      const std::size_t first = rank_ - whole_.shape(given).size();
      n.in.push_back(number);
      n.dim = order.empty() ? static_cast<int>(first) : order[first];
    }
    program_.add(std::move(n));
  }

  /// Adds the maximum so far, whose node it returns, and by how much it has grown; `max` is that of one iteration.
  int running_max(const graph::BlockOp& op, int max, const graph::Shape& shape) {
    int running, diff;
    if (looped() && !block_.tensors[op.outputs[0]].after_loop) {
      running = add(tile::NodeKind::running_max, {max}, shape);
      diff = add(tile::NodeKind::running_diff, {running}, shape);
    } else {
      running = clamp(max, shape, lowest, infinity);
      diff = clamp(max, shape, 0, 0);
    }
    value_[op.outputs[1]] = diff;
    return running;
  }

  /// Adds the parts of node `whole` into which an operator splits it along `dim`. Returns the first part.
  int split(const graph::BlockOp& op, int whole, int dim) {
    std::int64_t start = 0;
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      const graph::Shape part = tile_shape(op.outputs[i]);
      value_[op.outputs[i]] =
          lower_operator(program_, graph::OpKind::slice, {.dim = dim, .start = start}, {whole}, part);
      start += part[dim];
    }
    return value_[op.outputs[0]];
  }

  /// Returns which part of the masked tensor the block's tile of shape `shape` is.
  tile::TileView masked_part(const graph::BlockOp& op, const graph::Shape& shape) {
    const auto axes = map_of(op, op.inputs[0]);
    const int along = dim(op.inputs[0], op.loop_dim);
    graph::Shape whole = shape;
    for (int axis = 0; axis < 3; ++axis)
      if (axes[axis] >= 0) whole[axes[axis]] *= block_.grid[axis];
    if (along >= 0) whole[along] *= block_.loop;
    return view(shape, whole, axes, along);
  }

  /// Adds a matmul and, if it has a third operand, the addition of this operand. Returns the node of the result. A
  /// vector counts as a row if it is the left operand, and as a column if it is the right one.
  int matmul(const graph::BlockOp& op, const std::vector<int>& in) {
    const graph::BlockTensor &a = block_.tensors[op.inputs[0]], &b = block_.tensors[op.inputs[1]];
    const graph::Shape shape = padded_rank(graph::matrices(a.shape, b.shape).product, rank_);
    int right = in[1];
    if (b.shape.size() == 1) {
      std::vector<int> column;
      for (int d = 0; d < static_cast<int>(rank_); ++d) column.push_back(d);
      std::swap(column[rank_ - 2], column[rank_ - 1]);
      right = permuted(right, column);
    }
    // With 1 where only the result has batches.
    const std::vector<int> operands = lower_operands(whole_, program_, in[0], right, a.dtype, b.dtype, target_);
    const int product = add(tile::NodeKind::matmul, operands, shape);
    program_.nodes[product].tf32 = op.attributes.tf32;
    program_.nodes[product].dtype = tile::kept_in(block_.tensors[op.outputs[0]].dtype);
    if (in.size() < 3) return product;
    const std::vector<int> back = back_from(moved(shape, tile_shape(op.outputs[0])));
    return lower_operator(program_, graph::OpKind::add, {}, {product, permuted(in[2], back)}, shape);
  }

  /// Lowers a gather of rows of a loaded tile to a load of these rows alone, by index. Returns the node of the rows.
  int gather(const graph::BlockOp& op, const std::vector<int>& in, const graph::Shape& shape) {
    const graph::BlockTensor &table = block_.tensors[op.inputs[0]], &numbers = block_.tensors[op.inputs[1]];
    const bool loads =
        node(in[0]).kind == tile::NodeKind::load && node(in[1]).kind == tile::NodeKind::load && node(in[0]).in.empty();
    if (!loads || numbers.shape.size() != 1)
      fail(
          "{}: inside a block gather reads rows of what is loaded by one dimension of numbers that are "
          "loaded, found {} {} and {} {}: gather outside",
          program_.name, table.name, graph::to_string(table.shape), numbers.name, graph::to_string(numbers.shape));
    const std::size_t dim = rank_ - table.shape.size();
    tile::Node number = node(in[1]), rows = node(in[0]);
    graph::Shape one(rank_, 1);
    one[dim] = whole_.shape(number.tensor).back();
    std::swap(number.view.cuts[dim], number.view.cuts.back());
    number.tensor = seen_as(whole_, number.tensor, one, target_);
    one[dim] = numbers.shape[0];
    number.shape = one;
    rows.in = {program_.add(std::move(number))};
    rows.dim = static_cast<int>(dim), rows.to = 1;
    rows.shape = shape;
    read_otherwise_ = true;
    return lower_operator(program_, graph::OpKind::expand, {}, {program_.add(std::move(rows))}, shape);
  }

  int carried_sum(int x, int dim, std::int64_t to) { return reduce(graph::OpKind::reduction, x, dim, to, looped()); }

  /// Replaces each accumulate node that joins a matmul, or a row's reduction with a carrier, over the loop by that node
  /// itself, which then accumulates over the loop (Node::carried). Does so only if the node has no other reader.
  void carry() {
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const tile::Node& sum = program_.nodes[i];
      if (sum.kind != tile::NodeKind::accumulate) continue;
      const int from = sum.in[0];
      tile::Node& made = program_.nodes[from];
      const graph::Monoid& of = graph::monoid_of(made.op);
      const bool product = made.kind == tile::NodeKind::matmul && sum.op == graph::OpKind::accum;
      const bool pair = made.kind == tile::NodeKind::reduce && !of.carrier.empty() &&
                        &of == &graph::monoid_of(sum.op) && made.dim + 1 == static_cast<int>(rank_);
      if ((!product && !pair) || program_.consumers(from).size() != 1) continue;
      made.carried = true;
      for (tile::Node& n : program_.nodes)
        for (int& in : n.in)
          if (in == static_cast<int>(i)) in = from;
      program_.nodes[i].in.clear();  // dead: it has no users
    }
  }

  tile::TilePrograms& whole_;
  const target::Target& target_;
  const graph::KernelOp& op_;
  const graph::BlockGraph& block_;
  std::vector<int> value_;
  // By block tensor: for each of its dimensions that of `value_`, if the tensor is permuted; empty otherwise.
  std::vector<std::vector<int>> order_;
  bool read_otherwise_ = false;  // a permuted or indexed copy was added: nodes may have lost their readers
  std::size_t rank_ = 1;
  bool flat_;  // the grid exceeds CUDA's limits along y or z: all blocks are along x
  tile::TileProgram program_;
};

}  // namespace

tile::TileProgram lower_block(tile::TilePrograms& whole, const graph::KernelOp& op, const std::string& name,
                              const target::Target& target) {
  return BlockLowering(whole, op, name, target).run();
}

}  // namespace zellige::lower
