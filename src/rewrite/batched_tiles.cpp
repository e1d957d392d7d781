// Rewrites custom operators whose tiles no kernel can hold: each operator of the block graph becomes a kernel-level
// operator on the tiles of all blocks and iterations at once, which the fuser then groups into kernels that fit.
//
// A tile of shape (a, b) becomes a tensor of shape (g, l, a, b) in a grid of g blocks with a loop of l iterations: one
// dimension for each grid axis and for the loop, if it has more than one step. It has extent 1 where the tile is
// the same in all of them. An accumulator becomes a reduction along the loop's dimension. A load is a view that splits
// dimensions, with zeros where tiles are partial; a store is one that merges them.
//
// Unlike decompose.cpp nothing has to be proved about blocks and iterations, because none changes what it computes.
//
// A custom operator is kept in these cases:
//
// - an accumulator or a running maximum multiplies or reads what earlier iterations made, or holds integers;
// - a mask moves with a grid axis or the loop;
// - rows are gathered, vectors are multiplied, or a norm's weight differs by blocks;
// - two grid axes divide one dimension, a tensor would have too many dimensions, or an output has an input's memory.
//
// A block does not round between its operators. So what is computed is a float32 tensor; only casts, and the operands
// of matmuls, have a narrower dtype.
#include <algorithm>
#include <numeric>
#include <utility>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "graph/infer.hpp"
#include "graph/ops.hpp"
#include "graph/reductions.hpp"
#include "graph/view.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

using graph::OpFamily;

/// A dimension before those of a tile: a grid axis (0 to 2) or the loop, with more than one step.
struct BatchAxis {
  static constexpr int loop = 3;
  int axis;
  std::int64_t extent;
};

std::vector<BatchAxis> batch_axes(const BlockGraph& block) {
  std::vector<BatchAxis> axes;
  for (int axis = 0; axis < BatchAxis::loop; ++axis)
    if (block.grid[axis] > 1) axes.push_back({axis, block.grid[axis]});
  if (block.loop > 1) axes.push_back({BatchAxis::loop, block.loop});
  return axes;
}

/// Returns whether grid axes divide this dimension of a mask, or the loop does.
bool moves(const BlockGraph& block, const BlockOp& mask) {
  for (int axis = 0; axis < BatchAxis::loop; ++axis)
    if (mask.map[axis] >= 0 && block.grid[axis] > 1) return true;
  return mask.loop_dim >= 0 && block.loop > 1;
}

/// Returns whether two grid axes of several blocks divide one dimension.
bool shares_dimension(const BlockGraph& block, const BlockOp& op) {
  for (int a = 0; a < BatchAxis::loop; ++a)
    for (int b = 0; b < a; ++b)
      if (op.map[a] >= 0 && op.map[a] == op.map[b] && block.grid[a] > 1 && block.grid[b] > 1) return true;
  return false;
}

/// Returns whether an operator of a block graph can be written for all blocks and iterations at once.
bool is_batched(const BlockGraph& block, const BlockOp& op) {
  const auto rank = [&](int operand) { return block.tensors[op.inputs[operand]].shape.size(); };
  switch (graph::family(op.kind)) {
    case OpFamily::boundary:
      return !shares_dimension(block, op);
    case OpFamily::accumulator:
      return (!graph::rescales(op.kind) || block.loop == 1) && !graph::is_integer(block.tensors[op.inputs[0]].dtype);
    case OpFamily::matmul:
      return rank(0) > 1 && rank(1) > 1;
    case OpFamily::mask:
      return !moves(block, op);
    case OpFamily::rows:
      return false;
    default:
      return op.kind != OpKind::reduction_max && graph::info(op.kind).kernel;
  }
}

bool is_batched(const KernelGraph& g, const KernelOp& op) {
  if (!op.block || std::ranges::any_of(op.outputs, [&](int t) { return g.tensors[t].memory >= 0; })) return false;
  const BlockGraph& block = *op.block;
  std::size_t rank = 0;
  for (const graph::BlockTensor& t : block.tensors) rank = std::max(rank, t.shape.size());
  for (const std::vector<int>* list : {&op.inputs, &op.outputs})
    for (const int t : *list) rank = std::max(rank, g.tensors[t].shape.size());
  return rank + batch_axes(block).size() < graph::max_rank &&
         std::ranges::all_of(block.ops, [&](const BlockOp& b) { return is_batched(block, b); });
}

/// The tensors that have the tiles of one custom operator in all of its blocks and iterations.
class BatchedTensors {
 protected:
  BatchedTensors(const KernelGraph& g, const KernelOp& op, Rewrite& out)
      : g_(g), op_(op), block_(*op.block), out_(out), axes_(batch_axes(block_)), batch_(axes_.size()) {
    tile_.assign(block_.tensors.size(), -1);
  }

