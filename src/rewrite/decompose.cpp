// Decomposes custom operators: rewrites what a block graph computes as kernel-level operators, which can then
// be fused differently.
//
// A custom operator is first retiled to one block and one iteration; retile/relation.hpp proves that it still
// computes the same. Its tiles are then whole tensors, and each block operator can be written as the same
// kernel-level operator on these tensors. An accumulator of one iteration becomes the identity, or a sum over
// the last dimension, and a mask needs no tile offset. Tensors that the operator stores keep their names.
//
// A custom operator is kept in these cases:
//
// - the retiling is not proved;
// - a running maximum is read in each iteration;
// - accumulators hold integers;
// - the last tile is partial, or slices are stored;
// - an output is written into an input's memory.
//
// Each tile becomes a tensor of the tile's dtype. A block computes in float32 and does not round tiles to their dtypes,
// but kernel-level tensors are rounded when they are stored. After fusion, roundings.hpp checks that no rounding was
// added.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "graph/ops.hpp"
#include "graph/reductions.hpp"
#include "retile/retile.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

/// Returns whether custom operator `op` can be written as kernel-level operators: each block operator has a
/// kernel-level equivalent, no tile is partial, no slice is stored, no accumulator holds integers, and no
/// output is written into an input's memory.
bool is_decomposable(const KernelGraph& g, const KernelOp& op) {
  if (std::ranges::any_of(op.outputs, [&](int t) { return g.tensors[t].memory >= 0; })) return false;
  for (const BlockOp& b : op.block->ops) {
    const bool boundary = graph::is_boundary(b.kind);
    if (boundary && (!b.attributes.sizes.empty() || b.attributes.end > 0)) return false;
    if (graph::is_accumulator(b.kind) && graph::is_integer(op.block->tensors[b.inputs[0]].dtype))
      return false;  // an int8 matmul accumulates in int32
    if (!boundary && !graph::is_accumulator(b.kind) && !graph::info(b.kind).kernel) return false;
  }
  return true;
}

/// Returns the graph with custom operator `op` retiled to one block of one iteration, or nullopt if it is not
/// proved that this computes the same.
std::optional<KernelGraph> in_one_block(const KernelGraph& g, int op) {
  retile::Tiling tiling = retile::tiling_of(g);
  const auto mine = std::ranges::find(tiling, op, &retile::OpTiling::op);
  mine->grid = {1, 1, 1}, mine->loop = 1;
  return retile::proved(g, tiling);
}

/// Returns the kernel-level operators that block operator `b` is, if its first operand has the shape `x`; none if its
/// result is that operand.
std::vector<std::pair<OpKind, Attributes>> steps_of(const BlockOp& b, const Shape& x) {
  if (!graph::is_accumulator(b.kind)) return {{b.kind, b.attributes}};
  const graph::ReductionRow& row = *graph::reduction_of(b.kind);
  const int last = static_cast<int>(x.size()) - 1;
  std::vector<std::pair<OpKind, Attributes>> steps;
  if (row.along == graph::Along::iterations) {
    if (row.of->start != row.of->identity) steps.push_back({row.of->join, {.scalar = row.of->start}});
    return steps;
  }
  if (row.squares) steps.push_back({OpKind::square, {}});
  if (row.then == graph::Then::nothing)
    steps.push_back({OpKind::reduction, {.dim = last, .to = b.attributes.to}});
  else
    steps.push_back({OpKind::mean, {.dim = last, .keepdim = true}});
  if (row.then == graph::Then::root_of_mean) steps.push_back({OpKind::sqrt, {}});
  return steps;
}

/// Rewrites the custom operators `taken` of a graph, each retiled to one block, and copies the others.
class Decomposition {
 public:
  Decomposition(const KernelGraph& g, const std::set<int>& taken) : g_(g), taken_(taken), out_(g) {
    for (std::size_t t = 0; t < g.tensors.size(); ++t) same_.push_back(static_cast<int>(t));
  }

  KernelGraph run() {
    for (std::size_t i = 0; i < g_.ops.size(); ++i) {
      KernelOp op = g_.ops[i];
      for (int& t : op.inputs) t = same_[t];
      if (taken_.contains(static_cast<int>(i)))
        write_out(op);
      else
        out_.keep(op);
    }
    return out_.finished();
  }

 private:
  /// Adds kernel-level operators that compute the results of custom operator `op` to the new graph. Afterwards tile_[t]
  /// is the kernel-level tensor that has the values of tensor t of the operator's block graph.
  void write_out(const KernelOp& op) {
    const BlockGraph& block = *op.block;
    tile_.assign(block.tensors.size(), -1);
    called_ = out_.name(op.outputs[0]) + "_";
    // If the only use of a tile is its store, or the tile is f32 and stored, it becomes the tensor in which
    // it is stored. source[t]: the tile of which tile t is an unchanged copy, or t itself.
    std::vector<int> source(block.tensors.size());
    std::iota(source.begin(), source.end(), 0);
    std::vector<int> stored_in(block.tensors.size(), -1), uses(block.tensors.size(), 0);
    for (const BlockOp& b : block.ops) {
      if (passes(block, b)) {
        source[b.outputs[0]] = source[b.inputs[0]];
        continue;
      }
      for (int t : b.inputs) ++uses[source[t]];
      if (b.kind == OpKind::output) stored_in[source[b.inputs[0]]] = op.outputs[b.kernel_tensor];
    }
    for (const BlockOp& b : block.ops) {
      if (b.kind == OpKind::input)
        tile_[b.outputs[0]] = op.inputs[b.kernel_tensor];
      else if (b.kind == OpKind::output)
        store(tile_[b.inputs[0]], op.outputs[b.kernel_tensor]);
      else if (passes(block, b))
        tile_[b.outputs[0]] = tile_[b.inputs[0]];
      else
        compute(block, b, [&](int t) {
          return uses[t] == 1 || block.tensors[t].dtype == graph::computed_in(block.tensors[t].dtype) ? stored_in[t]
                                                                                                      : -1;
        });
    }
  }

