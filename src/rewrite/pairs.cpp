#include "rewrite/pairs.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "rewrite/rewrite.hpp"

namespace zellige::fuse {
namespace {

/// A matmul whose columns are heads and whose readers use whole heads, rotated or not.
struct Heads {
  int product = -1, split = -1;  // operators: the matmul, and the reshape to heads
  // The operator between them that adds a bias with one element per column, and the bias tensor; -1: none.
  int sum = -1, bias = -1;
  OpKind convention{};                 // the kind of all embeddings: of halves or interleaved
  std::vector<int> slices, rotations;  // operators that read heads: slices, and rotary embeddings
};

/// Rewrites all matmuls of a graph whose columns are read as heads and rotated.
class Pairs {
 public:
  explicit Pairs(const KernelGraph& g) : g_(g), out_(g) {}

  std::optional<KernelGraph> run() {
    bool any = false;
    for (std::size_t i = 0; i < g_.ops.size(); ++i)
      if (const std::optional<Heads> h = heads(static_cast<int>(i))) {
        any = true;
        of_op_[h->product] = of_op_[h->split] = static_cast<int>(found_.size());
        if (h->sum >= 0) of_op_[h->sum] = static_cast<int>(found_.size());
        for (int op : h->slices) of_op_[op] = static_cast<int>(found_.size());
        for (int op : h->rotations) of_op_[op] = static_cast<int>(found_.size());
        found_.push_back(*h);
      }
    if (!any) return std::nullopt;
    made_.resize(found_.size());
    for (int i = 0; i < static_cast<int>(g_.ops.size()); ++i) {
      const auto at = of_op_.find(i);
      if (at == of_op_.end()) {
        if (dropped_.count(i) == 0) out_.keep(g_.ops[i]);
        continue;
      }
      const Heads& h = found_[at->second];
      if (i == (h.sum >= 0 ? h.sum : h.product))
        product(h, made_[at->second]);
      else if (i == h.product)
        continue;
      else if (is_rotary(g_.ops[i].kind))
        rotate(h, made_[at->second], i);
      else if (i != h.split)
        slice(h, made_[at->second], i);
    }
    return out_.finished();
  }

 private:
  /// The tensors that replace a matmul's result; in brackets their dimensions.
  struct Made {
    int pairs = -1;                                // (h, 2, m, d / 2)
    int last = -1;                                 // (h, m, d / 2, 2)
    std::map<std::pair<int, int>, int> rotated{};  // by cosines and sines; dimensions as of `last`
  };

  const Shape& shape(int t) const { return g_.tensors[t].shape; }
  bool is_output(int t) const { return fuse::is_output(g_, t); }
  std::vector<int> readers(int t) const { return fuse::readers(g_, t); }

  /// Returns how the columns of matmul `product` are read as attention heads. Returns nullopt in these cases:
  /// the columns are not read as heads; no rotary embedding reads them; the embeddings differ in convention
  /// (halves or interleaved), or their cosines and sines differ between heads.
  std::optional<Heads> heads(int product) const {
    const KernelOp& p = g_.ops[product];
    if (p.kind != OpKind::matmul || p.inputs.size() != 2 || is_output(p.outputs[0])) return std::nullopt;
    if (shape(p.inputs[0]).size() != 2 || shape(p.inputs[1]).size() != 2) return std::nullopt;
    Heads h{.product = product};
    std::vector<int> first = readers(p.outputs[0]);
    if (first.size() == 1 && g_.ops[first[0]].kind == OpKind::add && g_.ops[first[0]].inputs.size() == 2) {
      const KernelOp& sum = g_.ops[first[0]];
      h.sum = first[0];
      h.bias = sum.inputs[0] == p.outputs[0] ? sum.inputs[1] : sum.inputs[0];
      const Shape& b = shape(h.bias);
      if (graph::size(b) != b.back() || b.back() != shape(p.outputs[0])[1] || is_output(sum.outputs[0]))
        return std::nullopt;
      first = readers(sum.outputs[0]);
    }
    if (first.size() != 1 || g_.ops[first[0]].kind != OpKind::reshape) return std::nullopt;
    h.split = first[0];
    const int seen = g_.ops[h.split].outputs[0];
    if (is_output(seen) || shape(seen).size() != 3 || shape(seen)[0] != shape(p.outputs[0])[0])
      return std::nullopt;
    for (int r : readers(seen)) {
      const KernelOp& op = g_.ops[r];
      if (op.kind == OpKind::slice && op.attributes.dim == 1) {
        h.slices.push_back(r);
        for (int s : readers(op.outputs[0]))
          if (is_rotary(g_.ops[s].kind) && g_.ops[s].inputs[0] == op.outputs[0]) h.rotations.push_back(s);
      } else if (is_rotary(op.kind) && op.inputs[0] == seen) {
        h.rotations.push_back(r);
      } else {
        return std::nullopt;
      }
    }
    if (h.rotations.empty()) return std::nullopt;
    h.convention = g_.ops[h.rotations[0]].kind;
    for (int t : h.rotations) {
      const KernelOp& op = g_.ops[t];
      if (op.kind != h.convention || !of_all_heads(op.inputs[1]) || !of_all_heads(op.inputs[2]))
        return std::nullopt;
    }
    return h;
  }

