// Renumbers dimensions in memory order for operators on tensors that are stored in another order, such as
// channels-last convolutions. A row of memory is then a row of a tensor of the graph.
//
//   x (n, c, h, w) in strides (h w c, 1, w c, c)    relu(x)    ->    permute(relu(permute(x) (n, h, w, c)))
//
// The pass starts at inputs that are not stored in the order of their dimensions, and follows elementwise
// operators, reductions and concatenations. The two permutes are views without a copy.
#include <algorithm>
#include <map>
#include <numeric>

#include "graph/compose.hpp"
#include "graph/elementwise.hpp"
#include "rewrite/rewrite.hpp"
#include "rules/table.hpp"

namespace zellige::rewrite {
namespace {

using ModeOrder = std::vector<std::int64_t>;  // by position in memory, the slowest first: the dimension

/// Returns the shape with its dimensions in the order `order`: result dimension i is dimension order[i].
Shape permuted(const Shape& shape, const ModeOrder& order) {
  Shape result;
  for (const std::int64_t d : order) result.push_back(shape[d]);
  return result;
}

/// Returns the permutation that undoes `order`.
ModeOrder inverse(const ModeOrder& order) {
  ModeOrder result(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = static_cast<std::int64_t>(i);
  return result;
}

/// Returns the order of a tensor's dimensions in memory, the slowest first. Returns an empty order in these cases: the
/// dimensions are in memory order already; the tensor has gaps in memory; it has less than three dimensions.
ModeOrder order_of(const KernelTensor& t) {
  if (t.strides.empty() || t.shape.size() < 3) return {};
  ModeOrder order(t.shape.size());
  std::iota(order.begin(), order.end(), 0);
  const auto stride = [&](std::int64_t d) { return t.strides[d]; };
  const auto extent = [&](std::int64_t d) { return t.shape[d]; };
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return stride(a) != stride(b) ? stride(a) > stride(b) : extent(a) > extent(b);
  });
  const Strides rows = graph::row_major(permuted(t.shape, order));
  for (std::size_t i = 0; i < order.size(); ++i)
    if (extent(order[i]) != 1 && stride(order[i]) != rows[i]) return {};
  return keeps_sequence(t.shape, order) ? ModeOrder{} : order;
}

/// Rewrites the operators of one graph.
class MemoryOrder {
 public:
  explicit MemoryOrder(const KernelGraph& g) : g_(g), known_(g), out_(g) {}

  std::optional<KernelGraph> run() {
    for (const int t : g_.inputs)
      if (ModeOrder order = order_of(g_.tensors[t]); !order.empty()) order_[t] = std::move(order);
    bool any = false;
    for (const KernelOp& op : g_.ops)
      if (reorder(op))
        any = true;
      else
        out_.keep(op);
    return any ? std::optional(out_.finished()) : std::nullopt;
  }

 private:
  /// Adds operator `op` to the rewritten graph with the dimensions of its operands in memory order, and a
  /// permute of its result back to the given order. Returns false and adds nothing if all operands are stored
  /// in the order of their dimensions, if two operands are stored in different orders, or if dimensions of
  /// this operator cannot be renumbered.
  bool reorder(const KernelOp& op) {
    const bool reduction = graph::reduces(op.kind) && op.attributes.keepdim;
    const bool joins = op.kind == OpKind::concat;
    if (!reduction && !joins && !graph::is_elementwise(op.kind)) return false;
    const Shape& whole = g_.tensors[reduction ? op.inputs[0] : op.outputs[0]].shape;
    const ModeOrder* order = nullptr;
    for (const int t : op.inputs) {
      if (!joins && g_.tensors[t].shape != whole) continue;
      const auto found = order_.find(t);
      if (found == order_.end() || (order && *order != found->second)) return false;
      order = &found->second;
    }
    if (!order) return false;
    const ModeOrder own = *order, back = inverse(own);
    std::vector<int> in = op.inputs;
    for (int& t : in) t = as_it_lies(t, own);
    Attributes a = op.attributes;
    if ((reduction || joins) && a.dim >= 0) a.dim = static_cast<int>(back[a.dim]);
    if (reduction) {
      for (std::int64_t& d : a.sizes) d = back[d];
      std::ranges::sort(a.sizes);
    }
    const int lies = out_.step(op, op.kind, in, a, "_lies");
    order_[op.outputs[0]] = own, lies_[{op.outputs[0], own}] = lies;
    return out_.replace(op, OpKind::permute, {lies}, {.sizes = back});
  }

  /// Returns a tensor of the rewritten graph that is `t` with its dimensions in the order `order`. If the sequence of
  /// elements stays the same, as for a broadcast row of channels, this is a reshape of `t`, or the result of the
  /// operator that produces `t`, repeated with dimensions in this order. Otherwise it is a permute of `t`.
  int as_it_lies(int t, const ModeOrder& order) {
    if (const auto found = lies_.find({t, order}); found != lies_.end()) return found->second;
    Shape shape(order.size() - g_.tensors[t].shape.size(), 1);
    shape.insert(shape.end(), g_.tensors[t].shape.begin(), g_.tensors[t].shape.end());
    const KernelOp* op = keeps_sequence(shape, order) ? known_.producer[t] : nullptr;
    const std::string name = g_.tensors[t].name + "_lies";
    int made = -1;
    if (op && graph::is_elementwise(op->kind)) {
      std::vector<int> in = op->inputs;
      for (int& x : in) x = as_it_lies(x, order);
      made = out_.add(op->kind, in, op->attributes, name);
    } else if (keeps_sequence(shape, order)) {
      const int x = op && op->kind == OpKind::reshape ? op->inputs[0] : t;
      made = out_.add(OpKind::reshape, {x}, {.sizes = permuted(shape, order)}, name);
    } else {
      const bool padded = shape != g_.tensors[t].shape;
      const int whole = padded ? out_.add(OpKind::reshape, {t}, {.sizes = shape}, name) : t;
      made = out_.add(OpKind::permute, {whole}, {.sizes = order}, name);
    }
    lies_[{t, order}] = made;
    return made;
  }

  const KernelGraph& g_;
  const Known known_;
  Rewrite out_;
  // By tensor that is not stored in the order of its dimensions: the order in memory.
  std::map<int, ModeOrder> order_;
  // By tensor and order: the tensor with its dimensions in that order.
  std::map<std::pair<int, ModeOrder>, int> lies_;
};

}  // namespace

std::optional<KernelGraph> in_memory_order(const KernelGraph& g) { return MemoryOrder(g).run(); }

}  // namespace zellige::rewrite