  /// Returns whether block operator `b` is the identity: it has no steps, or is a reduction that leaves the extent of
  /// its dimension unchanged.
  static bool passes(const BlockGraph& block, const BlockOp& b) {
    if (b.inputs.empty() || b.outputs.empty()) return false;
    if (block.tensors[b.inputs[0]].dtype != block.tensors[b.outputs[0]].dtype) return false;
    const Shape& x = block.tensors[b.inputs[0]].shape;
    return std::ranges::all_of(steps_of(b, x), [&](const auto& step) {
      return step.first == OpKind::reduction && x[step.second.dim] == step.second.to;
    });
  }

  /// Writes block operator `b` as one or several kernel-level operators. becomes(t) returns the kernel-level tensor in
  /// which tile t is stored and to which the result is written directly, or -1 if a new tensor is to be made.
  template <class Becomes>
  void compute(const BlockGraph& block, const BlockOp& b, Becomes becomes) {
    std::vector<int> in;
    for (int t : b.inputs) in.push_back(tile_[t]);
    if (graph::is_accumulator(b.kind)) in.resize(1);
    const auto called = [&](int tile) { return called_ + block.tensors[tile].name; };
    const auto steps = steps_of(b, block.tensors[b.inputs[0]].shape);
    for (const auto& [kind, a] : std::span(steps).first(steps.size() - 1))
      in = {out_.add(kind, in, a, fmt::format("{}_{}", called(b.outputs[0]), graph::name(kind)))};
    const auto& [kind, a] = steps.back();
    if (kind == OpKind::reduction) in[0] = summed_at_once(in[0], a);
    KernelOp primitive{kind, in, {}, a, nullptr};
    for (const int tile : b.outputs) {
      const graph::BlockTensor& t = block.tensors[tile];
      const int to = becomes(tile);
      tile_[tile] = to >= 0 ? to : out_.make({t.dtype, t.shape, {}, called(tile)});
      primitive.outputs.push_back(tile_[tile]);
    }
    out_.keep(primitive);
    if (primitive.outputs.size() == 1) producer_[primitive.outputs[0]] = primitive;
  }

  /// Returns the tensor that a sum with attributes `a` should read in place of tensor `sums`. If `sums` is the result
  /// of an earlier sum along the same dimension, returns the earlier sum's operand, so that one sum replaces both. If
  /// there is a cast to f32 between the two sums, the operand is cast to f32. Otherwise returns `sums`.
  int summed_at_once(int sums, const Attributes& a) {
    const KernelOp* op = made_by(sums, OpKind::cast);
    const bool wider = op && op->attributes.dtype == DType::f32;
    const KernelOp* inner = made_by(wider ? op->inputs[0] : sums, OpKind::reduction);
    if (!inner || inner->attributes.dim != a.dim || inner->attributes.to % a.to != 0) return sums;
    const int x = inner->inputs[0];
    return wider ? out_.add(OpKind::cast, {x}, op->attributes, out_.name(sums)) : x;
  }
  /// Returns the operator that was written with result `t` if it is of this kind, else nullptr.
  const KernelOp* made_by(int t, OpKind kind) const {
    const auto op = producer_.find(t);
    return op != producer_.end() && op->second.kind == kind ? &op->second : nullptr;
  }

  /// Stores tensor `tile` as tensor `to`. If `tile` is a tensor of the input graph and `to` is neither an
  /// output nor has strides, nothing is copied, and readers of `to` read `tile` instead.
  void store(int tile, int to) {
    if (tile == to) return;
    const bool was_tile = tile >= static_cast<int>(g_.tensors.size());
    if (was_tile || is_output(g_, to) || !out_.tensor(to).strides.empty())
      out_.add(OpKind::mul_scalar, {tile}, {.scalar = 1}, {}, to);
    else
      same_[to] = tile;
  }

  const KernelGraph& g_;
  const std::set<int>& taken_;
  Rewrite out_;
  std::vector<int> same_;  // by tensor of the original graph: the tensor that replaces it
  std::vector<int> tile_;  // by tile of the operator being rewritten: the kernel-level tensor with its values
  // Prefix of the names of its tiles, because tiles of two operators may have the same name.
  std::string called_;
  std::map<int, KernelOp> producer_;  // by tensor: the written operator that produces it
};

}  // namespace

/// The graph must be validated. The result rounds as its tensors are stored (roundings.hpp).
std::optional<KernelGraph> decompose(const KernelGraph& given) {
  KernelGraph g = given;
  std::set<int> taken;
  // An operator may be retilable only after the operator that reads its partial results is: retry until
  // nothing changes.
  for (bool more = true; std::exchange(more, false);)
    for (std::size_t i = 0; i < g.ops.size(); ++i) {
      const int op = static_cast<int>(i);
      if (!g.ops[i].block || taken.contains(op) || !is_decomposable(g, g.ops[i])) continue;
      if (std::optional<KernelGraph> whole = in_one_block(g, op)) g = std::move(*whole), taken.insert(op), more = true;
    }
  if (taken.empty()) return std::nullopt;
  return Decomposition(g, taken).run();
}

}  // namespace zellige::rewrite