  const Shape& shape_of(int tile) const { return block_.tensors[tile].shape; }
  std::string named(int tile) const { return out_.name(op_.outputs[0]) + "_" + block_.tensors[tile].name; }
  /// Returns the extents of a tensor along grid axes and the loop, then `rest`.
  Shape joined(int tensor, const Shape& rest) const {
    Shape all(out_.shape(tensor).begin(), out_.shape(tensor).begin() + static_cast<std::ptrdiff_t>(batch_));
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
  int reshaped(int tensor, Shape to) {
    if (out_.shape(tensor) == to) return tensor;
    return out_.add(OpKind::reshape, {tensor}, {.sizes = std::move(to)}, out_.name(tensor));
  }
  /// Returns the tensor with its dimensions in this order, or the tensor itself if a reshape of it has the same elements.
  int permuted(int tensor, std::vector<std::int64_t> order) {
    if (keeps_sequence(out_.shape(tensor), order)) return tensor;
    return out_.add(OpKind::permute, {tensor}, {.sizes = std::move(order)}, out_.name(tensor));
  }
  /// Returns the tensor with its batch as long as `batch`, the extents along grid axes and the loop.
  int expanded(int tensor, const Shape& batch) {
    Shape to = out_.shape(tensor);
    std::ranges::copy(batch, to.begin());
    return to == out_.shape(tensor) ? tensor : out_.add(OpKind::expand, {tensor}, {.sizes = to}, out_.name(tensor));
  }
  int cast(int tensor, DType dtype) {
    if (out_.tensor(tensor).dtype == dtype) return tensor;
    return out_.add(OpKind::cast, {tensor}, {.dtype = dtype}, out_.name(tensor));
  }
  int widened(int tensor) { return graph::is_narrow(out_.tensor(tensor).dtype) ? cast(tensor, DType::f32) : tensor; }

  /// Sets the tensor that has the values of a tile, whose batch may have been dropped from its shape.
  void set(int tile, int tensor) { tile_[tile] = reshaped(tensor, joined(tensor, shape_of(tile))); }

  /// Returns the tensors of an operator's operands, all with the same number of dimensions.
  std::vector<int> aligned(const BlockOp& b) {
    std::size_t rank = 0;
    for (const int t : b.inputs) rank = std::max(rank, shape_of(t).size());
    std::vector<int> in;
    for (const int t : b.inputs) {
      Shape to(rank - shape_of(t).size(), 1);
      to.insert(to.end(), shape_of(t).begin(), shape_of(t).end());
      in.push_back(reshaped(tile_[t], joined(tile_[t], to)));
    }
    return in;
  }
  int sliced(int x, int dim, std::int64_t start, std::int64_t end) {
    end = std::min(end, out_.shape(x)[dim]);
    if (start == 0 && end == out_.shape(x)[dim]) return x;
    return out_.add(OpKind::slice, {x}, {.dim = dim, .start = start, .end = end}, out_.name(x));
  }
  std::vector<int> tiles_of(const BlockOp& b) const {
    std::vector<int> in;
    for (const int t : b.inputs) in.push_back(tile_[t]);
    return in;
  }
  /// Returns the greatest extents of an operator's operands along grid axes and the loop.
  Shape common_batch(const BlockOp& b) const {
    Shape all(batch_, 1);
    for (const int t : b.inputs)
      for (std::size_t i = 0; i < batch_; ++i) all[i] = std::max(all[i], out_.shape(tile_[t])[i]);
    return all;
  }

  const KernelGraph& g_;
  const KernelOp& op_;
  const BlockGraph& block_;
  Rewrite& out_;
  const std::vector<BatchAxis> axes_;
  const std::size_t batch_;
  std::vector<int> tile_;  // by tile: the tensor with its values in all blocks and iterations
};

/// Writes one custom operator for all of its blocks and iterations.
class BatchedTiles : BatchedTensors {
 public:
  BatchedTiles(const KernelGraph& g, const KernelOp& op, Rewrite& out) : BatchedTensors(g, op, out) {}

  /// Returns false if a norm's weight differs by blocks or iterations, which no operator expresses.
  bool write() {
    for (const BlockOp& b : block_.ops)
      if (!write(b)) return false;
    return true;
  }

 private:
  bool write(const BlockOp& b) {
    switch (graph::family(b.kind)) {
      case OpFamily::boundary:
        b.kind == OpKind::input ? load(b) : store(b);
        return true;
      case OpFamily::accumulator:
        set(b.outputs[0], accumulated(b));
        return true;
      case OpFamily::matmul:
        set(b.outputs[0], product(b));
        return true;
      default:
        return compute(b);
    }
  }

