// Swaps A and B of a matmul (C^T = B^T A^T), so that the weights' columns fill the 64 rows of wgmma's
// accumulator. It applies to small M, to M that is no multiple of 64, and to M of more than two warpgroups.
//
// With M = 16, (16 x K) (K x 64) fills a quarter of an m64n64k16, but (64 x K) (K x 16) fills an m64n16k16. Both
// operands are loaded by TMA. Tiles are permuted where they are loaded and stored, which moves no data, because a
// permuted tile is a view of the same memory. The tensors of the given block graph must have shapes.
// swapped() does it where it is possible, which is if all of these hold:
//
// - wgmma has an instruction with N = M, where M is the number of rows of the block's tile;
// - the number of the tile's columns is a multiple of 64;
// - the loop only multiplies the tiles that it loads, and everything after the loop is elementwise.
//
// The rule swap_operands() does it where that may be faster, which is if these hold, too:
//
// - the tile has at most 128 columns;
// - M is no multiple of 64, or more than 128, and, if it is less than 64, the grid does not split the rows;
// - the grid has enough blocks to saturate DRAM.
#include <algorithm>
#include <set>

#include "graph/elementwise.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"
#include "target/instructions.hpp"
#include "target/products.hpp"

namespace zellige::rewrite {
namespace {

constexpr std::int64_t columns_unit = 8, min_rows = 16;  // of a wgmma; matmuls with fewer rows run on warps
constexpr std::int64_t warpgroup_rows = 64, warpgroup_threads = 128, max_columns = 128;

/// Rewrites one block graph.
class OperandSwap {
 public:
  OperandSwap(const BlockGraph& b, const target::Target& target, bool where_faster)
      : from_(b), target_(target), where_faster_(where_faster), transposed_(b.tensors.size(), -1) {
    to_.grid = b.grid, to_.block = b.block, to_.loop = b.loop;
    for (const graph::BlockTensor& t : b.tensors) to_.tensors.push_back({.name = t.name});
  }

  /// Returns the block graph with A and B swapped, or nullopt if an operator does not allow the swap.
  std::optional<BlockGraph> run() {
    for (const BlockOp& op : from_.ops)
      if (!add(op)) return std::nullopt;
    if (columns_ == 0) return std::nullopt;
    if (where_faster_) to_.block = {columns_ / warpgroup_rows * warpgroup_threads, 1, 1};
    return std::move(to_);
  }

 private:
  const Shape& shape(int t) const { return from_.tensors[t].shape; }
  /// Returns whether the rewritten block computes the transpose of tile `t` in place of `t`.
  bool is_transposed(int t) const { return transposed_[t] == t; }

  /// Appends a permute of tile `t`, of shape `s`, that swaps its last two dimensions. Returns the permuted tile.
  int permuted(int t, const Shape& s) {
    to_.tensors.emplace_back();
    const int out = static_cast<int>(to_.tensors.size()) - 1;
    to_.ops.push_back({OpKind::permute, {t}, {out}, {.sizes = exchanged(s.size())}});
    return out;
  }
  /// Returns the transpose of tile `t`, for use by swapped operators. Appends a permute if necessary. Returns
  /// -1 if the tile has less than two dimensions.
  int as_transposed(int t) {
    if (transposed_[t] < 0 && shape(t).size() >= 2) transposed_[t] = permuted(t, shape(t));
    return transposed_[t];
  }

  /// Adds operator `op` to the result, on transposed tiles if one of its operands is transposed. Returns
  /// false if the operator does not allow the swap.
  bool add(const BlockOp& op) {
    const bool of_transposed = std::ranges::any_of(op.inputs, [&](int t) { return is_transposed(t); });
    if (op.kind == OpKind::matmul) return !of_transposed && product(op);
    if (op.kind == OpKind::input && op.loop_dim >= 0) loaded_.insert(op.outputs[0]);
    if (op.kind == OpKind::input && cuts_rows(op)) cut_.insert(op.outputs[0]);
    if (!of_transposed) {
      to_.ops.push_back(op);
      return std::ranges::none_of(op.inputs, [&](int t) { return loaded_.count(t) > 0; });
    }
    BlockOp made = op;
    if (op.kind == OpKind::output) {
      made.inputs = {permuted(op.inputs[0], shape(op.inputs[0]))};
      to_.ops.push_back(std::move(made));
      return true;
    }
    if (op.kind != OpKind::accum && !graph::is_elementwise(op.kind)) return false;
    for (int& t : made.inputs)
      if ((t = as_transposed(t)) < 0) return false;
    transposed_[op.outputs[0]] = op.outputs[0];
    to_.ops.push_back(std::move(made));
    return true;
  }

  /// Adds matmul `op` with A and B swapped. Returns false if wgmma cannot use the swapped tiles, or would not
  /// gain by the swap.
  bool product(const BlockOp& op) {
    if (op.inputs.size() != 2 || from_.tensors[op.outputs[0]].after_loop) return false;
    const Shape& out = shape(op.outputs[0]);
    const std::int64_t m = out[out.size() - 2], n = out.back();
    const std::string_view type = target::multiplied_as(from_.tensors[op.inputs[0]].dtype, op.attributes.tf32);
    // Rows that fill one or two warpgroups need no swap, and a swap does not help fewer rows that the grid splits.
    if (where_faster_ && (m < min_rows || (m % warpgroup_rows == 0 && m <= max_columns) || n > max_columns ||
                          (m < warpgroup_rows && cut_.count(op.inputs[0]) > 0)))
      return false;
    const Instruction* const row = target::find_warpgroup_mma(target_, type, type, graph::name(DType::f32), m);
    if (m % columns_unit != 0 || !row || target::only_along_k(*row) || graph::size(out) != m * n ||
        n % warpgroup_rows != 0 || (columns_ > 0 && n != columns_))
      return false;
    for (int t : op.inputs)  // warpgroups read only what TMA has loaded
      if (shape(t).size() < 2 || loaded_.count(t) == 0) return false;
    columns_ = n;
    BlockOp made = op;
    made.inputs = {as_transposed(op.inputs[1]), as_transposed(op.inputs[0])};
    transposed_[op.outputs[0]] = op.outputs[0];
    to_.ops.push_back(std::move(made));
    return true;
  }

  /// Returns whether the grid splits the rows (the second to last dimension) of the tile that `input` loads.
  bool cuts_rows(const BlockOp& input) const {
    const int rows = static_cast<int>(shape(input.outputs[0]).size()) - 2;
    return std::ranges::count(input.map, rows) > 0 && rows >= 0;
  }

  const BlockGraph& from_;
  const target::Target& target_;
  bool where_faster_;
  BlockGraph to_;
  std::set<int> loaded_;  // tiles loaded in each iteration
  std::set<int> cut_;     // tiles whose rows the grid splits
  // By tile: itself if it is computed transposed, a permuted copy if there is one, else -1.
  std::vector<int> transposed_;
  std::int64_t columns_ = 0;
};

}  // namespace

std::optional<BlockGraph> swapped(const BlockGraph& b, const target::Target& target) {
  return OperandSwap(b, target, false).run();
}

bool swap_operands(std::shared_ptr<const BlockGraph>& b, const target::Target& target) {
  if (b->tensors[0].shape.empty()) return false;  // swapped already
  if (static_cast<double>(b->grid.count()) < target.costs.search.filled * target.multiprocessors) return false;
  std::optional<BlockGraph> made = OperandSwap(*b, target, true).run();
  if (made) b = std::make_shared<BlockGraph>(*std::move(made));
  return made.has_value();
}

}  // namespace zellige::rewrite