  /// Returns whether tensor `t` (cosines or sines) has the same numbers for all heads.
  bool of_all_heads(int t) const {
    const Shape& s = shape(t);
    return s.size() <= 3 && (s.size() < 2 || s[s.size() - 2] == 1);
  }

  /// Appends an operator and returns its result: tensor `to`, or a new tensor called `name` if `to` is -1.
  int add(OpKind kind, std::vector<int> in, const Attributes& a, const std::string& name, int to = -1) {
    return out_.add(kind, std::move(in), a, name, to);
  }
  const std::string& name(int t) const { return g_.tensors[t].name; }

  /// Writes the matmul with its weights viewed as (heads, 2, K, pairs), and the addition of its bias if it
  /// has one. Sets made.pairs to the result.
  void product(const Heads& h, Made& made) {
    const KernelOp& p = g_.ops[h.product];
    const int w = p.inputs[1];
    const Shape& seen = shape(g_.ops[h.split].outputs[0]);  // (m, h, d)
    const bool halves = h.convention == OpKind::rotary;
    const Shape split =
        halves ? Shape{shape(w)[0], seen[1], 2, seen[2] / 2} : Shape{shape(w)[0], seen[1], seen[2] / 2, 2};
    const int columns = add(OpKind::reshape, {w}, {.sizes = split}, name(w) + "_heads");
    const Shape order = halves ? Shape{1, 2, 0, 3} : Shape{1, 3, 0, 2};
    const int weights = add(OpKind::permute, {columns}, {.sizes = order}, name(w) + "_pairs");
    made.pairs = add(OpKind::matmul, {p.inputs[0], weights}, p.attributes, name(p.outputs[0]) + "_pairs");
    out_.set_dtype(made.pairs, g_.tensors[p.outputs[0]].dtype);
    if (h.bias < 0) return;
    const std::int64_t heads = seen[1], pairs = seen[2] / 2;
    int bias = h.bias;
    if (!halves) {
      bias = add(OpKind::reshape, {bias}, {.sizes = {heads, pairs, 2}}, name(h.bias) + "_heads");
      bias = add(OpKind::permute, {bias}, {.sizes = {0, 2, 1}}, name(h.bias) + "_last");
    }
    bias = add(OpKind::reshape, {bias}, {.sizes = {heads, 2, 1, pairs}}, name(h.bias) + "_pairs");
    made.pairs = add(OpKind::add, {made.pairs, bias}, {}, name(g_.ops[h.sum].outputs[0]) + "_pairs");
  }

  /// Writes tensor `to` of shape (rows, heads, columns per head) from tensor `pairs`: rotated heads of shape
  /// (heads, rows, pairs, 2), or unrotated heads of shape (heads, 2, rows, pairs). `order` is the permutation
  /// that puts rows first.
  void back(int pairs, const Shape& order, int to) {
    const int side_by_side = add(OpKind::permute, {pairs}, {.sizes = order}, name(to) + "_heads");
    add(OpKind::reshape, {side_by_side}, {.sizes = shape(to)}, name(to), to);
  }