  void load(const BlockOp& b) {
    int x = op_.inputs[b.kernel_tensor];
    const Shape given = out_.shape(x), &tile = shape_of(b.outputs[0]);
    const Shape& padded = b.attributes.sizes.empty() ? given : b.attributes.sizes;
    const int rank = static_cast<int>(given.size());
    std::vector<int> last;  // the dimensions whose tiles are windows, in the order in which these come last
    for (int d = 0; d < rank; ++d) {
      if (padded[d] == given[d]) continue;
      x = out_.add(OpKind::unfold, {x}, {.dim = d, .sizes = {tile[d], tile[d], 1, 0, padded[d] - given[d]}},
                   out_.name(x));
      last.push_back(d);
    }
    // Splits each dimension into its blocks, iterations and elements of a tile, and says where each of them is.
    std::vector<std::int64_t> split, batch_at(batch_, -1), tile_at(tile.size(), -1);
    for (int d = 0; d < rank; ++d) {
      for (std::size_t i = 0; i < batch_; ++i)
        if ((axes_[i].axis == BatchAxis::loop ? b.loop_dim : b.map[axes_[i].axis]) == d)
          batch_at[i] = static_cast<std::int64_t>(split.size()), split.push_back(axes_[i].extent);
      if (!std::ranges::count(last, d)) tile_at[d] = static_cast<std::int64_t>(split.size()), split.push_back(tile[d]);
    }
    for (const int d : last) tile_at[d] = static_cast<std::int64_t>(split.size()), split.push_back(tile[d]);
    std::vector<std::int64_t> order;
    Shape result(batch_, 1);
    for (std::size_t i = 0; i < batch_; ++i)
      if (batch_at[i] >= 0) order.push_back(batch_at[i]), result[i] = axes_[i].extent;
    order.insert(order.end(), tile_at.begin(), tile_at.end());
    result.insert(result.end(), tile.begin(), tile.end());
    tile_[b.outputs[0]] = reshaped(permuted(reshaped(x, split), order), result);
  }
  void store(const BlockOp& b) {
    const int to = op_.outputs[b.kernel_tensor];
    int x = tile_[b.inputs[0]];
    const Shape& tile = shape_of(b.inputs[0]);
    Shape all(batch_, 1), merged = tile;
    for (std::size_t i = 0; i < batch_; ++i)
      if (axes_[i].axis != BatchAxis::loop) all[i] = axes_[i].extent;
    x = expanded(x, all);
    std::vector<std::int64_t> order;
    const auto blocks_along = [&](std::size_t i) {
      return axes_[i].axis == BatchAxis::loop ? -1 : b.map[axes_[i].axis];
    };
    for (std::size_t i = 0; i < batch_; ++i)
      if (blocks_along(i) < 0) order.push_back(static_cast<std::int64_t>(i));
    for (int d = 0; d < static_cast<int>(tile.size()); ++d) {
      for (std::size_t i = 0; i < batch_; ++i)
        if (blocks_along(i) == d) order.push_back(static_cast<std::int64_t>(i)), merged[d] *= axes_[i].extent;
      order.push_back(static_cast<std::int64_t>(batch_) + d);
    }
    x = reshaped(permuted(x, order), merged);
    if (b.attributes.end > 0) x = sliced(x, b.attributes.dim, b.attributes.start, b.attributes.end);
    for (std::size_t d = 0; d < tile.size(); ++d) x = sliced(x, static_cast<int>(d), 0, out_.shape(to)[d]);
    const DType dtype = out_.tensor(to).dtype;
    if (out_.tensor(x).dtype != dtype)
      out_.add(OpKind::cast, {x}, {.dtype = dtype}, {}, to);
    else if (graph::is_integer(dtype))
      out_.add(OpKind::reshape, {x}, {.sizes = out_.shape(to)}, {}, to);
    else
      out_.add(OpKind::mul_scalar, {x}, {.scalar = 1}, {}, to);
  }
  int product(const BlockOp& b) {
    std::vector<int> in = aligned(b);
    for (int i = 0; i < 2; ++i)
      if (const DType dtype = block_.tensors[b.inputs[i]].dtype; graph::is_narrow(dtype)) in[i] = cast(in[i], dtype);
    const int ab = widened(out_.add(OpKind::matmul, {in[0], in[1]}, b.attributes, named(b.outputs[0])));
    return in.size() == 2 ? ab : out_.add(OpKind::add, {ab, widened(in[2])}, {}, named(b.outputs[0]));
  }

