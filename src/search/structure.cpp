#include "search/structure.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "graph/elementwise.hpp"

namespace zellige::search {
namespace {

/// Numbers the values of both graphs: values that are computed in the same way get the same number.
class Numbering {
 public:
  using Key = std::vector<std::int64_t>;

  /// Returns the number of a key, which encodes an operator with its attributes and the numbers of its operands.
  /// Equal keys have equal numbers; a new key gets a new number.
  int number(const Key& key) { return numbers_.try_emplace(key, static_cast<int>(numbers_.size())).first->second; }

  /// Numbers all tensors of a graph, such that tensors computed in the same way have the same number. Returns the
  /// numbers of the outputs. `inputs`: numbers by which the inputs are distinguished.
  std::vector<int> outputs(const KernelGraph& g, const std::vector<int>& inputs) {
    std::vector<int> of(g.tensors.size(), -1);
    for (std::size_t i = 0; i < g.inputs.size(); ++i) {
      const graph::KernelTensor& t = g.tensors[g.inputs[i]];
      of[g.inputs[i]] = number({-1, inputs[i], graph::is_integer(t.dtype) ? static_cast<int>(t.dtype) : -1});
    }
    for (const graph::KernelOp& op : g.ops) {
      Key key = common(op, of);
      if (op.block) body(*op.block, key);
      name(op, key, of);
    }
    std::vector<int> result;
    for (int t : g.outputs) result.push_back(of[t]);
    return result;
  }

 private:
  /// Appends the number x to the key of an operator (its encoding as integers).
  static void put(Key& key, double x) { key.push_back(std::bit_cast<std::int64_t>(x)); }
  /// Appends the length of a list and its numbers to the key of an operator (its encoding as integers).
  static void put(Key& key, const std::vector<std::int64_t>& list) {
    key.push_back(static_cast<std::int64_t>(list.size()));
    key.insert(key.end(), list.begin(), list.end());
  }

  /// Appends an operator's attributes to its key (its encoding as integers, by which operators are compared).
  static void attributes(const graph::Attributes& a, Key& key) {
    for (double x : {a.scalar, a.lo, a.hi, a.eps, a.value}) put(key, x);
    for (std::int64_t n : {std::int64_t{a.dim}, a.to, std::int64_t{a.keepdim}, a.start, a.end,
                           static_cast<std::int64_t>(a.dtype), std::int64_t{a.saturate}})
      key.push_back(n);
    put(key, a.sizes);
    for (const auto& n : {a.kept.tril, a.kept.triu, a.kept.length})
      key.push_back(n ? 1 : 0), key.push_back(n.value_or(0));
  }

  /// Returns the key of an operator (its encoding as integers): its kind, attributes and the numbers of its operands.
  /// The operands of a commutative operator are sorted. of[t] is the number of tensor t; tensors that are computed in
  /// the same way have the same number.
  template <class Op>
  static Key common(const Op& op, const std::vector<int>& of) {
    Key key{static_cast<std::int64_t>(op.kind)};
    attributes(op.attributes, key);
    std::vector<std::int64_t> operands;
    for (int t : op.inputs) operands.push_back(of[t]);
    if (op.kind == OpKind::add || op.kind == OpKind::mul || op.kind == OpKind::maximum || op.kind == OpKind::minimum ||
        op.kind == OpKind::eq || op.kind == OpKind::ne)
      std::ranges::sort(operands);
    put(key, operands);
    return key;
  }

  /// Assigns numbers to the results of operator `op` and stores them in of[t] for result t. `key` encodes the
  /// operator; results with equal keys get equal numbers.
  template <class Op>
  void name(const Op& op, Key& key, std::vector<int>& of) {
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      key.push_back(static_cast<std::int64_t>(i));
      of[op.outputs[i]] = number(key);
    }
  }

  /// Appends a block graph to `key`, the encoding of the custom operator: its grid, its loop, and the numbers of the
  /// operators that store its results. Tiles are numbered like the tensors of a kernel graph.
  void body(const graph::BlockGraph& b, Key& key) {
    for (std::int64_t n : {b.grid.x, b.grid.y, b.grid.z, b.loop}) key.push_back(n);
    std::vector<int> of(b.tensors.size(), -1);
    for (const graph::BlockOp& op : b.ops) {
      Key inner = common(op, of);
      inner.insert(inner.end(), {op.kernel_tensor, op.map[0], op.map[1], op.map[2], op.loop_dim});
      if (!op.outputs.empty()) put(inner, b.tensors[op.outputs[0]].shape);
      if (op.kind == OpKind::output) key.push_back(number(inner));
      name(op, inner, of);
    }
  }

  std::map<Key, int> numbers_;
};

}  // namespace

bool same_structure(const KernelGraph& a, const KernelGraph& b, const Pairing& pairing) {
  Numbering numbering;
  std::vector<int> in_a(a.inputs.size()), in_b(b.inputs.size());
  for (std::size_t i = 0; i < in_a.size(); ++i) {
    in_a[i] = static_cast<int>(i);
    in_b[pairing.inputs[i]] = static_cast<int>(i);
  }
  return numbering.outputs(a, in_a) == numbering.outputs(b, in_b);
}

}  // namespace zellige::search
