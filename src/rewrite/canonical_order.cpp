#include "rewrite/canonical_order.hpp"

#include <algorithm>
#include <bit>

#include "graph/infer.hpp"
#include "reference/mix.hpp"

namespace zellige::rewrite {
namespace {

using OrderKey = std::uint64_t;

OrderKey mixed(OrderKey a, OrderKey b) { return reference::mix(a + reference::mix_step + b); }  // not symmetric
/// Returns hash `k` combined with all `numbers` and their count.
template <class Numbers>
OrderKey of_all(OrderKey k, const Numbers& numbers) {
  for (const auto n : numbers) k = mixed(k, static_cast<OrderKey>(n));
  return mixed(k, static_cast<OrderKey>(std::size(numbers)));
}

/// Sorts the operators of a block graph by keys that do not depend on their order.
class CanonicalOrdering {
 public:
  explicit CanonicalOrdering(const KernelGraph& g)
      : g_(g), op_(g.ops[0]), block_(*op_.block), operands_(block_.ops.size()), readers_(block_.ops.size()) {
    std::vector<std::size_t> made_by(block_.tensors.size());
    for (std::size_t i = 0; i < block_.ops.size(); ++i) {
      for (int t : block_.ops[i].outputs) made_by[t] = i;
      for (int t : block_.ops[i].inputs) operands_[i].push_back(made_by[t]);
      for (std::size_t o : operands_[i]) readers_[o].push_back(i);
    }
  }

  /// Returns the operators' indices in canonical order: independent parts (sets of connected operators)
  /// sorted by their keys, the operators of a part in their original order.
  std::vector<std::size_t> run() {
    for (std::size_t i = 0; i < block_.ops.size(); ++i) keys_.push_back(alone(i));
    // Each pass adds the keys of an operator's operands and of its users; the second covers users of the same operand.
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t i = 0; i < keys_.size(); ++i)
        for (std::size_t o : operands_[i]) keys_[i] = mixed(keys_[i], keys_[o]);
      for (std::size_t i = keys_.size(); i-- > 0;) {
        std::vector<OrderKey> above;
        for (std::size_t r : readers_[i])
          above.push_back(
              mixed(keys_[r], static_cast<OrderKey>(std::ranges::find(operands_[r], i) - operands_[r].begin())));
        std::ranges::sort(above);
        keys_[i] = of_all(keys_[i], above);
      }
    }
    std::vector<std::vector<std::size_t>> parts = separate();
    std::ranges::stable_sort(parts, {}, [&](const std::vector<std::size_t>& part) {
      OrderKey k = 0;
      for (std::size_t i : part) k = mixed(k, keys_[i]);
      return k;
    });
    std::vector<std::size_t> order;
    std::vector<bool> done(keys_.size());
    const auto add = [&](std::size_t i) {
      if (!done[i]) order.push_back(i);
      done[i] = true;
    };
    for (const std::vector<std::size_t>& part : parts)
      for (std::size_t i : part) {
        std::ranges::for_each(operands_[i], add);  // loads, at their first use
        add(i);
      }
    return order;
  }

 private:
  /// Returns the independent parts: lists of connected operators, each in the original order. Loads are in no
  /// part, and reading the same load does not connect two operators.
  std::vector<std::vector<std::size_t>> separate() const {
    std::vector<std::size_t> part(keys_.size());  // by operator: the first operator of its part
    for (std::size_t i = 0; i < part.size(); ++i) {
      part[i] = i;
      for (std::size_t o : operands_[i]) {
        if (operands_[o].empty()) continue;
        const std::size_t from = std::max(part[i], part[o]), to = std::min(part[i], part[o]);
        for (std::size_t k = 0; k <= i; ++k)
          if (part[k] == from) part[k] = to;
      }
    }
    std::vector<std::vector<std::size_t>> parts;
    for (std::size_t first = 0; first < part.size(); ++first) {
      if (part[first] != first || operands_[first].empty()) continue;
      std::vector<std::size_t>& one = parts.emplace_back();
      for (std::size_t i = first; i < part.size(); ++i)
        if (part[i] == first) one.push_back(i);
    }
    return parts;
  }