  int accumulated(const BlockOp& b) {
    const graph::ReductionRow& row = *graph::reduction_of(b.kind);
    const bool loops = block_.loop > 1;
    int x = widened(tile_[b.inputs[0]]);
    const int last = static_cast<int>(out_.shape(x).size()) - 1, along = static_cast<int>(batch_) - 1;
    const auto step = [&](OpKind kind, const Attributes& a) { x = out_.add(kind, {x}, a, named(b.outputs[0])); };
    if (loops) {
      Shape all = out_.shape(x);
      all.resize(batch_);
      all[along] = block_.loop;
      x = expanded(x, all);
    }
    if (row.squares) step(OpKind::square, {});
    if (row.then != graph::Then::nothing) {
      std::vector<std::int64_t> dims{last};
      if (loops) dims.push_back(along);
      step(OpKind::mean, {.sizes = dims, .keepdim = true});
      if (row.then == graph::Then::root_of_mean) step(OpKind::sqrt, {});
      return x;
    }
    if (row.along != graph::Along::iterations) step(OpKind::reduction, {.dim = last, .to = b.attributes.to});
    if (loops && row.of == &graph::monoids::sum) step(OpKind::reduction, {.dim = along, .to = 1});
    if (loops && row.of == &graph::monoids::max) step(OpKind::amax, {.dim = along, .keepdim = true});
    if (loops && row.of == &graph::monoids::logsumexp) step(OpKind::logsumexp, {.dim = along, .keepdim = true});
    if (row.of->start != row.of->identity) step(row.of->join, {.scalar = row.of->start});
    return x;
  }

  /// Returns the attributes of an operator for a tensor whose first dimensions are the batch of tensor `x`.
  Attributes shifted(const BlockOp& b, int x) const {
    Attributes a = b.attributes;
    const auto batch = static_cast<std::int64_t>(batch_);
    if (a.dim >= 0) a.dim += static_cast<int>(batch_);
    const bool of_dims = graph::reduces(b.kind) || b.kind == OpKind::mask;
    if (of_dims || b.kind == OpKind::permute)
      for (std::int64_t& d : a.sizes) d += batch;
    if (b.kind == OpKind::permute) {
      std::vector<std::int64_t> kept(batch_);
      std::iota(kept.begin(), kept.end(), 0);
      a.sizes.insert(a.sizes.begin(), kept.begin(), kept.end());
    }
    if (b.kind == OpKind::reshape || b.kind == OpKind::expand) a.sizes = joined(x, a.sizes);
    return a;
  }

  bool compute(const BlockOp& b) {
    const OpFamily family = graph::family(b.kind);
    std::vector<int> in =
        family == OpFamily::composed || family == OpFamily::view || family == OpFamily::mask ? tiles_of(b) : aligned(b);
    if (b.kind == OpKind::rms_norm || b.kind == OpKind::layer_norm)
      for (std::size_t i = 1; i < in.size(); ++i) {
        if (graph::size(joined(in[i], {})) != 1) return false;
        in[i] = reshaped(in[i], shape_of(b.inputs[i]));
      }
    if (b.kind == OpKind::mask && in.size() > 1) in = aligned(b);
    if (b.kind == OpKind::concat)
      for (int& t : in) t = expanded(t, common_batch(b));
    const bool moved = graph::is_view(b.kind) || b.kind == OpKind::split || b.kind == OpKind::cast;
    if (!moved)
      for (int& t : in) t = widened(t);
    const Attributes a = shifted(b, in[0]);
    std::vector<Shape> shapes;
    for (const int t : in) shapes.push_back(out_.shape(t));
    KernelOp whole{b.kind, in, {}, a, nullptr};
    const std::vector<Shape> results = graph::infer_shapes({g_.name}, b.kind, a, shapes);
    for (std::size_t i = 0; i < b.outputs.size(); ++i) {
      const DType dtype = block_.tensors[b.outputs[i]].dtype;
      whole.outputs.push_back(out_.make({moved && b.kind != OpKind::cast                     ? out_.tensor(in[0]).dtype
                                         : graph::is_narrow(dtype) && b.kind != OpKind::cast ? DType::f32
                                                                                             : dtype,
                                         results[i],
                                         {},
                                         named(b.outputs[i])}));
    }
    out_.keep(whole);
    for (std::size_t i = 0; i < b.outputs.size(); ++i) set(b.outputs[i], whole.outputs[i]);
    return true;
  }
};

}  // namespace

std::optional<KernelGraph> batched_tiles(const KernelGraph& g) {
  Rewrite out(g);
  bool any = false;
  for (const KernelOp& op : g.ops) {
    if (!is_batched(g, op)) {
      out.keep(op);
      continue;
    }
    if (!BatchedTiles(g, op, out).write()) return std::nullopt;
    any = true;
  }
  return any ? std::optional(out.finished()) : std::nullopt;
}

}  // namespace zellige::rewrite