  /// Returns the heads of tensor `pairs` that `slice`, an operator of the input graph, selects: `pairs`
  /// itself if it selects all heads, otherwise a new tensor, which is named after tensor `to`.
  int cut(int pairs, const KernelOp& slice, int to) {
    const Attributes& a = slice.attributes;
    if (a.start == 0 && a.end == out_.shape(pairs)[0]) return pairs;
    return add(OpKind::slice, {pairs}, {.dim = 0, .start = a.start, .end = a.end}, name(to) + "_pairs");
  }

  /// Writes the slice of heads with operator index `index` for those readers that are not rotary embeddings.
  void slice(const Heads& h, const Made& made, int index) {
    const KernelOp& op = g_.ops[index];
    int to = op.outputs[0];
    std::vector<int> others = readers(to);
    std::erase_if(others, [&](int r) { return std::ranges::count(h.rotations, r) > 0; });
    if (others.empty() && !is_output(to)) return;
    if (others.size() == 1 && !is_output(to) && is_copy(g_.ops[others[0]])) {  // a view that is an output
      dropped_.insert(others[0]);
      to = g_.ops[others[0]].outputs[0];
    }
    const bool halves = h.convention == OpKind::rotary;
    back(cut(made.pairs, op, to), halves ? Shape{2, 0, 1, 3} : Shape{2, 0, 3, 1}, to);
  }

  /// Writes the rotary embedding with operator index `index`. Embeddings with equal cosines and sines share
  /// one operator.
  void rotate(const Heads& h, Made& made, int index) {
    const KernelOp& op = g_.ops[index];
    const int to = op.outputs[0];
    const auto [rotated, is_new] = made.rotated.insert({{op.inputs[1], op.inputs[2]}, -1});
    if (is_new) {
      const std::string& of = name(g_.ops[h.product].outputs[0]);
      if (made.last < 0)
        made.last = add(OpKind::permute, {made.pairs}, {.sizes = {0, 2, 3, 1}}, of + "_last");
      const int cos = by_pair(h, op.inputs[1]), sin = by_pair(h, op.inputs[2]);
      rotated->second = add(OpKind::rotary_interleaved, {made.last, cos, sin}, {}, of + "_turned");
    }
    int heads = rotated->second;
    for (int s : h.slices)
      if (g_.ops[s].outputs[0] == op.inputs[0]) heads = cut(heads, g_.ops[s], to);
    back(heads, h.convention == OpKind::rotary ? Shape{1, 0, 3, 2} : Shape{1, 0, 2, 3}, to);
  }

  /// Returns tensor `t` (cosines or sines) of shape (rows, 1, pairs) or (rows, 1, 2 pairs) in the shape
  /// (rows, pairs, 1) or (rows, pairs, 2).
  int by_pair(const Heads& h, int t) {
    const std::int64_t pairs = shape(g_.ops[h.split].outputs[0])[2] / 2, last = shape(t).back();
    const std::int64_t rows = shape(t).size() == 3 ? shape(t)[0] : 1;
    if (last == pairs) return add(OpKind::reshape, {t}, {.sizes = {rows, pairs, 1}}, name(t) + "_pairs");
    if (h.convention != OpKind::rotary)
      return add(OpKind::reshape, {t}, {.sizes = {rows, pairs, 2}}, name(t) + "_pairs");
    const int halves = add(OpKind::reshape, {t}, {.sizes = {rows, 2, pairs}}, name(t) + "_halves");
    return add(OpKind::permute, {halves}, {.sizes = {0, 2, 1}}, name(t) + "_pairs");
  }

  const KernelGraph& g_;
  Rewrite out_;
  std::vector<Heads> found_;
  std::vector<Made> made_;
  std::map<int, int> of_op_;  // by operator: which of `found_` contains it
  std::set<int> dropped_;     // copies to remove, because their operand is written as the output
};

}  // namespace

std::optional<KernelGraph> separate_pairs(const KernelGraph& g) { return Pairs(g).run(); }

}  // namespace zellige::fuse
