#include "search/match.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "graph/sized_graph.hpp"
#include "reference/structure.hpp"

namespace zellige::search {
namespace {

/// Throws Error unless in_a and in_b, the graphs' numbers of inputs or outputs, are equal. `what` is "inputs"
/// or "outputs", for the message.
void check_counts(const KernelGraph& a, const KernelGraph& b, std::size_t in_a, std::size_t in_b,
                  std::string_view what) {
  if (in_a != in_b)
    fail("{} and {}: expected two graphs with the same number of {}, found {} and {}", a.name, b.name, what, in_a,
         in_b);
}

/// Throws Error unless tensor number ta of graph a and tensor number tb of graph b have the same shape.
/// `what` names the two tensors in the message.
void check_shapes(const KernelGraph& a, const KernelGraph& b, int ta, int tb, std::string_view what) {
  const graph::KernelTensor &x = a.tensors[ta], &y = b.tensors[tb];
  if (x.shape != y.shape)
    fail("{} and {}: expected {} of the same shape, found {} of {} and {} of {}", a.name, b.name, what, x.name,
         graph::to_string(x.shape), y.name, graph::to_string(y.shape));
}

/// Numbers the values of both graphs: values that are computed in the same way get the same number.
class Numbering {
 public:
  using Key = reference::IntegerBytes;

  /// Returns the number of a key, which encodes an operator with its attributes and the numbers of its operands.
  /// Equal keys have equal numbers; a new key gets a new number.
  std::int64_t number(const Key& key) { return numbers_.try_emplace(key.text(), std::ssize(numbers_)).first->second; }

  /// Numbers all tensors of a graph, such that tensors computed in the same way have the same number. Returns the
  /// numbers of the outputs. `inputs`: numbers by which the inputs are distinguished.
  std::vector<std::int64_t> outputs(const KernelGraph& g, const std::vector<std::int64_t>& inputs) {
    std::vector<std::int64_t> of(g.tensors.size(), -1);
    for (std::size_t i = 0; i < g.inputs.size(); ++i) {
      const graph::KernelTensor& t = g.tensors[g.inputs[i]];
      Key key;
      key.put(std::vector{inputs[i], graph::is_integer(t.dtype) ? static_cast<std::int64_t>(t.dtype) : -1});
      of[g.inputs[i]] = number(key);
    }
    for (const graph::KernelOp& op : g.ops) {
      Key key = common(op, of);
      if (g.sizes) expressions(g, static_cast<int>(&op - g.ops.data()), key);
      if (op.block) body(*op.block, key);
      name(op, key, of);
    }
    std::vector<std::int64_t> result;
    for (int t : g.outputs) result.push_back(of[t]);
    return result;
  }

 private:
  /// Returns the key of an operator (its encoding): its kind, attributes and the numbers of its operands.
  /// The operands of a commutative operator are sorted. of[t] is the number of tensor t; tensors that are computed in
  /// the same way have the same number.
  template <class Op>
  static Key common(const Op& op, const std::vector<std::int64_t>& of) {
    Key key;
    key.put(static_cast<std::int64_t>(op.kind));
    graph::Attributes exact = op.attributes;
    exact.tf32 = false;  // of real numbers
    reference::put(key, exact);
    std::vector<std::int64_t> operands;
    for (int t : op.inputs) operands.push_back(of[t]);
    if (op.kind == OpKind::add || op.kind == OpKind::mul || op.kind == OpKind::maximum || op.kind == OpKind::minimum ||
        op.kind == OpKind::eq || op.kind == OpKind::ne)
      std::ranges::sort(operands);
    key.put(operands);
    return key;
  }

  /// Appends the attributes of operator number `op` that follow from the graph's sizes to its key, as numbers of their expressions.
  void expressions(const KernelGraph& g, int op, Key& key) {
    for (const auto& [place, e] : g.sizes->integers) {
      if (place.index != op || place.of == graph::IntegerPlace::Of::shape ||
          place.of == graph::IntegerPlace::Of::strides)
        continue;
      const auto text = texts_.try_emplace(to_string(e), std::ssize(texts_)).first->second;
      key.put(std::vector{static_cast<std::int64_t>(place.of), static_cast<std::int64_t>(place.entry), text});
    }
  }

  /// Assigns numbers to the results of operator `op` and stores them in of[t] for result t. `key` encodes the
  /// operator; results with equal keys get equal numbers.
  template <class Op>
  void name(const Op& op, Key& key, std::vector<std::int64_t>& of) {
    for (std::size_t i = 0; i < op.outputs.size(); ++i) {
      key.put(static_cast<std::int64_t>(i));
      of[op.outputs[i]] = number(key);
    }
  }

  /// Appends a block graph to `key`, the encoding of the custom operator: its grid, its loop, and the numbers of the
  /// operators that store its results. Tiles are numbered like the tensors of a kernel graph.
  void body(const graph::BlockGraph& b, Key& key) {
    key.put(b.grid), key.put(b.loop);
    std::vector<std::int64_t> of(b.tensors.size(), -1);
    for (const graph::BlockOp& op : b.ops) {
      Key inner = common(op, of);
      inner.put(std::vector{op.kernel_tensor, op.map[0], op.map[1], op.map[2], op.loop_dim});
      if (!op.outputs.empty()) inner.put(b.tensors[op.outputs[0]].shape);
      if (op.kind == OpKind::output) key.put(number(inner));
      name(op, inner, of);
    }
  }

  std::map<std::string, std::int64_t> numbers_, texts_;
};

}  // namespace

Pairing match(const KernelGraph& a, const KernelGraph& b) {
  check_counts(a, b, a.inputs.size(), b.inputs.size(), "inputs");
  check_counts(a, b, a.outputs.size(), b.outputs.size(), "outputs");
  std::map<std::string, int> named;
  for (std::size_t i = 0; i < b.inputs.size(); ++i) named[b.tensors[b.inputs[i]].name] = static_cast<int>(i);
  Pairing p;
  p.by_name = std::ranges::all_of(a.inputs, [&](int t) { return named.count(a.tensors[t].name) > 0; });
  p.inputs.resize(a.inputs.size());
  std::iota(p.inputs.begin(), p.inputs.end(), 0);
  if (p.by_name)
    for (std::size_t i = 0; i < a.inputs.size(); ++i) p.inputs[i] = named[a.tensors[a.inputs[i]].name];
  for (std::size_t i = 0; i < a.inputs.size(); ++i)
    check_shapes(a, b, a.inputs[i], b.inputs[p.inputs[i]], p.by_name ? "inputs of one name" : "inputs in one place");
  for (std::size_t i = 0; i < a.outputs.size(); ++i)
    check_shapes(a, b, a.outputs[i], b.outputs[i], "outputs in one place");
  return p;
}

bool same_structure(const GraphPair& pair) {
  Numbering numbering;
  std::vector<std::int64_t> in_a(pair.a.inputs.size()), in_b(pair.b.inputs.size());
  for (std::size_t i = 0; i < in_a.size(); ++i) in_a[i] = in_b[pair.pairing.inputs[i]] = static_cast<std::int64_t>(i);
  return numbering.outputs(pair.a, in_a) == numbering.outputs(pair.b, in_b);
}

}  // namespace zellige::search