  /// Returns a hash of the kind, attributes and shapes of operator `i`, without its operands and users.
  OrderKey alone(std::size_t i) const {
    const BlockOp& op = block_.ops[i];
    const Attributes& a = op.attributes;
    OrderKey k = of_all(static_cast<OrderKey>(op.kind), op.map);
    for (const std::int64_t n :
         {std::int64_t{op.loop_dim}, std::int64_t{a.dim}, a.to, a.start, a.end, static_cast<std::int64_t>(a.dtype)})
      k = mixed(k, static_cast<OrderKey>(n));
    for (const double x : {a.scalar, a.lo, a.hi, a.eps}) k = mixed(k, std::bit_cast<OrderKey>(x));
    k = of_all(k, a.sizes);
    for (int t : op.outputs) {
      const graph::BlockTensor& made = block_.tensors[t];
      k = of_all(mixed(k, static_cast<OrderKey>(made.dtype)), made.shape);
    }
    if (op.kernel_tensor < 0) return k;
    const auto& list = op.outputs.empty() ? op_.outputs : op_.inputs;
    const KernelTensor& tensor = g_.tensors[list[op.kernel_tensor]];
    return of_all(of_all(mixed(k, static_cast<OrderKey>(tensor.dtype)), tensor.shape), tensor.strides);
  }

  const KernelGraph& g_;
  const KernelOp& op_;
  const BlockGraph& block_;
  // By operator: the operators that it reads, and those that read it.
  std::vector<std::vector<std::size_t>> operands_, readers_;
  std::vector<OrderKey> keys_;
};

/// Returns the index of `t` in `list`. Appends `t` first if the list does not contain it.
int met(std::vector<int>& list, int t) {
  const auto at = std::ranges::find(list, t);
  if (at != list.end()) return static_cast<int>(at - list.begin());
  list.push_back(t);
  return static_cast<int>(list.size()) - 1;
}

}  // namespace

KernelGraph in_one_order(KernelGraph g) {
  if (g.ops.size() != 1 || !g.ops[0].block || graph::writes_in_place(g)) return g;
  const KernelOp& op = g.ops[0];
  const BlockGraph& block = *op.block;
  auto made = std::make_shared<BlockGraph>(BlockGraph{block.grid, block.block, block.loop, {}, {}});
  // Tiles of the block; inputs and outputs of the operator: by new index, the old one.
  std::vector<int> tiles, inputs, outputs;
  for (const std::size_t i : CanonicalOrdering(g).run()) {
    BlockOp& next = made->ops.emplace_back(block.ops[i]);
    if (next.kernel_tensor >= 0) next.kernel_tensor = met(next.outputs.empty() ? outputs : inputs, next.kernel_tensor);
    for (int& t : next.inputs) t = met(tiles, t);
    for (int& t : next.outputs) t = met(tiles, t);
  }
  if (made->ops.size() != block.ops.size() || tiles.size() != block.tensors.size() ||
      inputs.size() != op.inputs.size() || outputs.size() != op.outputs.size())
    return g;  // a tile or tensor is not used by any operator
  for (int t : tiles) made->tensors.push_back(block.tensors[t]);

  KernelGraph result{g.name, {}, {}, {}, {}};
  KernelOp custom{op.kind, {}, {}, op.attributes, std::move(made)};
  std::vector<int> tensors;  // of the graph
  for (int i : inputs) custom.inputs.push_back(met(tensors, op.inputs[i]));
  for (int i : outputs) custom.outputs.push_back(met(tensors, op.outputs[i]));
  if (tensors.size() != g.tensors.size()) return g;
  for (int t : tensors) result.tensors.push_back(g.tensors[t]);
  for (int t : custom.inputs)
    if (std::ranges::find(result.inputs, t) == result.inputs.end()) result.inputs.push_back(t);
  result.outputs = custom.outputs;
  if (result.inputs.size() != g.inputs.size() || result.outputs.size() != g.outputs.size()) return g;
  result.ops.push_back(std::move(custom));
  return result;
}

}  // namespace zellige::rewrite
